package store

import (
	"slices"
	"testing"

	"contextinfinity/backend/store/sqlite"
)

// TestReferencesHaveAnIndex: a row that others refer to can be inserted before the rows that it refers to itself.
// SQLite then searches for rows that refer to it, and without an index it scans the whole table for each new session.
func TestReferencesHaveAnIndex(t *testing.T) {
	f := newFixture(t)
	type reference struct{ Child, Column, Parent string }
	references, err := sqlite.All[reference](f.core.DB.Reader, `SELECT m.name AS child, k."from" AS "column", k."table" AS parent
		FROM sqlite_master m, pragma_foreign_key_list(m.name) k WHERE m.type = 'table'`)
	f.ok(err)
	indexed, err := sqlite.All[reference](f.core.DB.Reader, `SELECT m.name AS child, c.name AS "column"
		FROM sqlite_master m, pragma_index_list(m.name) i, pragma_index_info(i.name) c
		WHERE m.type = 'table' AND c.seqno = 0 AND (i.partial = 0 OR EXISTS (SELECT 1 FROM sqlite_master x WHERE x.name = i.name
		  AND x.sql LIKE '%WHERE ' || c.name || ' IS NOT NULL'))`)
	f.ok(err)
	written := []string{"sessions", "branches", "states", "turns"}
	checked := 0
	for _, r := range references {
		if !slices.Contains(written, r.Parent) {
			continue
		}
		checked++
		if !slices.Contains(indexed, reference{Child: r.Child, Column: r.Column}) {
			t.Errorf("%s.%s refers to %s and has no index", r.Child, r.Column, r.Parent)
		}
	}
	if checked < 20 {
		t.Errorf("only %d references were found", checked)
	}
}
