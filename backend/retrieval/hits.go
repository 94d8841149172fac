package retrieval

import (
	"math"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/intent"
)

// forHits ranks items for the list of hits. Packing prefers what helps to understand a conversation, but a list of
// hits is read from the top for the answer, so here counts how much of the query an item itself says. A mere question
// is ranked below its answer.
func (c *collector) forHits(answers map[chat.TurnID]*item, age func(*unit) float64) {
	for _, x := range c.items {
		x.relevance = x.match * (1 - coveredHit + coveredHit*x.covers)
		if x.own != nil && !x.says && x.similar < surelySimilar {
			x.relevance *= continuesHit
		}
		switch {
		case said(x.unit) && c.in.aim == aimUser:
			x.relevance += userHit * c.p.s.RolePrior * math.Min(1, x.match/fullPrior)
		case said(x.unit) && c.in.aim == aimAny:
			x.relevance += statementHit * c.p.s.RolePrior * x.states * x.covers
		case isReply(x.unit) && c.in.aim == aimReply:
			x.relevance += replyAsked
		}
		if x.lacks = x.own != nil && c.in.lacks(x.text(c.texts[x.Chunk])); x.lacks {
			x.relevance *= noNumberHit
		}
		x.relevance += c.p.s.Recency * age(x.unit)
	}
	for _, x := range c.items {
		if said(x.unit) && x.own != nil {
			c.exchange(x, answers[x.Turn])
		}
	}
}

// lacks reports that a question asks for a number, a time or a date, and a text has none, in digits or in words.
func (in questionIntent) lacks(text string) bool {
	switch {
	case in.day:
		return !intent.SaysDay(text)
	case in.amount:
		return !intent.SaysAmount(text)
	}
	return false
}

// exchange lowers a user message by the share that is only a question, and credits that to the passage that answers
// it.
func (c *collector) exchange(x, answer *item) {
	asked := 1 - x.states
	if c.in.aim == aimUser {
		asked *= askedOfUser
	}
	if x.repeats {
		asked = 1
	}
	if answer != nil {
		answer.relevance += exchangeHit * asked * math.Max(0, x.relevance-answer.relevance)
	}
	x.relevance *= 1 - (1-askingHit)*asked
	if answer != nil && asked > mostlyAsks {
		x.relevance = math.Min(x.relevance, answer.relevance*belowAnswer)
	}
}
