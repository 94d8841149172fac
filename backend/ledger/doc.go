// Package ledger defines a session's append-only event log: the closed list of events, the hash chain, and the
// reducer that computes the session's state (SPEC 2, 3, 11). It is pure and deterministic; the store stores the
// events and snapshots of the state, and compares the state with its tables.
//
// State contains every derived fact by identifiers and hashes, without text of a conversation: sessions, branches
// with heads and epochs, turns with phases and messages, steps, states, pins, range summaries, documents, chunks and
// units. Encode is canonical: equal states have equal bytes.
//
// An event that cannot be applied changes nothing, nor does an event of an unknown type. A payload of a version other
// than PayloadVersion is an error; members added to this version are optional.
//
// A ledger does not contain data without events: drafts, jobs, metrics, sizes of turns, vectors, tags and settings of
// the program.
package ledger
