// Package store keeps all durable data: one SQLite database through GORM, with the ledger, the job queue and the text
// index (SPEC 2, 3, 4, 11; SRD 4, 5, 6, 16).
//
// Guarantees:
//
//   - An exported method is one transaction: all of it is on disk (WAL,
//     synchronous FULL) when the method returns nil, none of it when it returns
//     an error. Reads of several queries see one moment.
//   - A record of the transcript never changes once written; a turn only gains
//     what it lacked. Phases move as chat.CanMove says and in no other way.
//   - A head moves only in Commit, by compare-and-swap on the branch's epoch, over
//     the oldest pending turns without a gap.
//   - Each change of a session appends its event to the session's ledger in the
//     same transaction, hash-chained, with all that a replay needs.
//   - What repeats an earlier record is stored against it and comes back byte for
//     byte; damage to one spreads over at most the sixty-three others that are based on it,
//     and verify names each. What others are based on is not deleted before them. A request
//     and its manifest are based on the chunks they quote too (docs/adr/0005); a transcript
//     is based on neither.
//     Chunks and units of a message, a step's items and its raw events are such too.
//   - Vectors and their namespaces are derived: no ledger records them, and those
//     that are lost are made again. Who keeps them in memory asks for what follows the
//     last unit it has, and for the generation, which says when that would not do.
//   - There is one writer: it holds an operating-system lock on writer.lock and on
//     the directory, which the system drops when the process dies however it dies;
//     no path to the directory and no deleted file makes a second one. Any number
//     of read-only stores may be open beside it.
//   - A record that cannot be read is isolated: the rest is returned, and the
//     broken one is in its place with a chat.CodeCorrupt failure that names it.
//   - A database that is newer, damaged beyond opening or not ours is left as it is.
//
// What may be lost: nothing that a method has acknowledged, short of the disk
// itself lying about fsync.
//
// Errors are chat.Error; none carries a prompt, a key or SQL with values.
package store
