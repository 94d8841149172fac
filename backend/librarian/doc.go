// Package librarian keeps a branch's state summary, a short, bounded document of what the turns
// so far established, and the summaries that represent ranges of turns in a prompt (SPEC 6, 7; SRD 10).
//
// A state is Markdown under fixed headings (Summary). Fallback updates it without a model, Extract represents a range
// without one: both read the messages (entities.go), keep what must not be lost, and trim to the budget (trim.go).
// They are pure and deterministic, and linear in their bounded input, so they work whenever a model does not. They
// remember what the user said: an assistant's advice is not binding, headings are not tasks, and table rows are not
// facts.
//
// Librarian calls a model first, with the newest summary written by a model and the conversation since, as escaped
// data, in as many calls as its input limit requires. The answer is untrusted: one without the headings, with forged
// ones, about something else or repeating its input is rejected and requested again, at most once for a state summary
// and twice for a range. A valid answer is kept. Required entries that it lost (check.go: the user's new statements,
// decisions and constraints that still apply, compared in evidence.go) are added by rule; only if it lost many is the
// model called again, with its answer and the list. The deterministic summary is used only if no answer could be kept,
// in the same run.
//
// Guarantees: a state summary never exceeds its target, and a range's summary is smaller than what it represents; each
// heading of a state summary occurs exactly once; no message or model can add a heading, close a list or open markup;
// pinned facts are in neither and are never given to a model, because they are sent verbatim (SPEC 7); quotations of
// the recall provider from other sessions are in neither, because a summary is sent to every provider (SPEC 9); and a
// run ends with a summary after a limited number of calls and three timeouts.
package librarian
