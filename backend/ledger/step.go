package ledger

import (
	"encoding/json"

	"contextinfinity/backend/chat"
)

// Events about model calls.
const (
	EventStepStarted Type = "step_started"
	EventStepEnded   Type = "step_ended"
)

var stepKinds = map[Type]reducer{
	EventStepStarted: reducing((*State).stepStarted),
	EventStepEnded:   reducing((*State).stepEnded),
}

// Payloads.
type (
	StepStarted struct {
		TurnID        chat.TurnID `json:"turn_id"`
		Index         int         `json:"step_index"`
		Attempt       int         `json:"attempt"`
		Provider      string      `json:"provider"`
		ModelID       string      `json:"model_id"`
		StreamPath    string      `json:"stream_path"`
		RequestSHA256 string      `json:"request_sha256"`
		RequestBytes  int         `json:"request_bytes"`
		ToolsMode     string      `json:"tools_mode,omitempty"`
	}
	StepEnded struct {
		TurnID         chat.TurnID      `json:"turn_id"`
		Outcome        chat.StepOutcome `json:"outcome"`
		Items          json.RawMessage  `json:"normalized_items"`
		Usage          *chat.Usage      `json:"usage"`
		DisplayedBytes int64            `json:"stream_displayed_bytes"`
		DurableBytes   int64            `json:"stream_durable_bytes"`
		ResponseSHA256 string           `json:"response_sha256,omitempty"`
		EventsSHA256   string           `json:"raw_events_sha256,omitempty"`
	}
)

// Records.
type (
	Step struct {
		TurnID         string `json:"turn_id"`
		Index          int    `json:"step_index"`
		Attempt        int    `json:"attempt"`
		Status         string `json:"status"`
		Provider       string `json:"provider"`
		ModelID        string `json:"model_id"`
		StartedAt      string `json:"started_at"`
		EndedAt        string `json:"ended_at"`
		StreamPath     string `json:"stream_path"`
		DisplayedBytes int64  `json:"stream_displayed_bytes"`
		DurableBytes   int64  `json:"stream_durable_bytes"`
		Outcome        Sum    `json:"outcome"`
		Usage          Sum    `json:"usage"`
		Items          Sum    `json:"normalized_items"`
		Request        Sum    `json:"request"`
		Response       Sum    `json:"response"`
		Events         Sum    `json:"raw_events"`
		ToolsMode      string `json:"tools_mode,omitempty"`
	}
)

// running is the outcome of an unfinished step.
var running = SumOfText(`{"status":"running"}`)

func (s *State) stepStarted(e Event, p StepStarted) error {
	request, err := sumOfHex(p.RequestSHA256)
	if err != nil {
		return err
	}
	if err := update(s.Turns, string(p.TurnID), func(t *Turn) {
		if t.Phase != string(chat.PhaseResponding) {
			t.Phase, t.UpdatedAt = string(chat.PhaseResponding), e.CreatedAt
		}
	}); err != nil {
		return err
	}
	s.Steps[e.Entity] = &Step{
		TurnID: string(p.TurnID), Index: p.Index, Attempt: p.Attempt, Status: string(chat.StepRunning), Provider: p.Provider,
		ModelID: p.ModelID, StartedAt: e.CreatedAt, StreamPath: p.StreamPath, Outcome: running, Items: SumOfText("[]"), Request: request, ToolsMode: p.ToolsMode,
	}
	return nil
}

func (s *State) stepEnded(e Event, p StepEnded) error {
	outcome, err := sumOfJSON(&p.Outcome)
	if err != nil {
		return err
	}
	usage, err := sumOfJSON(p.Usage)
	if err != nil {
		return err
	}
	response, err := sumOfHex(p.ResponseSHA256)
	if err != nil {
		return err
	}
	events, err := sumOfHex(p.EventsSHA256)
	if err != nil {
		return err
	}
	return update(s.Steps, e.Entity, func(r *Step) {
		r.Status, r.EndedAt, r.DisplayedBytes, r.DurableBytes = string(p.Outcome.Status), e.CreatedAt, p.DisplayedBytes, p.DurableBytes
		r.Outcome, r.Usage, r.Items, r.Response, r.Events = outcome, usage, SumOf(p.Items), response, events
	})
}
