package retrieval

import (
	"context"
	"errors"
	"sync"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/embedding"
)

// Deps are the dependencies of an engine.
type Deps struct {
	Store   Store
	Vectors Vectors
	// Embedder returns the embedder that created the vectors of a namespace.
	Embedder func(context.Context, chat.Namespace) (embedding.Embedder, error)
	// Reranker returns the configured reranker, or nil if there is none. The function itself may be nil too.
	Reranker func() (Reranker, error)
	// Settings is called at each search.
	Settings func() Settings
}

// Engine searches memory. It is safe for concurrent use, and the same memory and query give the same result.
type Engine struct {
	Deps
	mu          sync.Mutex
	backgrounds map[int64]background // by namespace
}

// New creates an engine.
func New(d Deps) *Engine { return &Engine{Deps: d, backgrounds: map[int64]background{}} }

// Search finds chunks by words and by vectors at the same time, ranks their units and packs the best (SPEC 8). Errors
// are chat errors; finding nothing is not an error.
func (e *Engine) Search(ctx context.Context, q Query) (Result, error) {
	begun := time.Now()
	s := e.Settings().effective(q.MaxTokens)
	var (
		res    Result
		ranked []*item
	)
	pk := newPacker(q, s)
	for _, reading := range q.readings(s) {
		found, err := e.ranked(ctx, reading, s, pk, &res)
		if err != nil {
			return Result{}, searchError(err)
		}
		ranked = alternating(ranked, found)
	}
	if len(ranked) == 0 {
		return res, ctx.Err()
	}
	packing := time.Now()
	if err := e.fill(ctx, q, s, pk, ranked, &res); err != nil {
		return Result{}, searchError(err)
	}
	res.Timing.Pack, res.Timing.Total = since(packing), since(begun)
	return res, nil
}

// readings are the queries that q may mean; none if it is only punctuation. The plain ranking knows only the last one.
func (q Query) readings(s Settings) []Query {
	alone := q
	alone.Text, alone.Previous = Ends(q.Text), ""
	if len(Terms(alone.Text)) == 0 {
		return nil
	}
	if q.Previous == "" {
		return []Query{alone}
	}
	continued := alone
	continued.Text += "\n" + Ends(q.Previous)
	if s.SRD {
		return []Query{continued}
	}
	return []Query{alone, continued}
}

// alternating returns the items of two rankings in turn.
func alternating(a, b []*item) []*item {
	if len(a) == 0 {
		return b
	}
	out := make([]*item, 0, len(a)+len(b))
	for i := range max(len(a), len(b)) {
		if i < len(a) {
			out = append(out, a[i])
		}
		if i < len(b) {
			out = append(out, b[i])
		}
	}
	return out
}

// ranked searches by both halves and returns what was found, best first.
func (e *Engine) ranked(ctx context.Context, q Query, s Settings, pk *packer, res *Result) ([]*item, error) {
	w, v, err := e.searchBoth(ctx, q, s, res)
	if err != nil {
		return nil, err
	}
	ranking := time.Now()
	p, err := e.pool(ctx, q, s, w, v, pk)
	if err != nil {
		return nil, err
	}
	found, err := e.items(ctx, q, p, w.terms, pk)
	if err != nil {
		return nil, err
	}
	if !s.SRD { // the plain ranking has applied them
		found = s.Bounds.within(found)
	}
	if found, err = e.rerank(ctx, q, s, pk, found, res); err != nil {
		return nil, err
	}
	res.Candidates += len(p.units)
	res.Timing.Rank += since(ranking)
	return found, nil
}

// searchBoth searches by words and by vectors concurrently.
func (e *Engine) searchBoth(ctx context.Context, q Query, s Settings, res *Result) (words, similar, error) {
	var (
		w    words
		v    similar
		werr error
		verr error
		wg   sync.WaitGroup
	)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	wg.Go(func() {
		begun := time.Now()
		if w, werr = e.byWords(ctx, q, s); werr != nil && !isCancelled(werr) { // a cancelled half does not cancel the other
			cancel()
		}
		res.Timing.Keyword += since(begun)
	})
	wg.Go(func() {
		if v, verr = e.byVectors(ctx, q, s); verr != nil && !q.AllowWordsOnly && !isCancelled(verr) {
			cancel()
		}
	})
	wg.Wait()
	res.Timing.Embed += v.embedMs
	res.Timing.Vector += v.searchMs
	switch {
	case werr != nil && !(verr != nil && !q.AllowWordsOnly && isCancelled(werr)):
		return w, v, searchError(werr)
	case verr != nil && !q.AllowWordsOnly:
		return w, v, searchError(verr)
	case verr != nil:
		res.Warning = chat.Say("Keyword search only: %s", chat.AsError(searchError(verr)).Said())
		v = similar{}
	case !v.unusedReason.IsZero():
		res.Warning = chat.Say("Keyword search only: %s", v.unusedReason)
	}
	res.Embedder = v.embedder
	return w, v, nil
}

// isCancelled reports whether a half ended because the other failed: by its context, or by an interrupt in the
// database.
func isCancelled(err error) bool {
	return errors.Is(err, context.Canceled) || chat.CodeOf(err) == chat.CodeCancelled
}

// searchError wraps an error of a search. More specific errors are returned unchanged.
func searchError(err error) error {
	if _, ok := errors.AsType[*chat.Error](err); ok {
		return err
	}
	return chat.WrapError(chat.CodeInternal, "memory.search", err, "Memory could not be searched. Nothing that is stored was changed.").
		WithHint("try again; run verify to check the index")
}

func since(t time.Time) float64 { return float64(time.Since(t).Microseconds()) / 1000 }
