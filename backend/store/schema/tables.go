package schema

import (
	"strconv"
	"strings"
)

// table is what permanent deletion, imported bundles and verification need to know about a table with rows of
// sessions.
type table struct {
	Name string
	// Of selects the rows of one session; its parameter is the session's id.
	Of string
	// Travels: the rows are created by events, and are copied with an imported session.
	Travels bool
	// Verified selects the rows of a session that verification compares with the ledger; empty: none.
	Verified string
}

const (
	ofSession  = `session_id = ?`
	ofTurns    = `turn_id IN (SELECT id FROM turns WHERE session_id = ?)`
	ofBranches = `branch_id IN (SELECT b.id FROM branches b WHERE b.session_id = ?)`
)

// SessionTables are all such tables, in an order in which every row comes after those it refers to. Deletion uses the
// reverse order: a unit's words are read from its message when its text index entry is deleted.
var SessionTables = []table{
	{Name: "sessions", Of: `id = ?`, Travels: true, Verified: `id = ?`},
	{Name: "branches", Of: ofSession, Travels: true, Verified: ofSession},
	{Name: "states", Of: ofSession, Travels: true, Verified: ofBranches},
	{Name: "turns", Of: ofSession, Travels: true, Verified: ofSession},
	{Name: "events", Of: ofSession, Travels: true, Verified: ofSession},
	{Name: "snapshots", Of: ofSession, Verified: ofSession},
	{Name: "summaries", Of: ofSession, Travels: true, Verified: ofSession},
	{Name: "pins", Of: ofSession, Travels: true, Verified: ofSession},
	{Name: "pin_orders", Of: ofSession, Travels: true, Verified: ofSession},
	{Name: "pin_suggestions", Of: ofSession},
	{Name: "settings", Of: `instr(key || ' ' || value, ?) > 0`},
	{Name: "drafts", Of: ofBranches},
	{Name: "queued_messages", Of: ofBranches},
	{Name: "steps", Of: ofTurns, Travels: true, Verified: `turn_id IN (SELECT t.id FROM turns t WHERE t.session_id = ?)`},
	{Name: "turn_tokens", Of: ofTurns},
	{Name: "metrics", Of: ofTurns},
	{Name: "tool_batches", Of: ofTurns, Travels: true, Verified: `turn_id IN (SELECT t.id FROM turns t WHERE t.session_id = ?)`},
	{
		Name: "tool_calls", Of: `batch_id IN (SELECT b.id FROM turns t JOIN tool_batches b ON b.turn_id = t.id WHERE t.session_id = ?)`,
		Travels: true, Verified: `batch_id IN (SELECT b.id FROM turns t JOIN tool_batches b ON b.turn_id = t.id WHERE t.session_id = ?)`,
	},
	{
		Name: "tool_results", Of: `tool_call_id IN (SELECT c.id FROM turns t JOIN tool_batches b ON b.turn_id = t.id JOIN tool_calls c ON c.batch_id = b.id WHERE t.session_id = ?)`,
		Travels: true, Verified: `tool_call_id IN (SELECT c.id FROM turns t JOIN tool_batches b ON b.turn_id = t.id JOIN tool_calls c ON c.batch_id = b.id WHERE t.session_id = ?)`,
	},
	{
		Name: "tool_recalled", Of: `tool_call_id IN (SELECT c.id FROM turns t JOIN tool_batches b ON b.turn_id = t.id JOIN tool_calls c ON c.batch_id = b.id WHERE t.session_id = ?)`,
		Travels: true, Verified: `tool_call_id IN (SELECT c.id FROM turns t JOIN tool_batches b ON b.turn_id = t.id JOIN tool_calls c ON c.batch_id = b.id WHERE t.session_id = ?)`,
	},
	{Name: "tool_permissions", Of: ofSession},
	{Name: "mcp_grants", Of: ofSession},
	{Name: "mcp_shown", Of: ofSession},
	{Name: "mcp_notes", Of: ofSession},
	{Name: "project_files", Of: ofSession},
	{Name: "jobs", Of: ofSession},
	{Name: "import_keys", Of: ofSession},
	{Name: "blobs", Of: ofSession, Travels: true},
	{Name: "files", Of: ofSession, Travels: true, Verified: ofSession},
	{Name: "chunks", Of: ofSession, Travels: true, Verified: ofSession},
	{Name: "manifest_links", Of: ofTurns, Travels: true},
	{Name: "request_links", Of: `step_id IN (SELECT s.id FROM turns t JOIN steps s ON s.turn_id = t.id WHERE t.session_id = ?)`, Travels: true},
	{Name: "units", Of: ofSession, Travels: true, Verified: ofSession},
	{Name: "retrieved", Of: `turn_n IN (SELECT n FROM turns WHERE session_id = ?)`, Travels: true},
	{Name: "unit_embeddings", Of: `unit_n IN (SELECT n FROM units WHERE session_id = ?)`},
}

// EverySession names all sessions that any record belongs to, whether they exist or not.
var EverySession = func() string {
	from := []string{`SELECT id FROM sessions`}
	for _, t := range SessionTables {
		if t.Verified == ofSession {
			from = append(from, `SELECT session_id FROM `+t.Name)
		}
	}
	return strings.Join(from, ` UNION `) + ` ORDER BY 1`
}()

// ErasedContent represents in EmptyTables the events of a session that record permanent deletions.
const ErasedContent = "events of permanent deletions"

// EmptyTables are the tables in which a session may have no rows. EmptyTablesQuery reads for every session its id and
// a number in which bit n is set if the session has no rows in EmptyTables[n]: one query instead of one per table and
// session. Its parameter is the type of the permanent deletion events.
var EmptyTables, EmptyTablesQuery = func() (names []string, query string) {
	var bits []string
	add := func(name, rows string) {
		bits = append(bits, `((NOT EXISTS (SELECT 1 FROM `+rows+`)) << `+strconv.Itoa(len(names))+`)`)
		names = append(names, name)
	}
	for _, t := range SessionTables {
		of := t.Verified
		if of == "" && t.Travels {
			of = t.Of
		}
		if of != "" && t.Name != "sessions" {
			add(t.Name, t.Name+` WHERE `+strings.ReplaceAll(of, "?", "every.id"))
		}
	}
	add(ErasedContent, `events WHERE session_id = every.id AND type = ?`)
	return names, `SELECT every.id, ` + strings.Join(bits, " | ") + ` AS empty FROM (` + EverySession + `) AS every ORDER BY every.id`
}()
