package records

import (
	"context"
	"encoding/json"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/queue"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// Commit is TX-B: it stores a new state summary over the oldest pending turns, moves the head to it by compare-and-swap
// on the epoch, and queues index_turn for each turn (SPEC 2.2, 4). A stale epoch, or turns that are not the oldest
// pending ones in order, are CodeConflict and change nothing.
func (s *Records) Commit(ctx context.Context, c chat.Commit) (chat.State, error) {
	st, err := core.Change(ctx, s.Core, "state.commit", func(t *core.Tx) (schema.StateRow, error) { return Commit(t, c) })
	return st.State(), err
}

func Commit(t *core.Tx, c chat.Commit) (schema.StateRow, error) {
	if err := queue.CheckLease(t, c.Job); err != nil {
		return schema.StateRow{}, err
	}
	branch, err := schema.BranchOrFile(t.DB, c.BranchID)
	if err != nil {
		return schema.StateRow{}, err
	}
	if branch.Epoch != c.Epoch {
		return schema.StateRow{}, sqlite.Conflict("The branch has moved on to epoch %d in the meantime.", branch.Epoch).
			WithHint("read its head again and retry")
	}
	turns, err := checkRun(t, c)
	if err != nil {
		return schema.StateRow{}, err
	}
	st, err := NextState(t, branch, c, turns)
	if err != nil {
		return st, err
	}
	if err := InsertState(t, st, c.Turns, c.Epoch+1); err != nil {
		return st, err
	}
	if err := coverTurns(t, turns, committedMetrics(c)); err != nil {
		return st, err
	}
	if err := retitle(t, branch.SessionID, c.Retitle); err != nil {
		return st, err
	}
	return st, queue.FinishJob(t, c.Job)
}

// retitle sets the title unless the user chose one meanwhile.
func retitle(t *core.Tx, id string, r chat.Retitle) error {
	to := chat.BoundTitle(schema.Clean(r.To))
	if to == "" || to == r.From {
		return nil
	}
	current, err := sqlite.All[string](t.DB, `SELECT title FROM sessions WHERE id = ?`, id)
	if err != nil || len(current) == 0 || current[0] != r.From {
		return err
	}
	return events.Record(t, chat.SessionID(id), ledger.EventSessionRenamed, id, ledger.TextChanged{Text: to})
}

// checkRun refuses turns that are not the branch's oldest pending ones in order.
func checkRun(t *core.Tx, c chat.Commit) ([]schema.TurnRow, error) {
	if len(c.Turns) == 0 && c.Origin != chat.StatePins {
		return nil, sqlite.Invalid("There is no turn to commit.")
	}
	if !slices.Contains([]chat.StateOrigin{chat.StateLibrarian, chat.StateFallback, chat.StatePins}, c.Origin) {
		return nil, sqlite.Invalid("%q is not the origin of a committed state.", c.Origin)
	}
	pending, err := pendingIDs(t.DB, c.BranchID, core.AllTurns)
	if err != nil {
		return nil, err
	}
	if len(pending) < len(c.Turns) || !slices.Equal(pending[:len(c.Turns)], c.Turns) {
		return nil, sqlite.Conflict("These are not the branch's oldest pending turns.").
			WithHint("read what is pending again and retry")
	}
	turns := make([]schema.TurnRow, len(c.Turns))
	for i, id := range c.Turns {
		if turns[i], err = schema.TurnHead(t.DB, id); err != nil {
			return nil, err
		}
	}
	return turns, nil
}

func NextState(t *core.Tx, branch schema.BranchRow, c chat.Commit, turns []schema.TurnRow) (schema.StateRow, error) {
	if c.TokenCount < 0 {
		return schema.StateRow{}, sqlite.Invalid("A state's token count must not be negative.")
	}
	st := schema.StateRow{
		ID: t.NewID(), SessionID: branch.SessionID, BranchID: branch.ID, StateSeq: branch.HeadSeq + 1,
		ParentID: &branch.HeadState, Origin: string(c.Origin), Model: schema.Clean(c.Model), TokenCountEst: c.TokenCount,
		SchemaVersion: schema.StateSchema, CreatedAt: t.Stamp(), PinnedFacts: schema.Clean(c.PinnedFacts), Summary: schema.Clean(c.Summary),
	}
	if len(c.Validation) > 0 {
		if !json.Valid(c.Validation) {
			return st, sqlite.Invalid("The validation is not JSON.")
		}
		v := string(c.Validation)
		st.ValidationJSON = &v
	}
	if len(turns) > 0 {
		st.CoversSeq = turns[len(turns)-1].TurnSeq
		return st, nil
	}
	head, err := StateByID(t.DB, chat.StateID(branch.HeadState))
	st.CoversSeq = head.CoversSeq
	return st, err
}

// InsertState makes a state summary the head of its branch, and commits the turns. epoch is the branch's new epoch: the
// caller checked the old one in the same transaction.
func InsertState(t *core.Tx, st schema.StateRow, turns []chat.TurnID, epoch int64) error {
	if turns == nil {
		turns = []chat.TurnID{}
	}
	return events.Record(t, chat.SessionID(st.SessionID), ledger.EventStateCommitted, st.ID, ledger.StateCommitted{
		BranchID: chat.BranchID(st.BranchID), Seq: st.StateSeq, ParentID: chat.StateID(schema.Text(st.ParentID)),
		CoversSeq: st.CoversSeq, Summary: st.Summary, PinnedFacts: st.PinnedFacts, Tokens: st.TokenCountEst,
		Origin: chat.StateOrigin(st.Origin), Model: st.Model, Validation: json.RawMessage(schema.Text(st.ValidationJSON)),
		Turns: turns, Epoch: epoch,
	})
}

// committedMetrics returns what was measured while creating a state summary (SRD 15.1).
func committedMetrics(c chat.Commit) chat.TurnMetrics {
	check := chat.CheckOf(c.Origin, c.Validation)
	return chat.TurnMetrics{SummarizeMs: c.SummarizeMs, ValidationTries: check.Tries, ValidationResult: check.Result}
}

// coverTurns queues committed turns for the index, and scans them for facts that the user may want to pin.
func coverTurns(t *core.Tx, turns []schema.TurnRow, m chat.TurnMetrics) error {
	for i := range turns {
		turn := &turns[i]
		turn.Phase = string(chat.PhaseStateCommitted)
		if err := queue.Enqueue(t, chat.JobIndexTurn, *turn); err != nil {
			return err
		}
		if err := suggestPins(t, *turn); err != nil {
			return err
		}
		if !t.Commits {
			if err := queue.EndJob(t, chat.JobSummarizeTurn, turn.ID); err != nil {
				return err
			}
		}
		if err := MergeTurnMetrics(t, chat.TurnID(turn.ID), m); err != nil {
			return err
		}
	}
	return nil
}
