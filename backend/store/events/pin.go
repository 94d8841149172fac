package events

import (
	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/schema"
)

// pinEvents are the events about pinned facts and their order.
var pinEvents = map[ledger.Type]eventKind{
	ledger.EventPinAdded:   kindOf((*Applier).pinChanged, copyPin),
	ledger.EventPinEdited:  kindOf((*Applier).pinChanged, copyPin),
	ledger.EventPinRemoved: kindOf((*Applier).pinChanged, copyPin),
	ledger.EventPinsMoved: kindOf((*Applier).pinsMoved, func(c *Copying, d *ledger.PinsMoved) {
		remapID(c, &d.BranchID)
		remapIDs(c, d.Pins)
	}),
}

func copyPin(c *Copying, d *ledger.PinChanged) {
	remapID(c, &d.BranchID)
	remapID(c, &d.Replaces)
}

func (a *Applier) pinChanged(e ledger.Event, d ledger.PinChanged) error {
	return a.DB.Create(&schema.PinRow{
		ID: e.Entity, SessionID: a.Session, BranchID: string(d.BranchID), AfterTurnSeq: d.AfterTurn, Replaces: schema.OrNull(d.Replaces),
		Removed: e.Type == ledger.EventPinRemoved, Tokens: d.Tokens, CreatedAt: e.CreatedAt, ContentHash: codec.Hash([]byte(d.Text)), Text: d.Text,
	}).Error
}

func (a *Applier) pinsMoved(e ledger.Event, d ledger.PinsMoved) error {
	order, err := chat.MarshalJSON(d.Pins)
	if err != nil {
		return err
	}
	return a.DB.Create(&schema.PinOrderRow{
		ID: e.Entity, SessionID: a.Session, BranchID: string(d.BranchID), AfterTurnSeq: d.AfterTurn, CreatedAt: e.CreatedAt, PinsJSON: string(order),
	}).Error
}
