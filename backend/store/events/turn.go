package events

import (
	"encoding/json"
	"io"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/delta"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/transfer/bundle"
)

// turnEvents are the events about a turn, from its acceptance to its index.
var turnEvents = map[ledger.Type]eventKind{
	ledger.EventTurnAccepted:    kindOf((*Applier).turnAccepted, copyAccepted),
	ledger.EventTurnPrepared:    kindOf((*Applier).turnPrepared, copyPrepared),
	ledger.EventTurnResumed:     kindOf((*Applier).turnResumed, nil),
	ledger.EventTurnInterrupted: kindOf((*Applier).turnEnded, nil),
	ledger.EventTurnFailed:      kindOf((*Applier).turnEnded, nil),
	ledger.EventTurnFinalized:   kindOf((*Applier).turnFinalized, nil),
	ledger.EventTurnIndexed: kindOf((*Applier).turnIndexed, func(c *Copying, d *ledger.TurnIndexed) {
		for i := range d.Chunks {
			chunk := &d.Chunks[i]
			remapID(c, &chunk.ID)
			remapID(c, &chunk.File)
			for k := range chunk.Units {
				remapID(c, &chunk.Units[k].ID)
			}
		}
	}),
}

func copyAccepted(c *Copying, d *ledger.TurnAccepted) {
	remapID(c, &d.BranchID)
	remapID(c, &d.StateBefore)
	remapID(c, &d.RetryOf)
	d.User, c.err = c.message(d.User)
}

func copyPrepared(c *Copying, d *ledger.TurnPrepared) {
	d.ManifestSHA256 = c.content(bundle.Manifest, d.ManifestSHA256, c.manifest)
	d.RetrievedSHA256 = c.content(bundle.Retrieved, d.RetrievedSHA256, c.retrieved)
}

// turn returns a turn of the session created by an earlier event.
func (a *Applier) turn(id string) (schema.TurnRow, error) {
	row, err := schema.TurnHead(a.DB, chat.TurnID(id))
	if err == nil && row.SessionID != a.Session {
		err = sqlite.Invalid("Turn %s belongs to another session.", id)
	}
	return row, err
}

func (a *Applier) turnAccepted(e ledger.Event, d ledger.TurnAccepted) error {
	n, err := sqlite.One[int64](a.DB, "turns", "", `SELECT coalesce(max(n), 0) + 1 FROM turns`)
	if err != nil {
		return err
	}
	message := string(d.User)
	if err := a.DB.Create(&schema.TurnRow{
		ID: e.Entity, N: n, SessionID: a.Session, BranchID: string(d.BranchID), TurnSeq: d.Seq, StateBefore: string(d.StateBefore),
		Phase: string(chat.PhaseAccepted), PrimaryProvider: d.Provider, PrimaryModel: d.Model, RetryOf: schema.OrNull(d.RetryOf),
		CreatedAt: e.CreatedAt, UpdatedAt: e.CreatedAt, UserMessageJSON: message, UserHash: codec.Hash([]byte(message)),
	}).Error; err != nil {
		return err
	}
	return a.Touch(a.Session)
}

func (a *Applier) turnPrepared(e ledger.Event, d ledger.TurnPrepared) error {
	turn, err := a.turn(e.Entity)
	if err != nil {
		return err
	}
	chunks, err := a.retrieved(turn)
	if err != nil {
		return err
	}
	packed, link, err := delta.PackManifest(a.Tx, turn, a.content(bundle.Manifest), chunks)
	if err != nil {
		return err
	}
	if err := a.set(`UPDATE turns SET phase = iif(phase = 'Accepted', 'ContextPrepared', phase), manifest = ?,
		updated_at = ? WHERE id = ?`, packed, e.CreatedAt, turn.ID); err != nil {
		return err
	}
	return delta.ManifestChain.Link(a.Tx, turn.ID, link)
}

func (a *Applier) turnResumed(e ledger.Event, _ struct{}) error {
	return a.set(`UPDATE turns SET outcome = '', error_json = NULL, updated_at = ? WHERE id = ? AND session_id = ?`, e.CreatedAt, e.Entity, a.Session)
}

// turnEnded records how a turn without a final answer ended. An interrupted one keeps its phase.
func (a *Applier) turnEnded(e ledger.Event, d ledger.TurnEnded) error {
	failure, err := schema.EncodeOptional(d.Failure)
	if err != nil {
		return err
	}
	usage, err := schema.EncodeOptional(d.Usage)
	if err != nil {
		return err
	}
	return a.set(`UPDATE turns SET phase = iif(?, 'Failed', phase), outcome = ?, error_json = coalesce(?, error_json),
		usage_json = coalesce(?, usage_json), updated_at = ? WHERE id = ? AND session_id = ?`,
		e.Type == ledger.EventTurnFailed, d.Outcome, failure, usage, e.CreatedAt, e.Entity, a.Session)
}

func (a *Applier) turnFinalized(e ledger.Event, d ledger.TurnFinalized) error {
	message := string(d.Assistant)
	usage, err := schema.EncodeOptional(d.Usage)
	if err != nil {
		return err
	}
	if err := a.set(`UPDATE turns SET phase = 'ResponseFinalized', outcome = ?, final_assistant_message_json = ?, assistant_hash = ?,
		usage_json = coalesce(?, usage_json), error_json = NULL, updated_at = ? WHERE id = ? AND session_id = ?`,
		d.Outcome, message, codec.Hash([]byte(message)), usage, e.CreatedAt, e.Entity, a.Session); err != nil {
		return err
	}
	return a.Touch(a.Session)
}

// LongAnswer packs the payload of a final answer that is too long to be held several times.
func LongAnswer(d ledger.TurnFinalized, write func(io.Writer) error) (*core.Payload, error) {
	d.Assistant = json.RawMessage(longMark)
	return longPayload(d, longMark, write)
}
