package api

import "sync"

// maxQueuedRequests limits the queue; the oldest requests are dropped.
const maxQueuedRequests = 32

// queuedRequests are kept until the page asks for them, because the requests of a start come before the page exists.
type queuedRequests struct {
	mu      sync.Mutex
	waiting []WindowRequest
	ready   bool // the page has asked for the requests; later ones are sent as events
}

// RequestWindow sends a request to the page, at once or when it exists.
func (h *Hub) RequestWindow(s WindowRequest) {
	s.Files = append([]DroppedFile{}, s.Files...)
	h.queued.mu.Lock()
	ready := h.queued.ready
	if !ready {
		h.queued.waiting = append(h.queued.waiting, s)
		h.queued.waiting = h.queued.waiting[max(0, len(h.queued.waiting)-maxQueuedRequests):]
	}
	h.queued.mu.Unlock()
	h.mu.Lock()
	emit := h.emit
	h.mu.Unlock()
	if ready && emit != nil {
		emit(EventWindowRequest, s)
	}
}

// WindowRequests returns the requests from before the page first asked; later ones are sent as events.
func (h *Hub) WindowRequests() []WindowRequest {
	h.queued.mu.Lock()
	defer h.queued.mu.Unlock()
	out := append([]WindowRequest{}, h.queued.waiting...)
	h.queued.waiting, h.queued.ready = nil, true
	return out
}
