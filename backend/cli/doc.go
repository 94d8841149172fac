// Package cli is the command line (SPEC 15): thin verbs that use the same services as the window.
//
// Guarantees:
//   - With --json stdout contains exactly one JSON document with "schema": 1,
//     whatever happens, even after wrong usage. With every exit code except 0 this
//     document contains an "error". Without --json errors are on stderr as `error: message
//     (hint)`.
//   - Exit codes: 0 done; 1 failed, which includes an answer that is incomplete,
//     was stopped by Ctrl-C, or could not be printed; 2 wrong usage, in which
//     case nothing was opened or changed; 3 verify or backups --check found
//     problems, or import could not read everything; 4 the answer waits for a
//     decision about tool calls.
//   - Without --json, send prints the stored visible text of the answer and one
//     line break. The answer is received and stored even if the reader of the
//     output is slow or goes away.
//   - The first Ctrl-C during an answer stops it: the text so far is kept as the
//     answer and marked stopped. A second one quits immediately; the stream journal
//     contains the partial answer, and the next start recovers it. Any other verb
//     shuts down cleanly at the first Ctrl-C. SIGTERM and SIGHUP leave a running
//     answer incomplete.
//   - Reading verbs open the data read-only and work while a window is open. Writing
//     verbs need the writer's lock; while another process has it, that process
//     runs them, with the same output and exit code, or they fail with code
//     "locked" if it accepts no requests. A verb that is handed over starts
//     again there with the same input; before that it has only read data.
//   - No API key is read from the arguments, printed, or put into an error. Control
//     characters in a model's text do not reach a terminal.
package cli
