// Package librarian keeps a branch's state summary, a short, bounded document of what the turns
// so far established, and the summaries that represent ranges of turns in a prompt (SPEC 6, 7; SRD 10).
//
// A state is Markdown under fixed headings (Summary). Fallback brings it up to date without a
// model, Extract represents a range without one: both read what was said (entities.go), keep what must
// not be lost, and trim to the budget (trim.go). They are pure and deterministic, their work is linear
// in their input and their input is bounded, so they are available whenever a model is not. They remember
// what the user said: an assistant's advice binds nobody, headings are not tasks, and rows of tables no facts.
//
// Librarian asks a model first. It is given the newest summary that a model made and what was said
// since, as escaped data, in as many calls as its input limit needs. Its answer is untrusted: one without
// the headings, with forged ones, about something else or repeating its input is rejected and asked for
// again, at most once for a state and twice for a range. An answer of the right shape is kept. What it
// lost of what is required (check.go: the user's new words, decisions and constraints that still hold,
// compared in evidence.go) is added by rule; only where it lost much is the model asked once more, with its
// answer and the list. The deterministic summary is used only if no answer could be kept, in the same run.
//
// Guarantees: a state never exceeds its target, and a range's summary is smaller than what it represents;
// each heading of a state occurs in it exactly once; nothing that a message or a model says can add a
// heading, close a list or open markup; pinned facts are in neither and are never given to a model,
// because they are sent verbatim beside (SPEC 7); what the recall provider quotes from other sessions is
// in neither, because a summary goes to every provider (SPEC 9); and a run ends after a bounded number of
// calls and three timeouts, with a summary.
package librarian
