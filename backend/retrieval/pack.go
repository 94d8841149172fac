package retrieval

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/prompt"
)

// packer fills a budget with units, best first, as artifacts of their chunks: a chunk
// whole, or slices of it, or its summary (SRD 8.3).
type packer struct {
	q      Query
	s      Settings
	count  func(string) int
	texts  map[chat.ChunkID]chat.ChunkText
	chunks map[chat.ChunkID]*packed
	order  []*packed // by best unit
	said   map[string]bool
	left   int
}

// packed is what of a chunk is taken so far.
type packed struct {
	text    chat.ChunkText
	best    *unit
	spans   []chat.Span
	summary bool
	cost    int
}

// batch is how many chunks are read at a time, beyond what is likely to fit.
const batch = 24

// fill reads the texts of what is ranked best, packs them and tells the hits.
func (e *Engine) fill(ctx context.Context, q Query, s Settings, p *pool, ranked []*unit, res *Result) error {
	limit := q.Limit
	if limit <= 0 {
		limit = s.TopK
	}
	hits := bestOfChunks(ranked, limit)
	pk := newPacker(q, s)
	if err := pk.read(ctx, e.Store, hits); err != nil {
		return err
	}
	for _, u := range hits {
		if c, ok := pk.texts[u.Chunk]; ok {
			res.Hits = append(res.Hits, hit(c, u, len(res.Hits)+1))
		}
	}
	if q.MaxTokens <= 0 {
		return nil
	}
	if s.SRD {
		ranked = within(ranked, hits)
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
		q: q, s: s, count: q.Count, left: q.MaxTokens, texts: map[chat.ChunkID]chat.ChunkText{},
		chunks: map[chat.ChunkID]*packed{}, said: map[string]bool{},
	}
	if k.count == nil {
		k.count = func(s string) int { return (len(s) + 3) / 4 }
	}
	return k
}

// bestOfChunks are the best units of the best n chunks.
func bestOfChunks(ranked []*unit, n int) []*unit {
	seen := map[chat.ChunkID]bool{}
	var out []*unit
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

// within keeps the units of the same chunks as some.
func within(ranked, some []*unit) []*unit {
	return slices.DeleteFunc(slices.Clone(ranked), func(u *unit) bool {
		return !slices.ContainsFunc(some, func(v *unit) bool { return v.Chunk == u.Chunk })
	})
}

func hit(c chat.ChunkText, u *unit, rank int) Hit {
	return Hit{
		ChunkText: c, Unit: bounded(c, u), Rank: rank, Score: u.score, Cosine: u.cosine, Similarity: u.similar,
		BM25: u.bm25, Keyword: u.keyword,
	}
}

// bounded is a unit's place in its source, which is not trusted to hold it.
func bounded(c chat.ChunkText, u *unit) chat.Span {
	end := min(max(u.End, 0), len(c.Source))
	return chat.Span{Start: min(max(u.Start, 0), end), End: end}
}

// read fetches the chunks of units that are not there yet.
func (k *packer) read(ctx context.Context, store Store, units []*unit) error {
	var ids []chat.ChunkID
	asked := map[chat.ChunkID]bool{}
	for _, u := range units {
		if _, ok := k.texts[u.Chunk]; !ok && !asked[u.Chunk] {
			asked[u.Chunk] = true
			ids = append(ids, u.Chunk)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	texts, err := store.ChunkTexts(ctx, ids)
	for _, c := range texts {
		k.texts[c.ID] = c
	}
	return err
}

// pack takes units while they fit, and passes over what does not: what follows may be
// smaller. It ends when next to nothing is left, or much was passed over.
func (k *packer) pack(ctx context.Context, store Store, ranked []*unit) error {
	passed := 0
	for len(ranked) > 0 && k.left >= leastArtifact && passed < mostPassed {
		now := ranked[:k.likely(ranked)]
		ranked = ranked[len(now):]
		passed += len(now)
		now = slices.DeleteFunc(slices.Clone(now), k.hopeless) // their texts need not be read
		passed -= len(now)
		if err := k.read(ctx, store, now); err != nil {
			return err
		}
		if k.s.MMR {
			now = k.varied(now)
		}
		for _, u := range now {
			if err := ctx.Err(); err != nil {
				return err
			}
			if !k.take(u) {
				passed++
			}
		}
	}
	return nil
}

const (
	leastArtifact = 12  // tokens: the line of date and speaker, and a word
	mostPassed    = 200 // units that did not fit
)

// likely is how many units may fit into what is left, and some to choose from.
func (k *packer) likely(ranked []*unit) int {
	sum := 0
	for i, u := range ranked {
		if sum += u.Tokens + leastArtifact; sum > k.left {
			return min(i+batch, len(ranked))
		}
	}
	return len(ranked)
}

// take adds a unit to its chunk's artifact, if that fits. What was said in the same
// words is there already.
func (k *packer) take(u *unit) bool {
	c, ok := k.texts[u.Chunk]
	if !ok {
		return false
	}
	if k.hopeless(u) {
		return false
	}
	span := bounded(c, u)
	words := strings.TrimSpace(c.Source[span.Start:span.End])
	if words == "" || k.said[words] {
		return true
	}
	if u.Tokens > k.q.MaxTokens/2 {
		span = k.passage(c.Source, span)
	}
	if k.add(c, u, span) {
		k.said[words] = true
		return true
	}
	return len(k.order) < k.s.TopK && k.chunks[u.Chunk] == nil && k.summarize(c, u)
}

// hopeless reports a unit that cannot fit, however its tokens are counted, and that is
// not so large that a passage of it would do.
func (k *packer) hopeless(u *unit) bool {
	return 2*u.Tokens > 3*k.left && u.Tokens <= k.q.MaxTokens/2
}

// add takes a span in, if the artifact that results fits.
func (k *packer) add(c chat.ChunkText, u *unit, span chat.Span) bool {
	old, cost := k.chunks[c.ID], 0
	var spans []chat.Span
	if old != nil {
		if old.summary {
			return false
		}
		spans, cost = old.spans, old.cost
	}
	spans = merged(c.Source, append(slices.Clone(spans), span))
	form, slices := formOf(c, spans)
	total := prompt.ArtifactCost(Render(c, form, slices), k.count)
	if total-cost > k.left {
		return false
	}
	k.left -= total - cost
	if old == nil {
		old = &packed{text: c, best: u}
		k.chunks[c.ID] = old
		k.order = append(k.order, old)
	}
	old.spans, old.cost = spans, total
	return true
}

// summarize takes a chunk's summary in where its words do not fit.
func (k *packer) summarize(c chat.ChunkText, u *unit) bool {
	if strings.TrimSpace(c.Summary) == "" {
		return false
	}
	cost := prompt.ArtifactCost(Render(c, chat.PackedSummary, nil), k.count)
	if cost > k.left || cost >= prompt.ArtifactCost(Render(c, chat.PackedFull, nil), k.count) {
		return false
	}
	k.left -= cost
	k.chunks[c.ID] = &packed{text: c, best: u, summary: true, cost: cost}
	k.order = append(k.order, k.chunks[c.ID])
	return true
}

// artifacts are what was packed, best first.
func (k *packer) artifacts() []Artifact {
	out := make([]Artifact, 0, len(k.order))
	for i, x := range k.order {
		a := Artifact{Hit: hit(x.text, x.best, i+1), Form: chat.PackedSummary, Tokens: x.cost}
		if !x.summary {
			a.Form, a.Slices = formOf(x.text, x.spans)
		}
		a.Text = Render(x.text, a.Form, a.Slices)
		out = append(out, a)
	}
	return out
}

// formOf is full where spans leave nothing out but white space.
func formOf(c chat.ChunkText, spans []chat.Span) (chat.PackedAs, []chat.Span) {
	if len(spans) == 1 && blank(c.Source, c.Start, spans[0].Start) && blank(c.Source, spans[0].End, c.End) {
		return chat.PackedFull, nil
	}
	return chat.PackedSlice, spans
}

// blank reports that nothing but white space stands from..to.
func blank(s string, from, to int) bool {
	return from >= to || from < 0 || to > len(s) || strings.TrimSpace(s[from:to]) == ""
}

// merged sorts spans and joins those that touch but for white space.
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
