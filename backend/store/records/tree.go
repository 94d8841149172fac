package records

import (
	"context"
	"slices"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// Tree reads a session's branches as runs of turns. The runs are computed from the branches: besides the pending and
// open turns, only the first and the last turn of each run are read.
func (s *Records) Tree(ctx context.Context, session chat.SessionID) (chat.Tree, error) {
	var tree chat.Tree
	err := s.Read(ctx, "branch.tree", func(db *gorm.DB) error {
		row, err := schema.SessionByID(db, session)
		if err != nil {
			return err
		}
		tree.Session = row.Session()
		if tree.Branches, err = s.branchSummaries(db, session); err != nil {
			return err
		}
		tree.Runs = runsOf(tree.Branches)
		if err := readRuns(db, tree.Runs); err != nil {
			return err
		}
		return countOpen(db, session, tree.Runs)
	})
	return tree, err
}

// runBuilder computes the runs of a session's branches.
type runBuilder struct {
	children map[chat.BranchID][]chat.BranchSummary // oldest first
	runs     []chat.TreeRun
}

// runsOf splits branches into runs, parents first.
func runsOf(branches []chat.BranchSummary) []chat.TreeRun {
	builder := runBuilder{children: map[chat.BranchID][]chat.BranchSummary{}}
	for _, b := range branches {
		if b.ForkSeq > 0 {
			builder.children[b.ParentBranch] = append(builder.children[b.ParentBranch], b)
		}
	}
	for _, b := range branches {
		if b.ForkSeq == 0 {
			builder.addRuns(b, -1)
		}
	}
	return builder.runs
}

// addRuns adds all runs of a branch, and then those of the branches that fork from it. So of the runs with the same
// parent, the branch's own continuation is the first. parent is the index of the run that the branch forks from, or -1.
func (r *runBuilder) addRuns(b chat.BranchSummary, parent int) {
	from := b.ForkSeq + 1
	var ends []int64
	for _, c := range r.children[b.ID] {
		if c.ForkSeq >= from && c.ForkSeq < b.LastSeq {
			ends = append(ends, c.ForkSeq)
		}
	}
	ends = append(ends, b.LastSeq)
	slices.Sort(ends)
	byEnd := map[int64]int{} // last turn_seq of a run of b -> index of the run
	for _, to := range slices.Compact(ends) {
		r.runs = append(r.runs, chat.TreeRun{Parent: parent, Branch: b.ID, From: from, To: to, Ends: to == b.LastSeq})
		parent = len(r.runs) - 1
		byEnd[to], from = parent, to+1
	}
	for _, c := range r.children[b.ID] {
		if run, ok := byEnd[c.ForkSeq]; ok { // a branch with a damaged fork point is left out, with its descendants
			r.addRuns(c, run)
		}
	}
}

// runRow is the stored data of the first and the last turn of a run.
type runRow struct {
	At          int // index of the run
	FirstID     string
	FirstUser   string
	LastID      string
	LastUser    *string // nil: the run has only one turn
	Phase       string  // this and the fields below belong to the last turn
	Outcome     string
	IndexStatus string
	StateAfter  *string
	UpdatedAt   string
}

// readRuns reads the first and the last turn of each run.
func readRuns(db *gorm.DB, runs []chat.TreeRun) error {
	list := make([][4]any, 0, len(runs))
	for i, r := range runs {
		if r.To >= r.From {
			list = append(list, [4]any{i, r.Branch, r.From, r.To})
		}
	}
	b, err := chat.MarshalJSON(list)
	if err != nil {
		return err
	}
	rows, err := sqlite.All[runRow](db, `
		WITH run AS MATERIALIZED (SELECT value ->> 0 AS at, value ->> 1 AS branch, value ->> 2 AS "from", value ->> 3 AS "to" FROM json_each(?))
		SELECT run.at, a.id AS first_id, a.user_message_json AS first_user, z.id AS last_id,
		  CASE WHEN z.id <> a.id THEN z.user_message_json END AS last_user,
		  z.phase, z.outcome, z.index_status, z.state_after, z.updated_at
		FROM run CROSS JOIN turns a ON a.branch_id = run.branch AND a.turn_seq = run."from"
		CROSS JOIN turns z ON z.branch_id = run.branch AND z.turn_seq = run."to"`, string(b))
	if err != nil {
		return err
	}
	for _, r := range rows {
		run := &runs[r.At]
		run.First = treeTurn(schema.TurnRow{ID: r.FirstID, TurnSeq: run.From}, &r.FirstUser)
		run.Last = treeTurn(schema.TurnRow{
			ID: r.LastID, TurnSeq: run.To, BranchID: string(run.Branch), Phase: r.Phase, Outcome: r.Outcome, IndexStatus: r.IndexStatus,
			StateAfter: r.StateAfter, UpdatedAt: r.UpdatedAt,
		}, r.LastUser)
	}
	return nil
}

// countOpen counts the pending turns and the open turns of runs. These turns are few and have their own indexes, so no
// other turns are read.
func countOpen(db *gorm.DB, session chat.SessionID, runs []chat.TreeRun) error {
	rows, err := sqlite.All[struct {
		BranchID chat.BranchID
		TurnSeq  int64
		Pending  bool
	}](db, `
		WITH b AS MATERIALIZED (SELECT id FROM branches WHERE session_id = ?)
		SELECT t.branch_id, t.turn_seq, 1 AS pending FROM b CROSS JOIN turns t INDEXED BY idx_turns_pending ON t.branch_id = b.id
		  WHERE t.phase = 'ResponseFinalized'
		UNION ALL SELECT t.branch_id, t.turn_seq, 0 FROM b CROSS JOIN turns t INDEXED BY idx_turns_unfinished ON t.branch_id = b.id
		  WHERE t.phase IN ('Accepted', 'ContextPrepared', 'Responding')
		UNION ALL SELECT t.branch_id, t.turn_seq, 0 FROM b CROSS JOIN turns t INDEXED BY idx_turns_failed ON t.branch_id = b.id
		  WHERE t.phase = 'Failed' AND t.outcome <> 'discarded'`, session)
	if err != nil {
		return err
	}
	byBranch := map[chat.BranchID][]int{} // a branch's runs, in order
	for i, r := range runs {
		byBranch[r.Branch] = append(byBranch[r.Branch], i)
	}
	for _, r := range rows {
		for _, i := range byBranch[r.BranchID] {
			if run := &runs[i]; r.TurnSeq >= run.From && r.TurnSeq <= run.To {
				if r.Pending {
					run.Pending++
				} else {
					run.Open++
				}
			}
		}
	}
	return nil
}

// treeTurn returns a turn without its messages. If userJSON is not nil, the turn's title is the first words of that
// message.
func treeTurn(r schema.TurnRow, userJSON *string) chat.TreeTurn {
	t := chat.TreeTurn{Turn: chat.Turn{
		ID: chat.TurnID(r.ID), BranchID: chat.BranchID(r.BranchID), Seq: r.TurnSeq, Phase: chat.Phase(r.Phase), Outcome: chat.Outcome(r.Outcome),
		IndexStatus: chat.IndexStatus(r.IndexStatus), StateAfter: chat.StateID(schema.Text(r.StateAfter)), UpdatedAt: schema.ParseTime(r.UpdatedAt),
	}}
	if userJSON != nil {
		m, _ := schema.DecodeMessage(chat.RoleUser, *userJSON) // an unreadable message has no words to show
		t.Title = m.Title()
	}
	return t
}

// BranchDivergence returns where two branches diverge. It fails with CodeInvalid if they belong to different sessions.
func (s *Records) BranchDivergence(ctx context.Context, a, b chat.BranchID) (chat.BranchDivergence, error) {
	var divergence chat.BranchDivergence
	err := s.Read(ctx, "branch.compare", func(db *gorm.DB) error {
		left, err := core.Segments(db, a)
		if err != nil {
			return err
		}
		right, err := core.Segments(db, b)
		if err != nil {
			return err
		}
		if left[0].Session != right[0].Session {
			return sqlite.Invalid("The two branches are of different sessions.").WithHint("compare branches of one session")
		}
		end, err := smallerLastSeq(db, left, right)
		if err != nil {
			return err
		}
		var owner string
		divergence.Shared, owner = lastSharedTurn(left, right, end)
		if divergence.Shared == 0 {
			return nil
		}
		divergence.Last, err = sqlite.One[chat.TurnID](db, "turn", divergence.Shared, `SELECT id FROM turns WHERE branch_id = ? AND turn_seq = ?`, owner, divergence.Shared)
		return err
	})
	return divergence, err
}

// smallerLastSeq returns the last turn_seq of the shorter of two lineages.
func smallerLastSeq(db *gorm.DB, left, right []core.Segment) (int64, error) {
	a, err := core.LastSeq(db, left)
	if err != nil {
		return 0, err
	}
	b, err := core.LastSeq(db, right)
	return min(a, b), err
}

// lastSharedTurn returns the last turn_seq that two lineages share, at most end, and the branch that owns that turn. It
// returns 0 if they share none.
func lastSharedTurn(left, right []core.Segment, end int64) (int64, string) {
	var shared int64
	owner := ""
	for i := range min(len(left), len(right)) {
		if left[i].Branch != right[i].Branch {
			break
		}
		to := min(left[i].To, right[i].To, end)
		if to > left[i].From {
			shared, owner = to, left[i].Branch
		}
		if left[i].To != right[i].To {
			break
		}
	}
	return shared, owner
}
