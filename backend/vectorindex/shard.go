package vectorindex

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"contextinfinity/backend/chat"
)

const (
	maxChromem = 8000 // vectors of a session from which chromem-go is too slow
	maxCodes   = 512  // dimensions up to which vectors are kept as bytes
	addBatch   = 1024 // rows added at a time while searches wait
)

// engine stores vectors by row and finds the nearest in scope. Vectors are added by one goroutine while no search runs;
// searches run concurrently.
type engine interface {
	len() int
	bytes() int64
	add(codes []int8)
	search(ctx context.Context, q []float32, f filter, limit int) ([]chat.VectorHit, error)
}

// key identifies a shard.
type key struct {
	namespace int64
	session   chat.SessionID // empty: all
}

// shard is the vectors of one session, or of all.
type shard struct {
	key       key
	dimension int
	source    Source

	updating chan struct{} // of capacity 1: whoever has sent to it may read from the source

	mu         sync.RWMutex // guards the following fields
	table      *table
	engine     engine
	generation int64
	last       int64 // n up to which vectors were read
	complete   bool  // this generation was read completely once; false while it is read again

	used    time.Time    // guarded by the index
	skipped atomic.Int64 // unreadable rows
	size    atomic.Int64 // bytes
}

func newShard(k key, dimension int, source Source) *shard {
	return &shard{key: k, dimension: dimension, source: source, updating: make(chan struct{}, 1)}
}

// update updates the shard from the source. If its context ends, the next search reads the rest.
func (s *shard) update(ctx context.Context) error {
	select {
	case s.updating <- struct{}{}:
		defer func() { <-s.updating }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	generation, err := s.source.VectorGeneration(ctx)
	if err != nil {
		return err
	}
	if s.engine == nil || generation != s.generation { // both are written only during update, by one goroutine at a time
		if err := s.reset(generation); err != nil {
			return err
		}
		if err := s.updateFromCache(ctx); err != nil {
			return err
		}
	}
	batch := make([]chat.VectorRow, 0, addBatch)
	err = s.source.VectorRows(ctx, s.key.namespace, s.key.session, s.last, func(r chat.VectorRow) error {
		if batch = append(batch, r); len(batch) < addBatch {
			return nil
		}
		s.add(batch)
		batch = batch[:0]
		return context.Cause(ctx)
	})
	s.add(batch)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.complete = true
	return nil
}

// updateFromCache adds the vectors that can be read in blocks. If that fails, all vectors are read row by row.
func (s *shard) updateFromCache(ctx context.Context) error {
	into, ok := s.engine.(*codes)
	if !ok || s.key.session != "" {
		return nil
	}
	err := s.source.CachedVectors(ctx, s.key.namespace, s.generation, func(b chat.VectorBlock) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.table.addBlock(b)
		into.addBlock(b)
		s.last = b.N[len(b.N)-1]
		s.size.Store(s.table.bytes() + s.engine.bytes())
		return context.Cause(ctx)
	})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return s.reset(s.generation)
}

func (s *shard) reset(generation int64) error {
	e, err := s.newEngine(0)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.table, s.engine, s.generation, s.last, s.complete = newTable(), e, generation, 0, false
	s.skipped.Store(0)
	return nil
}

// newEngine chooses the engine for a number of vectors.
func (s *shard) newEngine(rows int) (engine, error) {
	switch {
	case s.key.session != "" && rows < maxChromem:
		return newChromemEngine(s.dimension)
	case s.dimension <= maxCodes:
		return newCodes(s.dimension), nil
	}
	return newSigns(s.dimension, func(ctx context.Context, ns []int64) (map[int64][]float32, error) {
		return s.source.VectorsOf(ctx, s.key.namespace, ns)
	}), nil
}

func (s *shard) add(rows []chat.VectorRow) {
	if len(rows) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range rows {
		s.last = max(s.last, r.N)
		if !hasDirection(r.Codes, s.dimension) {
			s.skipped.Add(1)
			continue
		}
		s.table.add(r)
		s.engine.add(r.Codes)
	}
	s.switchEngine()
	s.size.Store(s.table.bytes() + s.engine.bytes())
}

// switchEngine moves a session that became too large for chromem-go to another engine.
func (s *shard) switchEngine() {
	old, ok := s.engine.(*chromemEngine)
	if !ok || old.len() < maxChromem {
		return
	}
	next, err := s.newEngine(old.len())
	if err != nil {
		return // only the engine for few vectors can fail
	}
	for _, v := range old.codes {
		next.add(v)
	}
	s.engine = next
}

// search scans the vectors read so far. complete is false, and nothing was scanned, if another search has begun to
// reload the shard since update: the caller must call update again, which waits for that search.
func (s *shard) search(ctx context.Context, q []float32, scope chat.ScopeFilter, limit int) (hits []chat.VectorHit, complete bool, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if !s.complete {
		return nil, false, nil
	}
	if s.engine.len() == 0 {
		return nil, true, nil
	}
	w, unrestricted := s.table.windows(scope)
	hits, err = s.engine.search(ctx, q, filter{s.table, w, unrestricted}, limit)
	return hits, true, err
}
