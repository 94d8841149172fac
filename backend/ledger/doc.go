// Package ledger is what a session's append-only event log means: the closed list of
// events, the chain that binds them, and the reducer that makes the session's state of
// them (SPEC 2, 3, 11). It is pure: events in, state out, the same on any day and
// machine; the store keeps both and compares them with its tables.
//
// State holds every derived fact by identifiers and hashes, no text of a conversation:
// sessions, branches with heads and epochs, turns with phases and messages, steps,
// states, pins, range summaries, documents, chunks and units. Encode is canonical:
// equal states have equal bytes.
//
// An event that cannot be applied changes nothing. Types that no version so far writes
// change nothing either. A payload of another version than PayloadVersion is an error;
// what is added to a payload of this version is optional in it. Each fact below is told
// by the events of the first version too.
//
// What no event tells is not in it: drafts, jobs, metrics, sizes of turns, vectors,
// tags and settings of the program.
package ledger
