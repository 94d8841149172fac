package retrieval

import "context"

// Warm loads in advance what the first search would wait for: the tokenizer, the noise of the serving vectors, and the
// vectors themselves. It embeds nothing and contacts no server.
func (e *Engine) Warm(ctx context.Context) error {
	if _, err := e.Store.TermFrequencies(ctx, []string{"naïve"}); err != nil {
		return err
	}
	ns, ok, err := e.Store.Serving(ctx)
	if err != nil || !ok {
		return err
	}
	if _, err := e.backgroundOf(ctx, ns); err != nil {
		return err
	}
	return e.Vectors.Warm(ctx, ns)
}
