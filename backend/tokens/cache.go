package tokens

import (
	"crypto/sha256"
	"sync"
)

// cacheGeneration is how many counts a generation holds: two are kept, some
// 6 MB in all, enough for the blocks of a 10 000-turn lineage.
const cacheGeneration = 32768

var sharedCache = newCache(cacheGeneration)

type cacheKey struct {
	encoding string
	sum      [sha256.Size]byte
}

// cache keeps counts by content. It forgets like an LRU but with two maps: what
// is used moves to the young one; when that is full it becomes the old one and
// what was old is dropped.
type cache struct {
	mu         sync.Mutex
	limit      int
	young, old map[cacheKey]int
}

func newCache(limit int) *cache {
	return &cache{limit: limit, young: map[cacheKey]int{}}
}

func (c *cache) get(k cacheKey) (int, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n, ok := c.young[k]; ok {
		return n, true
	}
	n, ok := c.old[k]
	if ok {
		c.add(k, n)
	}
	return n, ok
}

func (c *cache) put(k cacheKey, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(k, n)
}

func (c *cache) add(k cacheKey, n int) {
	if len(c.young) >= c.limit {
		c.old, c.young = c.young, map[cacheKey]int{}
	}
	c.young[k] = n
}
