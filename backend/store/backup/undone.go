package backup

import (
	"context"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/deletion"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// tellUndone finds what was deleted for good in the present data and is in the
// copy that is to replace it: with the text, the receipt would be gone too. The text
// decides, not the dates: clocks are set, and a session can be imported again.
func (r *restoring) tellUndone(ctx context.Context) error {
	r.out.Undone = []chat.Receipt{}
	if !r.out.Present.Exists || r.out.Present.Problem != "" {
		return nil // what was deleted in it is not known
	}
	receipts, err := receiptsIn(ctx, r.database())
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil { // data that cannot be read is restored over, and said to be so
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

// receiptsIn are the receipts of a database that need not be open, newest first.
func receiptsIn(ctx context.Context, path string) ([]chat.Receipt, error) {
	db, err := sqlite.Connect(path, sqlite.ReadBackPragmas, 1)
	if err != nil {
		return nil, err
	}
	defer func() { _ = sqlite.Disconnect(db) }()
	return schema.ReceiptsOf(db.WithContext(ctx))
}
