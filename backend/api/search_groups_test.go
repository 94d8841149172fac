package api

import (
	"strconv"
	"testing"

	"contextinfinity/backend/chat"
)

// TestGroupsShowALimitedNumber: a group shows some of its results and the number of the others.
func TestGroupsShowALimitedNumber(t *testing.T) {
	t.Parallel()
	found := chat.TextResult{Sessions: map[chat.SessionID]chat.Session{"s": {ID: "s"}}}
	for i := range 9 {
		found.Hits = append(found.Hits, chat.TextHit{Turn: chat.TurnID(strconv.Itoa(i)), Session: "s", Role: chat.RoleUser})
	}
	for _, tt := range []struct{ most, hits, more int }{{groupHits, 5, 4}, {sessionHits, 9, 0}} {
		g := newGroups(found).list(tt.most)
		if len(g) != 1 || len(g[0].Hits) != tt.hits || g[0].More != tt.more {
			t.Errorf("at most %d: %+v", tt.most, g)
		}
	}
}
