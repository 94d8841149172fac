package store

import (
	"context"
	"database/sql"
)

// reindexed is how many units reindexTexts reads at a time.
const reindexed = 500

// reindexTexts brings the indexed form of all units up to date with their texts; triggers bring
// what changes into the text index.
func reindexTexts(ctx context.Context, tx *sql.Tx) error {
	change, err := tx.PrepareContext(ctx, `UPDATE units SET pairs = ? WHERE n = ?`)
	if err != nil {
		return err
	}
	defer change.Close()
	for last := int64(-1); ; {
		stale, next, err := staleUnits(ctx, tx, last)
		if err != nil || next == last {
			return err
		}
		for n, pairs := range stale {
			if _, err := change.ExecContext(ctx, pairs, n); err != nil {
				return err
			}
		}
		last = next
	}
}

// staleUnits are the units of the next batch whose indexed form is not that of their text, with
// the right form (nil: the text itself), and the last unit of the batch.
func staleUnits(ctx context.Context, tx *sql.Tx, after int64) (stale map[int64]*string, last int64, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT n, pairs, text FROM unit_texts WHERE n > ? ORDER BY n LIMIT ?`, after, reindexed)
	if err != nil {
		return nil, after, err
	}
	defer rows.Close()
	stale, last = map[int64]*string{}, after
	for rows.Next() {
		var pairs *string
		var body string
		if err := rows.Scan(&last, &pairs, &body); err != nil {
			return nil, after, err
		}
		if want := pairsOf(body); text(want) != text(pairs) {
			stale[last] = want
		}
	}
	return stale, last, rows.Err()
}
