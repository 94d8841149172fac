// Package turn runs one turn from the user's message to the final answer
// (SPEC 4; SRD 6): accept, assemble, call, journal, finalize, and what happens
// when any of these fails or the process dies in between.
//
// Guarantees: the prompt is durable before anything is sent; every event of a stream is in its journal before it is
// shown; after the first event nothing is silently restarted; a turn always ends in the phase and outcome that its
// stream requires, live or by recovery, determined by the same function. Work after the final answer belongs to
// package jobs.
package turn
