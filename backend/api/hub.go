package api

import (
	"slices"
	"sync"

	"contextinfinity/backend/chat"
)

// Hub passes events of the services to the window. It numbers changes: a snapshot taken at a revision includes every
// change up to it. No call blocks. Without a window, events are dropped, because a window starts from snapshots.
type Hub struct {
	mu         sync.Mutex
	rev        int64
	emit       func(name string, data any)
	listeners  []func(chat.Change)
	additional []*page // pages of additional windows

	queued queuedRequests
}

// NewHub returns a hub without a window.
func NewHub() *Hub { return &Hub{} }

// Attach sets the hub's window; nil removes it.
func (h *Hub) Attach(emit func(name string, data any)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.emit = emit
}

// Attached reports whether there is a window.
func (h *Hub) Attached() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.emit != nil || len(h.additional) > 0
}

// page is the page of an additional window.
type page struct{ emit func(name string, data any) }

// Join also sends events to an additional window's page, until unsubscribe is called. emit must return at once.
func (h *Hub) Join(emit func(name string, data any)) (unsubscribe func()) {
	p := &page{emit}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.additional = append(h.additional, p)
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.additional = slices.DeleteFunc(slices.Clone(h.additional), func(other *page) bool { return other == p })
	}
}

// emitTo sends an event to every page.
func emitTo(emit func(name string, data any), additional []*page, name string, data any) {
	if emit != nil {
		emit(name, data)
	}
	for _, p := range additional {
		p.emit(name, data)
	}
}

// Listen adds a function that is called for every change in this process.
func (h *Hub) Listen(fn func(chat.Change)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.listeners = append(h.listeners, fn)
}

// Frame passes on a piece of a stream.
func (h *Hub) Frame(f chat.Frame) {
	h.mu.Lock()
	emit, additional := h.emit, h.additional
	h.mu.Unlock()
	if emit != nil || len(additional) > 0 {
		emitTo(emit, additional, EventFrame, frameView(f))
	}
}

// Change numbers a change and passes it on.
func (h *Hub) Change(c chat.Change) {
	h.mu.Lock()
	h.rev++
	view := Change{Rev: h.rev, Kind: c.Kind, ID: c.ID, Session: string(c.Session)}
	emit, additional, listeners := h.emit, h.additional, h.listeners
	h.mu.Unlock()
	for _, fn := range listeners {
		fn(c)
	}
	emitTo(emit, additional, EventChange, view)
}

// Rev returns the newest revision. It must be read before the content of a snapshot.
func (h *Hub) Rev() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rev
}
