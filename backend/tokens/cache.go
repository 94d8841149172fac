package tokens

import (
	"crypto/sha256"
	"sync"
)

// cacheGeneration is the number of counts in one of the two generations. Both together take about 6 MB, enough for
// the blocks of a lineage of 10 000 turns.
const cacheGeneration = 32768

var sharedCache = newCache(cacheGeneration)

type cacheKey struct {
	encoding string
	sum      [sha256.Size]byte
}

// cache stores counts by content. It approximates an LRU cache with two maps: entries in use are copied to the young
// map, and when that is full it replaces the old one.
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
