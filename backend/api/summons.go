package api

import "sync"

// maxSummonses bounds what waits for a page that never asks; the oldest go first.
const maxSummonses = 32

// summonses are kept until the page asks for the first time: what a start of the
// program brings comes before there is a page to hear of it.
type summonses struct {
	mu      sync.Mutex
	waiting []Summons
	heard   bool // the page has asked: from now on it hears of each
}

// Summon asks something of the page, at once or when it is there.
func (h *Hub) Summon(s Summons) {
	s.Files = append([]GivenFile{}, s.Files...)
	h.summoned.mu.Lock()
	heard := h.summoned.heard
	if !heard {
		h.summoned.waiting = append(h.summoned.waiting, s)
		h.summoned.waiting = h.summoned.waiting[max(0, len(h.summoned.waiting)-maxSummonses):]
	}
	h.summoned.mu.Unlock()
	h.mu.Lock()
	emit := h.emit
	h.mu.Unlock()
	if heard && emit != nil {
		emit(EventSummons, s)
	}
}

// Summonses are those that came before the page asked; it hears of later ones as they
// come.
func (h *Hub) Summonses() []Summons {
	h.summoned.mu.Lock()
	defer h.summoned.mu.Unlock()
	out := append([]Summons{}, h.summoned.waiting...)
	h.summoned.waiting, h.summoned.heard = nil, true
	return out
}
