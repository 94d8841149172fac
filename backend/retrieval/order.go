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
	c.normalise()
	answers, replied, age := c.answers(), c.replied(), c.p.ages()
	for _, x := range c.items {
		x.score = x.match
		switch {
		case x.far:
		case x.bare:
			x.score *= bareQuestion
			if x.answer = answers[x.Turn]; x.answer == nil {
				x.answer = c.first[x.Turn]
			}
		case said(x.unit):
			c.prefer(x, replied[x.Turn])
		case isReply(x.unit) && c.in.aim == aimReply:
			x.score += replyAsked
		}
		x.score += c.p.s.Recency * age(x.unit)
	}
	c.forHits(answers, age)
	c.correct()
	sortItems(c.items)
	c.yield()
	c.complete()
	if c.in.overview {
		c.spread()
	}
	return c.items
}

// normalise scales the best match to 1 and drops items without a match.
func (c *collector) normalise() {
	top := 0.0
	for _, x := range c.items {
		top = max(top, x.match)
	}
	c.items = slices.DeleteFunc(c.items, func(x *item) bool {
		x.match = ratio(x.match, top)
		return x.match == 0
	})
}

// answers are the best passages of the replies, by turn.
func (c *collector) answers() map[chat.TurnID]*item {
	best := map[chat.TurnID]*item{}
	for _, x := range c.items {
		if isReply(x.unit) && (best[x.Turn] == nil || x.match > best[x.Turn].match) {
			best[x.Turn] = x
		}
	}
	return best
}

// replied is how well the reply of each turn matches as a whole: it shows what its question was about, which the
// question itself may not say.
func (c *collector) replied() map[chat.TurnID]float64 {
	best, top := map[chat.TurnID]float64{}, 0.0
	for i := range c.p.units {
		u := &c.p.units[i]
		top = max(top, u.base+u.borrowedScore)
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
	switch c.in.aim {
	case aimUser:
		return c.p.s.RolePrior
	case aimReply:
		return 0
	}
	return c.p.s.RolePrior * undecided
}

// prefer adds the bonus for the user's own words. If the question does not ask about the user, only statements that
// match it get the bonus.
func (c *collector) prefer(x *item, replied float64) {
	prior := c.prior() * math.Min(1, x.match/fullPrior)
	if c.in.aim == aimAny && x.says {
		prior *= 1 - (1-onlyAsked)*(1-x.states)
	}
	x.score += c.p.s.ReplyBest * replied
	if c.in.aim == aimUser {
		x.score += prior
		return
	}
	if x.own == nil || x.says || x.standing || x.similar >= surelySimilar {
		x.score += prior
	}
	if x.standing && c.in.aim == aimAny {
		x.score += standingOrder
	}
}

// strength is the bonus of an item that contains nearly all of the query itself.
func (c *collector) strength(x *item) float64 {
	return strongMatch * c.prior() * max(0, (x.covers-strongFrom)/(1-strongFrom))
}

// yield ranks the best replies that contain nearly all of the query above user statements that contain less.
func (c *collector) yield() {
	if c.in.aim == aimReply {
		return
	}
	n := 0
	for _, x := range c.items {
		if n == strongReplies {
			break
		}
		if strong := c.strength(x); strong > 0 && isReply(x.unit) {
			x.score += strong
			n++
		}
	}
	sortItems(c.items)
}

// complete keeps the best replies together if the query asks for replies: "How did you recommend structuring it?" is
// answered by a whole reply, most passages of which contain no word of the question. A reply that would take too much
// of the budget is not completed.
func (c *collector) complete() {
	if c.in.aim != aimReply {
		return
	}
	least := map[chat.TurnID]float64{}
	for _, x := range c.items { // best first
		if !isReply(x.unit) {
			continue
		}
		if _, known := least[x.Turn]; !known {
			least[x.Turn] = 0
			if len(least) <= completeReplies && c.replyTokens(x.Turn) <= c.budget/partForReply {
				least[x.Turn] = x.score * restOfBest
			}
		}
		x.score = max(x.score, least[x.Turn])
	}
	sortItems(c.items)
}

// replyTokens is the length of a turn's reply, as far as it is ranked.
func (c *collector) replyTokens(turn chat.TurnID) int {
	sum := 0
	for i := range c.p.units {
		if u := &c.p.units[i]; u.Turn == turn && isReply(u) {
			sum += u.Tokens
		}
	}
	return sum
}

// spread distributes an overview over the days of a conversation: the beginning of a day shows its subject, and each
// further item of a day counts less. In a summary of a subject named in the query, the beginning counts only as far
// as it matches, because days begin with other subjects too.
func (c *collector) spread() {
	first, taken := map[string]int64{}, map[string]int{}
	for _, x := range c.items {
		if seq, ok := first[dayOf(x)]; !ok || x.Seq < seq {
			first[dayOf(x)] = x.Seq
		}
	}
	for _, x := range c.items {
		if said(x.unit) && !x.bare && x.Seq < first[dayOf(x)]+openingTurns {
			gain := opening
			if c.about {
				gain *= math.Min(1, x.match/fullOpening)
			}
			x.score += gain
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
	slices.SortFunc(list, func(a, b *item) int { return cmp.Or(cmp.Compare(b.score, a.score), inOrder(a, b)) })
}

// byRelevance is the order of hits.
func byRelevance(list []*item) []*item {
	out := slices.Clone(list)
	slices.SortFunc(out, func(a, b *item) int { return cmp.Or(cmp.Compare(b.relevance, a.relevance), inOrder(a, b)) })
	return out
}

// inOrder breaks ties: newer first, then by position.
func inOrder(a, b *item) int {
	return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.Seq, a.Seq), cmp.Compare(a.Chunk, b.Chunk),
		cmp.Compare(a.Ordinal, b.Ordinal), cmp.Compare(a.span.Start, b.span.Start))
}
