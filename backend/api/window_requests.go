package api

import "sync"

// maxQueuedRequests bounds what waits for a page that never asks; the oldest go first.
const maxQueuedRequests = 32

// queuedRequests are kept until the page asks for the first time: what a start of the
// program brings comes before there is a page to hear of it.
type queuedRequests struct {
	mu      sync.Mutex
	waiting []WindowRequest
	heard   bool // the page has asked: from now on it hears of each
}

// RequestWindow asks something of the page, at once or when it is there.
func (h *Hub) RequestWindow(s WindowRequest) {
	s.Files = append([]DroppedFile{}, s.Files...)
	h.queued.mu.Lock()
	heard := h.queued.heard
	if !heard {
		h.queued.waiting = append(h.queued.waiting, s)
		h.queued.waiting = h.queued.waiting[max(0, len(h.queued.waiting)-maxQueuedRequests):]
	}
	h.queued.mu.Unlock()
	h.mu.Lock()
	emit := h.emit
	h.mu.Unlock()
	if heard && emit != nil {
		emit(EventWindowRequest, s)
	}
}

// WindowRequests are those that came before the page asked; it hears of later ones as they
// come.
func (h *Hub) WindowRequests() []WindowRequest {
	h.queued.mu.Lock()
	defer h.queued.mu.Unlock()
	out := append([]WindowRequest{}, h.queued.waiting...)
	h.queued.waiting, h.queued.heard = nil, true
	return out
}
