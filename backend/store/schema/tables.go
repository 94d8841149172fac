package schema

import (
	"strconv"
	"strings"
)

// table is what permanent deletion, imported bundles and verification need to know of a
// table that holds rows of sessions.
type table struct {
	Name string
	// Of keeps to the rows of one session; its parameter is the session's id.
	Of string
	// travels: its rows are made by events, and come over with a session that is imported.
	Travels bool
	// Verified is the condition under which verification compares the rows of a session with
	// its ledger; empty: it does not.
	Verified string
}

const (
	ofSession  = `session_id = ?`
	ofTurns    = `turn_id IN (SELECT id FROM turns WHERE session_id = ?)`
	ofBranches = `branch_id IN (SELECT b.id FROM branches b WHERE b.session_id = ?)`
)

// SessionTables are all of them, in an order in which each row finds what it refers to.
// Deletion goes the other way: a unit's words are read out of its message when its entry in
// the text index is taken away.
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

// EverySession names all sessions that any record is of, whether they are there or not.
var EverySession = func() string {
	from := []string{`SELECT id FROM sessions`}
	for _, t := range SessionTables {
		if t.Verified == ofSession {
			from = append(from, `SELECT session_id FROM `+t.Name)
		}
	}
	return strings.Join(from, ` UNION `) + ` ORDER BY 1`
}()

// ErasedContent stands in EmptyTables for the events of a session that record permanent deletions.
const ErasedContent = "events of permanent deletions"

// EmptyTables are what a session may hold nothing of. EmptyTablesQuery reads for every session its
// id and a number, in which bit n is set when the session holds nothing of EmptyTables[n]: one query
// in place of one for each table of each session. Its parameter is the type of the events of
// permanent deletions.
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
