// Package bundle is the file format for exporting a complete session (SPEC 12): a zip named *.cinf with ZIG's v2
// layout (ZIG 3, 5).
//
//	meta.json      what is in it: schema_version, program, session, counts, and the hash
//	               of the last event, to which the chain of all others leads
//	events.ndjson  the session's ledger, one event per line, in order
//	contents.zst   what the events name only by hash, in their order: requests,
//	               responses, raw streams, manifests, documents
//	snapshot.json  the reducer's state after the last event (ledger.Snapshot)
//	index.json     the branches, turns and documents, for other tools; not read here
//
// A request may be left out, because it quoted other conversations. Its content is then a mark with its hash and size
// (schema.LeftOutRequest), and schema_version is 3 instead of 2.
//
// If several devices have written the session, schema_version is 4. Each event then has a lane, which is a device's,
// and a number in it, lane_seq; the events are in the order of (number, lane), event_seq is the position in it, and
// each lane has a chain of its own. A device's name is in the events of the branches that it began.
//
// A payload is stored byte for byte in its line, because its hash covers its bytes. Permanently deleted text stays
// deleted: the replacement text and the event that certifies it are part of the bundle, and the chain remains valid
// because it covers the hashes.
//
// contents.zst is one zstd stream of records: a line of JSON with the event and the kind, the bytes, a newline.
// Requests repeat most of the previous one; in a single stream a hundred take the space of a few.
//
// Guarantees: equal sessions at an equal event produce equal bytes, except for the time of export in meta.json.
// Reading and writing are streamed, so memory is bounded by the largest event or content and, for the snapshot, by
// the ids and hashes of the session's records. Nothing is unpacked to disk and no entry's name is used as a path. The
// reader expects an untrusted file: each limit is a constant, and a file over one is refused with a message that
// names it. A bundle contains neither keys nor settings of the program, nor the location of the session's data.
package bundle
