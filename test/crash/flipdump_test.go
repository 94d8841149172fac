package crash

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// hashed are columns with compressed values. These formats have a few bits without a meaning, and verify compares the
// decompressed values with a hash, so the bytes are not compared here.
var hashed = []string{
	"events.payload", "snapshots.content", "turns.manifest", "steps.request_json", "steps.response_json", "steps.raw_events", "steps.items_z", "states.summary_z",
}

// notCompared are tables whose bytes are not compared: those of the text index, which is compared by its words, and the
// last row numbers, because verify reports one that is too low.
var notCompared = []string{"units_fts_data", "units_fts_idx", "sqlite_sequence"}

// dump returns everything in a database of a home, read without the program's code: its schema, the rows of its tables,
// and the words of its text index.
func (h *home) dump(ctx context.Context, path string) (string, error) {
	copied, remove, err := h.plain(ctx, path) // opening a database checkpoints its log
	defer remove()
	if err != nil {
		return "", err
	}
	db, err := sql.Open("sqlite", copied)
	if err != nil {
		return "", err
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1) // the temporary table belongs to the connection
	out, err := column(ctx, db, `SELECT type || ' ' || name || ' ' || tbl_name || ' ' || coalesce(sql, '') FROM sqlite_schema ORDER BY 1`)
	if err != nil {
		return "", err
	}
	tables, err := column(ctx, db, `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'shadow') AND name <> 'sqlite_schema' ORDER BY 1`)
	if err != nil {
		return "", err
	}
	for _, table := range tables {
		if slices.Contains(notCompared, table) {
			continue
		}
		rows, err := dumpTable(ctx, db, table)
		if err != nil {
			return "", err
		}
		out = append(out, rows...)
	}
	if _, err := db.ExecContext(ctx, `CREATE VIRTUAL TABLE temp.words USING fts5vocab(main, units_fts, 'instance')`); err != nil {
		return "", err
	}
	words, err := column(ctx, db, `SELECT term || '/' || doc || '/' || col || '/' || "offset" FROM temp.words`)
	return strings.Join(append(out, words...), "\n"), err
}

func dumpTable(ctx context.Context, db *sql.DB, table string) ([]string, error) {
	columns, err := column(ctx, db, fmt.Sprintf(`SELECT name FROM pragma_table_xinfo('%s') WHERE hidden = 0`, table))
	if err != nil {
		return nil, err
	}
	var values []string
	for _, c := range columns {
		if !slices.Contains(hashed, table+"."+c) {
			values = append(values, `quote("`+c+`")`)
		}
	}
	return column(ctx, db, fmt.Sprintf(`SELECT '%s ' || %s FROM "%[1]s" ORDER BY 1`, table, strings.Join(values, ` || ',' || `)))
}
