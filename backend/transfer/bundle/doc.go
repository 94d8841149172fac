// Package bundle is the file in which a session travels whole (SPEC 12): a zip named
// *.cinf with ZIG's v2 layout (ZIG 3, 5).
//
//	meta.json      what is in it: schema_version, program, session, counts, and the hash
//	               of the last event, to which the chain of all others leads
//	events.ndjson  the session's ledger, one event a line, in order
//	contents.zst   what the events tell by hash alone, in their order: requests,
//	               responses, raw streams, manifests, documents
//	snapshot.json  the reducer's state after the last event (ledger.Snapshot)
//	index.json     where things are, for those who look into it; not read here
//
// A payload is in its line byte for byte, for its hash is over its bytes. What a hard
// delete took out of one stays out: the words that it put there travel, the event that
// vouches for them too, and the chain, which is over the hashes, holds.
//
// contents.zst is one zstd stream of records: a line of JSON that says which event tells
// of it and what it is, the bytes, a newline. Requests repeat most of the one before;
// one stream holds a hundred of them in the room of a few.
//
// Guarantees: equal sessions at an equal event give equal bytes but for the moment of
// export in meta.json; both directions stream, so that memory is bounded by the largest
// event or content and, for the snapshot, by the ids and hashes of the session's records;
// nothing is unpacked to disk and no entry's name is ever used as a path. The reader
// expects a stranger's file: each limit is a constant, and what breaks one is refused
// with words that name it. Keys and settings of the program are in no bundle, nor is
// where the session was kept.
package bundle
