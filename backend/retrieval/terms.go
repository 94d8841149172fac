package retrieval

import (
	"slices"
	"strings"

	"contextinfinity/backend/internal/lexical"
)

// Terms returns the words of a query worth searching for: in lower case, in order, without stop words and repetitions.
// For scripts without spaces they are the overlapping pairs of characters, as in the index. If a query only has stop
// words, they are used.
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

// Only the beginning and the end of a long question are used, in bytes.
const (
	questionHead = 6000
	questionTail = 2000
)

// Ends returns the beginning and the end of a long text: what is pasted between them does not improve the search, and
// costs time.
func Ends(text string) string {
	if len(text) <= questionHead+questionTail {
		return text
	}
	return strings.ToValidUTF8(text[:questionHead], "") + "\n" + strings.ToValidUTF8(text[len(text)-questionTail:], "")
}

// Rarest keeps the n rarest terms by the number of documents that contain each, in query order. A term that occurs in
// no document is dropped.
func Rarest(terms []string, documents map[string]int, n int) []string {
	var found []string
	for _, t := range terms {
		if documents[t] > 0 {
			found = append(found, t)
		}
	}
	if len(found) <= n {
		return found
	}
	ranked := slices.Clone(found)
	slices.SortStableFunc(ranked, func(a, b string) int { return documents[a] - documents[b] })
	keep := ranked[:n]
	return slices.DeleteFunc(found, func(t string) bool { return !slices.Contains(keep, t) })
}

// isLetter reports whether a term is a single letter, which finds nothing useful.
func isLetter(t string) bool {
	return len(t) == 1 && (t[0] < '0' || t[0] > '9')
}
