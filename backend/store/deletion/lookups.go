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

// What a model looked up by itself is quoted in the result of its tool call: in the journal of
// the call, in the message of its turn, and in the requests in which that turn stood. A result
// is erased whole: what else it quoted can be looked up again, and where one passage ends and
// the next begins only text of others tells.

// erasedLookup is in place of such a result.
const erasedLookup = `[{"type":"text","text":"` + ErasedMark + `"}]`

// lookup is a call elsewhere whose result quotes what is erased.
type lookup struct {
	Call    string
	UseID   string
	content string // of its result, as JSON
	turn    quoted
}

// lookups erases the results that quote what a condition selects, on the turns r that are quoted
// and the turns t that quote them.
func (e *Erasing) lookups(where string, args ...any) error {
	rows, err := sqlite.All[struct {
		Call, UseID, ID, SessionID string
		N                          int64
	}](e.DB, `SELECT DISTINCT c.id AS call, c.call_id AS use_id, t.id, t.n, t.session_id FROM tool_recalled r
		JOIN tool_calls c ON c.id = r.tool_call_id JOIN tool_batches b ON b.id = c.batch_id JOIN turns t ON t.id = b.turn_id
		WHERE `+where+` ORDER BY t.n, c.id`, args...)
	if err != nil {
		return err
	}
	byTurn := map[quoted][]lookup{}
	var turns []quoted
	for _, r := range rows {
		l := lookup{Call: r.Call, UseID: r.UseID, turn: quoted{r.ID, r.N, r.SessionID}}
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

// lookupResult erases a result in the journal of calls, and returns what it was.
func (e *Erasing) lookupResult(l lookup) (was string, err error) {
	rows, err := sqlite.All[events.ResultRow](e.DB, `SELECT * FROM tool_results WHERE tool_call_id = ?`, l.Call)
	if err != nil {
		return "", err
	}
	for _, r := range rows { // one that is not there, or cannot be read, is named by verify
		if content, err := r.Unpacked(); err == nil {
			was = string(content)
		}
	}
	if err := e.remove("tool_results", `UPDATE tool_results SET content = ?, content_hash = ? WHERE tool_call_id = ?`,
		codec.Pack([]byte(erasedLookup)), codec.Hash([]byte(erasedLookup)), l.Call); err != nil {
		return "", err
	}
	return was, reword(e, chat.SessionID(l.turn.SessionID), l.Call, []ledger.Type{ledger.EventToolCallEnded}, func(p *ledger.ToolCallEnded) {
		if p.Reason == "" {
			p.Content = []byte(erasedLookup)
		}
	})
}

// lookupMessage erases results in the answer of the turn that looked them up, if it has one.
func (e *Erasing) lookupMessage(t quoted, of []lookup) error {
	row, err := sqlite.One[schema.TurnRow](e.DB, "turn", t.ID, `SELECT * FROM turns WHERE id = ?`, t.ID)
	if err != nil || row.FinalAssistantMessageJSON == nil {
		return err
	}
	message := chat.AssistantText(ErasedMark) // of one that cannot be read
	if turn := row.Turn(); turn.Assistant != nil {
		message = withoutLookups(*turn.Assistant, of)
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

// withoutLookups is a message with other words in the results of some calls. Providers may name
// calls of several steps alike: then those go that say the same, and if none does, all of that name.
func withoutLookups(m chat.Message, of []lookup) chat.Message {
	m.Blocks = slices.Clone(m.Blocks)
	for _, l := range of {
		if !eraseResults(m.Blocks, l.UseID, func(content string) bool { return content == l.content }) {
			eraseResults(m.Blocks, l.UseID, func(string) bool { return true })
		}
	}
	return m
}

func eraseResults(blocks chat.Blocks, use string, which func(content string) bool) (found bool) {
	for i, b := range blocks {
		r, ok := b.(chat.ToolResult)
		if !ok || r.ToolUseID != use {
			continue
		}
		if content, err := chat.MarshalJSON(r.Content); err == nil && which(string(content)) {
			r.Content = chat.Blocks{chat.Text{Text: ErasedMark}}
			blocks[i], found = r, true
		}
	}
	return found
}

// lookupContexts drops the requests of the turn that looked something up, and of those after it
// in whose context it stood.
func (e *Erasing) lookupContexts(t quoted) error {
	by := affectedContexts{ids: map[string]bool{t.ID: true}, chunks: `0`}
	row, err := sqlite.One[schema.TurnRow](e.DB, "turn", t.ID, `SELECT id, branch_id, turn_seq FROM turns WHERE id = ?`, t.ID)
	if err != nil {
		return err
	}
	sees, err := e.branchesThatSee(t.SessionID, row)
	if err != nil {
		return err
	}
	later, err := e.following(t, []string{t.ID}, sees, by)
	if err != nil {
		return err
	}
	return e.dropAffected(append([]quoted{t}, later...), by)
}

// lookedUp takes a session that goes out of the records of what models of other sessions looked
// up, and what they were shown of it out of their turns.
func (e *Erasing) lookedUp(session string) error {
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

// lookedUp erases what models were shown of the turn, in its own session too. Where the name of
// the session goes, so does whatever named it.
func (x *erasingTurn) lookedUp() error {
	if slices.ContainsFunc(x.subject.Names, x.words.In) {
		return x.lookups(`r.session_id = ? AND t.id NOT IN ?`, x.subject.Session, x.ids())
	}
	return x.lookups(`r.session_id = ? AND r.turn_id IN ? AND t.id NOT IN ?`, x.subject.Session, x.ids(), x.ids())
}
