package records

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/delta"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// Turn reads one turn.
func (s *Records) Turn(ctx context.Context, id chat.TurnID) (chat.Turn, error) {
	row, err := core.Query(ctx, s, "turn.read", func(db *gorm.DB) (schema.TurnRow, error) { return schema.TurnByID(db, id) })
	return row.Turn(), err
}

// Lineage reads turns of a branch's lineage, in turn_seq order.
func (s *Records) Lineage(ctx context.Context, q chat.LineageQuery) ([]chat.Turn, error) {
	rows, err := core.OnLineage(ctx, s, "turn.lineage", q.Branch, func(db *gorm.DB, segs []core.Segment) ([]schema.TurnRow, error) {
		from, to, err := pageBounds(db, segs, q)
		if err != nil || from > to {
			return nil, err
		}
		rows, err := lineageRows(db, segs, from, to)
		if chat.CodeOf(sqlite.MapError("", err)) == chat.CodeCorrupt {
			return lineageOneByOne(db, segs, from, to)
		}
		return rows, err
	})
	return schema.TurnsOf(rows), err
}

// pageBounds converts a query to a range of sequences. A lineage's sequences run from 1 without a gap, so a page is
// computed and only its own rows are read.
func pageBounds(db *gorm.DB, segs []core.Segment, q chat.LineageQuery) (int64, int64, error) {
	last, err := core.LastSeq(db, segs)
	if err != nil {
		return 0, 0, err
	}
	from, to := max(q.FromSeq, 1), last
	if q.ToSeq > 0 {
		to = min(q.ToSeq, last)
	}
	if limit := int64(q.Limit); limit > 0 {
		if q.Newest {
			from = max(from, to-limit+1)
		} else {
			to = min(to, from+limit-1)
		}
	}
	return from, to, nil
}

func lineageRows(db *gorm.DB, segs []core.Segment, from, to int64) ([]schema.TurnRow, error) {
	scope, err := core.ScopeJSON(segs)
	if err != nil {
		return nil, err
	}
	return sqlite.All[schema.TurnRow](db, core.ScopeCTE+inOrder(`t.turn_seq BETWEEN ? AND ?`), scope, from, to)
}

// inOrder returns the query for the turns of the segments that meet a condition, in order. It sorts ids, not rows:
// SQLite holds each row that it sorts several times.
func inOrder(where string) string {
	return `SELECT ` + schema.TurnColumns + ` FROM (SELECT t.id FROM seg JOIN turns t ON t.branch_id = seg.branch
		  AND t.turn_seq > seg."from" AND t.turn_seq <= seg."to"
		WHERE ` + where + ` ORDER BY t.turn_seq LIMIT -1) page CROSS JOIN turns t ON t.id = page.id`
}

// lineageOneByOne is for a damaged file: an unreadable page only affects the turn on it, which is returned as
// unreadable in its position.
func lineageOneByOne(db *gorm.DB, segs []core.Segment, from, to int64) ([]schema.TurnRow, error) {
	scope, err := core.ScopeJSON(segs)
	if err != nil {
		return nil, err
	}
	heads, err := sqlite.All[schema.TurnRow](db, core.ScopeCTE+`
		SELECT t.id, t.session_id, t.branch_id, t.turn_seq, t.state_before, t.state_after, t.phase, t.outcome, t.created_at, t.updated_at
		FROM seg JOIN turns t ON t.branch_id = seg.branch AND t.turn_seq > seg."from" AND t.turn_seq <= seg."to"
		WHERE t.turn_seq BETWEEN ? AND ? ORDER BY t.turn_seq`, scope, from, to)
	if err != nil {
		return nil, err
	}
	for i, head := range heads {
		if row, err := schema.TurnByID(db, chat.TurnID(head.ID)); err == nil {
			heads[i] = row
		}
	}
	return heads, nil
}

// LineageBounds returns the first and last turn_seq of a lineage and its number of turns; all 0 if it has none.
func (s *Records) LineageBounds(ctx context.Context, branch chat.BranchID) (first, last int64, count int, err error) {
	last, err = core.OnLineage(ctx, s, "turn.lineage", branch, core.LastSeq)
	if last > 0 {
		first = 1
	}
	return first, last, int(last), err
}

// PendingTurns returns the lineage's final turns that no state summary covers yet, in order, without those that another
// device commits.
func (s *Records) PendingTurns(ctx context.Context, branch chat.BranchID) ([]chat.Turn, error) {
	rows, err := core.OnLineage(ctx, s, "turn.pending", branch, func(db *gorm.DB, segs []core.Segment) ([]schema.TurnRow, error) {
		return core.InScope[schema.TurnRow](db, segs, core.ScopeCTE+inOrder(`t.phase = 'ResponseFinalized'`))
	})
	rows, err2 := s.withoutForeign(ctx, rows)
	return schema.TurnsOf(rows), errors.Join(err, err2)
}

// withoutForeign removes turns that another device commits.
func (s *Records) withoutForeign(ctx context.Context, rows []schema.TurnRow) ([]schema.TurnRow, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	ours := map[string]bool{}
	err := s.Read(ctx, "turn.pending", func(db *gorm.DB) (err error) {
		for _, r := range rows {
			if _, known := ours[r.BranchID]; !known && err == nil {
				ours[r.BranchID], err = s.Device().Finishes(db, r.BranchID)
			}
		}
		return err
	})
	return slices.DeleteFunc(rows, func(r schema.TurnRow) bool { return !ours[r.BranchID] }), err
}

// pendingIDs returns a branch's own pending turns up to a sequence, in order.
func pendingIDs(db *gorm.DB, branch chat.BranchID, upTo int64) ([]chat.TurnID, error) {
	return sqlite.All[chat.TurnID](db, `SELECT id FROM turns WHERE branch_id = ? AND phase = 'ResponseFinalized'
		AND turn_seq <= ? ORDER BY turn_seq`, branch, upTo)
}

// LastTurn returns the newest turn of the lineage, if there is one.
func (s *Records) LastTurn(ctx context.Context, branch chat.BranchID) (chat.Turn, bool, error) {
	turns, err := s.Lineage(ctx, chat.LineageQuery{Branch: branch, Limit: 1, Newest: true})
	if err != nil || len(turns) == 0 {
		return chat.Turn{}, false, err
	}
	return turns[0], true, nil
}

// UnfinishedTurns returns the turns of all sessions without a final answer: accepted, prepared or responding, including
// incomplete ones.
func (s *Records) UnfinishedTurns(ctx context.Context) ([]chat.Turn, error) {
	rows, err := core.All[schema.TurnRow](ctx, s, "turn.unfinished", `SELECT `+schema.TurnColumns+` FROM turns t
			WHERE t.phase IN ('Accepted', 'ContextPrepared', 'Responding') ORDER BY t.created_at, t.id`)
	return schema.TurnsOf(rows), err
}

// OpenTurns is UnfinishedTurns without those that are left to another device: only there it is known whether they run.
func (s *Records) OpenTurns(ctx context.Context) ([]chat.Turn, error) {
	rows, err := core.All[schema.TurnRow](ctx, s, "turn.unfinished", `SELECT `+schema.TurnColumns+` FROM turns t
		WHERE t.phase IN ('Accepted', 'ContextPrepared', 'Responding') AND `+core.MayFinish+` ORDER BY t.created_at, t.id`,
		s.Device().Finishing()...)
	return schema.TurnsOf(rows), err
}

// FinishedElsewhere reports whether a turn is left to another device.
func (s *Records) FinishedElsewhere(ctx context.Context, turn chat.TurnID) (bool, error) {
	rows, err := core.All[int](ctx, s, "turn.read", `SELECT 1 FROM turns t WHERE t.id = ? AND `+core.MayFinish,
		append([]any{turn}, s.Device().Finishing()...)...)
	return err == nil && len(rows) == 0, err
}

// Steps returns a turn's attempts, by index and attempt, without payloads and items.
func (s *Records) Steps(ctx context.Context, turn chat.TurnID) ([]chat.Step, error) {
	rows, err := core.All[schema.StepRow](ctx, s, "step.list", `SELECT `+schema.StepHeadColumns+` FROM steps WHERE turn_id = ? ORDER BY step_index, attempt`, turn)
	return lists.Map(rows, schema.StepRow.Step), err
}

// StepsOf is Steps for several turns, for a page of a transcript.
func (s *Records) StepsOf(ctx context.Context, turns []chat.TurnID) (map[chat.TurnID][]chat.Step, error) {
	return s.stepsOf(ctx, schema.StepHeadColumns, turns)
}

// StepsWithItems is StepsOf with the output of each step, which is as long as the answers.
func (s *Records) StepsWithItems(ctx context.Context, turns []chat.TurnID) (map[chat.TurnID][]chat.Step, error) {
	return s.stepsOf(ctx, schema.StepColumns, turns)
}

func (s *Records) stepsOf(ctx context.Context, columns string, turns []chat.TurnID) (map[chat.TurnID][]chat.Step, error) {
	out := map[chat.TurnID][]chat.Step{}
	if len(turns) == 0 {
		return out, nil
	}
	rows, err := core.All[schema.StepRow](ctx, s, "step.list", `SELECT `+columns+` FROM steps WHERE turn_id IN ? ORDER BY turn_id, step_index, attempt`, turns)
	for _, r := range rows {
		step := r.Step()
		out[step.TurnID] = append(out[step.TurnID], step)
	}
	return out, err
}

// StepByID reads one step without its payload and items.
func (s *Records) StepByID(ctx context.Context, id chat.StepID) (chat.Step, error) {
	row, err := core.Query(ctx, s, "step.read", func(db *gorm.DB) (schema.StepRow, error) { return stepByID(db, id) })
	return row.Step(), err
}

func stepByID(db *gorm.DB, id chat.StepID) (schema.StepRow, error) {
	return sqlite.One[schema.StepRow](db, "step", id, `SELECT `+schema.StepHeadColumns+` FROM steps WHERE id = ?`, id)
}

// StepBodies reads the exact request and response of a step without its stream; see StepEvents.
func (s *Records) StepBodies(ctx context.Context, id chat.StepID) (chat.StepPayload, error) {
	var p chat.StepPayload
	err := s.Read(ctx, "step.payload", func(db *gorm.DB) error {
		row, err := sqlite.One[schema.StepRow](db, "step", id, `SELECT response_json FROM steps WHERE id = ?`, id)
		if err != nil {
			return err
		}
		if p.Response, err = codec.Unpack(row.ResponseJSON); err == nil {
			p.Request, err = delta.RequestChain.Read(db, string(id), nil)
		}
		if err != nil {
			return sqlite.CorruptRecord("steps", string(id), err)
		}
		return nil
	})
	return p, err
}

// Manifest returns the description of the last context assembled for a turn, nil if there was none.
func (s *Records) Manifest(ctx context.Context, turn chat.TurnID) (json.RawMessage, error) {
	return core.Query(ctx, s, "turn.manifest", func(db *gorm.DB) (json.RawMessage, error) {
		if _, err := schema.TurnHead(db, turn); err != nil {
			return nil, err
		}
		manifest, err := delta.ManifestChain.Read(db, string(turn), &s.Manifests)
		if err != nil {
			return nil, sqlite.CorruptRecord("turns", string(turn), err)
		}
		return manifest, nil
	})
}

// PreviousManifest returns the manifest of the newest turn of a lineage before a turn_seq (0: of all) for which a
// context was assembled, or nil. An unreadable one is skipped: the caller then plans again.
func (s *Records) PreviousManifest(ctx context.Context, branch chat.BranchID, beforeSeq int64) (json.RawMessage, chat.TurnID, error) {
	if beforeSeq <= 0 {
		beforeSeq = core.AllTurns
	}
	var manifest []byte
	var id string
	err := s.Read(ctx, "turn.manifest", func(db *gorm.DB) error {
		segs, err := core.Segments(db, branch)
		if err != nil {
			return err
		}
		if id, err = newestManifest(db, segs, beforeSeq); err != nil || id == "" {
			return err
		}
		if manifest, err = delta.ManifestChain.Read(db, id, &s.Manifests); ctx.Err() != nil {
			return err
		}
		if err != nil {
			s.Log.Warn("a manifest cannot be read", "turn", id)
			manifest, id = nil, ""
		}
		return nil
	})
	return manifest, chat.TurnID(id), err
}

// newestManifest searches from the lineage's own branch towards its root for the newest turn with a manifest; empty:
// none.
func newestManifest(db *gorm.DB, segs []core.Segment, before int64) (string, error) {
	for _, g := range slices.Backward(segs) {
		ids, err := sqlite.All[string](db, `SELECT id FROM turns WHERE branch_id = ? AND turn_seq > ? AND turn_seq <= ?
			AND manifest IS NOT NULL ORDER BY turn_seq DESC LIMIT 1`, g.Branch, g.From, min(g.To, before-1))
		if err != nil || len(ids) > 0 {
			return strings.Join(ids, ""), err
		}
	}
	return "", nil
}

// State reads one state summary.
func (s *Records) State(ctx context.Context, id chat.StateID) (chat.State, error) {
	row, err := core.Query(ctx, s, "state.read", func(db *gorm.DB) (schema.StateRow, error) { return StateByID(db, id) })
	return row.State(), err
}

func StateByID(db *gorm.DB, id chat.StateID) (schema.StateRow, error) {
	row, err := sqlite.One[schema.StateRow](db, "state", id, `SELECT * FROM states WHERE id = ?`, id)
	if err != nil {
		return row, err
	}
	return row, row.Unpack(db)
}

// States returns the state summaries of a branch's lineage, newest first, the root last.
func (s *Records) States(ctx context.Context, branch chat.BranchID) ([]chat.State, error) {
	rows, err := core.OnLineage(ctx, s, "state.list", branch, func(db *gorm.DB, segs []core.Segment) ([]schema.StateRow, error) {
		rows, err := core.InScope[schema.StateRow](db, segs, core.ScopeCTE+`
			SELECT st.* FROM seg JOIN states st ON st.branch_id = seg.branch AND st.state_seq <= seg.state_to
			ORDER BY st.state_seq DESC`)
		if err == nil {
			err = s.unpackStates(ctx, db, rows)
		}
		return rows, err
	})
	return lists.Map(rows, schema.StateRow.State), err
}

// unpackStates unpacks the summaries of a lineage's states, given newest first. One that cannot be decoded is left
// empty and logged; verify reports it.
func (s *Records) unpackStates(ctx context.Context, db *gorm.DB, rows []schema.StateRow) error {
	for i := len(rows) - 1; i >= 0; i-- {
		r := &rows[i]
		if r.SummaryZ == nil {
			continue
		}
		if i+1 < len(rows) && schema.Text(r.ParentID) == rows[i+1].ID {
			if value, err := codec.UnpackOn([]byte(rows[i+1].Summary), r.SummaryZ); err == nil {
				r.Summary = string(value)
				continue
			}
		}
		if err := r.Unpack(db); ctx.Err() != nil {
			return err
		} else if err != nil {
			s.Log.Warn("the summary of a state cannot be read", "state", r.ID)
		}
	}
	return nil
}

// StateTurnSeq returns the turn_seq of the last turn a state summary covers, 0 for a root.
func (s *Records) StateTurnSeq(ctx context.Context, id chat.StateID) (int64, error) {
	return core.Query(ctx, s, "state.read", func(db *gorm.DB) (int64, error) {
		return sqlite.One[int64](db, "state", id, `SELECT covers_seq FROM states WHERE id = ?`, id)
	})
}
