// Package librarian keeps a branch's state summary, a short, bounded document of
// what the turns so far established, and the summaries that stand for ranges of
// turns in a prompt (SPEC 6, 7; SRD 10).
//
// A state is Markdown under fixed headings (Summary). Fallback brings it up to date
// without a model, Extract stands for a range without one: both read what was said,
// extract what must not be lost, and trim to the budget. They are pure and
// deterministic, their work is linear in their input and their input is bounded, so
// they are always there when a model is not.
//
// Librarian asks a model first. It is given the newest summary that a model made
// and what was said since, as escaped data, in as many calls as its input limit
// needs. Its answer is read as a stranger's: one without the headings, with forged
// ones, about something else, repeating its input, too long, or without a decision,
// constraint, number or name that must be kept, is asked for once more with what was
// wrong (a range twice more); then the deterministic summary stands, in the same run.
//
// Guarantees: a state never exceeds its target, and a range's summary is smaller than
// what it stands for; each heading of a state stands in it exactly once; nothing that
// a message or a model says can add a heading, close a list or open markup; pinned
// facts are in neither and are never given to a model, because they are sent verbatim
// beside (SPEC 7); what the recall provider quotes from other sessions is in neither,
// because a summary goes to every provider (SPEC 9); and a run ends after a bounded
// number of calls and three timeouts, with a summary.
package librarian
