package events

import (
	"encoding/json"
	"errors"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/schema"
)

// toolEvents are the events of the tool journal.
var toolEvents = map[ledger.Type]eventKind{
	ledger.EventToolBatchProposed: kindOf((*Applier).toolsProposed, func(c *Copying, d *ledger.ToolBatchProposed) {
		remapID(c, &d.TurnID)
		remapID(c, &d.StepID)
		for i := range d.Calls {
			remapID(c, &d.Calls[i].ID)
		}
	}),
	ledger.EventToolCallDecided: kindOf((*Applier).toolDecided, nil),
	ledger.EventToolCallStarted: kindOf((*Applier).toolStarted, nil),
	ledger.EventToolCallEnded: kindOf((*Applier).toolEnded, func(c *Copying, d *ledger.ToolCallEnded) {
		for i := range d.Recalled { // turns of other sessions keep their ids
			r := &d.Recalled[i]
			if turn, copied := c.ids[string(r.Turn)]; copied {
				r.Session, r.Turn = chat.SessionID(c.Session), chat.TurnID(turn)
			} else if c.ids[string(r.Session)] == c.Session {
				remapID(c, &r.Session)
			}
		}
	}),
	ledger.EventToolBatchClosed: kindOf((*Applier).toolsClosed, nil),
}

type BatchRow struct {
	ID          string
	TurnID      string
	StepID      string
	State       string
	CreatedAt   string
	CommittedAt *string
}

func (BatchRow) TableName() string { return "tool_batches" }

type CallRow struct {
	ID             string
	BatchID        string
	Ordinal        int
	CallID         string
	Name           string
	Effects        bool
	StartedAt      *string
	Arguments      string
	Source         string
	Tool           string
	DefinitionHash string
	State          string
	Decision       string
	DecidedAt      *string
	Runs           int
	EndedAt        *string
	Reason         string
	Redactions     string
}

func (CallRow) TableName() string { return "tool_calls" }

type ResultRow struct {
	ToolCallID  string
	IsError     bool
	CreatedAt   string
	ContentHash []byte // of the JSON before packing
	Content     []byte
}

func (ResultRow) TableName() string { return "tool_results" }

func (a *Applier) toolsProposed(e ledger.Event, d ledger.ToolBatchProposed) error {
	if _, err := a.turn(string(d.TurnID)); err != nil {
		return err
	}
	if err := a.DB.Create(&BatchRow{
		ID: e.Entity, TurnID: string(d.TurnID), StepID: string(d.StepID), State: string(chat.BatchOpen), CreatedAt: e.CreatedAt,
	}).Error; err != nil {
		return err
	}
	for i, c := range d.Calls {
		if err := a.DB.Create(&CallRow{
			ID: string(c.ID), BatchID: e.Entity, Ordinal: i, CallID: c.UseID, Name: c.Name, Effects: c.Effects, Arguments: c.Arguments,
			Source: c.Source, Tool: c.Tool, DefinitionHash: c.Definition, State: string(chat.CallProposed),
		}).Error; err != nil {
			return err
		}
	}
	return nil
}

func (a *Applier) toolDecided(e ledger.Event, d ledger.ToolCallDecided) error {
	if d.Decision == chat.DecisionNone {
		return a.set(`UPDATE tool_calls SET state = 'proposed', decision = '', decided_at = ?, definition_hash = ? WHERE id = ?`,
			e.CreatedAt, d.Definition, e.Entity)
	}
	if !d.Decision.Allows() {
		return a.set(`UPDATE tool_calls SET decision = ?, decided_at = ?, definition_hash = ? WHERE id = ?`,
			d.Decision, e.CreatedAt, d.Definition, e.Entity)
	}
	return a.set(`UPDATE tool_calls SET state = 'allowed', decision = ?, decided_at = ?, definition_hash = ?, reason = '', ended_at = NULL
		WHERE id = ?`, d.Decision, e.CreatedAt, d.Definition, e.Entity)
}

func (a *Applier) toolStarted(e ledger.Event, d ledger.ToolCallStarted) error {
	redactions, err := ledger.RedactionsText(d.Redactions)
	if err != nil {
		return err
	}
	return a.set(`UPDATE tool_calls SET state = 'started', started_at = ?, ended_at = NULL, reason = '', redactions = ?, runs = runs + 1
		WHERE id = ?`, e.CreatedAt, redactions, e.Entity)
}

func (a *Applier) toolEnded(e ledger.Event, d ledger.ToolCallEnded) error {
	state := chat.CallUnknown
	if d.Reason == "" {
		state = chat.CallDone
	}
	if err := a.set(`UPDATE tool_calls SET state = ?, ended_at = ?, reason = ? WHERE id = ?`, state, e.CreatedAt, d.Reason, e.Entity); err != nil {
		return err
	}
	if d.Reason != "" {
		return nil
	}
	if err := a.DB.Create(&ResultRow{
		ToolCallID: e.Entity, IsError: d.IsError, CreatedAt: e.CreatedAt, ContentHash: codec.Hash(d.Content), Content: codec.Pack(d.Content),
	}).Error; err != nil {
		return err
	}
	return a.lookedUp(e.Entity, d.Recalled)
}

func (a *Applier) toolsClosed(e ledger.Event, d ledger.ToolBatchClosed) error {
	return a.set(`UPDATE tool_batches SET state = ?, committed_at = ? WHERE id = ?`, d.State, e.CreatedAt, e.Entity)
}

// Unpacked returns a result's JSON.
func (r ResultRow) Unpacked() ([]byte, error) {
	b, err := codec.Unpack(r.Content)
	if err == nil && b == nil {
		err = errors.New("it has no content")
	}
	return b, err
}

func (r CallRow) ToLedgerRecord(result *ResultRow, content []byte, recalled []ledger.RecalledTurn) *ledger.ToolCall {
	c := &ledger.ToolCall{
		BatchID: r.BatchID, Ordinal: r.Ordinal, UseID: r.CallID, Name: r.Name, Source: r.Source, Tool: r.Tool, Definition: r.DefinitionHash,
		Effects: r.Effects, State: r.State, Decision: r.Decision, DecidedAt: schema.Text(r.DecidedAt), Runs: r.Runs, StartedAt: schema.Text(r.StartedAt),
		EndedAt: schema.Text(r.EndedAt), Reason: r.Reason, Arguments: ledger.SumOfText(r.Arguments), Redactions: ledger.SumOfRedactions(r.Redactions),
	}
	if result != nil {
		c.ResultAt, c.IsError, c.Result = result.CreatedAt, result.IsError, ledger.SumOf(content)
		c.Recalled = ledger.SumOfRecalled(recalled)
	}
	return c
}

func (r BatchRow) ToLedgerRecord() *ledger.ToolBatch {
	return &ledger.ToolBatch{TurnID: r.TurnID, StepID: r.StepID, State: r.State, CreatedAt: r.CreatedAt, ClosedAt: schema.Text(r.CommittedAt)}
}

func (r BatchRow) Batch() chat.ToolBatch {
	return chat.ToolBatch{
		ID: chat.ToolBatchID(r.ID), TurnID: chat.TurnID(r.TurnID), StepID: chat.StepID(r.StepID), State: chat.BatchState(r.State),
		CreatedAt: schema.ParseTime(r.CreatedAt),
	}
}

// Record converts the row. Unreadable redactions count as none and unreadable arguments as text; verify reports them.
func (r CallRow) Record() chat.CallRecord {
	c := chat.CallRecord{
		ID: chat.ToolCallID(r.ID), BatchID: chat.ToolBatchID(r.BatchID), Ordinal: r.Ordinal, UseID: r.CallID, Name: r.Name, Source: r.Source,
		Tool: r.Tool, Definition: r.DefinitionHash, Effects: r.Effects, Arguments: chat.RawJSON([]byte(r.Arguments)),
		State: chat.ToolCallState(r.State), Decision: chat.ToolDecision(r.Decision), DecidedAt: schema.ParseTimeOrNil(r.DecidedAt), Runs: r.Runs,
		StartedAt: schema.ParseTimeOrNil(r.StartedAt), EndedAt: schema.ParseTimeOrNil(r.EndedAt), Reason: chat.UnknownReason(r.Reason),
	}
	if strings.HasPrefix(r.Redactions, "[") {
		_ = json.Unmarshal([]byte(r.Redactions), &c.Redactions)
	}
	return c
}

// Result decodes the stored result of a call.
func (r ResultRow) Result(useID string) (*chat.ToolResult, error) {
	content, err := r.Unpacked()
	if err != nil {
		return nil, err
	}
	var blocks chat.Blocks
	if err := json.Unmarshal(content, &blocks); err != nil {
		return nil, err
	}
	return &chat.ToolResult{ToolUseID: useID, Content: blocks, IsError: r.IsError}, nil
}

func (a *Applier) lookedUp(call string, turns []ledger.RecalledTurn) error {
	for i, r := range turns {
		if err := a.DB.Create(&schema.LookedUpRow{ToolCallID: call, Place: i, SessionID: string(r.Session), TurnID: string(r.Turn)}).Error; err != nil {
			return err
		}
	}
	return nil
}
