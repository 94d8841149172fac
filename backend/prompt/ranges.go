package prompt

import "slices"

// Summary is a range summary that may represent [From, To) of the lineage.
type Summary struct {
	ID     string
	From   int64
	To     int64
	Tokens int // of Text as it is in the prompt
	Text   string
	Model  string // the model that wrote it
}

// Piece is one item of section 4: a range summary, or a deterministic extract if there is no usable summary.
type Piece struct {
	From    int64  `json:"from"`
	To      int64  `json:"to"`
	Summary string `json:"summary,omitempty"` // id; empty: an extract
	Target  int    `json:"target,omitempty"`  // of an extract, tokens
	// Omit are the lines, counted from 0, that the state summary of the same request also contains.
	Omit []int `json:"omit,omitempty"`
	// Restored are the lines of Omit that the state summary no longer contains: they are sent after it, because the
	// range itself cannot change before the cut moves.
	Restored []int `json:"again,omitempty"`
}

// Choose decides what represents each range of a plan, and reports whether these are the pieces of the previous
// request. A summary is usable only if it lies completely before the cut and belongs to the lineage; the caller passes
// no others. Chat never waits for a summary.
//
// previous are the pieces of the previous request. They are kept while their plan is unchanged, even if better
// summaries exist now: a change at the beginning of the prompt loses the provider's cache.
func Choose(plan Plan, usable []Summary, previous *HistoryRecord, b Budget, p Policy) (pieces []Piece, kept bool) {
	if previous != nil && previous.matches(plan, b) && available(previous.Pieces, usable) {
		return previous.Pieces, true
	}
	usable = beforeCut(usable, plan.Cut)
	var out []Piece
	for _, r := range plan.Ranges {
		out = append(out, choosePieces(r, usable, b, p)...)
	}
	return out, false
}

// HistoryRecord is how a manifest records the representation of history.
type HistoryRecord struct {
	Cut       int64   `json:"cut"`
	Allowance int     `json:"allowance"`
	Ranges    []Range `json:"ranges"`
	Pieces    []Piece `json:"pieces"`
}

func (h *HistoryRecord) matches(plan Plan, b Budget) bool {
	return h.Cut == plan.Cut && h.Allowance == b.Allowance && slices.Equal(h.Ranges, plan.Ranges)
}

// available reports whether every named summary still exists.
func available(pieces []Piece, usable []Summary) bool {
	for _, pc := range pieces {
		if pc.Summary != "" && !slices.ContainsFunc(usable, func(s Summary) bool { return s.ID == pc.Summary }) {
			return false
		}
	}
	return true
}

// beforeCut returns the summaries that lie completely before the cut.
func beforeCut(usable []Summary, cut int64) []Summary {
	var out []Summary
	for _, s := range usable {
		if s.To <= cut+1 && s.From < s.To {
			out = append(out, s)
		}
	}
	return out
}

// choosePieces prefers the summary of exactly the range, then a sequence of summaries with extracts in the gaps if
// that is no larger than the range may be, then one extract.
func choosePieces(r Range, usable []Summary, b Budget, p Policy) []Piece {
	for _, s := range usable {
		if s.From == r.From && s.To == r.To && s.Tokens <= maxSize(r, b) {
			return []Piece{{From: r.From, To: r.To, Summary: s.ID}}
		}
	}
	if tiles, tokens := tile(r, usable, p); tokens > 0 && tokens <= maxSize(r, b) {
		return tiles
	}
	return []Piece{{From: r.From, To: r.To, Target: r.Target}}
}

// maxSize is the maximum size of a range's representation: a summary slightly over its target is still better than an
// extract.
func maxSize(r Range, b Budget) int { return min(r.Target+r.Target/2, max(b.Summaries, r.Target)) }

// tile covers a range from the left with the longest summaries inside it. tokens is 0 if there is no summary at all.
func tile(r Range, usable []Summary, p Policy) (pieces []Piece, tokens int) {
	hasSummary := false
	for at := r.From; at < r.To; {
		s, ok := longestFrom(at, r.To, usable)
		if ok {
			pieces, tokens, hasSummary = append(pieces, Piece{From: s.From, To: s.To, Summary: s.ID}), tokens+s.Tokens, true
			at = s.To
			continue
		}
		end := nextStart(at, r.To, usable)
		t := gapTarget(r, end-at, p)
		pieces, tokens = append(pieces, Piece{From: at, To: end, Target: t}), tokens+t
		at = end
	}
	if !hasSummary {
		return nil, 0
	}
	return pieces, tokens
}

func longestFrom(at, end int64, usable []Summary) (best Summary, ok bool) {
	for _, s := range usable {
		if s.From == at && s.To <= end && s.To > best.To {
			best, ok = s, true
		}
	}
	return best, ok
}

func nextStart(at, end int64, usable []Summary) int64 {
	next := end
	for _, s := range usable {
		if s.From > at && s.From < next && s.To <= end {
			next = s.From
		}
	}
	return next
}

// gapTarget is a gap's part of a range's target, by its number of turns.
func gapTarget(r Range, turns int64, p Policy) int {
	return max(p.SummaryMin, int(int64(r.Target)*turns/max(1, r.To-r.From)))
}
