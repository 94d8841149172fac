package turn

import (
	"slices"
	"strings"

	"contextinfinity/backend/retrieval"
)

// headShare is the share of a document's tokens for its beginning, if other parts are relevant to the message.
const headShare = 0.5

// gap marks omitted parts of a document.
const gap = "\n\n[…]\n\n"

// excerpt is a part of a document within maxTokens: its beginning, and then, in order, the paragraphs that share
// the rarest words with the question. The document is not in memory yet when its message is answered.
func excerpt(text, question string, maxTokens int, count func(string) int) string {
	terms := searchTerms(question)
	head := beginning(text, int(headShare*float64(maxTokens)), count)
	found := matching(text[len(head):], terms)
	if len(found) == 0 {
		return beginning(text, maxTokens, count)
	}
	available := maxTokens - count(head)
	var chosen []passage
	for _, p := range found {
		if cost := count(p.text) + count(gap); cost <= available {
			available -= cost
			chosen = append(chosen, p)
		}
	}
	slices.SortFunc(chosen, func(a, b passage) int { return a.at - b.at })
	parts := []string{strings.TrimRight(head, "\n ")}
	for _, p := range chosen {
		parts = append(parts, p.text)
	}
	return strings.Join(parts, gap)
}

// searchTerms returns the terms of a question to search for in a document: only the longest if there are many, because
// the document may be megabytes long.
func searchTerms(question string) []string {
	terms := retrieval.Terms(retrieval.Ends(question))
	slices.SortStableFunc(terms, func(a, b string) int { return len(b) - len(a) })
	return terms[:min(len(terms), maxTerms)]
}

// passage is a paragraph of a document.
type passage struct {
	at    int
	text  string
	score float64
}

// Limits. A longer passage is not a paragraph of prose and is skipped.
const (
	maxPassageBytes = 4 << 10
	maxPassages     = 64
	maxTerms        = 64
)

// matching returns the best paragraphs with any of the terms, best first: a term counts more if fewer paragraphs
// contain it.
func matching(text string, terms []string) []passage {
	var all []passage
	containedIn := make([][]int, len(terms)) // the paragraphs that contain each term
	at := 0
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if p := strings.TrimSpace(paragraph); p != "" && len(p) <= maxPassageBytes {
			lower := strings.ToLower(p)
			for i, term := range terms {
				if strings.Contains(lower, term) {
					containedIn[i] = append(containedIn[i], len(all))
				}
			}
			all = append(all, passage{at: at, text: p})
		}
		at += len(paragraph) + 2
	}
	for _, paragraphs := range containedIn {
		for _, i := range paragraphs {
			all[i].score += 1 / float64(len(paragraphs))
		}
	}
	all = slices.DeleteFunc(all, func(p passage) bool { return p.score == 0 })
	slices.SortStableFunc(all, func(a, b passage) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	return all[:min(len(all), maxPassages)]
}
