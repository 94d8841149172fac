// Package verify checks everything stored, and compares it with what the ledgers say.
package verify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/search"
	"contextinfinity/backend/store/sqlite"
)

// Verifier checks everything stored.
type Verifier struct {
	*core.Core
	search *search.Search
}

// New verifies an open database, and the vector cache that a search of it uses.
func New(c *core.Core, s *search.Search) *Verifier { return &Verifier{c, s} }

// Kinds of findings.
const (
	findIntegrity  = "integrity"   // the file's own structure
	findForeignKey = "foreign_key" // a reference to nothing
	findLedger     = "ledger"      // chain, sequence or payload of an event
	FindReplay     = "replay"      // a row is not what the ledger makes of it
	FindContent    = "content"     // a hash or an encoding does not hold
	findPhase      = "phase"       // a turn's phase belies its contents
	findSequence   = "sequence"    // a gap or a repetition
	findHead       = "head"        // head, base, epoch or root of a branch
	findIndex      = "index"       // chunks, units and text index
	findHistory    = "history"     // a range summary, a size, a calibration or a chain of requests
	findVector     = "vector"      // a namespace or a vector; derived, and made again
	findLog        = "log"         // SQLite's write-ahead log
	findUnreadable = "unreadable"  // a row that cannot be read at all
)

// Audit is one run of Verify over one moment's view.
type Audit struct {
	DB    *gorm.DB
	Found []chat.Finding
	// session is the one whose records are checked; empty: those of all
	session    string
	scopes     map[string]string // conditions that keep to its rows, by table
	empty      int64             // tables that hold nothing of it, as bits (schema.EmptyTables)
	erased     ledger.Erasures   // of it
	Want, Have *ledger.State     // of it: as its ledger says, and as it is stored
	named      map[string]bool   // records of it that cannot be read, as table/id
	// calibrated are the newest calibrations that the ledgers so far tell
	calibrated map[string][]*ledger.Calibration
	// decoded are the payloads and summaries read last, for those that are based on them
	decoded core.RecentValues
	loosen  func() // set: a long event was found in the session at hand
}

func NewAudit() *Audit {
	a := &Audit{scopes: map[string]string{}, calibrated: map[string][]*ledger.Calibration{}}
	for _, t := range schema.SessionTables {
		a.scopes[t.Name] = t.Verified
	}
	return a
}

// Verify checks everything stored (SPEC 11): the file itself, references, the
// ledger's chain and payloads, its replay against the tables, content hashes,
// phases, sequences, heads, chunks against what they are cut from, the text index and
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
		// The engine refuses the comparison: the index, or what belongs to it, is not there or has another form.
		a.add(findUnreadable, "units_fts", "", "The text index cannot be compared with the units; it can be rebuilt from them.")
		return a.Found, nil
	case err != nil:
		return a.Found, err
	}
	return a.Found, s.Read(ctx, op, func(db *gorm.DB) error { return a.LookUpUnits(ctx, db) })
}

// CompareIndex has the engine compare the text index with the units, which counts as a
// write: who only reads has it done on a copy. Where there is no room for one, it is not
// known whether they agree.
func CompareIndex(ctx context.Context, s *core.Core, a *Audit) (agrees bool, err error) {
	if s.DB.Writer != nil {
		return a.CompareTextIndex(s.DB.Writer.WithContext(ctx))
	}
	sqlite.SweepReadings()
	if free, err := sqlite.FreeSpace(os.TempDir()); err != nil || free < 2*sqlite.SizeOf(s.Path())+sqlite.MinToOpen {
		return false, nil
	}
	dir, err := os.MkdirTemp("", sqlite.ReadingPrefix+"*")
	if err != nil {
		return false, nil
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, sqlite.DatabaseFile)
	source, err := sqlite.ConnectAt(s.Place, sqlite.CommonPragmas, 1)
	if err != nil {
		return false, err
	}
	err = source.WithContext(ctx).Exec(`VACUUM INTO ?`, path).Error
	if err = errors.Join(err, sqlite.Disconnect(source)); err != nil {
		switch chat.CodeOf(sqlite.MapError("", err)) {
		case chat.CodeCorrupt, chat.CodeNoSpace: // a damaged page is named by the check of the file
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
		a.file, a.schema, a.references, a.replays, a.drafts, a.sizes, a.calibrations, a.TurnSequences, a.StateSequences, a.Heads, a.Roots,
		a.links, a.Strays, a.receipts, a.blobs, a.Counters, a.textIndex, a.namespaces, a.vectors, a.strayRetrievals,
	})
}

// run runs checks on one moment's view.
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

// expect records a finding unless it holds.
func (a *Audit) expect(holds bool, kind, table string, id any, format string, args ...any) {
	if !holds {
		a.add(kind, table, id, format, args...)
	}
}

// within is the condition that keeps to the session at hand, if there is one; scope is
// its parameter.
func (a *Audit) within(column string) string {
	if a.session == "" {
		return `true`
	}
	return column + ` = ?`
}

func (a *Audit) scope() []any {
	if a.session == "" {
		return nil
	}
	return []any{a.session}
}

// each runs do on every row of a table, of the session at hand if there is one. When a
// page of the file is damaged the rows are read one by one, so that only those lying on
// it are lost.
func each[R any](a *Audit, table, columns, order string, do func(R)) {
	if a.session != "" && !a.mayHold(table) {
		return
	}
	where, args := ` WHERE true`, []any{}
	if scope := a.scopes[table]; scope != "" && a.session != "" {
		where, args = ` WHERE `+scope, []any{a.session}
	}
	mark := len(a.Found)
	places := `SELECT rowid AS place FROM ` + table + where + ` ORDER BY ` + order
	// Places are sorted, not rows: SQLite holds each row that it sorts several times.
	if err := sqlite.Stream(a.DB, do, `SELECT `+columns+` FROM (`+places+` LIMIT -1) CROSS JOIN `+table+` ON `+table+`.rowid = place`, args...); err == nil {
		return
	}
	a.Found = a.Found[:mark]
	ids, err := sqlite.All[int64](a.DB, places, args...)
	if err != nil {
		a.add(findUnreadable, table, a.session, "The table cannot be read.")
		return
	}
	for _, id := range ids {
		row, err := sqlite.One[R](a.DB, table, id, `SELECT `+columns+` FROM `+table+` WHERE rowid = ?`, id)
		if err != nil {
			name := recordID(a.DB, table, id)
			a.lost(table, name)
			a.add(findUnreadable, table, name, "The record cannot be read.")
			continue
		}
		do(row)
	}
}

// keys are the columns that name a record, where that is not id.
var keys = map[string]string{
	"events": "session_id || '/' || event_seq", "metrics": "turn_id || '/' || step_id", "drafts": "branch_id",
	"snapshots":    "session_id || '/' || event_seq",
	"tool_results": "tool_call_id", "import_keys": "source || '/' || key",
	"unit_embeddings": "namespace_id || '/' || unit_n", "blobs": "hex(hash)",
	"calibrations": "provider || '/' || model_id", "settings": "key", "vector_generation": "only_row",
}

// recordID names a row for people: its id, or its row number if that is lost too.
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

// maxFileFindings bounds what a thoroughly damaged file reports.
const maxFileFindings = 100

func (a *Audit) file() {
	// A connection that searched before keeps the structure of the text index in memory, and
	// the check, unlike a search, does not notice that others changed the index since.
	if _, err := sqlite.All[int](a.DB, `SELECT 1 FROM units_fts LIMIT 1`); err != nil {
		a.add(findIntegrity, "units_fts", "", "The text index cannot be read.")
	}
	lines, err := sqlite.All[string](a.DB, fmt.Sprintf(`PRAGMA integrity_check(%d)`, maxFileFindings))
	if err != nil {
		a.add(findIntegrity, "", sqlite.DatabaseFile, "The file's structure cannot be checked.")
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
	}](a.DB, `SELECT "table", rowid, parent FROM pragma_foreign_key_check WHERE rowid IS NOT NULL`) // tables without row numbers have checks of their own
	if err != nil {
		a.add(findForeignKey, "", sqlite.DatabaseFile, "References cannot be checked.")
		return
	}
	for _, r := range rows {
		a.add(findForeignKey, r.Table, recordID(a.DB, r.Table, r.Rowid), "It refers to a record of %s that does not exist.", r.Parent)
	}
}

// times checks stored moments.
func (a *Audit) times(table, id string, moments ...*string) {
	for _, m := range moments {
		if m == nil {
			continue
		}
		_, err := chat.ParseTime(*m)
		a.expect(err == nil, FindContent, table, id, "A stored time is invalid.")
	}
}
