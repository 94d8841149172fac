package api

import (
	"strconv"
	"testing"

	"contextinfinity/backend/chat"
)

// A group shows a limited number of its results, and the number of the others.
func TestGroupsShowALimitedNumber(t *testing.T) {
	t.Parallel()
	found := chat.TextResult{Sessions: map[chat.SessionID]chat.Session{"s": {ID: "s"}}}
	for i := range 9 {
		found.Hits = append(found.Hits, chat.TextHit{Turn: chat.TurnID(strconv.Itoa(i)), Session: "s", Role: chat.RoleUser})
	}
	for _, tt := range []struct{ maxHits, hits, more int }{{groupHits, 5, 4}, {sessionHits, 9, 0}} {
		g := newGroups(found).list(tt.maxHits)
		if len(g) != 1 || len(g[0].Hits) != tt.hits || g[0].More != tt.more {
			t.Errorf("at most %d: %+v", tt.maxHits, g)
		}
	}
}
