package retrieval

import (
	"math"
	"slices"

	"contextinfinity/backend/chat"
)

// reachOfWords is how many units away a term still counts.
const reachOfWords = 2

// measured is the ranking that was found best on the benchmark (docs/recall.md).
func (p *pool) measured() {
	top := 0.0
	for i := range p.units {
		p.units[i].base = p.window(i)
		top = max(top, p.units[i].base)
	}
	for i := range p.units {
		u := &p.units[i]
		u.base = ((1-p.share)*ratio(u.base, top) + p.share*u.vector) * p.factor(u)
	}
	top = 0
	for i := range p.units {
		p.units[i].score = p.units[i].base + p.lent(i)
		top = max(top, p.units[i].score)
	}
	age, replied := p.ages(), p.replies()
	for i := range p.units {
		u := &p.units[i]
		if u.score = ratio(u.score, top); u.score == 0 {
			continue
		}
		if said(u) {
			u.score += p.s.RolePrior + p.s.ReplyBest*ratio(replied[u.Turn], top)
		}
		u.score += p.s.Recency * age(u)
	}
}

// said reports words of the user: what they said of themselves and decided is worth
// more than what they were answered. In a group chat nobody's are.
func said(u *unit) bool { return u.Role == chat.RoleUser && u.Speaker == "" && u.File == "" }

// replies are the best scores of what the user's messages were answered: a reply is
// long and says what its question was about, which the question itself may not.
func (p *pool) replies() map[chat.TurnID]float64 {
	best := map[chat.TurnID]float64{}
	for i := range p.units {
		if u := &p.units[i]; u.Role == chat.RoleAssistant && u.base > 0 {
			best[u.Turn] = max(best[u.Turn], u.base)
		}
	}
	return best
}

// window is how well a unit and those about it say the query's terms: a term counts
// where it is said best, less in a neighbour, and once.
func (p *pool) window(i int) float64 {
	u := &p.units[i]
	share := p.s.NeighbourWord * p.part(u)
	near := p.beside(i, reachOfWords)
	sum := 0.0
	for t, weight := range p.weight {
		best := 0.0
		if u.tf != nil {
			best = u.tf[t]
		}
		for _, b := range near {
			if tf := p.units[b.at].tf; tf != nil {
				best = max(best, tf[t]*share/float64(b.away))
			}
		}
		sum += weight * best
	}
	return sum
}

// neighbour is a unit of the same thread so many units away.
type neighbour struct{ at, away int }

// beside are the units at most so many away on both sides. The pool has gaps: what is
// more turns away than units is no neighbour.
func (p *pool) beside(i, reach int) []neighbour {
	out := make([]neighbour, 0, 2*reach)
	u := &p.units[i]
	for away := 1; away <= reach; away++ {
		for _, at := range [2]int{i - away, i + away} {
			if at < 0 || at >= len(p.units) {
				continue
			}
			if n := &p.units[at]; n.thread == u.thread && n.Seq-u.Seq <= int64(away) && u.Seq-n.Seq <= int64(away) {
				out = append(out, neighbour{at, away})
			}
		}
	}
	return out
}

// part is how much of what its neighbours have a unit takes: long ones say more
// themselves, and cost more.
func (p *pool) part(u *unit) float64 {
	return math.Min(1, float64(p.s.NeighbourFull)/math.Max(1, float64(u.Tokens)))
}

// factor is what a unit's own score is multiplied by.
func (p *pool) factor(u *unit) float64 {
	f := p.decision(u)
	if p.s.LengthCost > 0 {
		f /= math.Pow(math.Max(float64(u.Tokens)/float64(p.s.LengthFree), 1), p.s.LengthCost)
	}
	if u.Speaker != "" && p.names(u.Speaker) {
		f *= 1 + p.s.SpeakerBoost
	}
	return f
}

// names reports that the query names a person, by any word of the name.
func (p *pool) names(speaker string) bool {
	return slices.ContainsFunc(split(speaker), func(word string) bool { return p.query[word] })
}

// lent is what a unit has from those about it.
func (p *pool) lent(i int) float64 {
	near := p.beside(i, max(p.s.NearbyUnits, reachOfWords))
	sum, best := 0.0, 0.0
	for _, b := range near {
		base := p.units[b.at].base
		if b.away <= reachOfWords {
			sum += p.s.NeighbourSum * base / float64(b.away)
		}
		if b.away <= p.s.NearbyUnits {
			best = max(best, base)
		}
	}
	return (sum + p.s.NearbyBest*best) * p.part(&p.units[i])
}
