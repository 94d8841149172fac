package schema

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	gosqlite "github.com/glebarez/go-sqlite"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/sqlite"
)

// reindexBatch is how many turns reindexTexts lists at a time.
const reindexBatch = 500

// reindexTexts updates the indexed form of all units; triggers then update the text index. Each message is decoded
// once. An unreadable record keeps its form, so that the rest can still be opened; verify reports it.
func reindexTexts(ctx context.Context, tx *sql.Tx) error {
	for last := int64(-1); ; {
		turns, err := turnsAfter(ctx, tx, last)
		if err != nil || len(turns) == 0 {
			return err
		}
		for _, turn := range turns {
			last = turn
			if err := reindexTurn(ctx, tx, turn); err != nil && !concernsOneRecord(err) {
				return err
			}
		}
	}
}

// concernsOneRecord reports whether an error is about the bytes of one record; any other concerns the whole migration.
func concernsOneRecord(err error) bool {
	if e, ok := errors.AsType[*gosqlite.Error](err); ok {
		return slices.Contains([]int{sqlite.ResultCorrupt, sqlite.ResultNotADB, sqlite.ResultIOErr}, e.Code()&0xff)
	}
	return !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) // a column of another type
}

func turnsAfter(ctx context.Context, tx *sql.Tx, last int64) ([]int64, error) {
	rows, err := tx.QueryContext(ctx, `SELECT n FROM turns WHERE n > ? ORDER BY n LIMIT ?`, last, reindexBatch)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []int64
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, rows.Err()
}

func reindexTurn(ctx context.Context, tx *sql.Tx, turn int64) error {
	var user, assistant sql.NullString
	if err := tx.QueryRowContext(ctx, `SELECT user_message_json, final_assistant_message_json FROM turns WHERE n = ?`, turn).Scan(&user, &assistant); err != nil {
		return err
	}
	texts := map[string]string{}
	for role, raw := range map[chat.Role]string{chat.RoleUser: user.String, chat.RoleAssistant: assistant.String} {
		if m, err := chat.DecodeMessage(raw); raw != "" && err == nil {
			texts[string(role)] = m.IndexedText()
		}
	}
	stale, err := staleUnits(ctx, tx, turn, texts)
	if err != nil {
		return err
	}
	for _, u := range stale {
		if _, err := tx.ExecContext(ctx, `UPDATE units SET pairs = ? WHERE n = ?`, u.Pairs, u.N); err != nil {
			return err
		}
	}
	return nil
}

// staleUnits returns the units of a turn with an outdated indexed form, and the right form (nil: the text itself).
func staleUnits(ctx context.Context, tx *sql.Tx, turn int64, texts map[string]string) ([]UnitRow, error) {
	rows, err := tx.QueryContext(ctx, `SELECT u.n, u.message, u.start_offset, u.end_offset, u.text, u.pairs, u.said
		FROM turns t JOIN units u ON u.turn_id = t.id WHERE t.n = ?`, turn)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var stale []UnitRow
	for rows.Next() {
		var u UnitRow
		if err := rows.Scan(&u.N, &u.Message, &u.StartOffset, &u.EndOffset, &u.Text, &u.Pairs, &u.Said); err != nil {
			return nil, err
		}
		body := u.Text
		if words := texts[u.Message]; u.Said {
			if u.StartOffset < 0 || u.StartOffset > u.EndOffset || u.EndOffset > len(words) {
				continue
			}
			body += words[u.StartOffset:u.EndOffset]
		}
		if want := PairsOf(body); Text(want) != Text(u.Pairs) {
			u.Pairs = want
			stale = append(stale, u)
		}
	}
	return stale, rows.Err()
}
