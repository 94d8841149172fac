package recall

import (
	"slices"
	"strings"

	"contextinfinity/backend/internal/highlight"
	"contextinfinity/backend/internal/lexical"
	"contextinfinity/backend/prompt"
)

// factsAbout returns the pinned facts that share the most terms with a question, at most limit of them, best first. A
// fact that shares at most half as many as the best one is left out: it probably shares a common word, not the subject.
func factsAbout(facts []prompt.Fact, terms []string, limit int) []prompt.Fact {
	var significant []highlight.Term
	for _, t := range terms {
		if isSignificant(t) {
			significant = append(significant, highlight.Parse(t+" ")...)
		}
	}
	type match struct {
		prompt.Fact
		shared int
	}
	var matches []match
	best := 0
	for _, f := range facts {
		shared := 0
		for _, t := range significant {
			if len(t.Spans(f.Text)) > 0 {
				shared++
			}
		}
		if shared > 0 {
			matches = append(matches, match{f, shared})
			best = max(best, shared)
		}
	}
	slices.SortStableFunc(matches, func(a, b match) int { return b.shared - a.shared })
	var out []prompt.Fact
	for _, m := range matches[:min(len(matches), limit)] {
		if 2*m.shared > best {
			out = append(out, m.Fact)
		}
	}
	return out
}

// isSignificant reports whether a term names a subject: a question that consists only of stop words matches no fact.
func isSignificant(term string) bool {
	return !lexical.IsStopWord(term) && strings.ContainsFunc(term, func(r rune) bool { return !lexical.IsFunctionCharacter(r) })
}

// quoteFacts quotes the facts of the project, or those of the session, below a heading.
func quoteFacts(heading string, facts []prompt.Fact, project bool, terms []string) string {
	var sb strings.Builder
	for _, f := range facts {
		if f.Project != project {
			continue
		}
		if sb.Len() == 0 {
			sb.WriteString("\n### " + heading + "\n")
		}
		sb.WriteString("\n")
		writeQuotation(&sb, excerpt(f.Text, terms))
	}
	return sb.String()
}
