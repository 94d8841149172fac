package turn

import (
	"sync"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/prompt"
)

// extracts caches the extracts of ranges: a range of thousands of turns without a summary would otherwise be read for
// every request. The turns of a range are committed and never change, so an extract is valid until something is
// deleted.
type extracts struct {
	mu    sync.Mutex
	made  map[extractKey]string
	order []extractKey // oldest first
}

type extractKey struct {
	branch   chat.BranchID
	from, to int64
	target   int
	encoding string
	erasures int64
}

// maxExtracts limits the cache; an extract takes some kilobytes.
const maxExtracts = 64

func (x *extracts) get(k extractKey) (string, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	text, ok := x.made[k]
	return text, ok
}

func (x *extracts) put(k extractKey, text string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.made == nil {
		x.made = map[extractKey]string{}
	}
	if _, there := x.made[k]; !there {
		x.order = append(x.order, k)
	}
	x.made[k] = text
	if len(x.order) > maxExtracts {
		delete(x.made, x.order[0])
		x.order = x.order[1:]
	}
}

// remembered creates the extract of a piece once.
func (e *Engine) remembered(branch chat.BranchID, encoding string) func(prompt.Piece, func() (string, error)) (string, error) {
	return func(p prompt.Piece, extract func() (string, error)) (string, error) {
		k := extractKey{branch: branch, from: p.From, to: p.To, target: p.Target, encoding: encoding, erasures: e.past.Erasures()}
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
