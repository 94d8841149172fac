package tokens

import (
	"crypto/sha256"
	"strings"

	"contextinfinity/backend/chat"
)

const (
	// MessageOverhead is what a message costs beyond its content: role markers
	// and delimiters (FCRATE).
	MessageOverhead = 4

	// ImageTokens is the estimate for any image. Vendors charge by pixels, about
	// 85 to 1 600 tokens after their own downscaling; the upper end keeps a
	// request inside its budget.
	ImageTokens = 1600

	// opaqueBytesPerToken is the estimate for data whose text no model reads, such
	// as encrypted reasoning: providers charge for what it represents, which is
	// roughly a token for four bytes of base64.
	opaqueBytesPerToken = 4
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

// CountBlocks is the number of tokens of the blocks alone.
func (c *Counter) CountBlocks(blocks chat.Blocks) int {
	n := 0
	for _, b := range blocks {
		n += c.countBlock(b)
	}
	return n
}

func (c *Counter) countBlock(b chat.Block) int {
	switch b := b.(type) {
	case chat.Text:
		return c.CountText(b.Text)
	case chat.Refusal:
		return c.CountText(b.Text)
	case chat.ToolUse:
		return MessageOverhead + c.CountText(b.Name) + c.CountText(string(b.Input))
	case chat.ToolResult:
		return MessageOverhead + c.CountBlocks(b.Content)
	case chat.Image:
		return ImageTokens
	case chat.Reasoning:
		return c.CountText(b.Summary) + opaque(len(b.EncryptedContent)+len(b.Raw))
	case chat.Unknown:
		return opaque(len(b.Raw))
	}
	return 0
}

func opaque(bytes int) int { return (bytes + opaqueBytesPerToken - 1) / opaqueBytesPerToken }

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
