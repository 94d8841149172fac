package tokens

import (
	"crypto/sha256"
	"strings"
)

// Counter counts tokens in one encoding. It is safe for concurrent use.
type Counter struct {
	enc   *encoding
	cache *cache
}

// New returns the counter for unknown models and for counts that do not depend on a model (cl100k_base).
func New() *Counter { return &Counter{enc: cl100k, cache: sharedCache} }

// ForModel returns the counter for a model id.
func ForModel(modelID string) *Counter {
	return &Counter{enc: encodingFor(modelID), cache: sharedCache}
}

// Warm loads the encoding in the background. Otherwise the first count has to wait for it, about 300 ms.
func (c *Counter) Warm() { go c.enc.load() }

// Encoding returns the name of the encoding, such as "cl100k_base".
func (c *Counter) Encoding() string { return c.enc.name }

// CountText returns the number of tokens of a text.
func (c *Counter) CountText(s string) int {
	// For short texts, hashing costs more than encoding.
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

// encodingFor returns the encoding for a model id, by family. tiktoken's own map knows only old models.
func encodingFor(modelID string) *encoding {
	id := baseName(modelID)
	for _, family := range []string{"gpt-4o", "gpt-4.1", "gpt-4.5", "chatgpt-4o", "gpt-5", "gpt-6", "gpt-oss", "o1", "o3", "o4", "codex-"} {
		if strings.HasPrefix(id, family) {
			return o200k
		}
	}
	return cl100k
}

// baseName removes the prefix of a gateway: "openai/gpt-4o" becomes gpt-4o.
func baseName(modelID string) string {
	return strings.ToLower(modelID[strings.LastIndexByte(modelID, '/')+1:])
}
