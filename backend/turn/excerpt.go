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

// excerpt is a part of a document within most tokens: its beginning, and then, in order, the paragraphs that share
// the rarest words with the question. The document is not in memory yet when its message is answered.
func excerpt(text, question string, most int, count func(string) int) string {
	terms := distinctive(question)
	head := beginning(text, int(headShare*float64(most)), count)
	found := matching(text[len(head):], terms)
	if len(found) == 0 {
		return beginning(text, most, count)
	}
	room := most - count(head)
	var chosen []passage
	for _, p := range found {
		if cost := count(p.text) + count(gap); cost <= room {
			room -= cost
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

// distinctive are the terms of a question that are searched in a document: only the longest if there are many, because
// the document may be megabytes long.
func distinctive(question string) []string {
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

// Limits: a longer paragraph is not a real one.
const (
	maxPassageBytes = 4 << 10
	maxPassages     = 64
	maxTerms        = 64
)

// matching are the paragraphs with any of the terms, best first: a term counts more if fewer paragraphs contain it.
func matching(text string, terms []string) []passage {
	var all []passage
	holders := make([][]int, len(terms))
	at := 0
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if p := strings.TrimSpace(paragraph); p != "" && len(p) <= maxPassageBytes {
			lower := strings.ToLower(p)
			for i, term := range terms {
				if strings.Contains(lower, term) {
					holders[i] = append(holders[i], len(all))
				}
			}
			all = append(all, passage{at: at, text: p})
		}
		at += len(paragraph) + 2
	}
	for _, held := range holders {
		for _, i := range held {
			all[i].score += 1 / float64(len(held))
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
