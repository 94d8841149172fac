package prompt

import (
	"cmp"
	"slices"
)

// Size is the size of one finalized turn of the lineage.
type Size struct {
	Seq     int64
	Tokens  int  // both messages as rendered, with their framing
	Pending bool // not committed yet: always sent in full
}

// Plan says how each part of the lineage is represented. It is a pure function of the sizes and the budget: the same
// conversation with the same budget gives the same plan, and while it grows the cut never moves back.
type Plan struct {
	// Cut is the turn_seq up to which history is represented by ranges; originals
	// are the turns after it. 0: all originals.
	Cut int64 `json:"cut"`
	// Ranges cover everything up to the cut, oldest first, without gaps.
	Ranges []Range `json:"ranges"`
}

// Range is a contiguous, half-open range of turn_seqs [From, To) and how many
// tokens its representation should take.
type Range struct {
	From   int64 `json:"from"`
	To     int64 `json:"to"`
	Target int   `json:"target"`
	Tokens int   `json:"tokens"` // of the originals
}

// MakePlan simulates the cut turn by turn: when it reaches the high-water mark it moves to the low-water mark in one
// step, so that requests between two moves share their prefix.
func MakePlan(sizes []Size, b Budget, p Policy) Plan {
	switch p.History {
	case HistoryOff:
		return Plan{}
	case HistorySRD:
		return Plan{Cut: lastCommitted(sizes)}
	}
	cuts := simulate(sizes, b, p)
	return planFor(sizes, cuts, b, p)
}

// Compact is MakePlan for a conversation that does not fit as it is: if the cut has never moved, it does now.
func Compact(sizes []Size, b Budget, p Policy) Plan {
	plan := MakePlan(sizes, b, p)
	if plan.Cut > 0 || p.History != HistoryElastic {
		return plan
	}
	next := advance(sizes, 0, len(sizes), weight(sizes), b, p)
	return planFor(sizes, clampToCommitted([]int{next}, sizes), b, p)
}

// AdvanceToFit is the shrinker's step 0: it moves the cut from a turn_seq as far as necessary for ranges and
// originals to fit into this many tokens, at most to its limit: the preserved and the pending turns stay.
func AdvanceToFit(sizes []Size, from int64, space int, b Budget, p Policy) Plan {
	if p.History != HistoryElastic {
		return MakePlan(sizes, b, p)
	}
	cuts, limit := simulate(sizes, b, p), limitOf(sizes, p)
	at, _ := slices.BinarySearchFunc(sizes, from+1, func(s Size, seq int64) int { return cmp.Compare(s.Seq, seq) })
	for at++; ; at++ {
		at = min(at, limit)
		before := slices.DeleteFunc(slices.Clone(cuts), func(c int) bool { return c >= at })
		plan := planFor(sizes, append(before, at), b, p)
		if at >= limit || weight(sizes[at:])+plan.targets()+rangeOverhead*(len(plan.Ranges)+1) <= space {
			return plan
		}
	}
}

// rangeOverhead is the cost of the frame of a range, in tokens.
const rangeOverhead = 24

// Next is the plan if the cut moved now: background jobs prepare for it when the history approaches its mark. near is
// false until then.
func Next(sizes []Size, b Budget, p Policy) (plan Plan, near bool) {
	if p.History != HistoryElastic {
		return Plan{}, false
	}
	cuts := simulate(sizes, b, p)
	start := 0
	if len(cuts) > 0 {
		start = cuts[len(cuts)-1]
	}
	sum := weight(sizes[start:])
	if float64(sum) < nearShare*float64(b.mark(len(cuts) > 0)) {
		return Plan{}, false
	}
	next := advance(sizes, start, len(sizes), sum, b, p)
	if next == start {
		return Plan{}, false
	}
	return planFor(sizes, append(cuts, next), b, p), true
}

// nearShare is the share of the mark from which the next plan is prepared in the background.
const nearShare = 0.8

// mark is the size of originals above which the cut moves: all that fits before the first cut, later the high-water
// mark.
func (b Budget) mark(cut bool) int {
	if cut {
		return b.HighWater
	}
	return b.Whole
}

func weight(sizes []Size) int {
	n := 0
	for _, s := range sizes {
		n += s.Tokens
	}
	return n
}

// simulate returns every position (an index into sizes) that the cut moved to, in order.
func simulate(sizes []Size, b Budget, p Policy) []int {
	var cuts []int
	cut, sum := 0, 0
	for i, s := range sizes {
		sum += s.Tokens
		if sum <= b.mark(len(cuts) > 0) {
			continue
		}
		next := advance(sizes, cut, i+1, sum, b, p)
		for ; cut < next; cut++ {
			sum -= sizes[cut].Tokens
		}
		if len(cuts) == 0 || cuts[len(cuts)-1] < cut {
			cuts = append(cuts, cut)
		}
	}
	return clampToCommitted(cuts, sizes)
}

// advance moves a cut towards the low-water mark and keeps the preserved turns.
func advance(sizes []Size, cut, end, sum int, b Budget, p Policy) int {
	maxCut := end - p.preservedTurns()
	for sum > b.LowWater && cut < maxCut {
		sum -= sizes[cut].Tokens
		cut++
	}
	return cut
}

// clampToCommitted keeps the cut before the first pending turn.
func clampToCommitted(cuts []int, sizes []Size) []int {
	first := firstPending(sizes)
	for i, c := range cuts {
		if c > first {
			cuts = cuts[:i]
			if i == 0 && first > 0 || i > 0 && cuts[i-1] < first {
				cuts = append(cuts, first)
			}
			return cuts
		}
	}
	return cuts
}

func firstPending(sizes []Size) int {
	for i, s := range sizes {
		if s.Pending {
			return i
		}
	}
	return len(sizes)
}

func limitOf(sizes []Size, p Policy) int {
	return max(0, min(firstPending(sizes), len(sizes)-p.preservedTurns()))
}

func lastCommitted(sizes []Size) int64 {
	if i := firstPending(sizes); i > 0 {
		return sizes[i-1].Seq
	}
	return 0
}

// planFor converts cut positions to ranges and merges the oldest until their targets fit into the section.
func planFor(sizes []Size, cuts []int, b Budget, p Policy) Plan {
	if len(cuts) == 0 {
		return Plan{}
	}
	last := cuts[len(cuts)-1]
	if last == 0 {
		return Plan{}
	}
	plan := Plan{Cut: sizes[last-1].Seq}
	from := 0
	for _, c := range cuts {
		if c > from {
			plan.Ranges = append(plan.Ranges, rangeOf(sizes, from, c, b, p))
			from = c
		}
	}
	plan.merge(b, p)
	return plan
}

func rangeOf(sizes []Size, from, to int, b Budget, p Policy) Range {
	r := Range{From: sizes[from].Seq, To: sizes[to-1].Seq + 1}
	for _, s := range sizes[from:to] {
		r.Tokens += s.Tokens
	}
	r.Target = RangeTarget(r.Tokens, b, p)
	return r
}

// RangeTarget is the target size of the summary of a range with this many tokens.
func RangeTarget(tokens int, b Budget, p Policy) int {
	t := int(float64(tokens) * p.SummaryRatio)
	return max(1, min(max(t, p.SummaryMin), p.SummaryMax, max(b.Summaries/2, 1)))
}

// merge joins the two oldest ranges while the section is too full: the oldest turns are compressed most.
func (pl *Plan) merge(b Budget, p Policy) {
	for len(pl.Ranges) > 1 && pl.targets() > b.Summaries {
		a, c := pl.Ranges[0], pl.Ranges[1]
		joined := Range{From: a.From, To: c.To, Tokens: a.Tokens + c.Tokens}
		joined.Target = RangeTarget(joined.Tokens, b, p)
		pl.Ranges = append([]Range{joined}, pl.Ranges[2:]...)
	}
}

func (pl Plan) targets() int {
	n := 0
	for _, r := range pl.Ranges {
		n += r.Target
	}
	return n
}
