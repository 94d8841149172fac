package retrieval

import (
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
)

// explainer creates explanations of items for people.
type explainer struct {
	c     *collector
	terms []string
	top   float64 // the highest relevance
	best  float64 // Score of the item with that relevance
	// questions are the first chunks of the user messages, by turn.
	questions map[chat.TurnID]chat.ChunkID
}

// minBestScore is the minimum Score of the best hit, for one that contains no word of the query.
const minBestScore = 0.05

func newExplainer(c *collector, terms []string) *explainer {
	e := &explainer{c: c, terms: terms, questions: map[chat.TurnID]chat.ChunkID{}}
	var best *item
	for _, x := range c.items {
		if best == nil || x.relevance > best.relevance {
			best = x
		}
		if isUserMessage(x.unit) && x.ChunkOrdinal == 0 {
			e.questions[x.Turn] = x.Chunk
		}
	}
	if best != nil {
		e.top = best.relevance
		around := c.p.context(best.unit)
		contained := make([]bool, len(around))
		for t := range around {
			contained[t] = around[t] > 0 || best.own != nil && best.own[t]
		}
		e.best = min(max(c.share(contained), best.similar, minBestScore), 1)
	}
	return e
}

// score is an item's relevance relative to the highest, multiplied by the Score of the best item.
func (e *explainer) score(x *item) float64 { return min(ratio(x.relevance, e.top), 1) * e.best }

// why explains an item.
func (e *explainer) why(x *item) Why {
	y := Why{Standing: x.standing, Question: x.questionOnly, Repeats: x.repeats, Overview: e.c.intent.overview}
	around := e.c.p.context(x.unit)
	for t, term := range e.terms {
		switch {
		case x.own != nil && x.own[t], x.own == nil && x.tf != nil && x.tf[t] > 0:
			y.Words = append(y.Words, term)
		case around[t] > 0:
			y.Around = append(y.Around, term)
		}
	}
	y.Continues = len(y.Words) == 0 && x.vector == 0
	if isReply(x.unit) {
		y.Answers = e.question(x.Turn)
	}
	return y
}

// longestQuestion is how much of a question is quoted, in bytes.
const longestQuestion = 160

// question is the beginning of a turn's user message, if it was read.
func (e *explainer) question(turn chat.TurnID) string {
	text := strings.Join(strings.Fields(e.c.texts[e.questions[turn]].Text), " ")
	if len(text) <= longestQuestion {
		return text
	}
	return display.Start(text, longestQuestion) + "…"
}
