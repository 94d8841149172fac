package retrieval

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lexical"
	"contextinfinity/backend/internal/lists"
)

// unit is a candidate with what ranking knows of it.
type unit struct {
	chat.UnitRef
	thread  string // units of one thread are in one order of turns
	tf      []float64
	bm25    float64
	keyword float64 // by its own words, the best is 1
	cosine  float64
	similar float64 // share of noise below the cosine
	vector  float64 // what the cosine counts, the best is 1
	base    float64
	lent    float64
	far     bool // nothing of it matches, nor what is next to it: it is in for what was said about a match
	index   int
	score   float64
}

// pool is the units that are ranked, in the order in which they were said.
type pool struct {
	s      Settings
	units  []unit
	weight []float64 // of terms
	share  float64   // of vectors
	top    float64
	query  map[string]bool // its words, in lower case
}

const (
	// nearTurns is how far around a good candidate neighbours are read, in turns.
	nearTurns = 2
	// farTurns is how far at most where there are few candidates.
	farTurns = 60
)

// reach is how far around good candidates neighbours are read. A question that shares words
// with few passages leaves most of its budget: what was said about these is the best use of it.
func reach(refs []chat.UnitRef, q Query, s Settings) int64 {
	candidates, tokens, steps := len(refs), 0, 0.0
	for _, r := range refs {
		tokens += r.Tokens + leastArtifact
		steps += distance(r)
	}
	if candidates == 0 {
		return nearTurns
	}
	least := int(nearTurns * float64(candidates) / steps) // of short lines more belong together
	if tokens >= q.MaxTokens {
		return int64(least)
	}
	return int64(min(max(s.Candidates/candidates, least), farTurns))
}

// pool gathers the best candidates of both halves, and the neighbours of the best of
// these: a question is often answered in words that it does not use itself. While the
// neighbours are read, so are the texts of the candidates: most will be needed.
func (e *Engine) pool(ctx context.Context, q Query, s Settings, w words, v similar, pk *packer) (*pool, error) {
	p := &pool{s: s, weight: w.weight, share: s.share(v.name), query: map[string]bool{}}
	for _, word := range lexical.Words(q.Text) {
		p.query[word] = true
	}
	for _, t := range w.terms { // those that are in for misspelt names too
		p.query[t] = true
	}
	if len(w.tf) == 0 {
		p.share = 1
	}
	v.hush(s)
	best := p.best(w, v)
	refs, err := e.Store.Units(ctx, q.Within, best)
	if err != nil {
		return nil, err
	}
	known := make(map[int64]bool, len(refs)*2)
	for _, r := range refs {
		known[r.N] = true
	}
	if spans := around(refs, best, s.Near, reach(refs, q, s)); len(spans) > 0 {
		near, err := e.neighbours(ctx, q.Within, spans, pk, refs)
		if err != nil {
			return nil, err
		}
		for _, r := range near {
			if !known[r.N] {
				known[r.N] = true
				refs = append(refs, r)
			}
		}
	}
	p.take(refs, q.Within, w, v)
	return p, nil
}

// neighbours reads the units of spans and, beside them, the texts of units that are known.
func (e *Engine) neighbours(ctx context.Context, in chat.Within, spans []chat.SeqSpan, pk *packer, known []chat.UnitRef) (near []chat.UnitRef, err error) {
	ids := lists.Map(known, func(r chat.UnitRef) chat.ChunkID { return r.Chunk })
	var side sync.WaitGroup
	side.Go(func() { _ = pk.readChunks(ctx, e.Store, ids) }) // what is missing is read again when it is needed
	near, err = e.Store.UnitsNear(ctx, in, spans)
	side.Wait()
	return near, err
}

// hush drops cosines that do not stand out of the noise. The plain ranking drops later:
// its threshold applies to the similarity with the boost for what is new.
func (v *similar) hush(s Settings) {
	if s.SRD {
		return
	}
	for n, c := range v.cosine {
		if v.noise.similarity(c) < s.Threshold {
			delete(v.cosine, n)
		}
	}
}

// best are the candidates, best first.
func (p *pool) best(w words, v similar) []int64 {
	type scored struct {
		n     int64
		score float64
	}
	topWord, topVector := 0.0, 0.0
	for n := range w.tf {
		topWord = max(topWord, w.own(n))
	}
	for _, c := range v.cosine {
		topVector = max(topVector, c)
	}
	var list []scored
	add := func(n int64) {
		list = append(list, scored{n, (1-p.share)*ratio(w.own(n), topWord) + p.share*ratio(v.cosine[n], topVector)})
	}
	for n := range w.tf {
		add(n)
	}
	for n := range v.cosine {
		if w.tf[n] == nil {
			add(n)
		}
	}
	slices.SortFunc(list, func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.n, a.n)) })
	return lists.Map(list[:min(len(list), p.s.Candidates)], func(c scored) int64 { return c.n })
}

func ratio(x, of float64) float64 {
	if of <= 0 {
		return 0
	}
	return max(x, 0) / of
}

// around are the turns about the first n of the best, so many on each side.
func around(refs []chat.UnitRef, best []int64, n int, turns int64) []chat.SeqSpan {
	chosen := map[int64]bool{}
	for _, k := range best[:min(len(best), max(n, 0))] {
		chosen[k] = true
	}
	var out []chat.SeqSpan
	for _, r := range refs {
		if chosen[r.N] {
			out = append(out, chat.SeqSpan{Branch: r.Branch, From: r.Seq - turns, To: r.Seq + turns})
		}
	}
	slices.SortFunc(out, func(a, b chat.SeqSpan) int {
		return cmp.Or(cmp.Compare(a.Branch, b.Branch), cmp.Compare(a.From, b.From))
	})
	return slices.Compact(out)
}

// take puts units in order and gives them what was found of them.
func (p *pool) take(refs []chat.UnitRef, in chat.Within, w words, v similar) {
	topWord, topVector := 0.0, 0.0
	for _, r := range refs {
		u := unit{UnitRef: r, thread: thread(r, in), tf: w.tf[r.N], bm25: w.bm25[r.N], keyword: w.own(r.N), cosine: v.cosine[r.N]}
		if u.cosine != 0 {
			u.similar = v.noise.similarity(u.cosine)
		}
		topWord, topVector = max(topWord, u.keyword), max(topVector, u.cosine)
		p.units = append(p.units, u)
	}
	floor := v.noise.cosine(p.s.Threshold)
	for i := range p.units {
		u := &p.units[i]
		u.keyword = ratio(u.keyword, topWord)
		if u.cosine != 0 {
			u.vector = ratio(u.cosine-floor, topVector-floor)
		}
	}
	slices.SortFunc(p.units, func(a, b unit) int {
		return cmp.Or(cmp.Compare(a.thread, b.thread), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Turn, b.Turn),
			cmp.Compare(a.ChunkOrdinal, b.ChunkOrdinal), cmp.Compare(a.Ordinal, b.Ordinal), cmp.Compare(a.N, b.N))
	})
}

// thread tells apart what is not said in one order of turns: sessions, and siblings
// where they are searched. A lineage is one thread, whatever branches it goes through.
func thread(r chat.UnitRef, in chat.Within) string {
	if in.Scope == chat.ScopeLineage || in.Scope == "" && in.Branch != "" || in.Branch != "" && (in.Scope == chat.ScopeAll || in.Scope == chat.ScopeProject) && r.Session == in.Session {
		return string(r.Session)
	}
	return string(r.Session) + " " + string(r.Branch)
}

// rank orders the pool's units, best first, and leaves out those with nothing in them.
func (p *pool) rank() []*unit {
	p.plain()
	var out []*unit
	for i := range p.units {
		if p.units[i].score > 0 {
			out = append(out, &p.units[i])
		}
	}
	slices.SortFunc(out, func(a, b *unit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), b.At.Compare(a.At), cmp.Compare(b.Seq, a.Seq),
			cmp.Compare(a.Chunk, b.Chunk), cmp.Compare(a.Ordinal, b.Ordinal))
	})
	return out
}

func (p *pool) decision(u *unit) float64 {
	if u.Type == chat.ChunkDecision && p.s.DecisionWeight > 0 {
		return p.s.DecisionWeight
	}
	return 1
}

// ages returns how new a unit is among the pool's: the newest 1, the oldest 0.
func (p *pool) ages() func(*unit) float64 {
	if len(p.units) == 0 {
		return func(*unit) float64 { return 0 }
	}
	oldest, newest := p.units[0].At, p.units[0].At
	for i := range p.units {
		if at := p.units[i].At; at.Before(oldest) {
			oldest = at
		} else if at.After(newest) {
			newest = at
		}
	}
	whole := newest.Sub(oldest).Seconds()
	return func(u *unit) float64 {
		if whole <= 0 {
			return 0
		}
		return math.Round(u.At.Sub(oldest).Seconds()/whole*1e6) / 1e6
	}
}
