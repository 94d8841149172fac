package render

import (
	"bytes"
	"io"
	"time"

	"contextinfinity/backend/chat"
)

// Schema is the version of the JSON document.
const Schema = 1

// Head is the part of a JSON transcript before its turns.
type Head struct {
	Session  chat.Session `json:"session"`
	Branch   chat.Branch  `json:"branch"` // the branch shown
	Branches []BranchRow  `json:"branches"`
}

// BranchRow is a branch in lists.
type BranchRow struct {
	ID        chat.BranchID `json:"branch_id"`
	Label     string        `json:"label"`
	Active    bool          `json:"active"`
	Parent    chat.BranchID `json:"parent_branch"`
	ForkTurn  chat.TurnID   `json:"fork_turn"`
	ForkSeq   int64         `json:"fork_seq"`
	Turns     int           `json:"turns"`
	Pending   int           `json:"pending"`
	LastSeq   int64         `json:"last_seq"`
	HeadState chat.StateID  `json:"head_state"`
	HeadSeq   int64         `json:"head_seq"`      // of the state summary
	HeadTurn  int64         `json:"head_turn_seq"` // the last turn that the head covers
	Epoch     int64         `json:"epoch"`
	Archived  bool          `json:"archived"`
	UpdatedAt time.Time     `json:"updated_at"`
	Machine   string        `json:"machine,omitempty"`   // where it began; empty: on the device of the session
	Continues chat.BranchID `json:"continues,omitempty"` // the branch of another device that it continues
	Elsewhere bool          `json:"elsewhere,omitempty"` // it is another device's: nothing is written to it here
}

// BranchRows returns a session's branches as rows of a list.
func BranchRows(session chat.Session, all []chat.BranchSummary) []BranchRow {
	rows := make([]BranchRow, len(all))
	for i, b := range all {
		rows[i] = BranchRow{
			ID: b.ID, Label: b.Label, Active: b.ID == session.ActiveBranch, Parent: b.ParentBranch, ForkTurn: b.ForkTurn,
			ForkSeq: b.ForkSeq, Turns: b.Turns, Pending: b.Pending, LastSeq: b.LastSeq, HeadState: b.HeadState,
			HeadSeq: b.HeadSeq, HeadTurn: b.Covers, Epoch: b.Epoch, Archived: b.ArchivedAt != nil, UpdatedAt: b.UpdatedAt,
			Machine: b.Machine, Continues: b.Continues, Elsewhere: b.Elsewhere,
		}
	}
	return rows
}

// TurnRow is a turn with all its data.
type TurnRow struct {
	ID          chat.TurnID      `json:"turn_id"`
	BranchID    chat.BranchID    `json:"branch_id"` // an ancestor's, for turns before a fork
	Seq         int64            `json:"turn_seq"`
	Phase       chat.Phase       `json:"phase"`
	Outcome     chat.Outcome     `json:"outcome"`
	User        chat.Message     `json:"user_message"`
	Assistant   *chat.Message    `json:"assistant_message"`
	Partial     *string          `json:"partial_text,omitempty"`
	Reasoning   *ReasoningRow    `json:"partial_reasoning,omitempty"` // beside partial_text, if there is any
	Steps       []StepRow        `json:"steps"`
	StateBefore chat.StateID     `json:"state_before"`
	StateAfter  chat.StateID     `json:"state_after"`
	Error       *chat.Failure    `json:"error"`
	Usage       *chat.Usage      `json:"usage"`
	Model       string           `json:"model"`
	Provider    string           `json:"provider"`
	RetryOf     chat.TurnID      `json:"retry_of,omitempty"`
	IndexStatus chat.IndexStatus `json:"index_status"`
	CreatedAt   time.Time        `json:"created_at"`
	UpdatedAt   time.Time        `json:"updated_at"`
}

// ReasoningRow counts the reasoning of an unfinished answer, in bytes. Durable is the part that the receiving process
// has reported as written to disk, at most a second ago.
type ReasoningRow struct {
	Received int64 `json:"received_bytes"`
	Durable  int64 `json:"durable_bytes"`
}

// reasoningOf is nil if a partial answer has no reasoning. Reasoning comes before text, so the step's durable bytes
// cover reasoning first.
func reasoningOf(t Turn) *ReasoningRow {
	var row ReasoningRow
	for _, b := range t.Partial.Blocks {
		if r, ok := b.(chat.Reasoning); ok {
			row.Received += int64(len(r.Summary))
		}
	}
	if row.Received == 0 || len(t.Steps) == 0 {
		return nil
	}
	row.Durable = min(row.Received, t.Steps[len(t.Steps)-1].DurableBytes)
	return &row
}

// StepRow is one attempt of a provider call.
type StepRow struct {
	ID        chat.StepID      `json:"step_id"`
	Index     int              `json:"index"`
	Attempt   int              `json:"attempt"`
	Provider  string           `json:"provider"`
	ModelID   string           `json:"model_id"`
	Outcome   chat.StepOutcome `json:"outcome"`
	Items     chat.Items       `json:"items"`
	Displayed int64            `json:"displayed_bytes"`
	Durable   int64            `json:"durable_bytes"`
	Usage     *chat.Usage      `json:"usage"`
	StartedAt time.Time        `json:"started_at"`
	EndedAt   *time.Time       `json:"ended_at"`
}

// NewTurnRow is a turn in JSON.
func NewTurnRow(t Turn) TurnRow {
	row := TurnRow{
		ID: t.ID, BranchID: t.BranchID, Seq: t.Seq, Phase: t.Phase, Outcome: t.Outcome, User: t.User, Assistant: t.Assistant,
		Steps: []StepRow{}, StateBefore: t.StateBefore, StateAfter: t.StateAfter, Error: t.Failure, Usage: t.Usage,
		Model: t.Model, Provider: t.Provider, RetryOf: t.RetryOf, IndexStatus: t.IndexStatus,
		CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt,
	}
	for _, st := range t.Steps {
		row.Steps = append(row.Steps, StepRow{
			ID: st.ID, Index: st.Index, Attempt: st.Attempt, Provider: st.Provider, ModelID: st.ModelID, Outcome: st.Outcome,
			Items: st.Items, Displayed: st.DisplayedBytes, Durable: st.DurableBytes, Usage: st.Usage,
			StartedAt: st.StartedAt, EndedAt: st.EndedAt,
		})
	}
	if t.Assistant == nil && t.Partial != nil {
		text := t.Partial.RenderedText()
		row.Partial, row.Reasoning = &text, reasoningOf(t)
	}
	return row
}

// JSON writes the document printed by `show --json`: the turns of one branch, or of all branches, every turn once, in
// the order of the chapters. All turns are included; their phase shows their progress.
func JSON(w io.Writer, d Document) error {
	out := newWriter(w)
	out.put(`{"schema":`, decimal(Schema), ",")
	head, err := chat.MarshalJSON(Head{Session: d.Session, Branch: d.Branch.Branch, Branches: BranchRows(d.Session, d.Branches)})
	if err != nil {
		return err
	}
	out.bytes(bytes.TrimSuffix(bytes.TrimPrefix(head, []byte("{")), []byte("}")))
	out.put(`,"turns":[`)
	first := true
	err = d.each(out, func(t Turn) error {
		row, err := chat.MarshalJSON(NewTurnRow(t))
		if err != nil {
			return err
		}
		if !first {
			out.put(",")
		}
		first = false
		out.bytes(row)
		return nil
	})
	if err != nil {
		return err
	}
	pins, err := chat.MarshalJSON(append([]chat.Pin{}, d.Pins...))
	if err != nil {
		return err
	}
	out.put(`],"pins":`)
	out.bytes(pins)
	out.put("}\n")
	return out.flush()
}

func (d Document) each(out *writer, f func(Turn) error) error {
	for _, c := range d.Chapters {
		if err := d.turnsOf(c, out, f); err != nil {
			return err
		}
	}
	return nil
}

// turnsOf reads a chapter until writing fails.
func (d Document) turnsOf(c Chapter, out *writer, f func(Turn) error) error {
	return d.Each(c, func(t Turn) error {
		if err := f(t); err != nil {
			return err
		}
		return out.err
	})
}
