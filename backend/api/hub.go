package api

import (
	"slices"
	"sync"

	"contextinfinity/backend/chat"
)

// Hub passes what the services publish to the window. It numbers changes: a snapshot taken at a revision includes
// every change up to it. Nothing blocks: without a window, events are dropped, because a window starts from
// snapshots.
type Hub struct {
	mu   sync.Mutex
	rev  int64
	emit func(name string, data any)
	on   []func(chat.Change)
	more []*page // of further windows

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

// Attached reports that there is a window.
func (h *Hub) Attached() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.emit != nil || len(h.more) > 0
}

// page is the page of a further window.
type page struct{ emit func(name string, data any) }

// Join also sends events to a further window's page, until leave is called. emit must return at once.
func (h *Hub) Join(emit func(name string, data any)) (leave func()) {
	p := &page{emit}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.more = append(h.more, p)
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.more = slices.DeleteFunc(slices.Clone(h.more), func(other *page) bool { return other == p })
	}
}

// emitTo sends an event to every page.
func emitTo(emit func(name string, data any), more []*page, name string, data any) {
	if emit != nil {
		emit(name, data)
	}
	for _, p := range more {
		p.emit(name, data)
	}
}

// Listen sets a function that is called for every change in this process.
func (h *Hub) Listen(fn func(chat.Change)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.on = append(h.on, fn)
}

// Frame passes on a piece of a stream.
func (h *Hub) Frame(f chat.Frame) {
	h.mu.Lock()
	emit, more := h.emit, h.more
	h.mu.Unlock()
	if emit != nil || len(more) > 0 {
		emitTo(emit, more, EventFrame, frameView(f))
	}
}

// Change numbers a change and passes it on.
func (h *Hub) Change(c chat.Change) {
	h.mu.Lock()
	h.rev++
	view := Change{Rev: h.rev, Kind: c.Kind, ID: c.ID, Session: string(c.Session)}
	emit, more, on := h.emit, h.more, h.on
	h.mu.Unlock()
	for _, fn := range on {
		fn(c)
	}
	emitTo(emit, more, EventChange, view)
}

// Rev is the newest revision. It must be read before the content of a snapshot.
func (h *Hub) Rev() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rev
}
