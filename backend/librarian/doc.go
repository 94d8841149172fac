// Package librarian keeps a branch's state summary: a short, bounded document of
// what the turns so far established (SPEC 7; SRD 10).
//
// The summary is Markdown under fixed headings (Summary). Fallback brings it up
// to date without a model: it reads the earlier summary and the new turns,
// extracts what must not be lost (Extract), and trims to the budget. It is pure
// and deterministic, its work is linear in its input and its input is bounded,
// so it is always there when a model is not.
//
// Guarantees: the summary never exceeds its target; each heading stands in it
// exactly once; nothing that a message contains can add a heading, close a list
// or open markup; pinned facts are never in it, because they are sent verbatim
// beside it (SPEC 7); and what the recall provider quotes from other sessions is
// not in it either, because the summary goes to every provider (SPEC 9).
package librarian
