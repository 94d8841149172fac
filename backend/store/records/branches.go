package records

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// forkedAt returns the lineage of a branch that forks off now after a turn_seq: without branches that begin at that
// point, and with the last branch's current pins.
func forkedAt(segs []core.Segment, seq int64) []core.Segment {
	var out []core.Segment
	for i, g := range segs {
		if i == 0 || g.From < seq {
			g.To = min(g.To, seq)
			out = append(out, g)
		}
	}
	last := &out[len(out)-1]
	last.LeftAt, last.LeftBy = core.EndOfTime, core.EndOfTime
	return out
}

// Branch reads one branch.
func (s *Records) Branch(ctx context.Context, id chat.BranchID) (chat.Branch, error) {
	return core.Query(ctx, s, "branch.read", func(db *gorm.DB) (chat.Branch, error) {
		row, err := schema.BranchByID(db, id)
		if err != nil {
			return chat.Branch{}, err
		}
		branch := row.Branch()
		owns, err := s.Device().Owns(db, row)
		branch.Elsewhere = !owns
		return branch, err
	})
}

type branchSummaryRow struct {
	Row       schema.BranchRow `gorm:"embedded"`
	BegunBy   string
	LastSeq   int64
	CoversSeq int64
	Pending   int
	UpdatedAt string
}

// Branches lists a session's branches, oldest first, archived ones too.
func (s *Records) Branches(ctx context.Context, session chat.SessionID) ([]chat.BranchSummary, error) {
	return core.Query(ctx, s, "branch.list", func(db *gorm.DB) ([]chat.BranchSummary, error) {
		if _, err := schema.SessionByID(db, session); err != nil {
			return nil, err
		}
		return s.branchSummaries(db, session)
	})
}

func (s *Records) branchSummaries(db *gorm.DB, session chat.SessionID) ([]chat.BranchSummary, error) {
	rows, err := sqlite.All[branchSummaryRow](db, `
		SELECT b.*, s.begun_by, coalesce(last.turn_seq, b.fork_seq) AS last_seq,
		  coalesce((SELECT st.covers_seq FROM states st WHERE st.id = b.head_state), 0) AS covers_seq,
		  max(b.created_at, coalesce(last.updated_at, '')) AS updated_at,
		  (SELECT count(*) FROM turns p WHERE p.branch_id = b.id AND p.phase = 'ResponseFinalized') AS pending
		FROM branches b JOIN sessions s ON s.id = b.session_id LEFT JOIN turns last ON last.id =
		  (SELECT n.id FROM turns n WHERE n.branch_id = b.id ORDER BY n.turn_seq DESC LIMIT 1)
		WHERE b.session_id = ? ORDER BY b.created_at, b.id`, session)
	return lists.Map(rows, func(r branchSummaryRow) chat.BranchSummary { return r.summary(*s.Device()) }), err
}

func (r branchSummaryRow) summary(d core.Device) chat.BranchSummary {
	b := r.Row.Branch()
	b.Elsewhere = !d.Wrote(r.Row.Lane, r.BegunBy)
	return chat.BranchSummary{
		Branch: b, ForkSeq: r.Row.ForkSeq, Turns: int(r.LastSeq), Pending: r.Pending,
		LastSeq: r.LastSeq, Covers: r.CoversSeq, UpdatedAt: schema.ParseTime(r.UpdatedAt),
		On: cmp.Or(b.Machine, d.Began(r.Row.Lane, r.BegunBy)), Foreign: !d.MayFinish(r.Row.Lane, r.BegunBy),
	}
}

// insertBranch writes a branch with its base as head.
func insertBranch(t *core.Tx, b schema.BranchRow) error {
	tail, err := t.Tail(chat.SessionID(b.SessionID))
	if err != nil {
		return err
	}
	machine := ""
	if tail.Lane != "" || b.Continues != "" {
		machine = t.Device.Name
	}
	return events.Record(t, chat.SessionID(b.SessionID), ledger.EventBranchCreated, b.ID, ledger.BranchCreated{
		Label: b.Label, ParentBranch: chat.BranchID(schema.Text(b.ParentBranch)), ForkTurn: chat.TurnID(schema.Text(b.ForkTurn)),
		ForkSeq: b.ForkSeq, BaseState: chat.StateID(b.BaseState), BaseSeq: b.BaseSeq, Machine: machine,
		Continues: chat.BranchID(b.Continues),
	})
}

// Fork starts a branch after a turn of a lineage, or before its first (SPEC 4).
//
// Its base is the newest state summary of the lineage that covers nothing after that turn. If one state committed a run
// of turns across the fork point, the base lacks the first turns of the run; p.Fallback, if given, is then committed as
// the child's first state summary, so that its head covers them. CodeConflict: the turn, or an earlier one, is still
// pending or running.
func (s *Records) Fork(ctx context.Context, p chat.ForkPoint) (chat.Branch, error) {
	child, err := core.Change(ctx, s.Core, "branch.fork", func(t *core.Tx) (schema.BranchRow, error) { return Fork(t, p) })
	return child.Branch(), err
}

func Fork(t *core.Tx, p chat.ForkPoint) (schema.BranchRow, error) { return ForkAs(t, t.NewID(), p) }

// ForkAs is Fork with the id of the branch.
func ForkAs(t *core.Tx, id string, p chat.ForkPoint) (schema.BranchRow, error) {
	segs, err := core.Segments(t.DB, p.Branch)
	if err != nil {
		return schema.BranchRow{}, err
	}
	if p.SessionID != "" && segs[0].Session != string(p.SessionID) {
		return schema.BranchRow{}, sqlite.Invalid("Branch %s belongs to another session.", p.Branch)
	}
	child := schema.BranchRow{
		ID: id, SessionID: segs[0].Session, CreatedAt: t.Stamp(), Label: chat.BoundTitle(schema.Clean(p.Label)),
		ParentBranch: &segs[0].Branch,
	}
	if p.After != "" {
		if err := forkAfter(t, &child, segs, p.After); err != nil {
			return schema.BranchRow{}, err
		}
	}
	base, err := forkBase(t.DB, segs, child.ForkSeq)
	if err != nil {
		return schema.BranchRow{}, err
	}
	child.BaseState, child.BaseSeq, child.HeadState, child.HeadSeq = base.ID, base.StateSeq, base.ID, base.StateSeq
	if p.Continues {
		if err := continuing(t, &child, p.Branch); err != nil {
			return schema.BranchRow{}, err
		}
	}
	if child.Label == "" {
		if child.Label, err = freeLabel(t, child.SessionID); err != nil {
			return schema.BranchRow{}, err
		}
	}
	if err := insertBranch(t, child); err != nil {
		return schema.BranchRow{}, err
	}
	if err := forkFallback(t, &child, base, p.Fallback); err != nil {
		return schema.BranchRow{}, err
	}
	if p.KeepPins {
		if err := keepPins(t, child.ID, segs); err != nil {
			return schema.BranchRow{}, err
		}
	}
	if p.Continues {
		for _, table := range []string{"drafts", "queued_messages"} {
			if err := t.Run(`UPDATE `+table+` SET branch_id = ? WHERE branch_id = ?`, child.ID, p.Branch); err != nil {
				return schema.BranchRow{}, err
			}
		}
	}
	if p.Activate {
		err = Activate(t, chat.SessionID(child.SessionID), chat.BranchID(child.ID))
	}
	return child, err
}

// onMachine is between the name of a branch and that of the machine on which it continues.
const onMachine = " · "

// continuing names a branch after the one of another device that it continues, and after this machine, unless that one
// began on it too: after a restore the conversation continues under its name.
func continuing(t *core.Tx, child *schema.BranchRow, id chat.BranchID) error {
	b, err := schema.BranchByID(t.DB, id)
	if err != nil {
		return err
	}
	begun, err := sqlite.One[string](t.DB, "session", b.SessionID, `SELECT begun_by FROM sessions WHERE id = ?`, b.SessionID)
	if err != nil {
		return err
	}
	child.Continues, child.Label = b.ID, b.Label
	if here := t.Device.Name; here == "" || cmp.Or(b.Machine, t.Device.Began(b.Lane, begun)) != here {
		if at := strings.LastIndex(b.Label, onMachine); at > 0 {
			child.Label = b.Label[:at]
		}
		child.Label = chat.BoundTitle(child.Label + onMachine + cmp.Or(here, "2"))
	}
	return nil
}

// Continuation returns the branch on which this device already continues after a turn (empty: before the first) of a
// branch of another device; false: there is none.
func (s *Records) Continuation(ctx context.Context, branch chat.BranchID, after chat.TurnID) (chat.BranchID, bool, error) {
	found, err := core.All[chat.BranchID](ctx, s, "branch.read", `SELECT id FROM branches WHERE continues = ? AND lane = ?
		AND coalesce(fork_turn, '') = ? AND archived_at IS NULL ORDER BY created_at DESC, id DESC LIMIT 1`,
		branch, s.Device().ID, after)
	return append(found, "")[0], len(found) > 0, err
}

// forkAfter sets the fork turn, once that turn has ended. The parent is the branch that owns the turn, whichever
// descendant it was seen from.
func forkAfter(t *core.Tx, child *schema.BranchRow, segs []core.Segment, after chat.TurnID) error {
	turn, err := schema.TurnHead(t.DB, after)
	if err != nil {
		return err
	}
	if !core.Shows(segs, turn) {
		return sqlite.Invalid("Turn %s is not in the history of this branch.", after)
	}
	if chat.Phase(turn.Phase) != chat.PhaseFailed && !chat.Phase(turn.Phase).Finalized() {
		return sqlite.Conflict("Turn %d is not finished, so nothing can start after it.", turn.TurnSeq).
			WithHint("stop, keep or discard it first")
	}
	pending, err := pendingIDs(t.DB, chat.BranchID(turn.BranchID), turn.TurnSeq)
	if err != nil {
		return err
	}
	if len(pending) > 0 {
		ours, err := t.Device.Finishes(t.DB, turn.BranchID)
		if err != nil || !ours { // then they are covered by the new branch's first state summary
			pending = nil
		}
		if err != nil {
			return err
		}
	}
	if len(pending) > 0 {
		return sqlite.Conflict("%d turns up to turn %d are not yet in the branch's state.", len(pending), turn.TurnSeq).
			WithHint("commit them first")
	}
	id := string(after)
	child.ParentBranch, child.ForkTurn, child.ForkSeq = &turn.BranchID, &id, turn.TurnSeq
	return nil
}

// forkBase returns the newest state of the lineage that covers no turn after seq.
func forkBase(db *gorm.DB, segs []core.Segment, seq int64) (schema.StateRow, error) {
	scope, err := core.ScopeJSON(segs)
	if err != nil {
		return schema.StateRow{}, err
	}
	row, err := sqlite.One[schema.StateRow](db, "state before turn", seq, core.ScopeCTE+`
		SELECT st.* FROM seg JOIN states st ON st.branch_id = seg.branch AND st.state_seq <= seg.state_to
		WHERE st.covers_seq <= ? ORDER BY st.state_seq DESC LIMIT 1`, scope, seq)
	if err != nil {
		return row, err
	}
	return row, row.Unpack(db)
}

// forkFallback gives the child its own state summary over the turns that its base lacks.
func forkFallback(t *core.Tx, child *schema.BranchRow, base schema.StateRow, f *chat.ForkState) error {
	if f == nil || base.CoversSeq >= child.ForkSeq {
		return nil
	}
	st := schema.StateRow{
		ID: t.NewID(), SessionID: child.SessionID, BranchID: child.ID, StateSeq: base.StateSeq + 1,
		ParentID: &base.ID, CoversSeq: child.ForkSeq, Origin: string(chat.StateFallback),
		TokenCountEst: f.TokenCount, SchemaVersion: schema.StateSchema, CreatedAt: t.Stamp(),
		Summary: schema.Clean(f.Summary), PinnedFacts: schema.Clean(f.PinnedFacts),
	}
	child.HeadState, child.HeadSeq, child.Epoch = st.ID, st.StateSeq, 1
	return InsertState(t, st, nil, 1)
}

// ForkBase returns what a fork after a turn would be based on: its base state summary, and the final turns up to the
// fork point that this state does not cover, which the caller summarizes for ForkPoint.Fallback. After is empty for
// a fork before the first turn.
func (s *Records) ForkBase(ctx context.Context, branch chat.BranchID, after chat.TurnID) (chat.State, []chat.Turn, error) {
	var base schema.StateRow
	var turns []schema.TurnRow
	err := s.Read(ctx, "branch.fork", func(db *gorm.DB) error {
		segs, err := core.Segments(db, branch)
		if err != nil {
			return err
		}
		var seq int64
		if after != "" {
			turn, err := schema.TurnHead(db, after)
			if err != nil {
				return err
			}
			seq = turn.TurnSeq
		}
		if base, err = forkBase(db, segs, seq); err != nil || base.CoversSeq >= seq {
			return err
		}
		turns, err = lineageRows(db, segs, base.CoversSeq+1, seq)
		return err
	})
	turns = slices.DeleteFunc(turns, func(r schema.TurnRow) bool { return !chat.Phase(r.Phase).Finalized() })
	return base.State(), schema.TurnsOf(turns), err
}

// freeLabel returns "fork N", with N counting the session's branches.
func freeLabel(t *core.Tx, session string) (string, error) {
	n, err := sqlite.One[int64](t.DB, "session", session, `SELECT count(*) FROM branches WHERE session_id = ?`, session)
	return "fork " + sqlite.Itoa(n), err
}

// SwitchBranch makes a branch the session's active one. An archived branch is restored.
func (s *Records) SwitchBranch(ctx context.Context, session chat.SessionID, branch chat.BranchID) error {
	return s.Write(ctx, "branch.switch", func(t *core.Tx) error {
		b, err := schema.BranchByID(t.DB, branch)
		if err != nil {
			return err
		}
		if b.SessionID != string(session) {
			return sqlite.Invalid("Branch %s belongs to another session.", branch)
		}
		if b.ArchivedAt != nil { // the active branch is never archived
			if err := archiveBranch(t, branch, false); err != nil {
				return err
			}
		}
		return Activate(t, session, branch)
	})
}

func Activate(t *core.Tx, session chat.SessionID, branch chat.BranchID) error {
	return SetSession(t, session, ledger.EventBranchSwitched, ledger.TextChanged{Text: string(branch)})
}

// RenameBranch gives a branch another label.
func (s *Records) RenameBranch(ctx context.Context, id chat.BranchID, label string) error {
	label = schema.Clean(label)
	if err := checkTitle("The name of a branch", label); err != nil {
		return err
	}
	return s.Write(ctx, "branch.rename", func(t *core.Tx) error {
		return setBranch(t, id, ledger.EventBranchRenamed, ledger.TextChanged{Text: label})
	})
}

// ArchiveBranch archives or restores a branch. The active one cannot be archived.
func (s *Records) ArchiveBranch(ctx context.Context, id chat.BranchID, archived bool) error {
	return s.Write(ctx, "branch.archive", func(t *core.Tx) error {
		active, err := sqlite.All[string](t.DB, `SELECT id FROM sessions WHERE active_branch = ?`, id)
		if err != nil {
			return err
		}
		if archived && len(active) > 0 {
			return sqlite.Conflict("This is the session's active branch.").WithHint("switch to another one first")
		}
		return archiveBranch(t, id, archived)
	})
}

func archiveBranch(t *core.Tx, id chat.BranchID, archived bool) error {
	return setBranch(t, id, ledger.EventBranchArchived, ledger.FlagChanged{On: archived})
}

func setBranch(t *core.Tx, id chat.BranchID, kind ledger.Type, data any) error {
	b, err := schema.BranchByID(t.DB, id)
	if err != nil {
		return err
	}
	return events.Record(t, chat.SessionID(b.SessionID), kind, string(id), data)
}
