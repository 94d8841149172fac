package deletion

import (
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// Passages that a model looked up are quoted in the result of its tool call: in the tool journal, in the message of
// its turn, and in later requests that contained that turn. A result is deleted completely: the rest of it can be
// looked up again, and the borders between passages cannot be determined reliably.

// deletedLookup replaces a result that quotes deleted content.
const deletedLookup = `[{"type":"text","text":"` + DeletedMark + `"}]`

// lookup is a call in another turn whose result quotes deleted content.
type lookup struct {
	Call    string
	UseID   string
	content string // of its result, as JSON
	turn    quotingTurn
}

// lookups deletes the results that quote the turns r selected by a condition; t are the quoting turns.
func (e *Operation) lookups(where string, args ...any) error {
	rows, err := sqlite.All[struct {
		Call, UseID, ID, SessionID string
		N                          int64
	}](e.DB, `SELECT DISTINCT c.id AS call, c.call_id AS use_id, t.id, t.n, t.session_id FROM tool_calls c
		LEFT JOIN tool_recalled r ON r.tool_call_id = c.id JOIN tool_batches b ON b.id = c.batch_id JOIN turns t ON t.id = b.turn_id
		WHERE `+where+` ORDER BY t.n, c.id`, args...)
	if err != nil {
		return err
	}
	byTurn := map[quotingTurn][]lookup{}
	var turns []quotingTurn
	for _, r := range rows {
		l := lookup{Call: r.Call, UseID: r.UseID, turn: quotingTurn{r.ID, r.N, r.SessionID}}
		if l.content, err = e.lookupResult(l); err != nil {
			return err
		}
		if byTurn[l.turn] == nil {
			turns = append(turns, l.turn)
		}
		byTurn[l.turn] = append(byTurn[l.turn], l)
	}
	for _, t := range turns {
		if err := e.lookupMessage(t, byTurn[t]); err != nil {
			return err
		}
		if err := e.lookupContexts(t); err != nil {
			return err
		}
	}
	return nil
}

// lookupResult deletes a result in the tool journal and returns what it was.
func (e *Operation) lookupResult(l lookup) (old string, err error) {
	rows, err := sqlite.All[events.ResultRow](e.DB, `SELECT * FROM tool_results WHERE tool_call_id = ?`, l.Call)
	if err != nil {
		return "", err
	}
	for _, r := range rows { // verify reports one that is missing or unreadable
		if content, err := r.Unpacked(); err == nil {
			old = string(content)
		}
	}
	if err := e.remove("tool_results", `UPDATE tool_results SET content = ?, content_hash = ? WHERE tool_call_id = ?`,
		codec.Pack([]byte(deletedLookup)), codec.Hash([]byte(deletedLookup)), l.Call); err != nil {
		return "", err
	}
	return old, reword(e, chat.SessionID(l.turn.SessionID), l.Call, []ledger.Type{ledger.EventToolCallEnded}, func(p *ledger.ToolCallEnded) {
		if p.Reason == "" {
			p.Content = []byte(deletedLookup)
		}
	})
}

// lookupMessage deletes results in the answer of the turn that looked them up, if there is an answer.
func (e *Operation) lookupMessage(t quotingTurn, lookups []lookup) error {
	row, err := sqlite.One[schema.TurnRow](e.DB, "turn", t.ID, `SELECT * FROM turns WHERE id = ?`, t.ID)
	if err != nil || row.FinalAssistantMessageJSON == nil {
		return err
	}
	message := chat.AssistantText(DeletedMark) // for an unreadable message
	if turn := row.Turn(); turn.Assistant != nil {
		message = withoutLookups(*turn.Assistant, lookups)
	}
	answer, hash, err := schema.EncodeMessage(message)
	if err != nil || answer == *row.FinalAssistantMessageJSON {
		return err
	}
	if err := e.remove("turns", `UPDATE turns SET final_assistant_message_json = ?, assistant_hash = ? WHERE id = ?`, answer, hash, t.ID); err != nil {
		return err
	}
	return reword(e, chat.SessionID(t.SessionID), t.ID, []ledger.Type{ledger.EventTurnFinalized}, func(p *ledger.TurnFinalized) { p.Assistant = []byte(answer) })
}

// withoutLookups returns a message with the results of some calls replaced. Providers may use the same call id in
// several steps: then results with the deleted content are replaced, or all with that id if none matches.
func withoutLookups(m chat.Message, lookups []lookup) chat.Message {
	m.Blocks = slices.Clone(m.Blocks)
	for _, l := range lookups {
		if !deleteResults(m.Blocks, l.UseID, func(content string) bool { return content == l.content }) {
			deleteResults(m.Blocks, l.UseID, func(string) bool { return true })
		}
	}
	return m
}

func deleteResults(blocks chat.Blocks, use string, matches func(content string) bool) (found bool) {
	for i, b := range blocks {
		r, ok := b.(chat.ToolResult)
		if !ok || r.ToolUseID != use {
			continue
		}
		if content, err := chat.MarshalJSON(r.Content); err == nil && matches(string(content)) {
			r.Content = chat.Blocks{chat.Text{Text: DeletedMark}}
			blocks[i], found = r, true
		}
	}
	return found
}

// lookupContexts drops the requests of the turn that did the lookup, and of later turns whose context contained it.
func (e *Operation) lookupContexts(t quotingTurn) error {
	affected := affectedContexts{ids: map[string]bool{t.ID: true}, chunks: `0`}
	row, err := sqlite.One[schema.TurnRow](e.DB, "turn", t.ID, `SELECT id, branch_id, turn_seq FROM turns WHERE id = ?`, t.ID)
	if err != nil {
		return err
	}
	visibleOn, err := e.branchesWith(t.SessionID, row)
	if err != nil {
		return err
	}
	later, err := e.following(t, []string{t.ID}, visibleOn, affected)
	if err != nil {
		return err
	}
	return e.dropAffected(append([]quotingTurn{t}, later...), affected)
}

// lookedUp removes a deleted session from the lookup records of other sessions' models, and what they were shown of
// it from their turns.
func (e *Operation) lookedUp(session string) error {
	if err := e.lookups(`r.session_id = ? AND t.session_id <> ?`, session, session); err != nil {
		return err
	}
	calls, err := sqlite.All[struct{ ID, SessionID string }](e.DB, `SELECT DISTINCT c.id, t.session_id FROM tool_recalled r
		JOIN tool_calls c ON c.id = r.tool_call_id JOIN tool_batches b ON b.id = c.batch_id JOIN turns t ON t.id = b.turn_id
		WHERE r.session_id = ? AND t.session_id <> ? ORDER BY c.id`, session, session)
	if err != nil {
		return err
	}
	for _, c := range calls {
		if err := reword(e, chat.SessionID(c.SessionID), c.ID, []ledger.Type{ledger.EventToolCallEnded}, func(p *ledger.ToolCallEnded) {
			p.Recalled = slices.DeleteFunc(p.Recalled, func(r ledger.RecalledTurn) bool { return string(r.Session) == session })
		}); err != nil {
			return err
		}
	}
	return e.remove("tool_recalled", `DELETE FROM tool_recalled WHERE session_id = ?`, session)
}

// lookedUp deletes what models were shown of the turn, also in its own session. If the name of the session is removed,
// so is every result that names it.
func (x *turnDeletion) lookedUp() error {
	if slices.ContainsFunc(x.subject.Names, x.words.In) {
		return x.lookups(`r.session_id = ? AND t.id NOT IN ?`, x.subject.Session, x.ids())
	}
	return x.lookups(`r.session_id = ? AND r.turn_id IN ? AND t.id NOT IN ?`, x.subject.Session, x.ids(), x.ids())
}
