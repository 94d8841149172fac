// Package jobs does the work after a final answer (SPEC 4, 11; SRD 6.4) through a durable queue: it commits pending
// turns into the branch's state, indexes committed ones, and summarizes the ranges that will soon represent history
// (SPEC 6).
//
// Every job is idempotent: run twice, or after its effect exists, it changes nothing. A job is finished in the
// transaction that writes its effect. A failing job is retried with growing pauses; after 8 tries it counts as
// failed, is shown, and can be retried by hand. Chat never waits for a job.
//
// A turn is searchable by words as soon as it is split into chunks; if its vectors cannot be created at once, they
// follow later. After a change of the embedder, new vectors are created in batches while the old ones are used.
package jobs
