// Package verify checks all stored data, and compares it with the ledgers.
package verify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"gorm.io/gorm"

	"contextinfinity/backend/atrest"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/search"
	"contextinfinity/backend/store/sqlite"
)

// Verifier checks all stored data.
type Verifier struct {
	*core.Core
	search *search.Search
}

// New verifies an open database, and the vector cache of its search.
func New(c *core.Core, s *search.Search) *Verifier { return &Verifier{c, s} }

// Kinds of findings.
const (
	FindIntegrity  = "integrity"   // the file's own structure
	findForeignKey = "foreign_key" // a reference to a missing record
	findLedger     = "ledger"      // chain, sequence or payload of an event
	FindReplay     = "replay"      // a row differs from the ledger's replay
	FindContent    = "content"     // a wrong hash or encoding
	findPhase      = "phase"       // a turn's content contradicts its phase
	findSequence   = "sequence"    // a gap or a duplicate
	findHead       = "head"        // head, base, epoch or root of a branch
	findIndex      = "index"       // chunks, units and text index
	findHistory    = "history"     // a range summary, a size, a calibration, a chain of requests or manifests, or a file of a project
	findVector     = "vector"      // a namespace or a vector; derived, can be rebuilt
	findLog        = "log"         // SQLite's write-ahead log
	findUnreadable = "unreadable"  // a row that cannot be read at all
)

// Audit is one run of Verify on a consistent view.
type Audit struct {
	DB    *gorm.DB
	Found []chat.Finding
	// session is the session being checked; empty: all.
	session    string
	scopes     map[string]string // conditions that select its rows, by table
	part       string            // the ids of a part of it, as JSON; empty: all of it
	empty      int64             // tables without rows of it, as bits (schema.EmptyTables)
	deleted    ledger.Deletions  // of the session
	early      map[string]bool   // sessions with payloads that are certified by a vault; nil: not read yet
	Want, Have *ledger.State     // of the session: according to its ledger, and as stored
	named      map[string]bool   // unreadable records of the session, as table/id
	// calibrated are the newest calibrations in the ledgers read so far.
	calibrated map[string][]*ledger.Calibration
	// decoded caches payloads and summaries for those based on them.
	decoded core.RecentValues
	loosen  func() // set: a long event was found in the current session
}

// NewAudit begins an audit without findings.
func NewAudit() *Audit {
	a := &Audit{scopes: map[string]string{}, calibrated: map[string][]*ledger.Calibration{}}
	for _, t := range schema.SessionTables {
		a.scopes[t.Name] = t.Verified
	}
	return a
}

// Verify checks all stored data (SPEC 11): the file itself, references, the ledger's chain and payloads, its replay
// against the tables, content hashes, phases, sequences, heads, chunks against their sources, the text index and
// vectors against the units, and what was retrieved. Each finding names its record; none hides another. It changes
// nothing. An error means that the check itself could not run.
func (s *Verifier) Verify(ctx context.Context) ([]chat.Finding, error) {
	const op = "store.verify"
	a := NewAudit()
	a.Logs(s.Dir)
	if err := s.Read(ctx, op, func(db *gorm.DB) error { return a.Tables(ctx, db) }); err != nil {
		return a.Found, err
	}
	if err := s.compareVectorCache(ctx, a); err != nil {
		return a.Found, err
	}
	agrees, err := CompareIndex(ctx, s.Core, a)
	switch err = sqlite.MapError(op, err); {
	case err == nil && agrees:
		return a.Found, nil
	case err != nil && chat.CodeOf(err) == chat.CodeInternal:
		// SQLite refuses the comparison: the index, or a part of it, is missing or has another form.
		a.add(findUnreadable, "units_fts", "", "The text index cannot be compared with the units; it can be rebuilt from them.")
		return a.Found, nil
	case err != nil:
		return a.Found, err
	}
	return a.Found, s.Read(ctx, op, func(db *gorm.DB) error { return a.LookUpUnits(ctx, db) })
}

// CompareIndex compares the text index with the units: SQLite checks its structure, and then all its words are
// compared.
func CompareIndex(ctx context.Context, s *core.Core, a *Audit) (agrees bool, err error) {
	before := len(a.Found)
	if agrees, err = a.checkIndex(ctx, s); err != nil || len(a.Found) > before {
		return false, err
	}
	same, err := a.indexAgrees(compareWords(ctx, s))
	return agrees && same, err
}

// checkIndex lets SQLite compare the text index with the units, which counts as a write, so a read-only store does it
// on a copy. Without space for a copy it is skipped: false, without a finding.
func (a *Audit) checkIndex(ctx context.Context, s *core.Core) (agrees bool, err error) {
	if s.DB.Writer != nil {
		return a.CompareTextIndex(s.DB.Writer.WithContext(ctx))
	}
	atrest.Sweep("")
	if free, err := sqlite.FreeSpace(os.TempDir()); err != nil || free < 2*sqlite.SizeOf(s.Path())+sqlite.MinToOpen {
		return false, nil
	}
	folder, err := atrest.MakeCopy(os.TempDir(), atrest.ReadingPrefix, s.Path())
	if err != nil {
		return false, nil
	}
	defer func() { _ = folder.Remove() }()
	path := folder.File(sqlite.DatabaseFile)
	source, err := sqlite.ConnectAt(s.Place, sqlite.CommonPragmas, 1)
	if err != nil {
		return false, err
	}
	err = source.WithContext(ctx).Exec(`VACUUM INTO ?`, path).Error
	if err = errors.Join(err, sqlite.Disconnect(source)); err != nil {
		switch chat.CodeOf(sqlite.MapError("", err)) {
		case chat.CodeCorrupt, chat.CodeNoSpace: // a damaged page is reported by the check of the file
			return false, nil
		}
		return false, err
	}
	copied, err := sqlite.Connect(path, append([]string{"journal_mode(MEMORY)", "synchronous(OFF)"}, sqlite.CommonPragmas...), 1)
	if err != nil {
		return false, err
	}
	defer func() { _ = sqlite.Disconnect(copied) }()
	return a.CompareTextIndex(copied.WithContext(ctx))
}

// Tables runs every check that only reads.
func (a *Audit) Tables(ctx context.Context, db *gorm.DB) error {
	return a.run(ctx, db, []func(){
		a.file, a.schema, a.references, a.replays, a.drafts, a.sizes, a.calibrations, a.TurnSequences, a.StateSequences, a.Heads, a.Roots, a.ProjectFiles,
		a.links, a.Strays, a.receipts, a.blobs, a.Counters, a.textIndex, a.namespaces, a.vectors, a.strayRetrievals,
	})
}

// run runs checks on one consistent view.
func (a *Audit) run(ctx context.Context, db *gorm.DB, checks []func()) error {
	a.DB = db
	for _, check := range checks {
		if err := ctx.Err(); err != nil {
			return err
		}
		check()
	}
	return nil
}

// add records a finding.
func (a *Audit) add(kind, table string, id any, format string, args ...any) {
	a.Found = append(a.Found, chat.Finding{Kind: kind, Table: table, ID: fmt.Sprint(id), Message: fmt.Sprintf(format, args...)})
}

// expect records a finding unless ok.
func (a *Audit) expect(ok bool, kind, table string, id any, format string, args ...any) {
	if !ok {
		a.add(kind, table, id, format, args...)
	}
}

// within returns the condition that selects what belongs to the current session, if there is one, or to its part; scope is its
// parameter.
func (a *Audit) within(session, part string) string {
	switch {
	case a.session == "":
		return `true`
	case a.part != "":
		return part + ` IN ` + partIDs
	}
	return session + ` = ?`
}

func (a *Audit) scope() []any {
	switch {
	case a.session == "":
		return nil
	case a.part != "":
		return []any{a.part}
	}
	return []any{a.session}
}

// each calls do with every row of a table, or of the current session. If a page of the file is damaged, the rows are
// read one by one, so that only those on it are lost.
func each[R any](a *Audit, table, columns, order string, do func(R)) {
	if a.session != "" && !a.mayHold(table) {
		return
	}
	where, args := ` WHERE true`, []any{}
	if scope := a.scopes[table]; scope != "" && a.session != "" {
		where, args = ` WHERE `+scope, []any{a.session}
		if strings.Contains(scope, partIDs) {
			args[0] = a.part
		}
	}
	before := len(a.Found)
	places := `SELECT rowid AS place FROM ` + table + where + ` ORDER BY ` + order
	// Positions are sorted, not rows: SQLite would hold each sorted row several times.
	if err := sqlite.Stream(a.DB, do, `SELECT `+columns+` FROM (`+places+` LIMIT -1) CROSS JOIN `+table+` ON `+table+`.rowid = place`, args...); err == nil {
		return
	}
	a.Found = a.Found[:before]
	ids, err := sqlite.All[int64](a.DB, places, args...)
	if err != nil {
		a.add(findUnreadable, table, a.session, "The table cannot be read.")
		return
	}
	for _, id := range ids {
		row, err := sqlite.One[R](a.DB, table, id, `SELECT `+columns+` FROM `+table+` WHERE rowid = ?`, id)
		if err != nil {
			name := recordID(a.DB, table, id)
			a.exclude(table, name)
			a.add(findUnreadable, table, name, "The record cannot be read.")
			continue
		}
		do(row)
	}
}

// keys are the columns that identify a record, if not id.
var keys = map[string]string{
	"events": "session_id || '/' || event_seq", "metrics": "turn_id || '/' || step_id", "drafts": "branch_id",
	"snapshots":    "session_id || '/' || event_seq",
	"tool_results": "tool_call_id", "import_keys": "source || '/' || key",
	"unit_embeddings": "namespace_id || '/' || unit_n", "blobs": "hex(hash)",
	"calibrations": "provider || '/' || model_id", "settings": "key", "vector_generation": "only_row",
}

// recordID identifies a row for people: by its id, or by its row number if the id is lost too.
func recordID(db *gorm.DB, table string, rowid int64) string {
	key, ok := keys[table]
	if !ok {
		key = "id"
	}
	id, err := sqlite.One[string](db, table, rowid, `SELECT `+key+` FROM "`+table+`" WHERE rowid = ?`, rowid)
	if err != nil {
		return "row " + sqlite.Itoa(rowid)
	}
	return id
}

// maxFileFindings limits the findings about a badly damaged file.
const maxFileFindings = 100

func (a *Audit) file() {
	// A connection that searched before caches the structure of the text index, and the check, unlike a search, does
	// not notice that others changed the index since.
	if _, err := sqlite.All[int](a.DB, `SELECT 1 FROM units_fts LIMIT 1`); err != nil {
		a.add(FindIntegrity, "units_fts", "", "The text index cannot be read.")
	}
	lines, err := sqlite.All[string](a.DB, fmt.Sprintf(`PRAGMA integrity_check(%d)`, maxFileFindings))
	if err != nil {
		a.add(FindIntegrity, "", sqlite.DatabaseFile, "The file's structure cannot be checked.")
		return
	}
	for _, line := range lines {
		if line != "ok" {
			a.structure(line)
		}
	}
}

func (a *Audit) references() {
	rows, err := sqlite.All[struct {
		Table  string
		Rowid  int64
		Parent string
	}](a.DB, `SELECT "table", rowid, parent FROM pragma_foreign_key_check WHERE rowid IS NOT NULL`) // tables without row numbers have their own checks
	if err != nil {
		a.add(findForeignKey, "", sqlite.DatabaseFile, "References cannot be checked.")
		return
	}
	for _, r := range rows {
		a.add(findForeignKey, r.Table, recordID(a.DB, r.Table, r.Rowid), "It refers to a record of %s that does not exist.", r.Parent)
	}
}

// times checks stored times.
func (a *Audit) times(table, id string, timestamps ...*string) {
	for _, m := range timestamps {
		if m == nil {
			continue
		}
		_, err := chat.ParseTime(*m)
		a.expect(err == nil, FindContent, table, id, "A stored time is invalid.")
	}
}
