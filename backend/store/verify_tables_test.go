package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/store/verify"
	"contextinfinity/test/testtier"
)

// How verify notices a changed byte of a table.
const (
	byLedger = "its rows are rebuilt from the ledger, or they have hashes"
	byCopy   = "an index repeats its rows"
	byCheck  = "its content is compared with other tables"
	byIndex  = "SQLite's own check of the text index"
)

// coverage says how each table is covered. A new table must be added here.
var coverage = map[string]string{
	"sessions": byLedger, "branches": byLedger, "states": byLedger, "turns": byLedger, "steps": byLedger, "summaries": byLedger,
	"files": byLedger, "chunks": byLedger, "units": byLedger, "pins": byLedger, "pin_orders": byLedger, "events": byLedger,
	"snapshots": byLedger, "blobs": byLedger, "retrieved": byLedger, "request_links": byLedger, "manifest_links": byLedger,
	"tool_batches": byLedger, "tool_calls": byLedger, "tool_results": byLedger, "tool_recalled": byLedger,
	"jobs": byCopy, "metrics": byCopy, "import_keys": byCopy, "settings": byCopy, "drafts": byCopy, "queued_messages": byCopy, "calibrations": byCopy,
	"mcp_clients": byCopy, "mcp_grants": byCopy, "mcp_accesses": byCopy, "mcp_shown": byCopy, "mcp_notes": byCopy,
	"receipts": byCopy, "pin_suggestions": byCopy, "chunk_summaries": byCopy, "turn_tokens": byCopy, "vector_generation": byCopy, schema.VersionTable: byCopy,
	"projects": byCopy, "project_facts": byCopy, "project_files": byCopy,
	"tool_permissions": byCopy, "tool_definitions": byCopy, "tool_marks": byCopy,
	"assistants": byCopy, "saved_prompts": byCopy,
	"namespaces": byCheck, "unit_embeddings": byCheck, "sqlite_sequence": byCheck, "sqlite_schema": byCheck,
	"units_fts_data": byIndex, "units_fts_idx": byIndex, "units_fts_docsize": byIndex, "units_fts_config": byIndex,
}

// TestEveryTableIsCovered flips bytes in the rows of every table. Each flip is found, or changes nothing that can be
// read. The everyday form flips one byte in each fifth table.
func TestEveryTableIsCovered(t *testing.T) {
	plainOnly(t)
	f := newFixture(t)
	f.everyTable(seed(f))
	f.verifyClean()
	tables, err := sqlite.All[string](f.core.DB.Reader, `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'shadow') ORDER BY name`)
	f.ok(err)
	f.expectCopyIndexes()
	pages := map[string][]int{}
	for _, table := range tables {
		if pages[table], err = sqlite.All[int](f.core.DB.Reader, `SELECT pageno FROM dbstat WHERE name = ? AND pagetype IN ('leaf', 'overflow') AND unused < pgsize - 8`, table); err != nil {
			t.Fatal(err)
		}
		if table == "units_fts_idx" && len(pages[table]) == 0 {
			continue // a text index with a single leaf has no rows here
		}
		check, known := coverage[table]
		if !known {
			t.Errorf("table %s is not covered: add it to coverage, and to verify", table)
		} else if len(pages[table]) == 0 {
			t.Errorf("table %s is covered by %q, and has no pages with rows", table, check)
		}
	}
	f.ok(f.Store.Close())
	original, err := os.ReadFile(f.core.Path())
	f.ok(err)
	want := f.contents(f.core.Path())
	random := rand.New(rand.NewPCG(13, 3))
	found, unused := 0, 0
	for _, table := range testtier.Sample(tables, 12) {
		for range testtier.Sizes(1, 2, 40) {
			if len(pages[table]) == 0 {
				break
			}
			at, bit := rowByte(original, pages[table], random), byte(1)<<random.IntN(8)
			switch missed := f.flip(original, want, at, bit); {
			case missed == nil:
				found++
			case len(missed) == 0:
				unused++
			case table == "sqlite_sequence" && slices.Equal(missed, []string{table}):
				unused++ // a number that is too high is harmless, see TestCountersThatAreTooLow
			default:
				t.Errorf("%s: bit %#x of byte %d changes %s, and is not found", table, bit, at, missed)
			}
		}
	}
	t.Logf("%d found, %d change nothing", found, unused)
	if found < unused {
		t.Error("fewer flips were found than changed nothing")
	}
}

// expectCopyIndexes expects an index that repeats each column of the tables covered by byCopy.
func (f *fixture) expectCopyIndexes() {
	f.Helper()
	for table, check := range coverage {
		if check != byCopy {
			continue
		}
		lacking, err := sqlite.All[string](f.core.DB.Reader, `SELECT name FROM pragma_table_xinfo(?) WHERE name NOT IN
			(SELECT coalesce(name, '') FROM pragma_index_xinfo(?))`, table, "idx_"+table+"_copy")
		f.ok(err)
		if len(lacking) > 0 {
			f.Errorf("idx_%s_copy lacks %v", table, lacking)
		}
	}
}

// everyTable adds rows to the tables that a seed leaves empty.
func (f *fixture) everyTable(d seeded) {
	f.Helper()
	f.addDocument(d.Archived)
	f.file(d.Session.ID, "unsent.txt", "a document that was never sent")
	f.addPermissions(d.Session.ID)
	f.projectFile(f.project("Garden").ID, "a.txt", "words of a file")
	_, tooled := f.session("tooled")
	f.answerWithTools(tooled.ID, "write it down", `{"path":"a"}`, "it is written", "I wrote it down.")
	f.proposeCalls(f.accept(tooled.ID, "and that"), "I write that too.", `{"path":"b"}`)
	chunks, err := sqlite.All[chat.ChunkID](f.core.DB.Reader, `SELECT id FROM chunks`)
	f.ok(err)
	for _, id := range chunks {
		f.ok(f.PutChunkSummary(f.ctx, chat.ChunkSummary{Chunk: id, Text: "What it says, in a few words.", GeneratedBy: "m"}))
	}
	sessions, err := sqlite.All[string](f.core.DB.Reader, `SELECT id FROM sessions`)
	f.ok(err)
	for _, id := range sessions {
		f.takeSnapshot(id)
	}
	stamp := chat.FormatTime(f.clock.Now())
	for _, sql := range []string{
		`INSERT INTO import_keys VALUES ('chatgpt', 'conversation/1', '` + string(d.Session.ID) + `', '` + string(d.Turns[0].ID) + `', '` + stamp + `')`,
		`INSERT INTO pin_suggestions VALUES ('01J00000000000000000000000', '` + string(d.Session.ID) + `', '` + string(d.Main.ID) + `', '` + string(d.Turns[0].ID) + `', 1, 0, 5, NULL, NULL)`,
		`INSERT INTO receipts VALUES ('01J00000000000000000000001', 'session 01J00000000000000000000002', '` + stamp + `', '{"erased":[]}', '[]')`,
		`INSERT INTO mcp_clients VALUES ('Zed', 'chosen', 1, 'a hash', '` + stamp + `', 'Zed 1.0', '` + stamp + `', '` + stamp + `')`,
		`INSERT INTO mcp_grants VALUES ('Zed', '` + string(d.Session.ID) + `', '')`,
		`INSERT INTO mcp_accesses VALUES (7, '` + stamp + `', 'Zed', 'search_memory', 'the deadline', 'answered', 2)`,
		`INSERT INTO mcp_shown VALUES (7, '` + string(d.Session.ID) + `', '` + string(d.Turns[0].ID) + `', 0)`,
		`INSERT INTO mcp_notes VALUES ('Zed', 'key', '` + string(d.Session.ID) + `', '` + string(d.Turns[0].ID) + `', '` + stamp + `')`,
		`INSERT INTO assistants VALUES ('01J00000000000000000000003', 'Translator', 'Translate it.', 'haiku', 0.5, 'low', 'disabled', '` + stamp + `', '` + stamp + `')`,
		`INSERT INTO saved_prompts VALUES ('01J00000000000000000000004', 'Translate', 'Translate into {{language}}.', '` + stamp + `', '` + stamp + `')`,
		`UPDATE files SET text = 'what was read from it' WHERE turn_id IS NULL`,
	} {
		f.ok(f.core.DB.Writer.Exec(sql).Error)
	}
	content := []byte("the content of a record")
	f.ok(f.core.DB.Writer.Exec(`INSERT INTO blobs (session_id, hash, media_type, size, created_at, content) VALUES (?, ?, 'text/plain', ?, ?, ?)`, d.Session.ID, codec.Hash(content), len(content), stamp, content).Error)
	f.clock.Advance(time.Second)
}

// rowByte returns the position of a random byte in the part of a page with rows, not in its free space.
func rowByte(original []byte, pages []int, random *rand.Rand) int {
	const page = 8192
	n := pages[random.IntN(len(pages))]
	from := (n - 1) * page
	head := from
	if n == 1 {
		head += 100
	}
	first := from
	if kind := original[head]; kind == 13 || kind == 10 { // leaf page of a table or index: its cells are at the end
		first = from + int(original[head+5])<<8 + int(original[head+6])
	}
	return first + random.IntN(from+page-first)
}

// flip changes bits of one byte of a database. It returns nil if that is found, otherwise the tables that read
// differently.
func (f *fixture) flip(original []byte, want map[string]string, at int, bit byte) []string {
	f.Helper()
	path := filepath.Join(f.TempDir(), sqlite.DatabaseFile)
	flipped := bytes.Clone(original)
	flipped[at] ^= bit
	f.ok(os.WriteFile(path, flipped, 0o600))
	if f.findsDamage(filepath.Dir(path)) {
		return nil
	}
	return append([]string{}, differing(want, f.contents(path))...)
}

func TestCountersThatAreTooLow(t *testing.T) {
	f := newFixture(t)
	seed(f)
	for sql, named := range map[string]string{
		`UPDATE sqlite_sequence SET seq = seq - 1 WHERE name = 'jobs'`:                  "jobs",
		`UPDATE sqlite_sequence SET name = 'kobs' WHERE name = 'jobs'`:                  "kobs",
		`DELETE FROM sqlite_sequence WHERE name = '` + schema.VersionTable + `'`:        schema.VersionTable,
		`UPDATE sqlite_sequence SET seq = 0 WHERE name = '` + schema.VersionTable + `'`: schema.VersionTable,
	} {
		db := f.core.DB.Writer.Begin()
		f.ok(db.Exec(sql).Error)
		a := verify.NewAudit()
		f.ok(a.Tables(f.ctx, db))
		db.Rollback()
		if !slices.ContainsFunc(a.Found, func(x chat.Finding) bool { return x.Table == "sqlite_sequence" && x.ID == named }) {
			t.Errorf("%s: %v", sql, a.Found)
		}
	}
}

// TestADifferingSchemaIsReported: verify reports a table, index or trigger that differs from what this program
// creates.
func TestADifferingSchemaIsReported(t *testing.T) {
	f := newFixture(t)
	seed(f)
	f.unguard()
	for name, sql := range map[string]string{
		"idx_settings_copy": `DROP INDEX idx_settings_copy`,
		"extra":             `CREATE TABLE extra (x)`,
		"units_fts_insert":  `DROP TRIGGER units_fts_insert`,
		"unit_texts":        `DROP VIEW unit_texts; CREATE VIEW unit_texts AS SELECT n AS n, '' AS text FROM units`,
	} {
		db := f.core.DB.Writer.Begin()
		f.ok(db.Exec(sql).Error)
		a := verify.NewAudit()
		f.ok(a.Tables(f.ctx, db))
		db.Rollback()
		if !slices.ContainsFunc(a.Found, func(x chat.Finding) bool { return x.Table == "sqlite_schema" && x.ID == name }) {
			t.Errorf("%s: %v", sql, a.Found)
		}
	}
}

// TestADamagedRowIsReportedByItsRecord: a finding of SQLite's integrity check names the record.
func TestADamagedRowIsReportedByItsRecord(t *testing.T) {
	plainOnly(t)
	f := newFixture(t)
	d := seed(f)
	f.ok(f.Store.Close())
	original, err := os.ReadFile(f.core.Path())
	f.ok(err)
	at := bytes.Index(original, []byte("last_session"))
	if at < 0 {
		t.Fatal("the setting is missing")
	}
	at = at + bytes.Index(original[at:], []byte(d.Session.ID)) + 3
	original[at] ^= 1
	f.ok(os.WriteFile(f.core.Path(), original, 0o600))
	s, err := Open(f.ctx, Options{DataDir: f.dir, ReadOnly: true})
	f.ok(err)
	defer func() { f.ok(s.Close()) }()
	found, err := s.Verify(f.ctx)
	f.ok(err)
	if !slices.ContainsFunc(found, func(x chat.Finding) bool {
		return x.Table == "settings" && x.ID == "last_session" && strings.Contains(x.Message, "idx_settings_copy")
	}) {
		t.Errorf("the setting is not named: %s", fmt.Sprint(found))
	}
}
