package ledger

import (
	"contextinfinity/backend/chat"
)

// Events about pinned facts and their order.
const (
	EventPinAdded   Type = "pin_added"
	EventPinEdited  Type = "pin_edited"
	EventPinRemoved Type = "pin_removed"
	EventPinsMoved  Type = "pins_moved"
)

var pinKinds = map[Type]reducer{
	EventPinAdded:   reducing((*State).pinChanged),
	EventPinEdited:  reducing((*State).pinChanged),
	EventPinRemoved: reducing((*State).pinChanged),
	EventPinsMoved:  reducing((*State).pinsMoved),
}

// Payloads.
type (
	PinChanged struct {
		BranchID  chat.BranchID `json:"branch_id"`
		AfterTurn int64         `json:"after_turn_seq"`
		Replaces  chat.PinID    `json:"replaces"`
		Text      string        `json:"text"`
		Tokens    int           `json:"tokens"`
	}
	PinsMoved struct {
		BranchID  chat.BranchID `json:"branch_id"`
		AfterTurn int64         `json:"after_turn_seq"`
		Pins      []chat.PinID  `json:"pins"`
	}
)

// Records.
type (
	Pin struct {
		BranchID  string `json:"branch_id"`
		AfterTurn int64  `json:"after_turn_seq"`
		Replaces  string `json:"replaces"`
		Removed   bool   `json:"removed"`
		Tokens    int    `json:"tokens"`
		CreatedAt string `json:"created_at"`
		Text      Sum    `json:"text"`
	}
	PinOrder struct {
		BranchID  string `json:"branch_id"`
		AfterTurn int64  `json:"after_turn_seq"`
		CreatedAt string `json:"created_at"`
		Pins      Sum    `json:"pins"`
	}
)

func (s *State) pinChanged(e Event, p PinChanged) error {
	s.Pins[e.Entity] = &Pin{
		BranchID: string(p.BranchID), AfterTurn: p.AfterTurn, Replaces: string(p.Replaces), Removed: e.Type == EventPinRemoved,
		Tokens: p.Tokens, CreatedAt: e.CreatedAt, Text: SumOfText(p.Text),
	}
	return nil
}

func (s *State) pinsMoved(e Event, p PinsMoved) error {
	order, err := chat.MarshalJSON(p.Pins)
	if err != nil {
		return err
	}
	s.PinOrders[e.Entity] = &PinOrder{BranchID: string(p.BranchID), AfterTurn: p.AfterTurn, CreatedAt: e.CreatedAt, Pins: SumOf(order)}
	return nil
}
