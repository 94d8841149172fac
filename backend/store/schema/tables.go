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
	Where string
	// Travels: the rows are created by events, and are copied with an imported session.
	FromEvents bool
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
	{Name: "sessions", Where: `id = ?`, FromEvents: true, Verified: `id = ?`},
	{Name: "branches", Where: ofSession, FromEvents: true, Verified: ofSession},
	{Name: "states", Where: ofSession, FromEvents: true, Verified: ofBranches},
	{Name: "turns", Where: ofSession, FromEvents: true, Verified: ofSession},
	{Name: "events", Where: ofSession, FromEvents: true, Verified: ofSession},
	{Name: "snapshots", Where: ofSession, Verified: ofSession},
	{Name: "summaries", Where: ofSession, FromEvents: true, Verified: ofSession},
	{Name: "pins", Where: ofSession, FromEvents: true, Verified: ofSession},
	{Name: "pin_orders", Where: ofSession, FromEvents: true, Verified: ofSession},
	{Name: "pin_suggestions", Where: ofSession},
	{Name: "settings", Where: `instr(key || ' ' || value, ?) > 0`},
	{Name: "drafts", Where: ofBranches},
	{Name: "queued_messages", Where: ofBranches},
	{Name: "steps", Where: ofTurns, FromEvents: true, Verified: `turn_id IN (SELECT t.id FROM turns t WHERE t.session_id = ?)`},
	{Name: "turn_tokens", Where: ofTurns},
	{Name: "metrics", Where: ofTurns},
	{Name: "tool_batches", Where: ofTurns, FromEvents: true, Verified: `turn_id IN (SELECT t.id FROM turns t WHERE t.session_id = ?)`},
	{
		Name: "tool_calls", Where: `batch_id IN (SELECT b.id FROM turns t JOIN tool_batches b ON b.turn_id = t.id WHERE t.session_id = ?)`,
		FromEvents: true, Verified: `batch_id IN (SELECT b.id FROM turns t JOIN tool_batches b ON b.turn_id = t.id WHERE t.session_id = ?)`,
	},
	{
		Name: "tool_results", Where: `tool_call_id IN (SELECT c.id FROM turns t JOIN tool_batches b ON b.turn_id = t.id JOIN tool_calls c ON c.batch_id = b.id WHERE t.session_id = ?)`,
		FromEvents: true, Verified: `tool_call_id IN (SELECT c.id FROM turns t JOIN tool_batches b ON b.turn_id = t.id JOIN tool_calls c ON c.batch_id = b.id WHERE t.session_id = ?)`,
	},
	{
		Name: "tool_recalled", Where: `tool_call_id IN (SELECT c.id FROM turns t JOIN tool_batches b ON b.turn_id = t.id JOIN tool_calls c ON c.batch_id = b.id WHERE t.session_id = ?)`,
		FromEvents: true, Verified: `tool_call_id IN (SELECT c.id FROM turns t JOIN tool_batches b ON b.turn_id = t.id JOIN tool_calls c ON c.batch_id = b.id WHERE t.session_id = ?)`,
	},
	{Name: "tool_permissions", Where: ofSession},
	{Name: "mcp_grants", Where: ofSession},
	{Name: "mcp_shown", Where: ofSession},
	{Name: "mcp_notes", Where: ofSession},
	{Name: "project_files", Where: ofSession},
	{Name: "jobs", Where: ofSession},
	{Name: "import_keys", Where: ofSession},
	{Name: "blobs", Where: ofSession, FromEvents: true},
	{Name: "files", Where: ofSession, FromEvents: true, Verified: ofSession},
	{Name: "chunks", Where: ofSession, FromEvents: true, Verified: ofSession},
	{Name: "chunk_summaries", Where: ofSession},
	{Name: "manifest_links", Where: ofTurns, FromEvents: true},
	{Name: "request_links", Where: `step_id IN (SELECT s.id FROM turns t JOIN steps s ON s.turn_id = t.id WHERE t.session_id = ?)`, FromEvents: true},
	{Name: "units", Where: ofSession, FromEvents: true, Verified: ofSession},
	{Name: "retrieved", Where: `turn_n IN (SELECT n FROM turns WHERE session_id = ?)`, FromEvents: true},
	{Name: "unit_embeddings", Where: `unit_n IN (SELECT n FROM units WHERE session_id = ?)`},
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

// DeletedContent represents in EmptyTables the events of a session that record permanent deletions.
const DeletedContent = "events of permanent deletions"

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
		where := t.Verified
		if where == "" && t.FromEvents {
			where = t.Where
		}
		if where != "" && t.Name != "sessions" {
			add(t.Name, t.Name+` WHERE `+strings.ReplaceAll(where, "?", "every.id"))
		}
	}
	add(DeletedContent, `events WHERE session_id = every.id AND type = ?`)
	return names, `SELECT every.id, ` + strings.Join(bits, " | ") + ` AS empty FROM (` + EverySession + `) AS every ORDER BY every.id`
}()
