package crash

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	_ "github.com/glebarez/go-sqlite" // reads the database without the program's code

	"contextinfinity/test/harness"
)

// rowRules are queries that must return nothing. They do not rely on the database's own unique indexes: +column keeps
// SQLite from using them.
var rowRules = []struct{ what, query string }{
	{"DUPLICATE: state summaries of a branch with the same number", `SELECT branch_id || ' #' || state_seq FROM states GROUP BY +branch_id, +state_seq HAVING count(*) > 1`},
	{"DUPLICATE: state summaries that cover the same turns", `SELECT branch_id || ' up to ' || covers_seq FROM states WHERE origin IN ('librarian', 'fallback') GROUP BY +branch_id, +covers_seq HAVING count(*) > 1`},
	{"DUPLICATE: turns of a branch with the same number", `SELECT branch_id || ' #' || turn_seq FROM turns GROUP BY +branch_id, +turn_seq HAVING count(*) > 1`},
	{"DUPLICATE: steps", `SELECT turn_id FROM steps GROUP BY +turn_id, +step_index, +attempt HAVING count(*) > 1`},
	{"DUPLICATE: chunks", `SELECT source_turn FROM chunks GROUP BY +source_turn, +file_id, +role, +start_offset, +end_offset, +chunker_version HAVING count(*) > 1`},
	{"DUPLICATE: units", `SELECT chunk_id FROM units GROUP BY +chunk_id, +ordinal HAVING count(*) > 1`},
	{"DUPLICATE: vectors", `SELECT unit_n FROM unit_embeddings GROUP BY +namespace_id, +unit_n HAVING count(*) > 1`},
	{"DUPLICATE: events with the same number", `SELECT session_id || ' #' || event_seq FROM events GROUP BY +session_id, +event_seq HAVING count(*) > 1`},
	{"DUPLICATE: events that can happen once", `SELECT type || ' ' || entity_id FROM events WHERE type IN ('session_created', 'branch_created', 'turn_accepted',
		'turn_finalized', 'turn_indexed', 'step_started', 'step_ended', 'state_committed', 'pin_added', 'summary_created') GROUP BY +type, +entity_id HAVING count(*) > 1`},
	{"DUPLICATE: failures of a turn", failedTwice},
	{"gaps in the ledger", `SELECT session_id FROM events GROUP BY +session_id HAVING max(event_seq) <> count(*)`},
	{"DUPLICATE: live summaries", `SELECT branch_id FROM summaries WHERE superseded_by IS NULL GROUP BY +branch_id, +from_seq, +to_seq HAVING count(*) > 1`},
	{"DUPLICATE: jobs", `SELECT job_key FROM jobs GROUP BY +job_key HAVING count(*) > 1`},
	{"heads without a state summary", `SELECT b.id FROM branches b LEFT JOIN states s ON s.id = b.head_state WHERE s.id IS NULL`},
	{"heads that cover a turn without an answer of its own", `SELECT b.id || ' #' || t.turn_seq FROM branches b JOIN states s ON s.id = b.head_state
		JOIN turns t ON t.branch_id = b.id AND t.turn_seq <= s.covers_seq
		WHERE t.phase NOT IN ('StateCommitted', 'Indexed', 'Done', 'Failed')`},
	{"state summaries of turns that are not final", `SELECT id FROM turns WHERE state_after IS NOT NULL AND (outcome NOT IN ('completed', 'truncated', 'refused', 'stopped', 'kept', 'paused')
		OR final_assistant_message_json IS NULL OR phase NOT IN ('StateCommitted', 'Indexed', 'Done'))`},
	{"turns behind their branch's head that no state summary covers", `SELECT t.id FROM turns t JOIN branches b ON b.id = t.branch_id JOIN states s ON s.id = b.head_state
		WHERE t.turn_seq <= s.covers_seq AND t.turn_seq > b.base_seq AND t.phase <> 'Failed' AND t.state_after IS NULL`},
}

// failedTwice finds turns that failed more than once. Discarding a failed turn records a second event of the same
// type, which is allowed.
const failedTwice = `SELECT e.type || ' ' || e.entity_id FROM events e LEFT JOIN turns t ON t.id = e.entity_id WHERE e.type = 'turn_failed'
	GROUP BY +e.entity_id HAVING count(*) > iif(t.outcome = 'discarded', 2, 1)`

// rows checks the tables on a copy of the files, because opening a database recovers it. thorough adds SQLite's
// integrity check.
func (o *checker) rows(ctx context.Context, h *home, thorough bool) error {
	copied, remove, err := h.plain(ctx, h.database())
	defer remove()
	if os.IsNotExist(err) {
		return nil // the program died before it created the database
	} else if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", copied)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	var tables int
	if err := db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE name = 'metrics'`).Scan(&tables); err != nil {
		o.add("the database cannot be read: %v", err)
		return nil
	}
	if tables == 0 {
		return nil // the program died before it created the schema
	}
	for _, rule := range rowRules {
		o.none(ctx, db, rule.what, rule.query)
	}
	if thorough {
		o.none(ctx, db, "SQLite's integrity check", `SELECT * FROM pragma_integrity_check WHERE integrity_check <> 'ok'`)
		o.none(ctx, db, "foreign keys", `SELECT "table" || ' ' || rowid FROM pragma_foreign_key_check`)
	}
	return o.facts(ctx, db)
}

// plain returns a plain copy of a database with its log, and how to remove it. The program unseals what is sealed, and
// for that checks every page.
func (h *home) plain(ctx context.Context, path string) (copied string, remove func(), err error) {
	dir, err := os.MkdirTemp(h.Dir, ".look-")
	if err != nil {
		return "", func() {}, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	copied = filepath.Join(dir, filepath.Base(h.database()))
	for _, suffix := range []string{"", "-wal"} {
		if err := copyFile(path+suffix, copied+suffix); err != nil && (suffix == "" || !os.IsNotExist(err)) {
			return "", remove, err
		}
	}
	if h.Secret != "" {
		err = h.ok(ctx, &struct{}{}, "decrypt", "--yes", "--data-dir", dir)
	}
	return copied, remove, err
}

// none reports the rows that a query returns.
func (o *checker) none(ctx context.Context, db *sql.DB, what, query string) {
	found, err := column(ctx, db, query)
	switch {
	case err != nil:
		o.add("%s: %v", what, err)
	case len(found) > 0:
		o.add("%s: %s", what, harness.Clip(strings.Join(found, ", ")))
	}
}

// facts checks which small values are stored.
func (o *checker) facts(ctx context.Context, db *sql.DB) error {
	stored := map[string]int{}
	for kind, query := range map[string]string{
		// A branch that a retry begins takes over the pins of the turn: one pin on each branch is not twice the same.
		"pin": `SELECT text FROM pins p WHERE removed = 0 AND replaces IS NULL
			AND NOT EXISTS (SELECT 1 FROM pins o WHERE o.text = p.text AND o.branch_id <> p.branch_id AND o.id < p.id)`,
		"label": `SELECT label FROM branches`,
	} {
		all, err := column(ctx, db, query)
		if err != nil {
			return err
		}
		for _, text := range all {
			stored[kind+" "+text]++
		}
	}
	o.book.mu.Lock()
	defer o.book.mu.Unlock()
	for _, f := range o.book.facts {
		if f.kind == "title" {
			continue
		}
		switch n := stored[f.kind+" "+f.text]; {
		case f.effect == acknowledged && n == 0:
			o.add("LOST: %q was acknowledged and is missing", f.text)
		case f.effect == refused && n > 0:
			o.add("%q was refused, but exists", f.text)
		case n > 1:
			o.add("DUPLICATE: %q exists %d times", f.text, n)
		}
	}
	return nil
}

func column(ctx context.Context, db *sql.DB, query string) ([]string, error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var out []string
	for rows.Next() {
		var s sql.NullString
		if err := rows.Scan(&s); err != nil {
			return out, err
		}
		out = append(out, s.String)
	}
	return out, rows.Err()
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		return fmt.Errorf("the copy could not be created: %w", err)
	}
	return nil
}
