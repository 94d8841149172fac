// Package tasks carries out long work that a person began: imports, exports, backups,
// moves (UX, Around it). It shows how far each is, ends it when asked, and remembers it
// over a restart of the program.
//
// Guarantees: at most two run at once and the others wait in order; work that cannot
// are beside any other runs alone; a panic fails its task and nothing else; what the
// program's end interrupts is found as interrupted by the next start, and continues where
// its kind can; what ended stays until it is dismissed, the newest fifty. A task is
// stored when it begins and when it ends, and every few seconds between. Where that
// fails the work continues anyway: it is the work that matters.
//
// What the work does is its own matter: it keeps what it wrote whole when its context
// ends, and a task that was interrupted may have done nothing, some or all of it.
package tasks
