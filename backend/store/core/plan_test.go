package core

import (
	"strings"
	"testing"

	"contextinfinity/backend/store/sqlite"
)

// TestTheQueriesOfDeletionsUseAnIndex: an event is found by its place, and the deletions by the beginning of their keys, however
// many others there are.
func TestTheQueriesOfDeletionsUseAnIndex(t *testing.T) {
	c, err := OpenScratch(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.DB.Close()
	for query, want := range map[string][]string{
		eventAt: {
			"SEARCH events USING INDEX idx_events_lane (session_id=? AND lane_seq=? AND lane=?)",
			"(session_id=? AND event_seq=?)",
		},
		settingsFrom: {"(key>? AND key<?)"},
	} {
		rows, err := sqlite.All[struct{ Detail string }](c.DB.Reader, `EXPLAIN QUERY PLAN `+query, make([]any, strings.Count(query, "?"))...)
		if err != nil {
			t.Fatal(err)
		}
		var plan []string
		for _, r := range rows {
			plan = append(plan, r.Detail)
		}
		for _, part := range want {
			if !strings.Contains(strings.Join(plan, "\n"), part) {
				t.Errorf("the plan of %s is %q", query, plan)
			}
		}
	}
}
