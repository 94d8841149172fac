package tokens

import (
	"crypto/sha256"
	"strings"
)

// Counter counts in one encoding. It is safe for concurrent use.
type Counter struct {
	enc   *encoding
	cache *cache
}

// New is the counter for unknown models and for everything that is not about one
// model (cl100k_base).
func New() *Counter { return &Counter{enc: cl100k, cache: sharedCache} }

// ForModel is the counter for a model id.
func ForModel(modelID string) *Counter {
	return &Counter{enc: encodingFor(modelID), cache: sharedCache}
}

// Warm loads the encoding in the background and returns at once. Without it the
// first count waits for the load, some 300 ms.
func (c *Counter) Warm() { go c.enc.load() }

// Encoding is the name of the encoding, "cl100k_base".
func (c *Counter) Encoding() string { return c.enc.name }

// CountText is the number of tokens of a text.
func (c *Counter) CountText(s string) int {
	// Hashing costs more than encoding for the shortest texts.
	const worthCaching = 64
	if len(s) < worthCaching {
		return c.enc.count(s)
	}
	key := cacheKey{c.enc.name, sha256.Sum256([]byte(s))}
	if n, ok := c.cache.get(key); ok {
		return n
	}
	n := c.enc.count(s)
	c.cache.put(key, n)
	return n
}

// encodingFor maps a model id to its encoding. tiktoken's own map stops at
// models long superseded, so ours goes by family.
func encodingFor(modelID string) *encoding {
	id := baseName(modelID)
	for _, family := range []string{"gpt-4o", "gpt-4.1", "gpt-4.5", "chatgpt-4o", "gpt-5", "gpt-6", "gpt-oss", "o1", "o3", "o4", "codex-"} {
		if strings.HasPrefix(id, family) {
			return o200k
		}
	}
	return cl100k
}

// baseName drops a gateway's prefix: "openai/gpt-4o" is gpt-4o.
func baseName(modelID string) string {
	return strings.ToLower(modelID[strings.LastIndexByte(modelID, '/')+1:])
}
