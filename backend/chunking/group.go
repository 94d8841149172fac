package chunking

// limits are the target sizes of groups of pieces, in estimated tokens.
type limits struct{ min, max int }

// run is pieces [from, to).
type run struct{ from, to int }

// group builds runs of pieces: at least the minimum, ended at the first heading or page after it, and never over the
// maximum unless a piece is.
func group(ps []piece, l limits) []run {
	var runs []run
	from, size := 0, 0
	for i, p := range ps {
		for i > from && size+int(p.tokens) > l.max {
			at := bestCut(ps, from, i, l.min)
			runs = append(runs, run{from, at})
			for ; from < at; from++ {
				size -= int(ps[from].tokens)
			}
		}
		if i > from && size >= l.min && p.border >= borderTopic {
			runs = append(runs, run{from, i})
			from, size = i, 0
		}
		size += int(p.tokens)
	}
	if from < len(ps) {
		runs = append(runs, run{from, len(ps)})
	}
	return balanceEnd(ps, runs, l)
}

// bestCut returns where to cut pieces [from, to): a position in (from, to], with at least minTokens before it if
// possible, at the strongest border; among equal ones, the last.
func bestCut(ps []piece, from, to, minTokens int) int {
	best, bestEnough, size := to, false, 0
	for k := from + 1; k <= to; k++ {
		size += int(ps[k-1].tokens)
		enough := size >= minTokens
		switch {
		case k == from+1, enough && !bestEnough, enough == bestEnough && ps[k].border >= ps[best].border:
			best, bestEnough = k, enough
		}
	}
	return best
}

// balanceEnd joins a last run that is too small with the previous one, or moves a part of the previous run to it.
func balanceEnd(ps []piece, runs []run, l limits) []run {
	n := len(runs)
	if n < 2 {
		return runs
	}
	a, b := runs[n-2], runs[n-1]
	left, right := tokensOf(ps, a), tokensOf(ps, b)
	if right >= l.min {
		return runs
	}
	if left+right <= l.max {
		return append(runs[:n-2], run{a.from, b.to})
	}
	best := b.from
	for k := b.from - 1; k > a.from; k-- {
		left -= int(ps[k].tokens)
		right += int(ps[k].tokens)
		if left < l.min || right > l.max {
			break
		}
		if right >= l.min && (best == b.from || ps[k].border > ps[best].border) {
			best = k
		}
	}
	runs[n-2].to, runs[n-1].from = best, best
	return runs
}

// joined converts each run to one piece.
func joined(ps []piece, runs []run) []piece {
	out := make([]piece, len(runs))
	for i, r := range runs {
		out[i] = ps[r.from]
		out[i].end, out[i].tokens = ps[r.to-1].end, int32(tokensOf(ps, r)) // see piece
	}
	return out
}

func tokensOf(ps []piece, r run) int {
	n := 0
	for _, p := range ps[r.from:r.to] {
		n += int(p.tokens)
	}
	return n
}
