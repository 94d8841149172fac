// Package jobs does the work that follows a final answer (SPEC 4, 11; SRD 6.4):
// it commits pending turns into the branch's state, indexes committed ones, and
// summarizes the ranges that history is about to be represented by (SPEC 6),
// through a durable queue.
//
// Every job is idempotent: run twice, or after its effect already exists, it
// changes nothing. A job is finished in the transaction that writes its effect.
// A failing one is tried again with growing pauses, dead after 8 tries, visible,
// and can be retried by hand. Chat never waits for a job.
//
// A turn is found by its words as soon as it is cut; where its vectors cannot be made
// they follow when they can. Changing the embedder fills its vectors in beside the
// ones that serve, a batch at a time.
package jobs
