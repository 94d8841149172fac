// Package deletion deletes sessions, turns and projects permanently, and keeps the receipts.
package deletion

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/imports"
	"contextinfinity/backend/store/records"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/search"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/transfer/bundle"
)

// Deletion deletes sessions, turns and projects permanently.
type Deletion struct {
	*core.Core
	search *search.Search
}

// New returns the deletion of an open database; forget clears the caches of its search.
func New(c *core.Core, s *search.Search) *Deletion { return &Deletion{c, s} }

// A permanent deletion removes a session, or the content of a turn, from everything that the program keeps (SPEC
// 2.12, 12). It is one transaction, including the receipt. Files, and remainders that SQLite leaves on freed pages,
// are removed afterwards, or at the next start if the program dies first: the receipt lists what is still to be done.
//
// A session's rows are deleted together with its ledger, so that nothing can be replayed. A turn remains as an empty
// shell, so that sequences, branches and the ledger stay valid: [erased] replaces the text in its payloads, and a
// ledger event certifies each replacement (package ledger, ContentDeleted).
//
// A stored request that contained the text is replaced by a mark that names the receipt. It is not reworded: a
// request that was never sent would be a false record. Its manifest stays, without the deleted parts. Values packed
// against it are repacked.

const OpDelete = "content.delete"

// DeletedMark replaces content that was permanently deleted.
const DeletedMark = chat.DeletedMark

// Operation is one permanent deletion, in its transaction.
type Operation struct {
	*core.Tx
	store        *Deletion
	receipt      string
	subject      chat.DeletionPreview
	counts       map[string]int64
	files        []string // to be removed, relative to the data directory
	payloads     map[chat.SessionID]map[int64][]byte
	deletedFiles []chat.FileID // documents of a turn
	others       map[chat.SessionID]bool
	decoded      core.RecentValues // payloads
	coming       []bundle.Parcel   // from another device that deleted a turn
	absent       bool              // the turn is not here, only what another session quotes of it
}

// errPreview rolls back a preview.
var errPreview = errors.New("a preview")

// PreviewDeletion reports what Delete would remove. It runs the deletion and rolls it back, so the counts are those of
// the receipts.
func (s *Deletion) PreviewDeletion(ctx context.Context, kind, id string, copies ...chat.SessionID) (chat.DeletionPreview, error) {
	targets, included, err := s.withCopies(ctx, target{kind: kind, id: id}, copies)
	if err != nil {
		return chat.DeletionPreview{}, err
	}
	var out chat.DeletionPreview
	err = s.Write(ctx, "content.delete", func(t *core.Tx) error {
		all, err := s.begin(t, targets)
		if err != nil {
			return err
		}
		out = all[len(all)-1].subject
		out.Included = included
		for _, e := range all[:len(all)-1] {
			out.Names = append(out.Names, e.subject.Names...)
		}
		for _, e := range all {
			if refusal := e.refuse(); refusal != nil {
				out.Reason = chat.AsError(sqlite.MapError(OpDelete, refusal)).Message
				return errPreview
			}
		}
		for _, e := range all {
			if err := e.CarryOut(); err != nil {
				return err
			}
		}
		out.Deleted = deletedCounts(all)
		out.Sessions, err = titles(all)
		return cmp.Or(err, errPreview)
	})
	if err != nil && !errors.Is(chat.AsError(err).Err, errPreview) {
		return out, err
	}
	backups, err := s.copiesContaining(ctx, targets)
	out.Backups = []string{}
	for _, name := range slices.Concat(backups...) {
		if !slices.Contains(out.Backups, name) {
			out.Backups = append(out.Backups, name)
		}
	}
	return out, err
}

// Delete permanently deletes a session, a project or the content of a turn, in one transaction with the named copies:
// the copies of a session completely, those of a turn's session only as far as they contain the turn. While an answer
// of one of them is being written it returns CodeConflict and removes nothing. An error after the receipt was written
// says so: the remaining work is done at the next start.
func (s *Deletion) Delete(ctx context.Context, kind, id string, copies ...chat.SessionID) (chat.Receipt, error) {
	targets, _, err := s.withCopies(ctx, target{kind: kind, id: id}, copies)
	if err != nil {
		return chat.Receipt{}, err
	}
	return s.delete(ctx, targets, nil, func(*core.Tx) error { return nil })
}

// DeleteTurnAs permanently deletes the content of a turn as another device did, according to what is here of a session and to events
// that are to come from there. If the turn is not here, only what is listed of that session is deleted.
func (s *Deletion) DeleteTurnAs(ctx context.Context, session chat.SessionID, turn chat.TurnID, coming []bundle.Parcel) (chat.Receipt, error) {
	return s.delete(ctx, []target{{kind: chat.DeletionTurn, id: string(turn), in: session}}, coming, func(*core.Tx) error { return nil })
}

// DeleteAsSeen is Delete of a session whose lanes still end where they were seen to; CodeConflict: it went on.
func (s *Deletion) DeleteAsSeen(
	ctx context.Context, session chat.SessionID, seen map[string]int64,
) (chat.Receipt, error) {
	return s.delete(ctx, []target{{kind: chat.DeletionSession, id: string(session)}}, nil, func(t *core.Tx) error {
		lanes, err := core.LastNumbers(t.DB, session)
		if err == nil && !maps.Equal(lanes, seen) {
			err = sqlite.Conflict("The session went on while it was to be deleted; nothing was deleted.")
		}
		return err
	})
}

// Deletable returns CodeConflict while an answer is being written because of which a session cannot be deleted.
func (s *Deletion) Deletable(ctx context.Context, session chat.SessionID) error {
	return s.Read(ctx, OpDelete, func(db *gorm.DB) error {
		return refusal(db, s.RunningTurns(), chat.DeletionSession, string(session))
	})
}

func (s *Deletion) delete(ctx context.Context, targets []target, coming []bundle.Parcel, check func(*core.Tx) error) (chat.Receipt, error) {
	backups, err := s.copiesContaining(ctx, targets)
	if err != nil {
		return chat.Receipt{}, err
	}
	var receipts []chat.Receipt
	err = s.Write(ctx, "content.delete", func(t *core.Tx) error {
		if err := check(t); err != nil {
			return err
		}
		all, err := s.begin(t, targets)
		if err != nil {
			return err
		}
		for _, e := range all {
			if err := e.refuse(); err != nil {
				return err
			}
		}
		if err := t.Run(`PRAGMA secure_delete = ON`); err != nil {
			return err
		}
		receipts = nil
		for i, e := range all {
			e.coming = coming
			if err := e.CarryOut(); err != nil {
				return err
			}
			receipt, err := e.PutReceipt(backups[i])
			if err != nil {
				return err
			}
			receipts = append(receipts, receipt)
		}
		return nil
	})
	if err != nil {
		return chat.Receipt{}, err
	}
	receipt := receipts[len(receipts)-1]
	receipt.Included = receipts[:len(receipts)-1]
	s.Forget()
	if err := FinishDeletions(context.WithoutCancel(ctx), s); err != nil {
		return receipt, chat.WrapError(chat.CodeOf(err), OpDelete, err,
			"It was deleted, with a receipt, but could not be overwritten on the disk yet.").
			WithHint("it is tried again at the next start; other programs that read the data must be closed")
	}
	return receipt, nil
}

// begin begins the deletions of one transaction. Each names only copies that are not deleted with it.
func (s *Deletion) begin(t *core.Tx, targets []target) ([]*Operation, error) {
	var all []*Operation
	for _, d := range targets {
		e, err := NewOperation(s, t, d.kind, d.id, d.in)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	for _, e := range all {
		e.subject.Copies = slices.DeleteFunc(e.subject.Copies, func(c chat.Copy) bool {
			return slices.ContainsFunc(all, func(x *Operation) bool { return x.subject.Session == string(c.Session) })
		})
	}
	return all, nil
}

// NewOperation begins a deletion of a session, a turn or a project. in, if not empty, is a session that quotes the turn, which may
// not be here.
func NewOperation(s *Deletion, t *core.Tx, kind, id string, in chat.SessionID) (*Operation, error) {
	if s.DB.Writer == nil {
		return nil, chat.Errorf(chat.CodeLocked, OpDelete, "The data is open read-only.")
	}
	e := &Operation{
		Tx: t, store: s, receipt: t.NewID(), counts: map[string]int64{}, payloads: map[chat.SessionID]map[int64][]byte{},
		others: map[chat.SessionID]bool{}, subject: chat.DeletionPreview{Kind: kind, Subject: id},
	}
	session := id
	switch kind {
	case chat.DeletionProject:
		p, err := records.ProjectByID(t.DB, chat.ProjectID(id))
		e.subject.Title = p.Name
		return e, err
	case chat.DeletionTurn:
		turn, err := schema.TurnHead(t.DB, chat.TurnID(id))
		if e.absent = chat.CodeOf(err) == chat.CodeNotFound && in != ""; e.absent {
			turn.SessionID, err = string(in), nil
		}
		if err != nil {
			return nil, err
		}
		session, e.subject.Seq = turn.SessionID, turn.TurnSeq
	case chat.DeletionSession:
	default:
		return nil, sqlite.Invalid("%q cannot be deleted permanently; a session, a turn or a project can.", kind)
	}
	row, err := schema.SessionByID(t.DB, chat.SessionID(session))
	e.subject.Session, e.subject.Title = session, row.Title
	if err == nil {
		e.subject.Names, err = e.allNames(row)
	}
	if err == nil {
		e.subject.Copies, err = findCopies(e.DB, target{kind: kind, id: id})
	}
	if err == nil && kind == chat.DeletionTurn {
		_, e.subject.Everywhere, err = e.travels(chat.SessionID(session))
	} else if err == nil {
		_, e.subject.Everywhere, err = core.InVaultOf(e.DB, chat.SessionID(session))
	}
	return e, err
}

// allNames returns the current and former names of a session, from its ledger and from the program that it was imported
// from.
func (e *Operation) allNames(s schema.SessionRow) ([]string, error) {
	names := []string{s.Title}
	ids, err := sqlite.All[string](e.DB, `SELECT substr(key, ?) FROM import_keys WHERE session_id = ? AND substr(key, 1, ?) = ?`,
		len(imports.KeyConversation)+1, s.ID, len(imports.KeyConversation), imports.KeyConversation)
	if err != nil {
		return nil, err
	}
	names = append(names, ids...)
	events, err := sqlite.All[schema.EventRow](e.DB, `SELECT * FROM events WHERE session_id = ? AND type IN ('session_created', 'session_renamed') ORDER BY event_seq`, s.ID)
	for _, r := range events {
		payload, err := e.decoded.Payload(e.DB, r)
		if err == nil && payload != nil && ledger.Type(r.Type) == ledger.EventSessionCreated {
			_, err = ledger.Rewrite(payload, func(p *ledger.SessionCreated) { names = append(names, p.Title) })
		} else if err == nil && payload != nil {
			_, err = ledger.Rewrite(payload, func(p *ledger.TextChanged) { names = append(names, p.Text) })
		}
		if err != nil { // verify reports it; the rest is deleted anyway
			e.store.Log.Warn("an earlier title cannot be read", "event", r.EventSeq, "err", err)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

// refuse returns why the deletion is not possible now: a running answer would write the text again.
func (e *Operation) refuse() error {
	return refusal(e.DB, e.store.RunningTurns(), e.subject.Kind, e.subject.Session)
}

func refusal(db *gorm.DB, running []chat.TurnID, kind, session string) error {
	if len(running) == 0 {
		return nil
	}
	rows, err := sqlite.All[struct {
		SessionID string
		Phase     string
		Quotes    bool
	}](db, `SELECT t.session_id, t.phase, EXISTS (SELECT 1 FROM retrieved r JOIN chunks c ON c.n = r.chunk_n
		  WHERE r.turn_n = t.n AND c.session_id = ?) OR EXISTS (SELECT 1 FROM tool_batches b JOIN tool_calls c ON c.batch_id = b.id
		  WHERE b.turn_id = t.id AND (c.source = ? AND c.state = 'started'
		  OR c.id IN (SELECT r.tool_call_id FROM tool_recalled r WHERE r.session_id = ?))) AS quotes
		FROM turns t WHERE t.id IN ? AND t.phase IN ('Accepted', 'ContextPrepared', 'Responding')`,
		session, chat.ToolSourceBuiltin, session, running)
	if err != nil {
		return err
	}
	for _, r := range rows {
		switch {
		case kind == chat.DeletionProject:
			return sqlite.Conflict("An answer is being written that may quote a file of the project; nothing was deleted.").WithHint("wait for it, or stop it, then delete")
		case r.SessionID == session:
			return sqlite.Conflict("An answer in this session is being written; nothing was deleted.").WithHint("wait for it, or stop it, then delete")
		case r.Quotes || chat.Phase(r.Phase) == chat.PhaseAccepted:
			return sqlite.Conflict("An answer of another session that may quote it is being written; nothing was deleted.").
				WithHint("wait for it, or stop it, then delete")
		}
	}
	return nil
}

// CarryOut does the part of the deletion that changes rows.
func (e *Operation) CarryOut() error {
	e.decoded = core.RecentValues{} // a copy that was deleted before may have changed what was decoded
	if err := e.Run(`PRAGMA defer_foreign_keys = ON`); err != nil {
		return err
	}
	var err error
	switch e.subject.Kind {
	case chat.DeletionSession:
		err = e.session()
	case chat.DeletionProject:
		err = e.project()
	default:
		err = e.turn()
	}
	if err != nil {
		return err
	}
	if err := e.tasks(); err != nil {
		return err
	}
	if err := e.certifyPayloads(); err != nil {
		return err
	}
	// Entries of deleted rows stay in the text index until its segments are merged.
	return e.Run(`INSERT INTO units_fts (units_fts) VALUES ('optimize')`)
}

// tasks removes records of tasks that name the session: its title, conversations and files. A window that has the data
// open removes its own before.
func (e *Operation) tasks() error {
	rows, err := sqlite.All[struct{ Key, Value string }](e.DB, `SELECT key, value FROM settings WHERE substr(key, 1, 5) = 'task.' ORDER BY key`)
	for _, r := range rows {
		if err == nil && e.subject.NamedIn(r.Value) {
			err = e.remove("settings", `DELETE FROM settings WHERE key = ?`, r.Key)
		}
	}
	return err
}

// remove runs a statement and counts the records of a table that it removed or emptied.
func (e *Operation) remove(store, query string, args ...any) error {
	n, err := e.Exec(query, args...)
	e.counts[store] += n
	return err
}

// deletedCounts returns the count for each table that deletions affected, by name.
func deletedCounts(all []*Operation) []chat.DeletedCount {
	const streams, drags = "files:streams", "files:drags"
	counts := map[string]int64{}
	for _, e := range all {
		for store, n := range e.counts {
			counts[store] += n
		}
	}
	stores := append(slices.Sorted(maps.Keys(counts)), streams, drags)
	for _, e := range all {
		counts[streams] += int64(len(e.files))
		counts[drags] += e.dragged()
	}
	out := []chat.DeletedCount{}
	for _, store := range stores {
		if n := counts[store]; n > 0 {
			out = append(out, chat.DeletedCount{Store: store, Count: n})
		}
	}
	return out
}

// titles returns the titles of the other sessions that deletions affected.
func titles(all []*Operation) ([]string, error) {
	others := map[chat.SessionID]bool{}
	for _, e := range all {
		maps.Copy(others, e.others)
	}
	for _, e := range all {
		delete(others, chat.SessionID(e.subject.Session))
	}
	ids := slices.Collect(maps.Keys(others))
	if len(ids) == 0 {
		return []string{}, nil
	}
	return sqlite.All[string](all[0].DB, `SELECT title FROM sessions WHERE id IN ? ORDER BY title, id`, ids)
}

// journals lists the existing journals of steps for removal.
func (e *Operation) journals(where string, args ...any) error {
	paths, err := sqlite.All[string](e.DB, `SELECT stream_path FROM steps WHERE stream_path <> '' AND turn_id IN (`+where+`) ORDER BY id`, args...)
	for _, path := range paths {
		name, ok := strings.CutPrefix(path, sqlite.StreamDir+"/")
		if ok && sqlite.IsJournal(name) && sqlite.Exists(e.store.Dir, path) {
			e.files = append(e.files, path)
		}
	}
	return err
}

// drags returns the folders of files dragged out of the session, and out of sessions that quoted it.
func (e *Operation) drags() []string {
	var out []string
	if e.subject.Session != "" {
		out = append(out, sqlite.DragDir+"/"+e.subject.Session)
	}
	for id := range e.others {
		out = append(out, sqlite.DragDir+"/"+string(id))
	}
	slices.Sort(out)
	return slices.DeleteFunc(out, func(path string) bool { return !sqlite.Exists(e.store.Dir, path) })
}

// dragged counts the files in those folders.
func (e *Operation) dragged() int64 {
	var n int64
	for _, folder := range e.drags() {
		_ = filepath.WalkDir(filepath.Join(e.store.Dir, filepath.FromSlash(folder)), func(_ string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				n++
			}
			return nil // files that cannot be counted are removed anyway
		})
	}
	return n
}
