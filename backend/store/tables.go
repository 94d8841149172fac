package store

import "strings"

// table is what permanent deletion, imported bundles and verification need to know of a
// table that holds rows of sessions.
type table struct {
	name string
	// of keeps to the rows of one session; its parameter is the session's id.
	of string
	// travels: its rows are made by events, and come over with a session that is imported.
	travels bool
	// verified is the condition under which verification compares the rows of a session with
	// its ledger; empty: it does not.
	verified string
}

const (
	ofSession  = `session_id = ?`
	ofTurns    = `turn_id IN (SELECT id FROM turns WHERE session_id = ?)`
	ofBranches = `branch_id IN (SELECT b.id FROM branches b WHERE b.session_id = ?)`
)

// sessionTables are all of them, in an order in which each row finds what it refers to.
// Deletion goes the other way: a unit's words are read out of its message when its entry in
// the text index is taken away.
var sessionTables = []table{
	{name: "sessions", of: `id = ?`, travels: true, verified: `id = ?`},
	{name: "branches", of: ofSession, travels: true, verified: ofSession},
	{name: "states", of: ofSession, travels: true, verified: ofBranches},
	{name: "turns", of: ofSession, travels: true, verified: ofSession},
	{name: "events", of: ofSession, travels: true, verified: ofSession},
	{name: "snapshots", of: ofSession, verified: ofSession},
	{name: "summaries", of: ofSession, travels: true, verified: ofSession},
	{name: "pins", of: ofSession, travels: true, verified: ofSession},
	{name: "pin_orders", of: ofSession, travels: true, verified: ofSession},
	{name: "pin_suggestions", of: ofSession},
	{name: "settings", of: `instr(key || ' ' || value, ?) > 0`},
	{name: "drafts", of: ofBranches},
	{name: "steps", of: ofTurns, travels: true, verified: `turn_id IN (SELECT t.id FROM turns t WHERE t.session_id = ?)`},
	{name: "turn_tokens", of: ofTurns},
	{name: "metrics", of: ofTurns},
	{name: "tool_batches", of: ofTurns, travels: true, verified: `turn_id IN (SELECT t.id FROM turns t WHERE t.session_id = ?)`},
	{name: "tool_calls", of: `batch_id IN (SELECT b.id FROM turns t JOIN tool_batches b ON b.turn_id = t.id WHERE t.session_id = ?)`,
		travels: true, verified: `batch_id IN (SELECT b.id FROM turns t JOIN tool_batches b ON b.turn_id = t.id WHERE t.session_id = ?)`},
	{name: "tool_results", of: `tool_call_id IN (SELECT c.id FROM turns t JOIN tool_batches b ON b.turn_id = t.id JOIN tool_calls c ON c.batch_id = b.id WHERE t.session_id = ?)`,
		travels: true, verified: `tool_call_id IN (SELECT c.id FROM turns t JOIN tool_batches b ON b.turn_id = t.id JOIN tool_calls c ON c.batch_id = b.id WHERE t.session_id = ?)`},
	{name: "tool_recalled", of: `tool_call_id IN (SELECT c.id FROM turns t JOIN tool_batches b ON b.turn_id = t.id JOIN tool_calls c ON c.batch_id = b.id WHERE t.session_id = ?)`,
		travels: true, verified: `tool_call_id IN (SELECT c.id FROM turns t JOIN tool_batches b ON b.turn_id = t.id JOIN tool_calls c ON c.batch_id = b.id WHERE t.session_id = ?)`},
	{name: "tool_permissions", of: ofSession},
	{name: "mcp_grants", of: ofSession},
	{name: "mcp_shown", of: ofSession},
	{name: "mcp_notes", of: ofSession},
	{name: "jobs", of: ofSession},
	{name: "tags", of: ofSession},
	{name: "import_keys", of: ofSession},
	{name: "dictionaries", of: ofSession},
	{name: "blobs", of: ofSession, travels: true},
	{name: "files", of: ofSession, travels: true, verified: ofSession},
	{name: "chunks", of: ofSession, travels: true, verified: ofSession},
	{name: "manifest_links", of: ofTurns, travels: true},
	{name: "request_links", of: `step_id IN (SELECT s.id FROM turns t JOIN steps s ON s.turn_id = t.id WHERE t.session_id = ?)`, travels: true},
	{name: "units", of: ofSession, travels: true, verified: ofSession},
	{name: "retrieved", of: `turn_n IN (SELECT n FROM turns WHERE session_id = ?)`, travels: true},
	{name: "unit_embeddings", of: `unit_n IN (SELECT n FROM units WHERE session_id = ?)`},
}

// everySession names all sessions that any record is of, whether they are there or not.
var everySession = func() string {
	from := []string{`SELECT id FROM sessions`}
	for _, t := range sessionTables {
		if t.verified == ofSession {
			from = append(from, `SELECT session_id FROM `+t.name)
		}
	}
	return strings.Join(from, ` UNION `) + ` ORDER BY 1`
}()
