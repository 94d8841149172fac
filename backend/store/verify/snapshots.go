package verify

import (
	"context"
	"database/sql"

	"gorm.io/gorm"

	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/records"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// receipts checks that receipts can be read.
func (a *Audit) receipts() {
	each(a, "receipts", "*", "id", func(r schema.ReceiptRow) {
		a.times("receipts", r.ID, &r.CreatedAt)
		_, err := r.Receipt()
		a.expect(err == nil, FindContent, "receipts", r.ID, "It cannot be read.")
	})
}

// snapshots checks the session's snapshots, and returns the hashes of the states in intact ones, by event.
func (a *Audit) snapshots() map[int64]ledger.Sum {
	sums := map[int64]ledger.Sum{}
	each(a, "snapshots", "*", "event_seq", func(r records.SnapshotRow) {
		id := r.SessionID + "/" + sqlite.Itoa(r.EventSeq)
		a.times("snapshots", id, &r.CreatedAt)
		snap, err := r.Snapshot(a.DB)
		if err != nil {
			a.Found = append(a.Found, records.SnapshotFinding(id, err))
			return
		}
		sums[snap.State.EventSeq] = records.StateSum(snap.State)
	})
	return sums
}

// Logs checks the write-ahead log up to the last confirmed change.
func (a *Audit) Logs(dir string) {
	file, damage, err := sqlite.LogDamage(dir)
	switch {
	case err != nil:
		a.add(findLog, "", sqlite.DatabaseFile+"-wal", "The write-ahead log cannot be read: %s.", sqlite.Reason(err))
	case damage != "":
		a.add(findLog, "", file, "%s", damage)
	}
}

// Originals runs the checks of data that cannot be rebuilt.
func (a *Audit) Originals(ctx context.Context, db *gorm.DB) error {
	view := db.Begin(&sql.TxOptions{})
	if view.Error != nil {
		return view.Error
	}
	defer view.Rollback()
	return a.run(ctx, view, []func(){
		a.file, a.references, a.replays, a.drafts, a.TurnSequences, a.StateSequences, a.Heads, a.Roots, a.ProjectFiles, a.links, a.Strays, a.receipts, a.blobs, a.Counters,
	})
}
