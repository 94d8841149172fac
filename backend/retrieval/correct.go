package retrieval

import (
	"unicode"
	"unicode/utf8"

	"contextinfinity/backend/internal/lexical"
)

// content are the words of an item that identify its subject, and its numbers.
type content struct{ words, numbers map[string]bool }

// correct moves a later hit above an older one that it corrects: it is by the same speaker, contains at least as much
// of the query, is about the same subject and nearly as relevant, and has other numbers or nearly the same words.
// Conversations between people are not reordered, because a later statement need not correct an earlier one, nor are
// overviews, which should show the order of events.
func (c *collector) correct() {
	if c.intent.overview {
		return
	}
	top := byRelevance(c.items)
	top = top[:min(len(top), correctHits)]
	read := make([]*content, len(top))
	contentOf := func(i int) *content {
		if read[i] == nil {
			read[i] = c.content(top[i])
		}
		return read[i]
	}
	for i, old := range top {
		for j := i + 1; j < len(top); j++ {
			if x := top[j]; x.mayCorrect(old) && contentOf(j).corrects(contentOf(i)) {
				x.relevance = max(x.relevance, old.relevance/belowAnswer)
			}
		}
	}
}

// mayCorrect reports whether x is a later statement of the same speaker that is nearly as relevant and has the number
// or day that is asked for.
func (x *item) mayCorrect(old *item) bool {
	return x.relevance >= correctNear*old.relevance && x.coverage >= old.coverage && x.own != nil && old.own != nil && (!x.lacksNumber || old.lacksNumber) &&
		x.Speaker == "" && x.thread == old.thread && x.Seq > old.Seq &&
		isReply(x.unit) == isReply(old.unit) && !x.questionOnly && (isReply(x.unit) || x.statedShare >= 0.5)
}

func (c *collector) content(x *item) *content {
	out := &content{words: map[string]bool{}, numbers: map[string]bool{}}
	lexical.EachWord(x.text(c.texts[x.Chunk]), func(word string) {
		first, size := utf8.DecodeRuneInString(word)
		switch {
		case unicode.IsNumber(first):
			out.numbers[word] = true
		case len(word) > size && !lexical.IsStopWord(word):
			out.words[word] = true
		}
	})
	return out
}

// corrects reports whether a text is on the same subject as an older one and differs from it.
func (n *content) corrects(old *content) bool {
	common := inBoth(n.words, old.words)
	smaller := min(len(n.words), len(old.words))
	if smaller == 0 || common == len(n.words) && inBoth(n.numbers, old.numbers) == len(n.numbers) {
		return false // it only repeats the older one
	}
	share := float64(common) / float64(smaller)
	changed := len(n.numbers) > 0 && len(old.numbers) > 0 && inBoth(n.numbers, old.numbers) < len(n.numbers)
	return share >= correctSame || changed && share >= correctWith
}

func inBoth(a, b map[string]bool) int {
	n := 0
	for word := range a {
		if b[word] {
			n++
		}
	}
	return n
}
