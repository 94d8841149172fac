package retrieval

import (
	"cmp"
	"math"
	"slices"
	"time"

	"contextinfinity/backend/chat"
)

// ordered computes the scores of all items and sorts them for packing.
func (c *collector) ordered() []*item {
	c.normalize()
	answers, replyMatches, age := c.answers(), c.replyMatches(), c.p.ages()
	for _, x := range c.items {
		x.score = x.match
		switch {
		case x.questionOnly:
			if x.answer = answers[x.Turn]; x.answer == nil {
				x.answer = c.first[x.Turn]
			}
		case isUserMessage(x.unit):
			c.addUserBonus(x, replyMatches[x.Turn])
		case isReply(x.unit) && c.intent.aim == aimReply:
			x.score += replyAsked
		}
		x.score += c.p.s.Recency * age(x.unit)
	}
	c.rankHits(answers, age)
	c.correct()
	sortItems(c.items)
	if c.intent.overview {
		c.spreadOverDays()
	}
	c.dropNoise()
	return c.items
}

// dropNoise drops what neither order takes for relevant: the rest of a budget stays empty.
func (c *collector) dropNoise() {
	score, relevance := 0.0, 0.0
	for _, x := range c.items {
		score, relevance = max(score, x.score), max(relevance, x.relevance)
	}
	c.items = slices.DeleteFunc(c.items, func(x *item) bool {
		return x.score < noise*score && x.relevance < noise*relevance
	})
}

// normalize scales the best match to 1 and drops items without a match.
func (c *collector) normalize() {
	top := 0.0
	for _, x := range c.items {
		top = max(top, x.match)
	}
	c.items = slices.DeleteFunc(c.items, func(x *item) bool {
		x.match = ratio(x.match, top)
		return x.match == 0
	})
}

// answers returns the best passage of each reply, by turn.
func (c *collector) answers() map[chat.TurnID]*item {
	best := map[chat.TurnID]*item{}
	for _, x := range c.items {
		if isReply(x.unit) && (best[x.Turn] == nil || x.match > best[x.Turn].match) {
			best[x.Turn] = x
		}
	}
	return best
}

// replyMatches returns how well the best unit of each turn's reply matches. A reply shows what its question was about,
// which the question itself may not say.
func (c *collector) replyMatches() map[chat.TurnID]float64 {
	best, top := map[chat.TurnID]float64{}, 0.0
	for i := range c.p.units {
		u := &c.p.units[i]
		top = max(top, u.score)
		if isReply(u) {
			best[u.Turn] = max(best[u.Turn], u.base)
		}
	}
	for turn, base := range best {
		best[turn] = ratio(base, top)
	}
	return best
}

// prior is the bonus of user statements over replies.
func (c *collector) prior() float64 {
	switch c.intent.aim {
	case aimUser:
		return c.p.s.rolePrior
	case aimReply:
		return 0
	}
	return c.p.s.rolePrior * undecided
}

// addUserBonus adds the bonus for the user's own words. If the question does not ask about the user, only what matches
// it, or applies to everything, gets the bonus.
func (c *collector) addUserBonus(x *item, replyMatch float64) {
	x.score += c.p.s.replyBest * replyMatch
	if c.intent.aim == aimUser || x.own == nil || x.hasTerm || x.standing || x.similar >= surelySimilar {
		x.score += c.prior()
	}
	if x.standing && c.intent.aim == aimAny {
		x.score += standingBonus
	}
}

// spreadOverDays distributes an overview over the days of a conversation: the beginning of a day shows its subject, and
// each further item of a day counts less. In a summary of a subject named in the query, the beginning gains nothing,
// because days begin with other subjects too.
func (c *collector) spreadOverDays() {
	first, taken := map[string]int64{}, map[string]int{}
	for _, x := range c.items {
		if seq, ok := first[dayOf(x)]; !ok || x.Seq < seq {
			first[dayOf(x)] = x.Seq
		}
	}
	for _, x := range c.items {
		if !c.namedSubject && isUserMessage(x.unit) && !x.questionOnly && x.Seq < first[dayOf(x)]+openingTurns {
			x.score += opening
		}
	}
	sortItems(c.items)
	for _, x := range c.items {
		taken[dayOf(x)]++
		x.score *= math.Pow(float64(taken[dayOf(x)]), -sameDay)
	}
	sortItems(c.items)
}

func dayOf(x *item) string { return x.thread + " " + x.At.UTC().Format(time.DateOnly) }

func sortItems(list []*item) {
	slices.SortFunc(list, func(a, b *item) int { return cmp.Or(cmp.Compare(b.score, a.score), itemsInOrder(a, b)) })
}

// byRelevance returns the items in the order of hits.
func byRelevance(list []*item) []*item {
	out := slices.Clone(list)
	slices.SortFunc(out, func(a, b *item) int { return cmp.Or(cmp.Compare(b.relevance, a.relevance), itemsInOrder(a, b)) })
	return out
}

// itemsInOrder breaks ties between items.
func itemsInOrder(a, b *item) int {
	return cmp.Or(inOrder(a.unit, b.unit), cmp.Compare(a.span.Start, b.span.Start))
}
