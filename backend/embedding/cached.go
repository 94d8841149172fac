package embedding

import (
	"container/list"
	"context"
	"crypto/sha256"
	"sync"

	"contextinfinity/backend/chat"
)

// Cache keeps the vectors of recent questions: the same question is embedded again when a turn is retried, and while a
// person types into a search field. It contains hashes of texts and vectors, only in memory, and is safe for concurrent
// use.
type Cache struct {
	mu     sync.Mutex
	size   int
	newest *list.List // of *cachedQuery
	at     map[cacheKey]*list.Element
}

// cacheKey contains only a hash of the text: a question may be a pasted file.
type cacheKey struct {
	id   chat.EmbedderID
	text [sha256.Size]byte
}

func keyOf(id chat.EmbedderID, text string) cacheKey {
	return cacheKey{id, sha256.Sum256([]byte(text))}
}

type cachedQuery struct {
	key    cacheKey
	vector []float32
}

// NewCache creates a cache of up to size vectors.
func NewCache(size int) *Cache {
	return &Cache{size: size, newest: list.New(), at: map[cacheKey]*list.Element{}}
}

func (c *Cache) get(k cacheKey) ([]float32, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.at[k]
	if !ok {
		return nil, false
	}
	c.newest.MoveToFront(e)
	q, ok := e.Value.(*cachedQuery)
	return q.vector, ok
}

func (c *Cache) put(k cacheKey, v []float32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.at[k]; ok {
		return
	}
	c.at[k] = c.newest.PushFront(&cachedQuery{k, v})
	for c.newest.Len() > c.size {
		oldest := c.newest.Back()
		if q, ok := c.newest.Remove(oldest).(*cachedQuery); ok {
			delete(c.at, q.key)
		}
	}
}

// Cached takes the vectors of questions from the cache; those of passages are cached by the store. A returned vector is
// shared and must not be changed.
func Cached(e Embedder, c *Cache) Embedder { return cached{e, c} }

type cached struct {
	Embedder
	cache *Cache
}

func (c cached) Embed(ctx context.Context, kind Kind, texts []string) ([][]float32, error) {
	if kind != Query {
		return c.Embedder.Embed(ctx, kind, texts)
	}
	out := make([][]float32, len(texts))
	var missing []string
	var at []int
	for i, s := range texts {
		v, ok := c.cache.get(keyOf(c.Identity(), s))
		if out[i] = v; !ok {
			missing, at = append(missing, s), append(at, i)
		}
	}
	if len(missing) == 0 {
		return out, nil
	}
	vectors, err := c.Embedder.Embed(ctx, kind, missing)
	if err != nil {
		return nil, err
	}
	for i, v := range vectors {
		out[at[i]] = v
		c.cache.put(keyOf(c.Identity(), missing[i]), v)
	}
	return out, nil
}
