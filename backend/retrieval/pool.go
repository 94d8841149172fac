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

// unit is a candidate with its ranking data.
type unit struct {
	chat.UnitRef
	thread        string // only turns of one thread have a defined order
	tf            []float64
	bm25          float64
	keyword       float64 // score of its own words; the best is 1
	cosine        float64
	measured      float64 // similar, also if the unit is not near enough
	similar       float64 // share of unrelated units that are less similar to the query
	vector        float64 // score of the cosine, 0 to 1
	base          float64
	borrowedScore float64
	index         int
	score         float64
}

// pool is the units that are ranked, in the order of the conversation.
type pool struct {
	s      Settings
	units  []unit
	weight []float64       // of terms
	share  float64         // of vectors
	total  float64         // weight of all terms of the query
	query  map[string]bool // words of the query, in lower case
}

// contextDistance is the distance in turns up to which neighbours of candidates like these are read: more if their lines
// are short, because several form one statement.
func contextDistance(refs []chat.UnitRef) int64 {
	steps := 0.0
	for _, r := range refs {
		steps += distance(r)
	}
	if steps == 0 {
		return termDistance
	}
	return int64(termDistance * float64(len(refs)) / steps)
}

// pool collects the best candidates of both halves, and the neighbours of the best of these: a question is often
// answered in words that it does not use itself. The texts of the candidates, most of which will be needed, are read
// at the same time as the neighbours.
func (e *Engine) pool(ctx context.Context, q Query, s Settings, w words, v similar, pk *packer) (*pool, error) {
	p := &pool{s: s, weight: w.weight, share: s.share(v.embedder), query: map[string]bool{}}
	for _, word := range lexical.Words(q.Text) {
		p.query[word] = true
	}
	for _, t := range w.terms { // including those of similar spellings
		p.query[t] = true
	}
	p.total = w.total
	best := p.best(w, v)
	refs, err := e.Store.Units(ctx, q.Within, best)
	if err != nil {
		return nil, err
	}
	known := make(map[int64]bool, len(refs)*2)
	for _, r := range refs {
		known[r.N] = true
	}
	if spans := around(refs, best, s.near, contextDistance(refs)); len(spans) > 0 {
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

// neighbours reads the units of spans and, concurrently, the texts of known units.
func (e *Engine) neighbours(ctx context.Context, in chat.Within, spans []chat.SeqSpan, pk *packer, known []chat.UnitRef) (near []chat.UnitRef, err error) {
	ids := lists.Map(known, func(r chat.UnitRef) chat.ChunkID { return r.Chunk })
	slices.Sort(ids)
	ids = slices.Compact(ids)
	var wg sync.WaitGroup
	var texts [2][]chat.ChunkText
	for i, half := range [2][]chat.ChunkID{ids[:len(ids)/2], ids[len(ids)/2:]} {
		wg.Go(func() { texts[i], _ = e.Store.ChunkTexts(ctx, half) }) // missing texts are read again when needed
	}
	near, err = e.Store.UnitsNear(ctx, in, spans)
	wg.Wait()
	pk.addTexts(texts[0])
	pk.addTexts(texts[1])
	return near, err
}

// best returns the candidates, best first.
func (p *pool) best(w words, v similar) []int64 {
	type scored struct {
		n     int64
		score float64
	}
	var list []scored
	add := func(n int64) {
		list = append(list, scored{n, p.either(w.coverage(w.own(n)), v.meaning(n))})
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
	return lists.Map(list[:min(len(list), p.s.candidates)], func(c scored) int64 { return c.n })
}

func ratio(x, total float64) float64 {
	if total <= 0 {
		return 0
	}
	return max(x, 0) / total
}

// around returns the turns on both sides of the n best candidates.
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

// take sorts units and adds the search results to them.
func (p *pool) take(refs []chat.UnitRef, in chat.Within, w words, v similar) {
	topWord := 0.0
	for _, r := range refs {
		u := unit{UnitRef: r, thread: thread(r, in), tf: w.tf[r.N], bm25: w.bm25[r.N], keyword: w.own(r.N), cosine: v.cosine[r.N]}
		if u.cosine != 0 {
			u.similar, u.vector = v.usual.similarity(u.cosine), v.meaning(r.N)
		}
		if c, ok := v.measured[r.N]; ok {
			u.measured = v.usual.similarity(c)
		}
		topWord = max(topWord, u.keyword)
		p.units = append(p.units, u)
	}
	for i := range p.units {
		p.units[i].keyword = ratio(p.units[i].keyword, topWord)
	}
	slices.SortFunc(p.units, func(a, b unit) int {
		return cmp.Or(cmp.Compare(a.thread, b.thread), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Turn, b.Turn),
			cmp.Compare(a.ChunkOrdinal, b.ChunkOrdinal), cmp.Compare(a.Ordinal, b.Ordinal), cmp.Compare(a.N, b.N))
	})
}

// thread separates units that are not in one order of turns: sessions, and siblings if they are searched. A lineage
// is one thread, whatever branches it includes.
func thread(r chat.UnitRef, in chat.Within) string {
	if in.Scope == chat.ScopeLineage || in.Scope == "" && in.Branch != "" || in.Branch != "" && (in.Scope == chat.ScopeAll || in.Scope == chat.ScopeProject) && r.Session == in.Session {
		return string(r.Session)
	}
	return string(r.Session) + " " + string(r.Branch)
}

// ranked returns the units with a score, best first.
func (p *pool) ranked() []*unit {
	var out []*unit
	for i := range p.units {
		if p.units[i].score > 0 {
			out = append(out, &p.units[i])
		}
	}
	slices.SortFunc(out, func(a, b *unit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), inOrder(a, b))
	})
	return out
}

// inOrder breaks ties: newer units first, then by position.
func inOrder(a, b *unit) int {
	return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.Seq, a.Seq), cmp.Compare(a.Chunk, b.Chunk), cmp.Compare(a.Ordinal, b.Ordinal))
}

func (p *pool) decision(u *unit) float64 {
	if u.Type == chat.ChunkDecision && p.s.DecisionWeight > 0 {
		return p.s.DecisionWeight
	}
	return 1
}

// ages returns a function for how recent a unit is within the pool: 1 for the newest, 0 for the oldest.
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
	period := newest.Sub(oldest).Seconds()
	return func(u *unit) float64 {
		if period <= 0 {
			return 0
		}
		return math.Round(u.At.Sub(oldest).Seconds()/period*1e6) / 1e6
	}
}
