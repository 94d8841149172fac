package embedding

import (
	"context"
	"errors"
	"time"

	"contextinfinity/backend/chat"
)

// Retry is how an adapter says that the same request may succeed later: 429, 5xx,
// a lost connection. It reads as the error that it holds.
type Retry struct {
	Err   error
	After time.Duration // what the server asked for; 0: it did not say
}

func (r *Retry) Error() string { return r.Err.Error() }
func (r *Retry) Unwrap() error { return r.Err }

// Patience is how long a request is tried for.
type Patience struct {
	Tries int
	First time.Duration // before the second try; doubled for each after it
	Most  time.Duration // a server that asks for more than this is given up at once
	Limit time.Duration // of one try
}

// A search has somebody waiting for it; indexing has a job behind it, which is
// tried again itself.
var (
	forQuery   = Patience{Tries: 2, First: 200 * time.Millisecond, Most: time.Second, Limit: 10 * time.Second}
	forPassage = Patience{Tries: 4, First: 500 * time.Millisecond, Most: 30 * time.Second, Limit: time.Minute}
)

// Retried tries again, with growing pauses, what a Retry says may succeed. wait nil
// waits by the system's clock.
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
		var again *Retry
		if err == nil || !errors.As(err, &again) {
			return vectors, err
		}
		d := max(delay, again.After)
		if try == p.Tries || d > p.Most || ctx.Err() != nil {
			return nil, again.Err
		}
		if r.wait(ctx, d) != nil {
			return nil, again.Err
		}
		delay *= 2
	}
}

var errSilent = chat.Errorf(chat.CodeTimeout, "embedding.embed", "The embedding server did not answer in time.").
	WithHint("check that it is running; what was said is kept and is indexed later")

func (r retried) once(ctx context.Context, kind Kind, texts []string, limit time.Duration) ([][]float32, error) {
	limited, cancel := context.WithTimeoutCause(ctx, limit, errSilent)
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
