package ledger

import (
	"encoding/json"
	"errors"

	"contextinfinity/backend/chat"
)

// Events about a turn up to its answer.
const (
	EventTurnAccepted    Type = "turn_accepted"
	EventTurnPrepared    Type = "turn_prepared"
	EventTurnInterrupted Type = "turn_interrupted"
	EventTurnResumed     Type = "turn_resumed"
	EventTurnFinalized   Type = "turn_finalized"
	EventTurnFailed      Type = "turn_failed"
)

var turnKinds = map[Type]reducer{
	EventTurnAccepted:    reducing((*State).accepted),
	EventTurnPrepared:    reducing((*State).prepared),
	EventTurnInterrupted: reducing((*State).ended),
	EventTurnResumed:     reducing((*State).resumed),
	EventTurnFinalized:   reducing((*State).finalized),
	EventTurnFailed:      reducing((*State).ended),
}

// Payloads.
type (
	TurnAccepted struct {
		BranchID    chat.BranchID   `json:"branch_id"`
		Seq         int64           `json:"turn_seq"`
		StateBefore chat.StateID    `json:"state_before"`
		User        json.RawMessage `json:"user_message"`
		Provider    string          `json:"provider"`
		Model       string          `json:"model"`
		RetryOf     chat.TurnID     `json:"retry_of"`
	}
	TurnPrepared struct {
		ManifestSHA256  string `json:"manifest_sha256"`
		Tokens          int    `json:"tokens"`
		RetrievedSHA256 string `json:"retrieved_sha256,omitempty"` // of the memory in its context; empty: none
	}
	TurnFinalized struct {
		Outcome   chat.Outcome    `json:"outcome"`
		Assistant json.RawMessage `json:"assistant_message"`
		Usage     *chat.Usage     `json:"usage"`
	}
	TurnEnded struct { // interrupted or failed
		Outcome chat.Outcome  `json:"outcome"`
		Failure *chat.Failure `json:"error"`
		Usage   *chat.Usage   `json:"usage"`
	}
)

// Records.
type (
	Turn struct {
		BranchID    string `json:"branch_id"`
		Seq         int64  `json:"turn_seq"`
		StateBefore string `json:"state_before"`
		StateAfter  string `json:"state_after"`
		Phase       string `json:"phase"`
		Outcome     string `json:"outcome"`
		IndexStatus string `json:"index_status"`
		Provider    string `json:"primary_provider"`
		Model       string `json:"primary_model"`
		RetryOf     string `json:"retry_of"`
		CreatedAt   string `json:"created_at"`
		UpdatedAt   string `json:"updated_at"`
		User        Sum    `json:"user_message"`
		Assistant   Sum    `json:"assistant_message"`
		Usage       Sum    `json:"usage"`
		Failure     Sum    `json:"error"`
		Manifest    Sum    `json:"manifest"`
		Retrieved   Sum    `json:"retrieved"`
	}
)

func (s *State) accepted(e Event, p TurnAccepted) error {
	if err := s.touch(e); err != nil {
		return err
	}
	s.Turns[e.Entity] = &Turn{
		BranchID: string(p.BranchID), Seq: p.Seq, StateBefore: string(p.StateBefore), Phase: string(chat.PhaseAccepted),
		Provider: p.Provider, Model: p.Model, RetryOf: string(p.RetryOf), CreatedAt: e.CreatedAt, UpdatedAt: e.CreatedAt, User: SumOf(p.User),
	}
	return nil
}

func (s *State) resumed(e Event, _ struct{}) error {
	return update(s.Turns, e.Entity, func(t *Turn) { t.Outcome, t.Failure, t.UpdatedAt = "", "", e.CreatedAt })
}

// emptySum is the sum of no bytes, which an event without a manifest has.
var emptySum = SumOf()

func (s *State) prepared(e Event, p TurnPrepared) error {
	manifest, err := sumOfHex(p.ManifestSHA256)
	if err != nil {
		return err
	}
	retrieved, err := sumOfHex(p.RetrievedSHA256)
	if err != nil {
		return err
	}
	if manifest == emptySum {
		manifest = ""
	}
	return update(s.Turns, e.Entity, func(t *Turn) {
		t.Manifest, t.Retrieved, t.UpdatedAt = manifest, retrieved, e.CreatedAt
		if chat.Phase(t.Phase) == chat.PhaseAccepted {
			t.Phase = string(chat.PhaseContextPrepared)
		}
	})
}

// ended ends a turn without a final answer: incomplete or failed.
func (s *State) ended(e Event, p TurnEnded) error {
	failure, err := sumOfJSON(p.Failure)
	if err != nil {
		return err
	}
	usage, err := sumOfJSON(p.Usage)
	if err != nil {
		return err
	}
	return update(s.Turns, e.Entity, func(t *Turn) {
		t.Outcome, t.UpdatedAt = string(p.Outcome), e.CreatedAt
		if e.Type == EventTurnFailed {
			t.Phase = string(chat.PhaseFailed)
		}
		if p.Failure != nil {
			t.Failure = failure
		}
		if p.Usage != nil {
			t.Usage = usage
		}
	})
}

func (s *State) finalized(e Event, p TurnFinalized) error {
	usage, err := sumOfJSON(p.Usage)
	if err != nil {
		return err
	}
	if s.Sessions[s.SessionID] == nil {
		return errors.New("no earlier event created the session")
	}
	if err := update(s.Turns, e.Entity, func(t *Turn) {
		t.Phase, t.Outcome, t.Assistant = string(chat.PhaseResponseFinalized), string(p.Outcome), SumOf(p.Assistant)
		t.Failure, t.UpdatedAt = "", e.CreatedAt
		if p.Usage != nil {
			t.Usage = usage
		}
	}); err != nil {
		return err
	}
	return s.touch(e)
}
