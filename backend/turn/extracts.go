package turn

import (
	"sync"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/prompt"
)

// extracts caches the extracts of ranges: a range of thousands of turns without a summary would otherwise be read again
// for every request. The turns of a range are committed and never change, so an extract is valid until something is
// deleted.
type extracts struct {
	mu    sync.Mutex
	texts map[extractKey]string
	order []extractKey // oldest first
}

type extractKey struct {
	branch    chat.BranchID
	from, to  int64
	target    int
	encoding  string
	deletions int64
}

// maxExtracts limits the cache; an extract takes some kilobytes.
const maxExtracts = 64

func (x *extracts) get(k extractKey) (string, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	text, ok := x.texts[k]
	return text, ok
}

func (x *extracts) put(k extractKey, text string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.texts == nil {
		x.texts = map[extractKey]string{}
	}
	if _, exists := x.texts[k]; !exists {
		x.order = append(x.order, k)
	}
	x.texts[k] = text
	if len(x.order) > maxExtracts {
		delete(x.texts, x.order[0])
		x.order = x.order[1:]
	}
}

// cachedExtract returns the cached extract of a piece, or creates and caches it.
func (e *Engine) cachedExtract(branch chat.BranchID, encoding string) func(prompt.Piece, func() (string, error)) (string, error) {
	return func(p prompt.Piece, extract func() (string, error)) (string, error) {
		k := extractKey{branch: branch, from: p.From, to: p.To, target: p.Target, encoding: encoding, deletions: e.past.Deletions()}
		if text, ok := e.extracts.get(k); ok {
			return text, nil
		}
		text, err := extract()
		if err == nil {
			e.extracts.put(k, text)
		}
		return text, err
	}
}
