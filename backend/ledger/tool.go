package ledger

import (
	"encoding/json"
	"errors"

	"contextinfinity/backend/chat"
)

// Events of the tool journal (SPEC 10). Whether a call was started, which recovery after a crash depends on, follows
// from tool_call_started.
const (
	EventToolBatchProposed Type = "tool_batch_proposed"
	EventToolCallDecided   Type = "tool_call_decided"
	EventToolCallStarted   Type = "tool_call_started"
	EventToolCallEnded     Type = "tool_call_ended"
	EventToolBatchClosed   Type = "tool_batch_closed"
)

var toolKinds = map[Type]reducer{
	EventToolBatchProposed: reducing((*State).toolsProposed),
	EventToolCallDecided:   reducing((*State).toolDecided),
	EventToolCallStarted:   reducing((*State).toolStarted),
	EventToolCallEnded:     reducing((*State).toolEnded),
	EventToolBatchClosed:   reducing((*State).toolsClosed),
}

// Payloads.
type (
	ToolBatchProposed struct {
		TurnID chat.TurnID    `json:"turn_id"`
		StepID chat.StepID    `json:"step_id"`
		Calls  []ToolProposed `json:"calls"`
	}
	ToolProposed struct {
		ID         chat.ToolCallID `json:"id"`
		UseID      string          `json:"tool_use_id"`
		Name       string          `json:"name"`
		Source     string          `json:"source"`
		Tool       string          `json:"tool"`
		Definition string          `json:"definition_sha256"`
		Effects    bool            `json:"effects"`
		Arguments  string          `json:"arguments"` // JSON, byte for byte
	}
	ToolCallDecided struct {
		Decision   chat.ToolDecision `json:"decision"`
		Definition string            `json:"definition_sha256"`
	}
	ToolCallStarted struct {
		Redactions []chat.CallRedaction `json:"redactions,omitempty"`
	}
	// ToolCallEnded has either a reason or a result.
	ToolCallEnded struct {
		Reason  chat.UnknownReason `json:"reason,omitempty"`
		IsError bool               `json:"is_error,omitempty"`
		Content json.RawMessage    `json:"content,omitempty"`
		// Recalled are the turns that the result quotes, of any session; an entry without a turn is a session whose
		// name it contains.
		Recalled []RecalledTurn `json:"recalled,omitempty"`
	}
	RecalledTurn struct {
		Session chat.SessionID `json:"session_id"`
		Turn    chat.TurnID    `json:"turn_id"`
	}
	ToolBatchClosed struct {
		State chat.BatchState `json:"state"`
	}
)

// Records.
type (
	ToolBatch struct {
		TurnID    string `json:"turn_id"`
		StepID    string `json:"step_id"`
		State     string `json:"state"`
		CreatedAt string `json:"created_at"`
		ClosedAt  string `json:"committed_at"`
	}
	ToolCall struct {
		BatchID    string `json:"batch_id"`
		Ordinal    int    `json:"ordinal"`
		UseID      string `json:"call_id"`
		Name       string `json:"name"`
		Source     string `json:"source"`
		Tool       string `json:"tool"`
		Definition string `json:"definition_hash"`
		Effects    bool   `json:"effects"`
		State      string `json:"state"`
		Decision   string `json:"decision"`
		DecidedAt  string `json:"decided_at"`
		Runs       int    `json:"runs"`
		StartedAt  string `json:"started_at"`
		EndedAt    string `json:"ended_at"`
		Reason     string `json:"reason"`
		Arguments  Sum    `json:"arguments"`
		Redactions Sum    `json:"redactions"`
		// The following are of its row in tool_results, if it has one.
		ResultAt string `json:"result_at"`
		IsError  bool   `json:"is_error"`
		Result   Sum    `json:"result"`
		Recalled Sum    `json:"recalled"`
	}
)

func (s *State) toolsProposed(e Event, p ToolBatchProposed) error {
	if s.Steps[string(p.StepID)] == nil {
		return errors.New("no earlier event created its step")
	}
	s.ToolBatches[e.Entity] = &ToolBatch{
		TurnID: string(p.TurnID), StepID: string(p.StepID), State: string(chat.BatchOpen), CreatedAt: e.CreatedAt,
	}
	for i, c := range p.Calls {
		s.ToolCalls[string(c.ID)] = &ToolCall{
			BatchID: e.Entity, Ordinal: i, UseID: c.UseID, Name: c.Name, Source: c.Source, Tool: c.Tool, Definition: c.Definition,
			Effects: c.Effects, State: string(chat.CallProposed), Arguments: SumOfText(c.Arguments),
		}
	}
	return nil
}

// toolDecided records a decision. A denied call ends with a separate event.
func (s *State) toolDecided(e Event, p ToolCallDecided) error {
	return update(s.ToolCalls, e.Entity, func(c *ToolCall) {
		c.Decision, c.DecidedAt, c.Definition = string(p.Decision), e.CreatedAt, p.Definition
		if p.Decision == chat.DecisionNone { // it is pending again
			c.State = string(chat.CallProposed)
		}
		if p.Decision.Allows() {
			c.State, c.Reason, c.EndedAt = string(chat.CallAllowed), "", ""
		}
	})
}

func (s *State) toolStarted(e Event, p ToolCallStarted) error {
	redactions, err := RedactionsText(p.Redactions)
	if err != nil {
		return err
	}
	return update(s.ToolCalls, e.Entity, func(c *ToolCall) {
		c.State, c.StartedAt, c.EndedAt, c.Reason = string(chat.CallStarted), e.CreatedAt, "", ""
		c.Redactions = SumOfRedactions(redactions)
		c.Runs++
	})
}

// RedactionsText is the stored form of a call's redactions; empty for none.
func RedactionsText(r []chat.CallRedaction) (string, error) {
	if len(r) == 0 {
		return "", nil
	}
	b, err := chat.MarshalJSON(r)
	return string(b), err
}

// SumOfRedactions is the sum of what RedactionsText returns.
func SumOfRedactions(text string) Sum {
	if text == "" {
		return ""
	}
	return SumOfText(text)
}

// SumOfRecalled is the sum of the turns that a result quotes; empty for none.
func SumOfRecalled(turns []RecalledTurn) Sum {
	if len(turns) == 0 {
		return ""
	}
	text := ""
	for _, t := range turns {
		text += string(t.Session) + " " + string(t.Turn) + "\n"
	}
	return SumOfText(text)
}

func (s *State) toolEnded(e Event, p ToolCallEnded) error {
	return update(s.ToolCalls, e.Entity, func(c *ToolCall) {
		c.EndedAt, c.Reason = e.CreatedAt, string(p.Reason)
		if c.State = string(chat.CallUnknown); p.Reason == "" {
			c.State, c.ResultAt, c.IsError, c.Result = string(chat.CallDone), e.CreatedAt, p.IsError, SumOf(p.Content)
			c.Recalled = SumOfRecalled(p.Recalled)
		}
	})
}

func (s *State) toolsClosed(e Event, p ToolBatchClosed) error {
	return update(s.ToolBatches, e.Entity, func(b *ToolBatch) { b.State, b.ClosedAt = string(p.State), e.CreatedAt })
}
