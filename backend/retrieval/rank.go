package retrieval

import (
	"math"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lexical"
)

// termDistance is the distance in units within which a neighbour's terms count.
const termDistance = 2

// measured scores the units by the ranking with the best results in the benchmark (docs/recall.md).
func (p *pool) measured() {
	for i := range p.units {
		u := &p.units[i]
		u.index = i
		words := 0.0
		for t, degree := range p.degrees(u) {
			words += p.weight[t] * degree
		}
		u.base = p.fused(words, u) * p.factor(u)
	}
	for i := range p.units {
		u := &p.units[i]
		u.borrowedScore = p.borrowedScore(i)
		u.score = u.base + u.borrowedScore
	}
}

// fused is the score of a text by both halves: how much of the query its words cover, and how near it is in meaning.
func (p *pool) fused(words float64, u *unit) float64 {
	return p.either(ratio(words, p.total), u.vector)
}

// either combines the scores of two halves, where the meaning speaks for what the words do not cover: a text with all
// words of the query needs no vector.
func (p *pool) either(words, meaning float64) float64 { return words + (1-words)*p.share*meaning }

// context is the share of each term that a unit's passages get from its surroundings.
func (p *pool) context(u *unit) []float64 {
	out := p.degrees(u)
	for t := range out {
		out[t] *= p.s.neighbourWord
	}
	return out
}

// isUserMessage reports whether a unit is a message of the user: their own statements and decisions are worth more than
// answers to them. A group chat has none.
func isUserMessage(u *unit) bool { return u.Role == chat.RoleUser && u.Speaker == "" && u.File == "" }

// degrees returns how well a unit and its neighbours match each term of the query: where it matches best, and less in a
// neighbour.
func (p *pool) degrees(u *unit) []float64 {
	out := make([]float64, len(p.weight))
	copy(out, u.tf)
	share := p.s.neighbourWord * p.neighbourShare(u)
	for _, b := range p.neighboursOf(u.index, termDistance) {
		for t, tf := range p.units[b.at].tf {
			out[t] = max(out[t], tf*share/b.away)
		}
	}
	return out
}

// neighbour is a unit of the same thread at some distance.
type neighbour struct {
	at   int
	away float64 // at least 1
}

// neighboursOf returns the units within a distance on both sides. The pool has gaps: a unit is no neighbour if there are
// more turns than units between the two.
func (p *pool) neighboursOf(i, distanceLimit int) []neighbour {
	out := make([]neighbour, 0, 2*distanceLimit)
	for _, step := range [2]int{-1, 1} {
		u, away := &p.units[i], 0.0
		for at, n := i+step, int64(1); at >= 0 && at < len(p.units); at, n = at+step, n+1 {
			other := &p.units[at]
			if away += distance(other.UnitRef); away > float64(distanceLimit) || other.thread != u.thread {
				break
			}
			if other.Seq-u.Seq <= n && u.Seq-other.Seq <= n {
				out = append(out, neighbour{at, max(away, 1)})
			}
		}
	}
	return out
}

// distance returns how much a unit adds to the distance between the units before and after it. Between people a short
// line is only a part of a statement, so several such lines count as one step.
func distance(u chat.UnitRef) float64 {
	if u.Speaker == "" {
		return 1
	}
	return min(max(float64(u.Tokens)/fullLine, minDistance), 1)
}

// neighbourShare returns how much of its neighbours' scores a unit gets: a long unit says more itself, and costs more.
func (p *pool) neighbourShare(u *unit) float64 {
	return math.Min(1, float64(p.s.neighbourFull)/math.Max(1, float64(u.Tokens)))
}

// factor is the factor for a unit's own score.
func (p *pool) factor(u *unit) float64 {
	f := p.decision(u) * p.lengthFactor(u.Tokens, u.Speaker != "")
	if u.Speaker != "" && p.names(u.Speaker) {
		f *= 1 + p.s.speakerBoost
	}
	return f
}

// lengthFactor is the penalty for a text's length.
func (p *pool) lengthFactor(tokens int, person bool) float64 {
	if p.s.lengthCost <= 0 {
		return 1
	}
	free := float64(p.s.lengthFree)
	if person {
		free *= freeOfPeople
	}
	return 1 / math.Pow(math.Max(float64(tokens)/free, 1), p.s.lengthCost)
}

// names reports whether the query names a person, by any part of the name.
func (p *pool) names(speaker string) bool {
	return slices.ContainsFunc(lexical.Words(speaker), func(word string) bool { return p.query[word] })
}

// borrowedScore is the score that a unit gets from its neighbours.
func (p *pool) borrowedScore(i int) float64 {
	near := p.neighboursOf(i, max(p.s.nearbyUnits, termDistance))
	sum, best := 0.0, 0.0
	for _, b := range near {
		base := p.units[b.at].base
		if b.away <= termDistance {
			sum += p.s.neighbourSum * base / b.away
		}
		if b.away <= float64(p.s.nearbyUnits) {
			best = max(best, base)
		}
	}
	share := p.s.nearbyBest
	if p.units[i].Speaker != "" {
		share *= nearbyOfPeople
	}
	return (sum + share*best) * p.neighbourShare(&p.units[i])
}
