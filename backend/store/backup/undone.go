package backup

import (
	"context"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/deletion"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// reportUndone finds permanent deletions in the current data whose content is still in the copy that will replace it;
// the receipt would be lost too. It compares content, not dates: clocks change, and a session can be imported again.
func (r *restoring) reportUndone(ctx context.Context) error {
	r.out.Undone = []chat.Receipt{}
	if !r.out.Present.Exists || r.out.Present.Problem != "" {
		return nil // what was deleted in it is unknown
	}
	receipts, err := receiptsIn(ctx, r.database())
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil { // unreadable data can still be replaced, and the report says so
		r.out.Present.Problem = chat.AsError(schema.Unopenable(r.database(), err)).Message
		return nil
	}
	for _, receipt := range receipts {
		if deletion.CopyHolds(ctx, r.staged(), receipt.Kind, receipt.Subject) && !deletion.CopyHolds(ctx, r.database(), receipt.Kind, receipt.Subject) {
			r.out.Undone = append(r.out.Undone, receipt)
		}
	}
	return ctx.Err()
}

// receiptsIn returns the receipts of a database that need not be open, newest first.
func receiptsIn(ctx context.Context, path string) ([]chat.Receipt, error) {
	db, err := sqlite.Connect(path, sqlite.ReadBackPragmas, 1)
	if err != nil {
		return nil, err
	}
	defer func() { _ = sqlite.Disconnect(db) }()
	return schema.ReceiptsOf(db.WithContext(ctx))
}
