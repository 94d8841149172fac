package retrieval

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/prompt"
)

// packer fills a budget with units, best first, as artifacts of their chunks: a whole chunk, slices of it, or its
// summary (SRD 8.3).
type packer struct {
	q           Query
	s           Settings
	count       func(string) int
	texts       map[chat.ChunkID]chat.ChunkText
	chunks      map[chat.ChunkID]*packed
	order       []*packed // by best unit
	packedTexts map[string]bool
	days        map[string]bool // days whose date heading is already counted
	remaining   int
}

// packed is the part of a chunk packed so far.
type packed struct {
	text    chat.ChunkText
	best    *item
	spans   []chat.Span
	summary bool
	cost    int
}

// batch is how many units are read at a time, beyond those that are likely to fit.
const batch = 24

// fill reads the texts of the best items, packs them and returns the hits.
func (e *Engine) fill(ctx context.Context, q Query, s Settings, pk *packer, ranked []*item, res *Result) error {
	limit := q.Limit
	if limit <= 0 {
		limit = s.TopK
	}
	hits := bestOfChunks(byRelevance(ranked), limit)
	if err := pk.read(ctx, e.Store, unitsOf(hits)); err != nil {
		return err
	}
	for _, u := range hits {
		if c, ok := pk.texts[u.Chunk]; ok {
			res.Hits = append(res.Hits, pk.hit(c, u, len(res.Hits)+1))
		}
	}
	if q.MaxTokens <= 0 {
		return nil
	}
	if err := pk.pack(ctx, e.Store, ranked); err != nil {
		return err
	}
	res.Artifacts = pk.artifacts()
	for _, a := range res.Artifacts {
		res.Tokens += a.Tokens
	}
	return nil
}

func newPacker(q Query, s Settings) *packer {
	k := &packer{
		q: q, s: s, count: q.Count, remaining: q.MaxTokens, texts: map[chat.ChunkID]chat.ChunkText{},
		chunks: map[chat.ChunkID]*packed{}, packedTexts: map[string]bool{}, days: map[string]bool{},
	}
	if k.count == nil {
		k.count = func(s string) int { return (len(s) + 3) / 4 }
	}
	return k
}

// bestOfChunks returns the best unit of each of the best n chunks.
func bestOfChunks(ranked []*item, n int) []*item {
	seen := map[chat.ChunkID]bool{}
	var out []*item
	for _, u := range ranked {
		if len(out) == n {
			break
		}
		if !seen[u.Chunk] {
			seen[u.Chunk] = true
			out = append(out, u)
		}
	}
	return out
}

// inSameChunks keeps the ranked units that are in the same chunk as one of others.
func inSameChunks(ranked, others []*item) []*item {
	return slices.DeleteFunc(slices.Clone(ranked), func(u *item) bool {
		return !slices.ContainsFunc(others, func(v *item) bool { return v.Chunk == u.Chunk })
	})
}

func (k *packer) hit(c chat.ChunkText, x *item, rank int) Hit {
	h := Hit{
		ChunkText: c, Unit: inside(c, x.span), Rank: rank, Score: x.score, Cosine: x.cosine, Similarity: x.similar, Measured: x.measured, BM25: x.bm25, Keyword: x.keyword,
	}
	if x.explain != nil {
		h.Score, h.Why = x.explain.score(x), x.explain.why(x)
	}
	return h
}

// bounded is a unit's span limited to its source, in case it is invalid.
func bounded(c chat.ChunkText, u *unit) chat.Span {
	return inside(c, chat.Span{Start: u.Start, End: u.End})
}

func inside(c chat.ChunkText, s chat.Span) chat.Span {
	end := min(max(s.End, 0), len(c.Source))
	return chat.Span{Start: min(max(s.Start, 0), end), End: end}
}

// read fetches the missing chunks of units.
func (k *packer) read(ctx context.Context, store Store, units []*unit) error {
	var missing []chat.ChunkID
	requested := map[chat.ChunkID]bool{}
	for _, u := range units {
		if _, ok := k.texts[u.Chunk]; !ok && !requested[u.Chunk] {
			requested[u.Chunk] = true
			missing = append(missing, u.Chunk)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	texts, err := store.ChunkTexts(ctx, missing)
	k.addTexts(texts)
	return err
}

func (k *packer) isUnread(u *item) bool {
	_, ok := k.texts[u.Chunk]
	return !ok
}

func (k *packer) addTexts(texts []chat.ChunkText) {
	for _, c := range texts {
		k.texts[c.ID] = c
	}
}

// pack takes units while they fit, and skips those that do not, because later ones may be smaller. It stops when almost
// nothing remains of the budget, or many units were skipped.
func (k *packer) pack(ctx context.Context, store Store, ranked []*item) error {
	skipped := 0
	for round := 0; len(ranked) > 0 && k.remaining >= minArtifact && skipped < maxSkipped; round++ {
		current := ranked[:k.estimateFit(ranked)]
		ranked = ranked[len(current):]
		skipped += len(current)
		current = slices.DeleteFunc(slices.Clone(current), k.cannotFit) // their texts need not be read
		skipped -= len(current)
		if slices.ContainsFunc(current, k.isUnread) {
			// If little of what is read fits, further rounds will follow, so their texts are read at the same time.
			next := slices.DeleteFunc(slices.Clone(ranked[:min(round*batch, len(ranked))]), k.cannotFit)
			if err := k.read(ctx, store, unitsOf(slices.Concat(current, next))); err != nil {
				return err
			}
		}
		if k.s.MMR {
			current = k.mmr(current)
		}
		for _, u := range current {
			if err := ctx.Err(); err != nil {
				return err
			}
			if !k.take(u) {
				skipped++
			}
		}
	}
	return nil
}

const (
	minArtifact = 12  // tokens: the line with the hour and the speaker, and a word
	maxSkipped  = 200 // units that did not fit
)

// estimateFit is about how many units may fit into the remaining budget, plus some more to choose from.
func (k *packer) estimateFit(ranked []*item) int {
	sum := 0
	for i, u := range ranked {
		if sum += u.tokens + minArtifact; sum > k.remaining {
			return min(i+batch, len(ranked))
		}
	}
	return len(ranked)
}

// take adds a unit to its chunk's artifact if that fits. A text that is already packed is not added again.
func (k *packer) take(u *item) bool {
	c, ok := k.texts[u.Chunk]
	if !ok {
		return false
	}
	if k.cannotFit(u) {
		return false
	}
	span := inside(c, u.span)
	body := strings.TrimSpace(c.Source[span.Start:span.End])
	if body == "" || k.packedTexts[body] {
		return true
	}
	if u.questionOnly && (u.answer == nil || !k.take(u.answer)) {
		return false // a question without its answer is useless
	}
	if u.tokens > k.q.MaxTokens/2 {
		span = k.passage(c.Source, span)
	}
	spans := []chat.Span{span}
	if lead := inside(c, u.lead); lead.Start < lead.End {
		spans = append(spans, lead)
	}
	if k.add(c, u, spans...) {
		k.packedTexts[body] = true
		return true
	}
	return len(k.order) < k.s.TopK && k.chunks[u.Chunk] == nil && k.summarize(c, u)
}

// cannotFit reports whether a unit cannot fit, however its tokens are counted, and is not so large that only a passage
// of it would be packed.
func (k *packer) cannotFit(u *item) bool {
	return 2*u.tokens > 3*k.remaining && u.tokens <= k.q.MaxTokens/2
}

// add adds spans of a chunk if the resulting artifact fits.
func (k *packer) add(c chat.ChunkText, u *item, added ...chat.Span) bool {
	old, cost := k.chunks[c.ID], 0
	var spans []chat.Span
	if old != nil {
		if old.summary {
			return false
		}
		spans, cost = old.spans, old.cost
	} else if k.isFull() {
		return false
	}
	spans = merged(c.Source, append(slices.Clone(spans), added...))
	form, slices := formOf(c, spans)
	total := prompt.ArtifactCost(Render(c, form, slices), k.count)
	if !k.spend(c, total-cost) {
		return false
	}
	if old == nil {
		old = &packed{text: c, best: u}
		k.chunks[c.ID] = old
		k.order = append(k.order, old)
	}
	old.spans, old.cost = spans, total
	return true
}

// isFull reports whether no further chunk may be packed, whatever remains of the budget.
func (k *packer) isFull() bool {
	limit := k.s.Bounds.Artifacts
	return limit > 0 && len(k.order) >= limit
}

// spend subtracts the cost of an artifact from the remaining budget, including its date heading if it is the first
// artifact of that day. false: the cost is too high.
func (k *packer) spend(c chat.ChunkText, cost int) bool {
	day := Day(c, k.q.Within.Session)
	if !k.days[day] {
		cost += prompt.DayCost(day, k.count)
	}
	if cost > k.remaining {
		return false
	}
	k.remaining -= cost
	k.days[day] = true
	return true
}

// summarize adds a chunk's summary if its text does not fit.
func (k *packer) summarize(c chat.ChunkText, u *item) bool {
	if strings.TrimSpace(c.Brief()) == "" || k.isFull() {
		return false
	}
	cost := prompt.ArtifactCost(Render(c, chat.PackedSummary, nil), k.count)
	if cost >= prompt.ArtifactCost(Render(c, chat.PackedFull, nil), k.count) || !k.spend(c, cost) {
		return false
	}
	k.chunks[c.ID] = &packed{text: c, best: u, summary: true, cost: cost}
	k.order = append(k.order, k.chunks[c.ID])
	return true
}

// artifacts returns the packed artifacts, best first.
func (k *packer) artifacts() []Artifact {
	out := make([]Artifact, 0, len(k.order))
	for i, x := range k.order {
		a := Artifact{Hit: k.hit(x.text, x.best, i+1), Form: chat.PackedSummary, Tokens: x.cost}
		if !x.summary {
			a.Form, a.Slices = formOf(x.text, x.spans)
		}
		a.Text = Render(x.text, a.Form, a.Slices)
		out = append(out, a)
	}
	return out
}

// formOf returns the form of a chunk of which these spans are packed: full if they leave out nothing but white space.
func formOf(c chat.ChunkText, spans []chat.Span) (chat.PackedAs, []chat.Span) {
	if len(spans) == 1 && blank(c.Source, c.Start, spans[0].Start) && blank(c.Source, spans[0].End, c.End) {
		return chat.PackedFull, nil
	}
	return chat.PackedSlice, spans
}

// blank reports whether s[from:to] is only white space.
func blank(s string, from, to int) bool {
	return from >= to || from < 0 || to > len(s) || strings.TrimSpace(s[from:to]) == ""
}

// merged sorts spans and joins those separated by white space only.
func merged(source string, spans []chat.Span) []chat.Span {
	slices.SortFunc(spans, func(a, b chat.Span) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
	out := spans[:1]
	for _, s := range spans[1:] {
		if last := &out[len(out)-1]; blank(source, last.End, s.Start) {
			last.End = max(last.End, s.End)
			continue
		}
		out = append(out, s)
	}
	return out
}

func unitsOf(items []*item) []*unit {
	return lists.Map(items, func(x *item) *unit { return x.unit })
}
