package api

import (
	"sync"

	"contextinfinity/backend/chat"
)

// Hub carries what the services publish to the window. It numbers changes: a
// snapshot taken at a revision holds every change up to it. Nothing blocks: with
// no window, events are dropped, since a window starts from snapshots.
type Hub struct {
	mu   sync.Mutex
	rev  int64
	emit func(name string, data any)
	on   []func(chat.Change)

	queued queuedRequests
}

// NewHub returns a hub without a window.
func NewHub() *Hub { return &Hub{} }

// Attach gives the hub its window; nil takes it away.
func (h *Hub) Attach(emit func(name string, data any)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.emit = emit
}

// Attached reports that there is a window.
func (h *Hub) Attached() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.emit != nil
}

// Listen has fn called for every change, in this process.
func (h *Hub) Listen(fn func(chat.Change)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.on = append(h.on, fn)
}

// Frame passes on a piece of a stream.
func (h *Hub) Frame(f chat.Frame) {
	h.mu.Lock()
	emit := h.emit
	h.mu.Unlock()
	if emit != nil {
		emit(EventFrame, frameView(f))
	}
}

// Change numbers a change and passes it on.
func (h *Hub) Change(c chat.Change) {
	h.mu.Lock()
	h.rev++
	view := Change{Rev: h.rev, Kind: string(c.Kind), ID: c.ID, Session: string(c.Session)}
	emit, on := h.emit, h.on
	h.mu.Unlock()
	for _, fn := range on {
		fn(c)
	}
	if emit != nil {
		emit(EventChange, view)
	}
}

// Rev is the newest revision. Take it before reading what a snapshot returns.
func (h *Hub) Rev() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rev
}
