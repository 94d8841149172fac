package api

import (
	"fmt"
	"testing"
)

// Requests that arrive before the page are queued, in order and up to a limit; after the page asked for them it gets
// each new one as an event, once.
func TestWindowRequestsWaitForThePage(t *testing.T) {
	var events []WindowRequest
	h := NewHub()
	h.Attach(func(name string, data any) {
		if name != EventWindowRequest {
			t.Errorf("an event %q", name)
		}
		events = append(events, data.(WindowRequest))
	})
	for i := range maxQueuedRequests + 3 {
		h.RequestWindow(WindowRequest{Kind: "open_session", SessionID: fmt.Sprint(i)})
	}
	kept := h.WindowRequests()
	if len(kept) != maxQueuedRequests || kept[0].SessionID != "3" || kept[0].Files == nil || len(events) != 0 {
		t.Fatalf("%d kept from %+v, %d events", len(kept), kept[0], len(events))
	}
	h.RequestWindow(WindowRequest{Kind: "new_chat"})
	if again := h.WindowRequests(); len(again) != 0 || len(events) != 1 || events[0].Kind != "new_chat" {
		t.Errorf("kept %v, events %v", again, events)
	}
}
