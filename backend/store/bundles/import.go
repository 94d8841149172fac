// Package bundles exports sessions as bundles, imports bundles, and duplicates sessions.
package bundles

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"sync"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/queue"
	"contextinfinity/backend/store/records"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/store/verify"
	"contextinfinity/backend/transfer"
	"contextinfinity/backend/transfer/bundle"
)

// Bundles exports sessions as bundles, imports them, and duplicates sessions.
type Bundles struct {
	*core.Core
	records *records.Records
	staging sync.Mutex // held while a database is attached to the writer's connection
}

// New returns the bundles of an open database.
func New(c *core.Core, r *records.Records) *Bundles { return &Bundles{Core: c, records: r} }

// ImportBundle imports the session of a bundle (SPEC 12), completely or not at all.
//
// The bundle is read twice without blocking the writer: first its chain is checked and its events are replayed by the
// reducer, then its tables are built in a separate database and compared with the reducer's result. One short
// transaction copies them over. Bad input is an error that names the event and changes nothing.
//
// A session that does not exist here keeps its ids. If it exists and one ledger is a prefix of the other, only the
// new events are added, in one transaction, and the requests that an earlier bundle had left out. If both went on, on
// different devices, they are merged. If one device's part has diverged, the bundle's is imported as a copy with new
// ids. Notices list what was omitted, and what was completed.
func (s *Bundles) ImportBundle(ctx context.Context, r io.ReaderAt, size int64, name string) (chat.Imported, []transfer.Notice, error) {
	fail := func(err error) (chat.Imported, []transfer.Notice, error) {
		return chat.Imported{}, nil, withName(name, err)
	}
	if s.DB.Writer == nil {
		return fail(chat.Errorf(chat.CodeLocked, opBundle, "The data is open read-only."))
	}
	b, err := bundle.Open(r, size)
	if err != nil {
		return fail(err)
	}
	in, err := validate(ctx, b, b.Meta.SessionID, nil)
	if err != nil {
		return fail(err)
	}
	in.bundle, in.mayCopy = b, true
	out, err := in.importTo(s)
	for tries := 1; errors.Is(err, errChanged) && tries < bundleTries; tries++ {
		out, err = in.importTo(s)
	}
	if err != nil {
		return fail(err)
	}
	return out, in.notices(s, out), nil
}

const opBundle = "bundle.import"

// bundleTries is how often an import is retried because the session was written to meanwhile.
const bundleTries = 8

// errChanged means that the session was written to between two reads.
var errChanged = chat.Errorf(chat.CodeConflict, opBundle, "The session changed during the import; nothing was imported.").
	WithHint("import it again")

// incoming is a ledger that is valid on its own.
type incoming struct {
	ctx     context.Context
	from    source
	bundle  *bundle.Reader // nil: it was received from a vault, or is here
	mayCopy bool           // a copy is made of what cannot be merged
	session string
	state   *ledger.State // after its last event
	before  int64         // events that are here and not read again
	// entities are those of the events that were read, if not all were.
	entities map[string]bool
	hashes   [][sha256.Size]byte
	gone     map[string]bool // documents that were deleted permanently
	// replaced are payloads that a vault has in place of others, and that are certified by its seal.
	replaced []ledger.DeletedEvent
	deleted  int64 // the last event about a permanent deletion; 0: none
	torn     bool
	current  bool // the session in this database ends with the bundle's last event

	lanes     map[string][][sha256.Size]byte // the hashes of each lane
	deletions []deletion
	machines  map[string]string // the names of devices, by the branches that they began
	// Of a merge:
	merged           map[string]int // turns, by machine
	deletedElsewhere bool
	unmergeable      bool // it failed, so a copy is imported
}

// end is the position of its last event.
func (in *incoming) end() int64 { return in.before + int64(len(in.hashes)) }

// relation is how a bundle relates to the session that exists here.
type relation struct {
	outcome  chat.ImportOutcome
	from     int64          // the last common event, if one ledger continues the other
	existing chat.SessionID // exists here already
	less     bool           // the bundle lacks events that exist here
}

// relation compares the ends of the two ledgers: a hash covers everything before it.
func (in *incoming) relation(db *gorm.DB) (relation, error) {
	here, err := lanesHere(db, in.session)
	if err != nil {
		return relation{}, err
	}
	if len(here) == 0 {
		_, gone, err := core.GoneOf(db, chat.SessionID(in.session), "")
		if err == nil && gone { // its id stays deleted, on every device
			return in.asCopy(db)
		}
		return relation{outcome: chat.ImportCreated}, err
	}
	one, merges, more, less, err := in.mergeable(db, here)
	if err != nil {
		return relation{}, err
	}
	switch at := int64(here[""]); {
	case merges && !more:
		return relation{outcome: chat.ImportAlready, existing: chat.SessionID(in.session)}, nil
	case merges && !one:
		return relation{outcome: chat.ImportMerged, less: less}, nil
	case merges && (in.bundle == nil || in.deleted <= at): // a bundle's later deletions still exist here: removing them is the user's decision
		return relation{outcome: chat.ImportGrown, from: at}, nil
	}
	return in.asCopy(db)
}

// asCopy is the relation of a bundle that cannot be added to its session: a copy of it is made once.
func (in *incoming) asCopy(db *gorm.DB) (relation, error) {
	if !in.mayCopy {
		return relation{}, errDiverged
	}
	existing, err := sqlite.All[chat.SessionID](db, `SELECT session_id FROM import_keys WHERE source = ? AND key = ?`, events.SourceBundle, in.key())
	if err != nil || len(existing) > 0 {
		return relation{outcome: chat.ImportAlready, existing: append(existing, "")[0]}, err
	}
	return relation{outcome: chat.ImportCopied}, nil
}

// key identifies a copy of the bundle.
func (in *incoming) key() string {
	return fmt.Sprintf("%s/%d/%x", in.session, len(in.hashes), in.hashes[len(in.hashes)-1])
}

// importTo writes the session; errChanged if another writer was faster.
func (in *incoming) importTo(s *Bundles) (out chat.Imported, err error) {
	var rel relation
	if err := s.Read(in.ctx, opBundle, func(db *gorm.DB) (err error) {
		if in.unmergeable {
			rel, err = in.asCopy(db)
		} else {
			rel, err = in.relation(db)
		}
		return err
	}); err != nil {
		return out, err
	}
	checkUnchanged := func(t *core.Tx) error {
		if in.unmergeable {
			return nil
		}
		current, err := in.relation(t.DB)
		if err == nil && current != rel {
			err = errChanged
		}
		if err == nil && in.bundle != nil && rel.outcome != chat.ImportCopied {
			err = putByHand(t, in.session)
		}
		return err
	}
	switch rel.outcome {
	case chat.ImportAlready:
		if out, err = in.completeOnly(s, rel.existing, checkUnchanged); err != nil {
			return out, err
		}
		if rel.existing == chat.SessionID(in.session) && in.bundle != nil {
			err = s.Write(in.ctx, opBundle, checkUnchanged)
		} else if rel.existing != chat.SessionID(in.session) {
			out.Notice = "The bundle was imported before, as a copy of the session that it has diverged from."
		}
	case chat.ImportGrown:
		out = chat.Imported{Session: chat.SessionID(in.session)}
		err = in.write(s, checkUnchanged, func(t *core.Tx) error {
			if err := in.replay(t, rel.from, nil, &out); err != nil {
				return err
			}
			return in.finish(t, &out)
		})
	case chat.ImportMerged:
		out = chat.Imported{Session: chat.SessionID(in.session)}
		err = in.write(s, checkUnchanged, func(t *core.Tx) error {
			if err := in.merge(t, &out); err != nil {
				return err
			}
			return in.finish(t, &out)
		})
		if sqlite.Constrained(err) || chat.CodeOf(err) == chat.CodeCorrupt { // two devices wrote the same record after all
			in.unmergeable = true
			return in.importTo(s)
		}
		out.Notice = in.mergedFrom()
	default:
		out, err = in.importAsCopy(s, rel, checkUnchanged)
	}
	if sqlite.Constrained(err) {
		err = invalidBundle("one of its records is invalid, or has the id of a record of another session here")
	}
	in.current = rel.outcome == chat.ImportCreated || rel.outcome == chat.ImportGrown || rel.outcome == chat.ImportMerged && !rel.less
	if out.Outcome = rel.outcome; out.Requests > 0 && rel.outcome == chat.ImportAlready {
		out.Outcome = chat.ImportGrown
	}
	return out, err
}

// finish completes an existing session that got events.
func (in *incoming) finish(t *core.Tx, out *chat.Imported) (err error) {
	if in.bundle != nil { // a vault has no requests
		if out.Requests, err = in.complete(t, out.Session); err != nil {
			return err
		}
	}
	if err := events.LinkRetrievedElsewhere(t); err != nil {
		return err
	}
	return enqueueJobs(t, in.session)
}

// importAsCopy imports a session that does not exist here, or a copy of one that has diverged.
func (in *incoming) importAsCopy(s *Bundles, rel relation, checkUnchanged func(*core.Tx) error) (chat.Imported, error) {
	var c *events.Copying
	if rel.outcome == chat.ImportCopied {
		c = events.NewCopying(s.Clock.Now(), in.session)
	}
	st, err := in.stage(s, c)
	if err != nil {
		return chat.Imported{}, err
	}
	err = s.takeOver(in.ctx, st, checkUnchanged, func(t *core.Tx) error {
		if err := errors.Join(in.putReplaced(t), events.LinkRetrievedElsewhere(t), enqueueJobs(t, string(st.out.Session))); err != nil || c == nil {
			return err
		}
		return t.Run(`INSERT INTO import_keys (source, key, session_id, entity_id, imported_at) VALUES (?, ?, ?, ?, ?)`,
			events.SourceBundle, in.key(), c.Session, c.Session, t.Stamp())
	})
	if err == nil {
		st.out.Notice, err = in.importNotice(s, c != nil)
	}
	return st.out, errors.Join(err, st.remove())
}

// importNotice says why a session was imported the way it was, if that matters: as a copy, or after it was deleted
// here.
func (in *incoming) importNotice(s *Bundles, copied bool) (string, error) {
	var deleted []string
	gone := false
	err := s.Read(in.ctx, opBundle, func(db *gorm.DB) (err error) {
		if _, gone, err = core.GoneOf(db, chat.SessionID(in.session), ""); err != nil || gone {
			return err
		}
		if copied {
			deleted, err = sqlite.All[string](db, `SELECT entity_id FROM events WHERE session_id = ? AND type = ? LIMIT 1`, in.session, ledger.EventContentDeleted)
		} else {
			deleted, err = sqlite.All[string](db, `SELECT id FROM receipts WHERE subject = ? LIMIT 1`, chat.DeletionSession+" "+in.session)
		}
		return err
	})
	switch {
	case gone:
		return "The session had been permanently deleted on all computers; the bundle brought it back as a new one.", err
	case copied && len(deleted) > 0 && in.deleted == 0:
		return "This session exists here and has changed since, so the bundle's version was imported as a copy. " +
			"Some content was permanently deleted here; the copy, which is older, may contain it.", err
	case copied:
		return "This session exists here and has changed since, so the bundle's version was imported as a copy.", err
	case len(deleted) > 0:
		return "The session had been permanently deleted here; the bundle restored it.", err
	}
	return "", err
}

// replay creates the records of the events after one; c, if not nil, assigns new ids.
func (in *incoming) replay(t *core.Tx, after int64, c *events.Copying, out *chat.Imported) error {
	if err := in.putReplaced(t); err != nil {
		return err
	}
	now := t.Now
	p := &events.Applier{Tx: t, Session: string(out.Session)}
	_, err := in.from.Read(func(e ledger.Event, contents []bundle.Content) error {
		err := in.ctx.Err()
		if err != nil || e.Seq <= after || e.Seq > in.end() {
			return err
		}
		seq, original := e.Seq, e.Entity
		if c != nil {
			copied, err := c.Event(e, contents)
			if err != nil || copied == nil {
				return err
			}
			e = *copied
		}
		if err := in.play(p, e, original, contents, out); err != nil {
			return playFault(seq, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := p.FlushStep(ledger.Event{}); err != nil {
		return playFault(in.end(), err)
	}
	t.Now = now
	if after == 0 {
		out.Branches = max(out.Branches-1, 0)
	}
	return in.checkRecords(t, p.Session)
}

// putReplaced notes the payloads that are certified by the seal of a vault.
func (in *incoming) putReplaced(t *core.Tx) error {
	if len(in.replaced) == 0 {
		return nil
	}
	return core.PutReplaced(t, chat.SessionID(in.session), in.replaced)
}

// play applies an event, and counts it. original is the bundle's id of its entity.
func (in *incoming) play(p *events.Applier, e ledger.Event, original string, contents []bundle.Content, out *chat.Imported) error {
	switch e.Type {
	case ledger.EventTurnAccepted:
		out.Turns++
	case ledger.EventBranchCreated:
		out.Branches++
	}
	if e.Type == ledger.EventFileAdded && in.gone[original] {
		return p.Keep(e)
	}
	return p.Play(e, contents)
}

// playFault returns an error that names the event whose records cannot be created.
func playFault(seq int64, err error) error {
	switch chat.CodeOf(err) {
	case chat.CodeInvalid, chat.CodeNotFound, chat.CodeConflict:
	default:
		if !sqlite.Constrained(err) {
			return err
		}
		return invalidBundle("event %d would create an invalid record, or one that already belongs to another session", seq)
	}
	return invalidBundle("event %d cannot be replayed: %v", seq, err)
}

// checkRecords checks that the session's records match its ledger, as verify would.
func (in *incoming) checkRecords(t *core.Tx, session string) error {
	f, ok := chat.Finding{}, false
	if in.before == 0 {
		f, ok = firstFinding(t, session)
	} else {
		found, err := verify.ComparePart(t.DB, in.state, in.touched())
		if err != nil {
			return err
		}
		f, ok = append(found, f)[0], len(found) > 0
	}
	if ok && in.ctx.Err() == nil {
		return invalidBundle("its records do not agree: %s %s: %s", f.Table, f.ID, f.Message)
	}
	return in.ctx.Err()
}

// firstFinding compares a session's records with its ledger, as verify would.
func firstFinding(t *core.Tx, session string) (chat.Finding, bool) {
	a := verify.NewAudit()
	a.DB = t.DB
	a.Replay(session)
	for _, check := range []func(){a.TurnSequences, a.StateSequences, a.Heads, a.Roots, a.Strays} {
		check()
	}
	if len(a.Found) == 0 {
		return chat.Finding{}, false
	}
	return a.Found[0], true
}

// enqueueJobs enqueues the jobs that the turns of a session need.
func enqueueJobs(t *core.Tx, session string) error {
	due, err := sqlite.All[schema.TurnRow](t.DB, `SELECT t.id, t.session_id, t.branch_id, t.phase FROM turns t
		WHERE t.session_id = ? AND (t.phase = 'ResponseFinalized' OR t.phase = 'StateCommitted' AND t.index_status <> 'degraded')
		AND `+core.MayFinish+` ORDER BY t.branch_id, t.turn_seq`, append([]any{session}, t.Device.Finishing()...)...)
	if err != nil {
		return err
	}
	for _, turn := range due {
		kind := chat.JobSummarizeTurn
		if chat.Phase(turn.Phase) == chat.PhaseStateCommitted {
			kind = chat.JobIndexTurn
		}
		if err := queue.Enqueue(t, kind, turn); err != nil {
			return err
		}
	}
	return nil
}

// notices lists what the user should know beside the outcome.
func (in *incoming) notices(s *Bundles, out chat.Imported) []transfer.Notice {
	var list []transfer.Notice
	add := func(format string, args ...any) {
		list = append(list, transfer.Notice{Text: fmt.Sprintf(format, args...), Count: 1})
	}
	if in.torn {
		add("The last line of the bundle's events was cut off; all %d events before it are intact and were read.", len(in.hashes))
	}
	switch n := in.bundle.Meta.LeftOut; {
	case n == 0 || out.Outcome == chat.ImportAlready:
	case n == 1:
		add("One of its requests quoted other sessions or files of a project and was left out of the bundle.")
	default:
		add("%d of its requests quoted other sessions or files of a project and were left out of the bundle.", n)
	}
	if out.Requests > 0 {
		add("Requests that quoted other sessions or files of a project had been left out here; %d of them were added.", out.Requests)
	}
	switch n := in.bundle.Unexpected; {
	case n == 1:
		add("1 file in the bundle does not belong in one; it was ignored.")
	case n > 1:
		add("%d files in the bundle do not belong in one; they were ignored.", n)
	}
	if !in.torn && in.current && !in.snapshotMatches(s) {
		add("The bundle's snapshot is damaged or does not match its events; it was not used, and all events were replayed.")
	}
	return list
}

// snapshotMatches reports whether the bundle's snapshot matches the session's events.
func (in *incoming) snapshotMatches(s *Bundles) bool {
	sum, err := in.bundle.SnapshotSum()
	if err != nil {
		return false
	}
	var want []byte
	err = s.Read(in.ctx, opBundle, func(db *gorm.DB) error {
		memory, err := records.MemoryOf(db, in.state)
		if err != nil {
			return err
		}
		content, err := ledger.Snapshot{Version: ledger.SnapshotVersion, State: in.state, Memory: memory}.Encode()
		want = codec.Hash(content)
		return err
	})
	return err == nil && bytes.Equal(sum, want)
}

// invalidBundle returns the error for a bundle with a valid chain that is not a valid session.
func invalidBundle(format string, args ...any) *chat.Error {
	return chat.Errorf(chat.CodeCorrupt, "", "The bundle was refused and nothing was changed: %s.", fmt.Sprintf(format, args...)).
		WithHint("export it again on the original computer, once verify finds no problems there")
}

// withName adds the file's name to an error.
func withName(name string, err error) error {
	named := *chat.AsError(sqlite.MapError(opBundle, err))
	named.Op = opBundle
	if name != "" {
		named.Message = name + ": " + named.Message
	}
	return &named
}
