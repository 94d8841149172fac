package retrieval

import (
	"math"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/intent"
)

// rankHits ranks items for the list of hits. Packing prefers what helps to understand a conversation, but people read a
// list of hits from the top to find the answer, so an item counts by how much of the query it contains itself. A mere
// question is ranked below its answer.
func (c *collector) rankHits(answers map[chat.TurnID]*item, age func(*unit) float64) {
	for _, x := range c.items {
		x.relevance = (1-coveredHit)*x.match + coveredHit*c.p.either(x.coverage*c.known, x.vector)
		switch {
		case isUserMessage(x.unit) && c.intent.aim == aimUser:
			x.relevance *= 1 + userHit*c.p.s.rolePrior
		case isUserMessage(x.unit) && c.intent.aim == aimAny:
			x.relevance *= 1 + statementHit*c.p.s.rolePrior*max(x.statedShare, x.vector)
		case isReply(x.unit) && c.intent.aim == aimReply:
			x.relevance *= 1 + replyAsked
		}
		if x.lacksNumber = x.own != nil && c.intent.lacksNumber(x.text(c.texts[x.Chunk])); x.lacksNumber {
			x.relevance *= noNumberHit
		}
		x.relevance += c.p.s.Recency * age(x.unit)
	}
	for _, x := range c.items {
		if isUserMessage(x.unit) && x.own != nil {
			c.exchange(x, answers[x.Turn])
		}
	}
}

// lacksNumber reports whether a question asks for a number, a time or a date, and a text has none, in digits or in
// words.
func (in questionIntent) lacksNumber(text string) bool {
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
	askedShare := 1 - x.statedShare
	if c.intent.aim == aimUser {
		askedShare *= askedOfUser
	}
	if x.repeats {
		askedShare = 1
	}
	if answer != nil {
		answer.relevance += exchangeHit * askedShare * math.Max(0, x.relevance-answer.relevance)
	}
	x.relevance *= 1 - (1-askingHit)*askedShare
	if answer != nil && askedShare > mostlyAsks {
		x.relevance = math.Min(x.relevance, answer.relevance*belowAnswer)
	}
}
