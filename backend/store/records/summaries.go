package records

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/queue"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// A range summary belongs to the branch that owns the last turn of its range: it can be used there and in every fork
// after that turn. Summaries are never changed or deleted; a superseded one is kept.

func summariesOf(rows []schema.RangeSummaryRow) []chat.RangeSummary {
	return lists.Map(rows, schema.RangeSummaryRow.Summary)
}

// AddSummary stores a range summary of a branch's lineage, marks the summaries it supersedes and completes its job
// (SPEC 6, 7).
//
// The summary belongs to the branch that owns the last turn of the range. Superseded summaries of an ancestor branch
// stay live, because the ancestor has no other. In place of a branch of another device, it belongs to the lineage's last. CodeInvalid: it is not shorter than what it represents, or the range
// is not fully committed. CodeConflict: the range has a live summary, or one to be superseded is no longer live.
func (s *Records) AddSummary(ctx context.Context, n chat.NewSummary) (chat.RangeSummary, error) {
	row, err := core.Change(ctx, s.Core, "summary.add", func(t *core.Tx) (schema.RangeSummaryRow, error) { return AddSummary(t, n) })
	if err != nil {
		return chat.RangeSummary{}, err
	}
	return row.Summary(), nil
}

func AddSummary(t *core.Tx, n chat.NewSummary) (schema.RangeSummaryRow, error) {
	if err := checkSummary(n); err != nil {
		return schema.RangeSummaryRow{}, err
	}
	if err := queue.CheckLease(t, n.Job); err != nil {
		return schema.RangeSummaryRow{}, err
	}
	segs, err := core.Segments(t.DB, n.BranchID)
	if err != nil {
		return schema.RangeSummaryRow{}, err
	}
	if err := checkCommitted(t, segs, n); err != nil {
		return schema.RangeSummaryRow{}, err
	}
	own := segs[slices.IndexFunc(segs, func(g core.Segment) bool { return n.To-1 > g.From && n.To-1 <= g.To })]
	if ours, err := t.Device.Finishes(t.DB, own.Branch); err != nil {
		return schema.RangeSummaryRow{}, err
	} else if !ours { // it is of use only in this lineage
		own = segs[len(segs)-1]
	}
	body := schema.Clean(n.Content)
	row := schema.RangeSummaryRow{
		ID: t.NewID(), SessionID: own.Session, BranchID: own.Branch, FromSeq: n.From, ToSeq: n.To, TokenCount: n.TokenCount,
		OriginalTokens: n.OriginalTokens, GeneratedBy: schema.Clean(n.GeneratedBy), CreatedAt: t.Stamp(),
		ContentHash: codec.Hash([]byte(body)), Content: body, ValidationJSON: schema.OrNull(string(n.Validation)),
	}
	if err := supersede(t, row, n.Supersedes); err != nil {
		return row, err
	}
	if err := refuseSecond(t, row); err != nil {
		return row, err
	}
	if err := queue.FinishJob(t, n.Job); err != nil {
		return row, err
	}
	return row, events.Record(t, chat.SessionID(row.SessionID), ledger.EventSummaryCreated, row.ID, ledger.SummaryCreated{
		BranchID: chat.BranchID(row.BranchID), From: row.FromSeq, To: row.ToSeq, Content: row.Content,
		Tokens: row.TokenCount, OriginalTokens: row.OriginalTokens, GeneratedBy: row.GeneratedBy, Validation: n.Validation,
	})
}

func checkSummary(n chat.NewSummary) error {
	switch {
	case strings.TrimSpace(n.Content) == "":
		return sqlite.Invalid("A summary must have content.")
	case n.From < 1 || n.To <= n.From:
		return sqlite.Invalid("[%d, %d) is not a range of turns.", n.From, n.To)
	case n.TokenCount < 1 || n.TokenCount >= n.OriginalTokens:
		return sqlite.Invalid("The summary of turns %d to %d has %d tokens where the turns have %d: it does not reduce them.",
			n.From, n.To-1, n.TokenCount, n.OriginalTokens)
	case strings.TrimSpace(n.GeneratedBy) == "":
		return sqlite.Invalid("The summary of turns %d to %d does not name its origin.", n.From, n.To-1)
	case len(n.Validation) > 0 && !json.Valid(n.Validation):
		return sqlite.Invalid("The validation of the summary of turns %d to %d is not JSON.", n.From, n.To-1)
	}
	return nil
}

// CommittedIn returns how many turns of a range are committed, and how many of the others never will be.
func CommittedIn(db *gorm.DB, segs []core.Segment, from, to int64) (committed, failed int64, err error) {
	scope, err := core.ScopeJSON(segs)
	if err != nil {
		return 0, 0, err
	}
	n, err := sqlite.One[struct{ Committed, Failed int64 }](db, "range", from, core.ScopeCTE+`
		SELECT count(t.state_after) AS committed, coalesce(sum(t.phase = 'Failed'), 0) AS failed
		FROM seg JOIN turns t ON t.branch_id = seg.branch AND t.turn_seq > seg."from" AND t.turn_seq <= seg."to"
		WHERE t.turn_seq >= ? AND t.turn_seq < ?`, scope, from, to)
	return n.Committed, n.Failed, err
}

func checkCommitted(t *core.Tx, segs []core.Segment, n chat.NewSummary) error {
	committed, failed, err := CommittedIn(t.DB, segs, n.From, n.To)
	if err != nil {
		return err
	}
	if committed == 0 || committed+failed != n.To-n.From {
		return sqlite.Invalid("Turns %d to %d are not all committed; a summary represents committed turns only.", n.From, n.To-1)
	}
	return nil
}

// supersede marks the summaries that a summary replaces.
func supersede(t *core.Tx, newer schema.RangeSummaryRow, ids []string) error {
	for _, id := range ids {
		old, err := sqlite.One[schema.RangeSummaryRow](t.DB, "summary", id, `SELECT * FROM summaries WHERE id = ?`, id)
		if err != nil {
			return err
		}
		if old.SessionID != newer.SessionID || old.FromSeq < newer.FromSeq || old.ToSeq > newer.ToSeq {
			return sqlite.Invalid("Summary %s is not of a part of turns %d to %d.", id, newer.FromSeq, newer.ToSeq-1)
		}
		if old.BranchID != newer.BranchID {
			continue
		}
		if old.SupersededBy != nil {
			return sqlite.Conflict("Summary %s was superseded in the meantime.", id).WithHint("read the summaries again")
		}
		if err := events.Record(t, chat.SessionID(old.SessionID), ledger.EventSummarySuperseded, id, ledger.SummarySuperseded{By: newer.ID}); err != nil {
			return err
		}
	}
	return nil
}

func refuseSecond(t *core.Tx, row schema.RangeSummaryRow) error {
	existing, err := sqlite.All[string](t.DB, `SELECT id FROM summaries WHERE branch_id = ? AND from_seq = ? AND to_seq = ?
		AND superseded_by IS NULL`, row.BranchID, row.FromSeq, row.ToSeq)
	if err == nil && len(existing) > 0 {
		err = sqlite.Conflict("Turns %d to %d have the summary %s.", row.FromSeq, row.ToSeq-1, existing[0])
	}
	return err
}

// Summaries returns the live range summaries that a branch's lineage can use: those with a range that ends in the
// visible part of their branch. One that does not match its hash is skipped and logged; an extract is used instead.
func (s *Records) Summaries(ctx context.Context, branch chat.BranchID) ([]chat.RangeSummary, error) {
	all, err := s.UsableSummaries(ctx, branch)
	return slices.DeleteFunc(all, func(r chat.RangeSummary) bool { return r.SupersededBy != "" }), err
}

// UsableSummaries returns the summaries that may represent a range of a branch's lineage, including superseded ones:
// what supersedes them may extend beyond a fork point, or beyond the cut of a model with a larger window.
func (s *Records) UsableSummaries(ctx context.Context, branch chat.BranchID) ([]chat.RangeSummary, error) {
	rows, err := core.OnLineage(ctx, s, "summary.list", branch, func(db *gorm.DB, segs []core.Segment) ([]schema.RangeSummaryRow, error) {
		return core.InScope[schema.RangeSummaryRow](db, segs, core.ScopeCTE+`
			SELECT r.* FROM seg JOIN summaries r ON r.branch_id = seg.branch AND r.to_seq - 1 <= seg."to"
			ORDER BY r.from_seq, r.to_seq, r.id`)
	})
	rows = slices.DeleteFunc(rows, func(r schema.RangeSummaryRow) bool {
		if r.Intact() {
			return false
		}
		s.Log.Warn("a range summary does not match its hash and is not used", "summary", r.ID)
		return true
	})
	return summariesOf(rows), err
}

// AllSummaries returns a session's range summaries, including superseded ones, by range and then in the order of
// creation.
func (s *Records) AllSummaries(ctx context.Context, session chat.SessionID) ([]chat.RangeSummary, error) {
	rows, err := core.All[schema.RangeSummaryRow](ctx, s, "summary.list", `SELECT * FROM summaries WHERE session_id = ? ORDER BY from_seq, to_seq, id`, session)
	return summariesOf(rows), err
}
