package retrieval

import (
	"cmp"
	"context"
	"slices"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
)

// Reranker scores passages by how well they answer a query, in the order given; a higher score is better.
type Reranker interface {
	Rerank(ctx context.Context, query string, passages []string) ([]float64, error)
}

const (
	// maxReranked is how many of the best candidates are sent to a reranker.
	maxReranked = 40
	// maxPassage limits the text of each, in bytes.
	maxPassage = 2000
	// rerankTime limits the wait, because a turn waits for its search.
	rerankTime = 4 * time.Second
)

// rerank sorts the best candidates with a reranker, if one is configured. The existing scores are reassigned in the
// new order, so that they still decrease with the rank and keep their meaning. If the reranker fails, the order is not
// changed, and the result says why.
func (e *Engine) rerank(ctx context.Context, q Query, s Settings, pk *packer, ranked []*item, res *Result) ([]*item, error) {
	if e.Reranker == nil || s.SRD || len(ranked) < 2 {
		return ranked, nil
	}
	model, err := e.Reranker()
	if model == nil && err == nil {
		return ranked, nil
	}
	var order []*item
	if err == nil {
		order, err = e.reorder(ctx, model, q.Text, pk, ranked[:min(len(ranked), maxReranked)])
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		res.addWarning(chat.Say("Not reranked: %s", chat.AsError(err).Said()))
		return ranked, nil
	}
	return append(order, ranked[len(order):]...), nil
}

// reorder sorts units by a reranker's scores. Units whose text was deleted come last, in their order.
func (e *Engine) reorder(ctx context.Context, model Reranker, query string, pk *packer, best []*item) ([]*item, error) {
	if err := pk.read(ctx, e.Store, unitsOf(best)); err != nil {
		return nil, err
	}
	var readable, deleted []*item
	var passages []string
	for _, u := range best {
		c, ok := pk.texts[u.Chunk]
		if !ok {
			deleted = append(deleted, u)
			continue
		}
		readable, passages = append(readable, u), append(passages, display.Start(u.text(c), maxPassage))
	}
	if len(readable) < 2 {
		return best, nil
	}
	ctx, cancel := context.WithTimeout(ctx, rerankTime)
	defer cancel()
	scores, err := model.Rerank(ctx, query, passages)
	if err != nil {
		return nil, err
	}
	if len(scores) != len(passages) {
		return nil, chat.Errorf(chat.CodeProvider, "memory.rerank", "The reranker scored %d of %d passages.", len(scores), len(passages))
	}
	return withScoresOf(best, append(byScore(readable, scores), deleted...)), nil
}

// byScore sorts units by score, keeping the order of equal ones.
func byScore(units []*item, scores []float64) []*item {
	at := make([]int, len(units))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	out := make([]*item, len(units))
	for i, k := range at {
		out[i] = units[k]
	}
	return out
}

// withScoresOf gives the units, in their new order, the previous scores of the ranks.
func withScoresOf(ranks, units []*item) []*item {
	scores, relevances := make([]float64, len(ranks)), make([]float64, len(ranks))
	for i, u := range ranks {
		scores[i], relevances[i] = u.score, u.relevance
	}
	slices.SortFunc(relevances, func(a, b float64) int { return cmp.Compare(b, a) })
	for i, u := range units {
		u.score, u.relevance = scores[i], relevances[i]
	}
	return units
}

func (r *Result) addWarning(text chat.Phrase) {
	if !r.Warning.IsZero() {
		text = chat.Say("%s %s", r.Warning, text)
	}
	r.Warning = text
}
