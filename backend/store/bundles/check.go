package bundles

import (
	"fmt"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/events"
)

// A ledger from an untrusted source may be consistent and still refer to things outside its session: records of other
// sessions, which have ids too, or files. The reducer does not check for that; this does, before anything is written.

// reachChecker records the first problem.
type reachChecker struct{ fault string }

func (c *reachChecker) expect(holds bool, format string, args ...any) {
	if !holds && c.fault == "" {
		c.fault = fmt.Sprintf(format, args...)
	}
}

// keepsTo checks that an id is valid and that its references are within the session.
func keepsTo[R any](c *reachChecker, what string, rows map[string]*R, refers func(id string, r *R) []bool) {
	for id, r := range rows {
		c.expect(chat.ValidID(id), "%s %.40q has no valid id", what, id)
		for _, holds := range refers(id, r) {
			c.expect(holds, "%s %s refers to something that does not belong to the session", what, id)
		}
	}
}

// in checks that an optional reference is one of the given records.
func in[R any](rows map[string]*R, id string) bool { return id == "" || rows[id] != nil }

// must is in for a required reference.
func must[R any](rows map[string]*R, id string) bool { return rows[id] != nil }

// reachesOut says which part of a session's state refers outside it; empty: nothing.
func reachesOut(s *ledger.State) string {
	c := &reachChecker{}
	keepsTo(c, "session", s.Sessions, func(id string, r *ledger.Session) []bool {
		return []bool{id == s.SessionID, must(s.Branches, r.ActiveBranch)}
	})
	keepsTo(c, "branch", s.Branches, func(_ string, r *ledger.Branch) []bool {
		return []bool{in(s.Branches, r.ParentBranch), in(s.Turns, r.ForkTurn), must(s.States, r.BaseState), must(s.States, r.HeadState)}
	})
	keepsTo(c, "state", s.States, func(_ string, r *ledger.Checkpoint) []bool {
		return []bool{must(s.Branches, r.BranchID), in(s.States, r.ParentID)}
	})
	keepsTo(c, "turn", s.Turns, func(_ string, r *ledger.Turn) []bool {
		return []bool{must(s.Branches, r.BranchID), must(s.States, r.StateBefore), in(s.States, r.StateAfter), in(s.Turns, r.RetryOf)}
	})
	keepsTo(c, "step", s.Steps, func(id string, r *ledger.Step) []bool {
		c.expect(r.StreamPath == "" || r.StreamPath == events.StreamPath(id), "the journal of step %s is not where journals are", id)
		return []bool{must(s.Turns, r.TurnID)}
	})
	keepsTo(c, "pin", s.Pins, func(_ string, r *ledger.Pin) []bool {
		return []bool{must(s.Branches, r.BranchID), in(s.Pins, r.Replaces)}
	})
	keepsTo(c, "order of pins", s.PinOrders, func(_ string, r *ledger.PinOrder) []bool { return []bool{must(s.Branches, r.BranchID)} })
	keepsTo(c, "summary", s.Summaries, func(_ string, r *ledger.Summary) []bool {
		return []bool{must(s.Branches, r.BranchID), in(s.Summaries, r.SupersededBy)}
	})
	keepsTo(c, "document", s.Files, func(_ string, r *ledger.File) []bool { return []bool{must(s.Turns, r.TurnID)} })
	keepsTo(c, "chunk", s.Chunks, func(_ string, r *ledger.Chunk) []bool { return []bool{must(s.Turns, r.TurnID), in(s.Files, r.FileID)} })
	keepsTo(c, "unit", s.Units, func(_ string, r *ledger.Unit) []bool {
		return []bool{must(s.Turns, r.TurnID), must(s.Chunks, r.ChunkID)}
	})
	c.circles(s)
	return c.fault
}

// circles checks that each branch leads to the one without a parent.
func (c *reachChecker) circles(s *ledger.State) {
	sound := map[string]bool{"": true}
	for id := range s.Branches {
		var way []string
		for at := id; !sound[at] && len(way) <= len(s.Branches); at = s.Branches[at].ParentBranch {
			if way = append(way, at); s.Branches[at] == nil {
				return // reported before
			}
		}
		c.expect(len(way) <= len(s.Branches), "branch %s is its own ancestor", id)
		for _, b := range way {
			sound[b] = true
		}
	}
	c.expect(len(s.Branches) <= core.MaxDepth, "there are more than %d branches", core.MaxDepth)
}
