package api

import (
	"fmt"
	"testing"
)

// What comes before the page is kept, in order and bounded; once the page asked, it
// hears of each as it comes, once.
func TestSummonsesWaitForThePage(t *testing.T) {
	var heard []Summons
	h := NewHub()
	h.Attach(func(name string, data any) {
		if name != EventSummons {
			t.Errorf("an event %q", name)
		}
		heard = append(heard, data.(Summons))
	})
	for i := range maxSummonses + 3 {
		h.Summon(Summons{Kind: "open_session", SessionID: fmt.Sprint(i)})
	}
	kept := h.Summonses()
	if len(kept) != maxSummonses || kept[0].SessionID != "3" || kept[0].Files == nil || len(heard) != 0 {
		t.Fatalf("%d kept from %+v, %d heard", len(kept), kept[0], len(heard))
	}
	h.Summon(Summons{Kind: "new_chat"})
	if again := h.Summonses(); len(again) != 0 || len(heard) != 1 || heard[0].Kind != "new_chat" {
		t.Errorf("kept %v, heard %v", again, heard)
	}
}
