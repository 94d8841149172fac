package verify

import (
	"bytes"
	"encoding/hex"
	"regexp"
	"strconv"

	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// indexLine is a line of SQLite's integrity check about an index, with or without the row number in its table.
var indexLine = regexp.MustCompile(`^(?:row ([0-9]+) .*|wrong # of entries in) index ([A-Za-z0-9_]+)$`)

// structure records a line of the integrity check. A row that differs from an index is named by its table and record:
// some tables have an index that repeats their rows, so that a changed byte is noticed (migration 9).
func (a *Audit) structure(line string) {
	m := indexLine.FindStringSubmatch(line)
	if m == nil {
		a.add(FindIntegrity, "", sqlite.DatabaseFile, "%s", line)
		return
	}
	table, err := sqlite.One[string](a.DB, "index", m[2], `SELECT tbl_name FROM sqlite_schema WHERE type = 'index' AND name = ?`, m[2])
	if err != nil {
		a.add(FindIntegrity, "", sqlite.DatabaseFile, "%s", line)
		return
	}
	id := ""
	if n, err := strconv.ParseInt(m[1], 10, 64); err == nil {
		id = recordID(a.DB, table, n)
	}
	a.add(FindIntegrity, table, id, "It differs from its entry in the index %s: one of the two was changed (%s).", m[2], line)
}

// Counters checks the highest numbers that SQLite keeps so that it never reuses one. A counter that is too low would
// make it do so; one that is too high only skips numbers.
func (a *Audit) Counters() {
	rows, err := sqlite.All[struct {
		Name string
		Seq  *int64
	}](a.DB, `SELECT name, seq FROM sqlite_sequence`)
	a.expect(err == nil, findUnreadable, "sqlite_sequence", "", "The table cannot be read.")
	have := map[string]int64{}
	for _, r := range rows {
		if r.Seq != nil {
			have[r.Name] = *r.Seq
		}
	}
	for _, table := range []string{"jobs", schema.VersionTable} {
		newest, err := sqlite.All[int64](a.DB, `SELECT coalesce(max(id), 0) FROM `+table)
		a.expect(err == nil, findUnreadable, table, "", "The table cannot be read.")
		for _, n := range newest {
			a.expect(have[table] >= n, findSequence, "sqlite_sequence", table, "Its counter is %d, but record %d exists.", have[table], n)
		}
		delete(have, table)
	}
	for name := range have {
		a.add(findSequence, "sqlite_sequence", name, "It has a counter for a table that should have none.")
	}
}

// blobs checks blobs against their hashes.
func (a *Audit) blobs() {
	type record struct{ Hash, Content []byte }
	err := sqlite.Stream(a.DB, func(r record) {
		a.expect(bytes.Equal(codec.Hash(r.Content), r.Hash), FindContent, "blobs", hex.EncodeToString(r.Hash), "It does not match its hash.")
	}, `SELECT hash, content FROM blobs`)
	a.expect(err == nil, findUnreadable, "blobs", "", "The table cannot be read.")
}
