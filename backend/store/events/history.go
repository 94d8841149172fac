package events

import (
	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// historyEvents are the events about range summaries, token counts of models, and permanent deletions.
var historyEvents = map[ledger.Type]eventKind{
	ledger.EventSummaryCreated:    kindOf((*Applier).summaryCreated, func(c *Copying, d *ledger.SummaryCreated) { remapID(c, &d.BranchID) }),
	ledger.EventSummarySuperseded: kindOf((*Applier).summarySuperseded, func(c *Copying, d *ledger.SummarySuperseded) { remapID(c, &d.By) }),
	ledger.EventCalibrationSet:    shared(kindOf((*Applier).calibrationSet, nil)),
	ledger.EventContentDeleted: kindOf((*Applier).contentDeleted, func(c *Copying, d *ledger.ContentDeleted) {
		d.Events = []ledger.DeletedEvent{} // the copy's payloads never held the text, so their hashes are right as they are
		remapIDs(c, d.Files)
	}),
}

func shared(k eventKind) eventKind {
	k.shared = true
	return k
}

func (a *Applier) summaryCreated(e ledger.Event, d ledger.SummaryCreated) error {
	row := schema.RangeSummaryRow{
		ID: e.Entity, SessionID: a.Session, BranchID: string(d.BranchID), FromSeq: d.From, ToSeq: d.To, TokenCount: d.Tokens,
		OriginalTokens: d.OriginalTokens, GeneratedBy: d.GeneratedBy, CreatedAt: e.CreatedAt, ContentHash: codec.Hash([]byte(d.Content)), Content: d.Content,
	}
	if len(d.Validation) > 0 && string(d.Validation) != "null" {
		row.ValidationJSON = schema.OrNull(string(d.Validation))
	}
	return a.DB.Create(&row).Error
}

func (a *Applier) summarySuperseded(e ledger.Event, d ledger.SummarySuperseded) error {
	return a.set(`UPDATE summaries SET superseded_by = ? WHERE id = ? AND session_id = ?`, d.By, e.Entity, a.Session)
}

// calibrationSet applies a calibration: the newest revision in any ledger applies, also if it came from another data directory.
func (a *Applier) calibrationSet(e ledger.Event, d ledger.CalibrationSet) error {
	if d.Samples < 1 || d.Samples > CalibrationSamples || d.Factor != CalibrationFactor(d.Factor) || d.Revision < 1 || d.Revision > maxRevision {
		return sqlite.Invalid("It sets an impossible factor.")
	}
	row, err := CalibrationOf(a.DB, d.Provider, d.ModelID)
	if err != nil || row.Revision >= d.Revision {
		return err
	}
	return PutCalibration(a.Tx, schema.CalibrationRow{
		Provider: d.Provider, ModelID: d.ModelID, Factor: d.Factor, Samples: d.Samples, Mean: d.Factor, Revision: d.Revision,
	})
}

// maxRevision is far more than a factor that changes in steps ever reaches.
const maxRevision = 1 << 40

// contentDeleted keeps the receipt of a permanent deletion, as far as the event describes it. The rest is known only to
// the deletion itself, which completes the receipt. What was deleted in another data directory of the same vault was deleted here
// before this event came, by a deletion with a receipt of its own.
func (a *Applier) contentDeleted(e ledger.Event, d ledger.ContentDeleted) error {
	if d.Receipt == "" || len(d.Events) == 0 {
		return nil
	}
	if !chat.ValidID(d.Receipt) || !chat.ValidID(e.Entity) {
		return sqlite.Invalid("It names no receipt.")
	}
	turns, err := sqlite.All[string](a.DB, `SELECT id FROM turns WHERE id = ?`, e.Entity)
	if err != nil {
		return err
	}
	kind := chat.DeletionSession
	if len(turns) > 0 {
		kind = chat.DeletionTurn
	}
	return a.Run(`INSERT OR IGNORE INTO receipts (id, subject, created_at, counts_json, backups_json) VALUES (?, ?, ?, '{"erased":[]}', '[]')`,
		d.Receipt, kind+" "+e.Entity, e.CreatedAt)
}
