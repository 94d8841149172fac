// Package store stores all durable data: one SQLite database through GORM, with the ledger, the job queue and the text
// index (SPEC 2, 3, 4, 11; SRD 4, 5, 6, 16).
//
// Guarantees:
//
//   - An exported method is one transaction: all of it is on disk (WAL,
//     synchronous FULL) when the method returns nil, none of it when it returns
//     an error. Reads of several queries see one snapshot.
//   - A record of the transcript never changes once written; only missing parts of
//     a turn are added. Phases change only as chat.CanMove permits.
//   - A head moves only in Commit, by compare-and-swap on the branch's epoch, over
//     the oldest pending turns without a gap.
//   - Each change of a session appends its event to the session's ledger in the
//     same transaction, hash-chained, with everything that a replay needs.
//   - A record that repeats an earlier one is compressed against it, and read back byte
//     for byte; damage to one affects at most the sixty-three others that are based on
//     it, and verify names each. A record is not deleted before those that are based on
//     it. A request and its manifest are also based on the chunks that they quote
//     (docs/adr/0005); a transcript is based on neither. Chunks and units of a message,
//     a step's items and its raw events are compressed in the same way.
//   - Vectors and their namespaces are derived: no ledger records them, and lost ones
//     are computed again. A reader that keeps them in memory requests those after the
//     last unit it has, and checks the generation, which changes if that is not enough.
//   - There is one writer: it holds an operating-system lock on writer.lock and on
//     the directory, which the system releases however the process ends; another path
//     to the directory, or a deleted lock file, does not allow a second writer. Any
//     number of read-only stores may be open at the same time.
//   - A record that cannot be read is isolated: the rest is returned, and the
//     broken one is in its place with a chat.CodeCorrupt failure that names it.
//   - A database that is newer, too damaged to open, or not ours is left unchanged.
//
// Nothing that a method has acknowledged is lost, unless the disk reports an fsync that it did not do.
//
// Errors are chat.Error; none carries a prompt, a key or SQL with values.
package store
