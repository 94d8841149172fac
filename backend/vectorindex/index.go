package vectorindex

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/clock"
	"contextinfinity/backend/retrieval"
)

const (
	idleAfter = 10 * time.Minute
	maxBytes  = 512 << 20
)

// Source is the part of the store that the index reads. The index may keep the vectors that it yields.
type Source interface {
	// VectorRows yields a namespace's vectors with n greater than afterN, in the order of n, of one session or
	// (empty) of all. An unreadable vector is nil.
	VectorRows(ctx context.Context, ns int64, session chat.SessionID, afterN int64, yield func(chat.VectorRow) error) error
	// CachedVectors yields the vectors of a namespace and generation that can be read in blocks, in the order of n: all
	// up to some n, possibly none. They are valid only if it returns nil, and their bytes only during the call.
	CachedVectors(ctx context.Context, ns, generation int64, yield func(chat.VectorBlock) error) error
	VectorsOf(ctx context.Context, ns int64, units []int64) (map[int64][]float32, error)
	// VectorGeneration changes when reading after the last n is not enough: a vector was deleted or changed, or one
	// was added for an earlier n.
	VectorGeneration(ctx context.Context) (int64, error)
}

// Options are an Index's dependencies.
type Options struct {
	Source Source
	Clock  clock.Clock  // nil: the system's
	Log    *slog.Logger // nil: none
	// After calls f after d, once, unless it is stopped; nil: time.AfterFunc.
	After func(d time.Duration, f func()) (stop func() bool)
	// MaxBytes limits memory; 0: 512 MB.
	MaxBytes int64
}

// Index implements retrieval.Vectors. It is safe for concurrent use.
type Index struct {
	o Options

	mu     sync.Mutex
	shards map[key]*shard
	stop   func() bool // of the timer that checks for idle shards; nil: none runs
	closed bool
}

var _ retrieval.Vectors = (*Index)(nil)

// New creates an empty index; it reads nothing before the first search.
func New(o Options) *Index {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.After == nil {
		o.After = func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }
	}
	o.MaxBytes = cmp.Or(o.MaxBytes, maxBytes)
	return &Index{o: o, shards: map[key]*shard{}}
}

// Search implements retrieval.Vectors.
func (x *Index) Search(ctx context.Context, q retrieval.VectorQuery) ([]chat.VectorHit, error) {
	dimension := q.Namespace.Embedder.Dimension
	if !hasDirection(q.Vector, dimension) {
		return nil, chat.Errorf(chat.CodeInvalid, "vectors.search", "The question's vector does not fit vectors made by %s.", q.Namespace.Embedder)
	}
	if q.Limit <= 0 {
		return nil, nil
	}
	s := x.shard(key{q.Namespace.ID, q.Session}, dimension)
	for {
		skipped := s.skipped.Load()
		if err := s.update(ctx); err != nil {
			return nil, failed(err)
		}
		if n := s.skipped.Load(); n > skipped {
			x.o.Log.Warn("vectors could not be read and are left out", "count", n, "embedder", q.Namespace.Embedder.String())
		}
		x.evict(s)
		hits, complete, err := s.search(ctx, q.Vector, q.Scope, q.Limit)
		if err != nil {
			return nil, failed(err)
		}
		if complete {
			return hits, nil
		}
	}
}

// Warm loads all vectors, so that the first search does not wait for them. If they would take more memory than
// MaxBytes, searches load what they need.
func (x *Index) Warm(ctx context.Context, ns chat.Namespace) error {
	if estimate(ns) > x.o.MaxBytes {
		return nil
	}
	s := x.shard(key{ns.ID, ""}, ns.Embedder.Dimension)
	if err := s.update(ctx); err != nil {
		return failed(err)
	}
	x.evict(s)
	return nil
}

// estimate is about how many bytes all vectors of a namespace take.
func estimate(ns chat.Namespace) int64 {
	row := int64(ns.Embedder.Dimension)
	if row > maxCodes {
		row /= 8
	}
	return int64(ns.Total) * (row + tableRow)
}

func failed(err error) error {
	if code := chat.CodeOf(err); code != chat.CodeInternal {
		return err
	}
	return chat.WrapError(chat.CodeInternal, "vectors.search", err, "The vectors could not be searched: %s.", err).
		WithHint("nothing is lost; words are searched without them")
}

// shard returns a scope's shard and marks it as used.
func (x *Index) shard(k key, dimension int) *shard {
	x.mu.Lock()
	defer x.mu.Unlock()
	s, ok := x.shards[k]
	if !ok || s.dimension != dimension {
		s = newShard(k, dimension, x.o.Source)
		x.shards[k] = s
	}
	s.used = x.o.Clock.Now()
	if x.stop == nil && !x.closed {
		x.stop = x.o.After(idleAfter, x.sweep)
	}
	return s
}

// evict drops the least recently used shards, except keep, while the total is too large.
func (x *Index) evict(keep *shard) {
	x.mu.Lock()
	defer x.mu.Unlock()
	var total int64
	for _, s := range x.shards {
		total += s.size.Load()
	}
	for total > x.o.MaxBytes {
		var oldest *shard
		for _, s := range x.shards {
			if s != keep && (oldest == nil || s.used.Before(oldest.used)) {
				oldest = s
			}
		}
		if oldest == nil {
			return
		}
		total -= oldest.size.Load()
		delete(x.shards, oldest.key)
	}
}

// sweep drops shards that were not searched for a while.
func (x *Index) sweep() {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := x.o.Clock.Now()
	next := idleAfter
	for k, s := range x.shards {
		remaining := s.used.Add(idleAfter).Sub(now)
		if remaining <= 0 {
			delete(x.shards, k)
			continue
		}
		next = min(next, remaining)
	}
	x.stop = nil
	if len(x.shards) > 0 && !x.closed {
		x.stop = x.o.After(next, x.sweep)
	}
}

// Close drops everything and stops the timer. A later search still works, but its memory is kept until the process
// ends.
func (x *Index) Close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
	x.shards = map[key]*shard{}
	if x.stop != nil {
		x.stop()
		x.stop = nil
	}
}
