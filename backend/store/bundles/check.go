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

// refChecker records the first problem.
type refChecker struct{ fault string }

func (c *refChecker) expect(ok bool, format string, args ...any) {
	if !ok && c.fault == "" {
		c.fault = fmt.Sprintf(format, args...)
	}
}

// checkRefs checks that the ids of records are valid and that their references are within the session.
func checkRefs[R any](c *refChecker, kind string, rows map[string]*R, refs func(id string, r *R) []bool) {
	for id, r := range rows {
		c.expect(chat.ValidID(id), "%s %.40q has no valid id", kind, id)
		for _, ok := range refs(id, r) {
			c.expect(ok, "%s %s refers to something that does not belong to the session", kind, id)
		}
	}
}

// optional checks that a reference, if there is one, is to one of the given records.
func optional[R any](rows map[string]*R, id string) bool { return id == "" || rows[id] != nil }

// required is optional for a reference that must exist.
func required[R any](rows map[string]*R, id string) bool { return rows[id] != nil }

// outsideReference returns the first part of a session's state that refers outside it, or has an invalid id; empty:
// none.
func outsideReference(s *ledger.State) string {
	c := &refChecker{}
	checkRefs(c, "session", s.Sessions, func(id string, r *ledger.Session) []bool {
		return []bool{id == s.SessionID, required(s.Branches, r.ActiveBranch)}
	})
	checkRefs(c, "branch", s.Branches, func(_ string, r *ledger.Branch) []bool {
		return []bool{optional(s.Branches, r.ParentBranch), optional(s.Turns, r.ForkTurn), required(s.States, r.BaseState), required(s.States, r.HeadState),
			optional(s.Branches, r.Continues)}
	})
	checkRefs(c, "state", s.States, func(_ string, r *ledger.Checkpoint) []bool {
		return []bool{required(s.Branches, r.BranchID), optional(s.States, r.ParentID)}
	})
	checkRefs(c, "turn", s.Turns, func(_ string, r *ledger.Turn) []bool {
		return []bool{required(s.Branches, r.BranchID), required(s.States, r.StateBefore), optional(s.States, r.StateAfter), optional(s.Turns, r.RetryOf)}
	})
	checkRefs(c, "step", s.Steps, func(id string, r *ledger.Step) []bool {
		c.expect(r.StreamPath == "" || r.StreamPath == events.StreamPath(id), "the journal of step %s is not where journals are", id)
		return []bool{required(s.Turns, r.TurnID)}
	})
	checkRefs(c, "pin", s.Pins, func(_ string, r *ledger.Pin) []bool {
		return []bool{required(s.Branches, r.BranchID), optional(s.Pins, r.Replaces)}
	})
	checkRefs(c, "order of pins", s.PinOrders, func(_ string, r *ledger.PinOrder) []bool { return []bool{required(s.Branches, r.BranchID)} })
	checkRefs(c, "summary", s.Summaries, func(_ string, r *ledger.Summary) []bool {
		return []bool{required(s.Branches, r.BranchID), optional(s.Summaries, r.SupersededBy)}
	})
	checkRefs(c, "document", s.Files, func(_ string, r *ledger.File) []bool { return []bool{required(s.Turns, r.TurnID)} })
	checkRefs(c, "chunk", s.Chunks, func(_ string, r *ledger.Chunk) []bool {
		return []bool{required(s.Turns, r.TurnID), optional(s.Files, r.FileID)}
	})
	checkRefs(c, "unit", s.Units, func(_ string, r *ledger.Unit) []bool {
		return []bool{required(s.Turns, r.TurnID), required(s.Chunks, r.ChunkID)}
	})
	c.checkCycles(s)
	return c.fault
}

// checkCycles checks that the parents of each branch lead to the branch without a parent.
func (c *refChecker) checkCycles(s *ledger.State) {
	checked := map[string]bool{"": true}
	for id := range s.Branches {
		var path []string
		for at := id; !checked[at] && len(path) <= len(s.Branches); at = s.Branches[at].ParentBranch {
			if path = append(path, at); s.Branches[at] == nil {
				return // reported before
			}
		}
		c.expect(len(path) <= len(s.Branches), "branch %s is its own ancestor", id)
		for _, b := range path {
			checked[b] = true
		}
	}
	c.expect(len(s.Branches) <= core.MaxDepth, "there are more than %d branches", core.MaxDepth)
}
