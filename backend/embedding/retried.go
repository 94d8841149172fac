package embedding

import (
	"context"
	"errors"
	"time"

	"contextinfinity/backend/chat"
)

// Retry is an adapter's error for a request that may succeed later: 429, 5xx, a lost connection. Its message is that
// of the wrapped error.
type Retry struct {
	Err   error
	After time.Duration // requested by the server; 0: none
}

func (r *Retry) Error() string { return r.Err.Error() }
func (r *Retry) Unwrap() error { return r.Err }

// RetryPolicy is how long a request is retried.
type RetryPolicy struct {
	Tries int
	First time.Duration // before the second try; doubled for each further one
	Most  time.Duration // if the server asks for a longer pause, retrying stops
	Limit time.Duration // per try
}

// A person waits for a search, but indexing is done by a job, which is retried itself.
var (
	forQuery   = RetryPolicy{Tries: 2, First: 200 * time.Millisecond, Most: time.Second, Limit: 10 * time.Second}
	forPassage = RetryPolicy{Tries: 4, First: 500 * time.Millisecond, Most: 30 * time.Second, Limit: time.Minute}
)

// Retried retries requests that fail with a Retry, with growing pauses. wait nil uses the system's clock.
func Retried(e Embedder, wait func(context.Context, time.Duration) error) Embedder {
	if wait == nil {
		wait = pause
	}
	return retried{e, wait}
}

type retried struct {
	Embedder
	wait func(context.Context, time.Duration) error
}

func (r retried) Embed(ctx context.Context, kind Kind, texts []string) ([][]float32, error) {
	p := forPassage
	if kind == Query {
		p = forQuery
	}
	delay := p.First
	for try := 1; ; try++ {
		vectors, err := r.once(ctx, kind, texts, p.Limit)
		var retry *Retry
		if err == nil || !errors.As(err, &retry) {
			return vectors, err
		}
		d := max(delay, retry.After)
		if try == p.Tries || d > p.Most || ctx.Err() != nil {
			return nil, retry.Err
		}
		if r.wait(ctx, d) != nil {
			return nil, retry.Err
		}
		delay *= 2
	}
}

var errTimeout = chat.Errorf(chat.CodeTimeout, "embedding.embed", "The embedding server did not answer in time.").
	WithHint("check that it is running; the conversation is saved and will be indexed later")

func (r retried) once(ctx context.Context, kind Kind, texts []string, limit time.Duration) ([][]float32, error) {
	limited, cancel := context.WithTimeoutCause(ctx, limit, errTimeout)
	defer cancel()
	return r.Embedder.Embed(limited, kind, texts)
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
