// Package cli is the command line (SPEC 15): thin verbs over the services the
// window uses.
//
// Guarantees:
//   - With --json stdout holds exactly one JSON document with "schema": 1,
//     whatever happens, wrong usage included. Every exit code but 0 goes with an
//     "error" in it. Without --json errors stand on stderr as `error: message
//     (hint)`.
//   - Exit codes: 0 done; 1 failed, which includes an answer that is incomplete,
//     was stopped by Ctrl-C, or could not be printed; 2 wrong usage, in which
//     case nothing was opened or changed by it; 3 verify found problems; 4 the
//     answer waits for a decision about calls of tools.
//   - Without --json, what send prints is the stored visible text of the answer
//     and one line break, also when a reader of the output goes away or is slow:
//     the answer is received and stored in any case.
//   - The first Ctrl-C during an answer is Stop: the text so far is kept as the
//     answer and marked stopped. A second one quits immediately; the stream journal
//     holds what had arrived and the next start recovers it. Any other verb ends
//     in order at the first. SIGTERM and SIGHUP leave a running answer incomplete.
//   - Reading verbs open the data read-only and work while a window runs. Writing
//     verbs need the writer's lock; while another process has it they are carried
//     out by that one, with the same output and exit code, or fail with code
//     "locked" if it serves nobody. What is handed over begins again there, with the
//     same input: nothing but reading was done here.
//   - No key is taken from the command line's arguments, printed, or put into an
//     error. Control characters of a model's text do not reach a terminal.
package cli
