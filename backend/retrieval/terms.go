package retrieval

import (
	"slices"
	"strings"

	"contextinfinity/backend/internal/lexical"
)

// Terms are the words of a query worth searching for: lower case, in order,
// without stop words and repetitions. Scripts that are written without spaces
// give their overlapping pairs, as the index holds them. If a
// query has stop words only, they stand.
func Terms(query string) []string {
	var all, kept []string
	seen := map[string]bool{}
	for _, word := range lexical.Words(query) {
		for _, t := range lexical.Pairs(word) {
			if seen[t] {
				continue
			}
			seen[t] = true
			all = append(all, t)
			if !lexical.IsStopWord(t) && !isLetter(t) {
				kept = append(kept, t)
			}
		}
	}
	if len(kept) == 0 {
		return all
	}
	return kept
}

// A question is looked at in its beginning and its end, in bytes.
const (
	questionHead = 6000
	questionTail = 2000
)

// Ends is as much of a text as a question is taken from: what is pasted between its
// beginning and its end is no better a question than they are, and costs by its size.
func Ends(text string) string {
	if len(text) <= questionHead+questionTail {
		return text
	}
	return strings.ToValidUTF8(text[:questionHead], "") + "\n" + strings.ToValidUTF8(text[len(text)-questionTail:], "")
}

// Rarest keeps the n rarest terms by how many documents hold each, in their
// order in the query. A term that no document holds is dropped.
func Rarest(terms []string, documents map[string]int, n int) []string {
	var held []string
	for _, t := range terms {
		if documents[t] > 0 {
			held = append(held, t)
		}
	}
	if len(held) <= n {
		return held
	}
	ranked := slices.Clone(held)
	slices.SortStableFunc(ranked, func(a, b string) int { return documents[a] - documents[b] })
	keep := ranked[:n]
	return slices.DeleteFunc(held, func(t string) bool { return !slices.Contains(keep, t) })
}

// isLetter reports a single letter with spaces around it, which finds nothing.
func isLetter(t string) bool {
	return len(t) == 1 && (t[0] < '0' || t[0] > '9')
}
