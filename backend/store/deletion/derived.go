package deletion

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/internal/pattern"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/records"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// Data derived from a deleted turn: state summaries, range summaries, titles, drafts. A line that shares a word with
// the deleted text is replaced by [erased]. A line without a shared word cannot repeat the text, and is kept.

// branches returns those from which a turn is visible.
func (x *turnDeletion) branches() []string {
	var out []string
	for b := range x.visibleOn {
		out = append(out, b)
	}
	slices.Sort(out)
	return out
}

// first returns the turn_seq of the earliest of the turns.
func (x *turnDeletion) first() int64 {
	first := x.turns[0].TurnSeq
	for _, t := range x.turns {
		first = min(first, t.TurnSeq)
	}
	return first
}

// affectedStates returns the state summaries that cover the turns and share words with them, unpacked. An unreadable
// state is assumed to share some.
func (x *turnDeletion) affectedStates() ([]schema.StateRow, error) {
	rows, err := sqlite.All[schema.StateRow](x.DB, `SELECT * FROM states WHERE branch_id IN ? AND covers_seq >= ? AND origin <> 'root' OR id IN ?
		ORDER BY branch_id, state_seq`, x.branches(), x.first(), append([]string{""}, x.listed[ledger.EventStateCommitted]...))
	var out []schema.StateRow
	for _, r := range rows {
		if r.Unpack(x.DB) != nil || slices.Contains(x.listed[ledger.EventStateCommitted], r.ID) || x.words.Without(r.Summary) != r.Summary || r.ValidationJSON != nil && x.words.In(*r.ValidationJSON) {
			out = append(out, r)
		}
	}
	return out, err
}

// states removes the deleted words and moves the head of each branch that shows the turn to a new state summary, so
// that a worker that read the old head can no longer commit on it.
func (x *turnDeletion) states() error {
	rows, err := x.affectedStates()
	if err != nil {
		return err
	}
	ids := lists.Map(rows, func(r schema.StateRow) string { return r.ID })
	if err := x.packStatesAlone(ids); err != nil {
		return err
	}
	for _, r := range rows {
		if err := x.rewriteState(r); err != nil {
			return err
		}
	}
	return x.moveHeads()
}

// packStatesAlone repacks the state summaries that are based on those about to change, without a base.
func (x *turnDeletion) packStatesAlone(ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	rows, err := sqlite.All[schema.StateRow](x.DB, `SELECT * FROM states WHERE summary_z IS NOT NULL AND parent_id IN ? AND id NOT IN ?`, ids, ids)
	if err != nil {
		return err
	}
	for i := range rows {
		if err := rows[i].Unpack(x.DB); err != nil {
			return err
		}
	}
	for _, r := range rows {
		if err := x.Run(`UPDATE states SET summary = ?, summary_z = NULL WHERE id = ?`, r.Summary, r.ID); err != nil {
			return err
		}
	}
	return nil
}

func (x *turnDeletion) rewriteState(r schema.StateRow) error {
	r.Summary = x.without(ledger.EventStateCommitted, r.ID, r.Summary)
	if err := x.remove("states", `UPDATE states SET summary = ?, summary_z = NULL, validation_json = NULL, content_hash = ? WHERE id = ?`,
		r.Summary, r.Hash(), r.ID); err != nil {
		return err
	}
	return reword(x.Operation, chat.SessionID(r.SessionID), r.ID, []ledger.Type{ledger.EventStateCommitted}, func(p *ledger.StateCommitted) {
		p.Summary, p.Validation = r.Summary, nil
	})
}

func (x *turnDeletion) moveHeads() error {
	for _, id := range x.branches() {
		branch, err := schema.BranchByID(x.DB, chat.BranchID(id))
		if err != nil {
			return err
		}
		if ours, err := x.Device.Finishes(x.DB, id); err != nil || !ours { // no worker here commits on another device's
			if err != nil {
				return err
			}
			continue
		}
		head, err := records.StateByID(x.DB, chat.StateID(branch.HeadState))
		if err != nil {
			return err
		}
		if head.CoversSeq < x.first() && !x.pendingOn(branch, head) {
			continue
		}
		c := chat.Commit{
			BranchID: chat.BranchID(id), Epoch: branch.Epoch, Summary: x.words.Without(head.Summary),
			PinnedFacts: head.PinnedFacts, TokenCount: head.TokenCountEst, Origin: chat.StateFallback,
		}
		st, err := records.NextState(x.Operation.Tx, branch, c, nil)
		if err != nil {
			return err
		}
		if err := records.InsertState(x.Operation.Tx, st, nil, c.Epoch+1); err != nil {
			return err
		}
	}
	return nil
}

// pendingOn reports whether a branch has a pending turn, which a worker may be summarizing.
func (x *turnDeletion) pendingOn(b schema.BranchRow, head schema.StateRow) bool {
	return slices.ContainsFunc(x.turns, func(t schema.TurnRow) bool { return t.BranchID == b.ID && t.TurnSeq > head.CoversSeq })
}

// covering returns the range summaries that represent the turns and share words with them.
func (x *turnDeletion) covering() ([]schema.RangeSummaryRow, error) {
	out, err := sqlite.All[schema.RangeSummaryRow](x.DB, `SELECT * FROM summaries WHERE id IN ? ORDER BY id`,
		append([]string{""}, x.listed[ledger.EventSummaryCreated]...))
	if err != nil {
		return nil, err
	}
	for _, t := range x.turns {
		rows, err := sqlite.All[schema.RangeSummaryRow](x.DB, `SELECT * FROM summaries WHERE branch_id IN ? AND from_seq <= ? AND to_seq > ? ORDER BY id`,
			x.branches(), t.TurnSeq, t.TurnSeq)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			known := slices.ContainsFunc(out, func(o schema.RangeSummaryRow) bool { return o.ID == r.ID })
			if !known && (x.words.Without(r.Content) != r.Content || r.ValidationJSON != nil && x.words.In(*r.ValidationJSON)) {
				out = append(out, r)
			}
		}
	}
	return out, nil
}

// summaries removes the deleted words from range summaries.
func (x *turnDeletion) summaries() error {
	rows, err := x.covering()
	if err != nil {
		return err
	}
	for _, r := range rows {
		r.Content = x.without(ledger.EventSummaryCreated, r.ID, r.Content)
		if err := x.remove("summaries", `UPDATE summaries SET content = ?, content_hash = ?, validation_json = NULL WHERE id = ?`, r.Content, codec.Hash([]byte(r.Content)), r.ID); err != nil {
			return err
		}
		if err := reword(x.Operation, chat.SessionID(x.subject.Session), r.ID, []ledger.Type{ledger.EventSummaryCreated}, func(p *ledger.SummaryCreated) {
			p.Content, p.Validation = r.Content, nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// names removes current and past names of the session and its branches that share words with the deleted text: most
// are derived from a message. Words that remain in other turns of the session reveal nothing.
func (x *turnDeletion) names() error {
	session := chat.SessionID(x.subject.Session)
	own := sync.OnceValues(x.ownWords)
	listed := map[string]bool{} // names that another device found
	reveals := func(name string) (bool, error) {
		if listed[name] {
			return true, nil
		}
		if name = originPrefix().ReplaceAllString(name, ""); !x.words.In(name) {
			return false, nil
		}
		words, err := own()
		return words.In(name), err
	}
	if err := x.deleteFormerNames(session, listed, reveals); err != nil {
		return err
	}
	revealed, err := reveals(x.subject.Title)
	if err == nil && revealed {
		err = x.remove("sessions", `UPDATE sessions SET title = ? WHERE id = ?`, DeletedMark, session)
	}
	if err != nil {
		return err
	}
	labels, err := sqlite.All[schema.BranchRow](x.DB, `SELECT id, label FROM branches WHERE session_id = ?`, session)
	for _, b := range labels {
		if err == nil {
			revealed, err = reveals(b.Label)
		}
		if err == nil && revealed {
			err = x.remove("branches", `UPDATE branches SET label = ? WHERE id = ?`, DeletedMark, b.ID)
		}
	}
	return err
}

// originPrefix is how the automatic name of a branch begins, before the text of a message.
var originPrefix = pattern.New(`^(?:from|rollback to) #\d+: `)

// deleteFormerNames removes names from the ledger.
func (x *turnDeletion) deleteFormerNames(session chat.SessionID, listed map[string]bool, reveals func(string) (bool, error)) error {
	events, err := sqlite.All[schema.EventRow](x.DB, `SELECT * FROM events WHERE session_id = ?
		AND type IN ('session_created', 'session_renamed', 'branch_created', 'branch_renamed') ORDER BY event_seq`, session)
	if err != nil {
		return err
	}
	for _, r := range events {
		payload, err := x.decoded.Payload(x.DB, r)
		if err != nil || payload == nil {
			continue
		}
		reveals := reveals
		if x.listedNames[string(r.Hash)] {
			reveals = func(name string) (bool, error) {
				listed[name] = true
				return true, nil
			}
		}
		switch ledger.Type(r.Type) {
		case ledger.EventSessionCreated:
			err = rewordName(x, r, payload, reveals, func(p *ledger.SessionCreated) *string { return &p.Title })
		case ledger.EventBranchCreated:
			err = rewordName(x, r, payload, reveals, func(p *ledger.BranchCreated) *string { return &p.Label })
		default:
			err = rewordName(x, r, payload, reveals, func(p *ledger.TextChanged) *string { return &p.Text })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rewordName deletes the name in an event if it reveals deleted text.
func rewordName[P any](x *turnDeletion, r schema.EventRow, payload []byte, reveals func(string) (bool, error), name func(*P) *string) error {
	var revealed bool
	var err error
	if _, rerr := ledger.Rewrite(payload, func(p *P) { revealed, err = reveals(*name(p)) }); rerr != nil {
		revealed = x.words.In(string(payload)) // it cannot be read
	}
	if err != nil || !revealed {
		return err
	}
	return rewordRow(x.Operation, r, func(p *P) { *name(p) = DeletedMark })
}

// ownWords returns the deleted words that no other turn of the session contains.
func (x *turnDeletion) ownWords() (WordSet, error) {
	own := maps.Clone(x.words)
	for last := int64(0); len(own) > 0; { // some at a time: a session may be larger than the memory
		turns, err := sqlite.All[schema.TurnRow](x.DB, `SELECT * FROM turns WHERE session_id = ? AND id NOT IN ? AND n > ? ORDER BY n LIMIT 50`,
			x.subject.Session, x.ids(), last)
		if err != nil || len(turns) == 0 {
			return own, err
		}
		others := WordSet{}
		for _, t := range turns {
			last = t.N
			others.JSON(t.UserMessageJSON)
			others.JSON(schema.Text(t.FinalAssistantMessageJSON))
		}
		maps.DeleteFunc(own, func(word string, _ bool) bool { return others[word] })
	}
	return own, nil
}

// shortestLine is the minimum length of a deleted line at which a draft that contains it counts as a copy.
const shortestLine = 8

// unsent removes unsent and queued messages that repeat the deleted text, and edits of the turns.
func (x *turnDeletion) unsent() error {
	lines := x.lines()
	repeats := func(bs chat.Blocks) bool {
		text := bs.RenderedText()
		return slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(text, l) })
	}
	drafts, err := sqlite.All[records.DraftRow](x.DB, `SELECT d.* FROM drafts d JOIN branches b ON b.id = d.branch_id WHERE b.session_id = ?`, x.subject.Session)
	if err != nil {
		return err
	}
	for _, r := range drafts {
		if err := x.draft(r, repeats); err != nil {
			return err
		}
	}
	queued, err := sqlite.All[records.QueuedRow](x.DB, `SELECT q.* FROM queued_messages q JOIN branches b ON b.id = q.branch_id WHERE b.session_id = ?`, x.subject.Session)
	if err != nil {
		return err
	}
	for _, r := range queued {
		if q, qerr := r.Queued(); qerr != nil || repeats(q.Message.Blocks) {
			if err := x.remove("queued_messages", `DELETE FROM queued_messages WHERE id = ?`, r.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// lines returns the lines of the turns' messages that are long enough to recognize a copy.
func (x *turnDeletion) lines() []string {
	var out []string
	for _, r := range x.turns {
		t := r.Turn()
		text := t.User.RenderedText()
		if t.Assistant != nil {
			text += "\n" + t.Assistant.RenderedText()
		}
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); len(line) >= shortestLine && !isMarkup(line) {
				out = append(out, line)
			}
		}
	}
	return out
}

// isMarkup reports whether a line of Markdown has no text of its own: the fence of a code block with its language, the
// rule of a table, a separator.
func isMarkup(line string) bool {
	if info, ok := strings.CutPrefix(strings.ReplaceAll(line, "~", "`"), "```"); ok {
		return len(strings.Fields(info)) <= 1
	}
	return !strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// draft removes the part of a draft that repeats the deleted text or edits one of the turns: the edit, the text that it
// replaced, or both. A draft that cannot be read is deleted.
func (x *turnDeletion) draft(r records.DraftRow, repeats func(chat.Blocks) bool) error {
	d, unreadable := r.Draft()
	before, edited, edit, editing := d.Message.Blocks.AtEdit()
	keepBefore := unreadable == nil && !repeats(before)
	keepEdit := editing && !slices.Contains(x.ids(), string(edit.Turn)) && !repeats(edited)
	if keepBefore && keepEdit == editing {
		return nil
	}
	remaining := chat.Message{Role: chat.RoleUser}
	if keepBefore {
		remaining.Blocks = before
	}
	if keepEdit {
		remaining.Blocks = append(append(remaining.Blocks, edit), edited...)
	}
	if len(remaining.Blocks) == 0 {
		return x.remove("drafts", `DELETE FROM drafts WHERE branch_id = ?`, r.BranchID)
	}
	message, _, err := schema.EncodeMessage(remaining)
	if err != nil {
		return err
	}
	return x.remove("drafts", `UPDATE drafts SET message_json = ? WHERE branch_id = ?`, message, r.BranchID)
}
