// Package chat is the domain: sessions, branches, turns, steps, messages, state summaries, chunks and their vocabulary
// (SPEC 1, 3; SRD 4, 5).
//
// It imports the standard library and ulid only, and everything may import it.
// It performs no I/O. Persisted values are immutable: a correction is a new
// record (SPEC 2.1).
package chat
