// Package tasks runs long work that the user started: imports, exports, backups, moves (UX, Around it). It shows its
// progress, cancels it on request, and remembers it across restarts.
//
// Guarantees:
//   - At most two tasks run at once; the others wait in order. Restoring and moving run alone.
//   - A panic fails only its own task.
//   - Tasks that the end of the program interrupts are marked as interrupted at the next start, and can be resumed if
//     their kind supports it.
//   - Finished tasks are kept until they are dismissed, but only the newest fifty.
//   - A task is stored when it starts, when it ends, and every few seconds in between. If storing fails, the work
//     continues.
//
// The work itself must leave what it has written in a consistent state when its context ends. An interrupted task may
// have done nothing, a part, or all of it.
package tasks
