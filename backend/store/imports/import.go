// Package imports writes conversations of other programs into the store, in parts.
package imports

import (
	"context"
	"time"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/faults"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/records"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/transfer"
)

// Imports writes conversations of other programs into the store.
type Imports struct {
	*core.Core
	records *records.Records
}

// New returns the imports of an open database.
func New(c *core.Core, r *records.Records) *Imports { return &Imports{c, r} }

// An imported conversation is written as if it had taken place here: turn by turn, event by event, with the times of
// its source (SPEC 12). It is written in parts. Each part is one transaction with turns, the state summaries that
// commit them, and the keys that identify them. So a part is written completely or not at all, none of its turns is
// ever pending (no model is needed), and an interrupted import continues with the missing turns. The last part writes
// the key of the whole content, which marks the conversation as complete.
//
// The same method serves a conversation that has grown. A turn is added after its parent if that is the last turn of
// its branch, otherwise on a new branch beside what was written here since.

// Keys of import_keys; the source has its own column.
const (
	KeyConversation = "conversation:" // + the foreign id. entity: the session
	keyContent      = "content:"      // + Conversation.Key. entity: the branch that was current
	keyTurn         = "turn:"         // + Turn.ContentKey. entity: the turn
)

// Parts are limited in size, so that others can write between two of them. A turn is never split.
const (
	ImportTurns = 40
	importBytes = 1 << 20
)

// importTries is how often an import is restarted because somebody continued the session meanwhile.
const importTries = 8

// Imported reports whether a conversation was imported completely and has not changed in its source since.
func (s *Imports) Imported(ctx context.Context, source transfer.Source, key string) (bool, error) {
	var found []string
	err := s.Read(ctx, opImport, func(db *gorm.DB) (err error) {
		found, err = importKey(db, source, keyContent+key)
		return err
	})
	return len(found) > 0, err
}

const opImport = "import.read"

func importKey(db *gorm.DB, source transfer.Source, key string) ([]string, error) {
	return sqlite.All[string](db, `SELECT session_id FROM import_keys WHERE source = ? AND key = ?`, source, key)
}

// ImportConversation writes the missing parts of a conversation (SPEC 12): all of it as a new session, or the turns
// added since. Changes made here since (title, folder, model, pins) stay.
func (s *Imports) ImportConversation(ctx context.Context, c transfer.Conversation, rules chat.ImportRules) (chat.Imported, error) {
	var sum chat.Imported
	for try := 1; ; try++ {
		m := Importer{Store: s, Ctx: ctx, Conversation: &c, Rules: rules, Now: s.Clock.Now()}
		err := m.run()
		sum.Turns, sum.Branches, sum.Session = sum.Turns+m.Turns, sum.Branches+m.Branches, m.Session
		if err == nil {
			sum.Outcome = m.outcome(sum)
			if m.future {
				sum.Notice = noticeFuture
			}
			return sum, nil
		}
		if sqlite.Constrained(err) { // its key exists: somebody imports the same conversation
			err = sqlite.Conflict("The conversation was imported by another program in the meantime.").WithHint("import the file again")
		}
		if code := chat.CodeOf(err); try == importTries || code != chat.CodeConflict && code != chat.CodeBusy && code != chat.CodeIncomplete {
			return sum, sqlite.MapError(opImport, err)
		}
	}
}

const noticeFuture = "Some messages of a conversation are dated in the future; they were imported with the time of the import."

// Importer writes one conversation. It knows the position of each turn that exists.
type Importer struct {
	Store        *Imports
	Ctx          context.Context
	Conversation *transfer.Conversation
	Rules        chat.ImportRules
	Now          time.Time // no time of a source may be later

	future bool // a time of the source was later than Now

	Session    chat.SessionID
	finished   bool      // it was complete before
	already    bool      // and is unchanged
	latest     time.Time // the session's updated_at to set
	lastBranch chat.BranchID
	main       *branchTip
	tips       map[chat.BranchID]*branchTip
	positions  map[string]*turnPosition       // by Turn.Key
	order      []int                          // turns in the order in which they are written
	children   map[string][]int               // turns by the Key of their parent
	labels     map[string]bool                // of branches
	labelUses  map[string]int64               // how often a label was used, before it was made unique
	questions  map[string]map[[32]byte]string // those asked after a turn that has several: hash -> key of the first turn that asks it
	Turns      int                            // written
	Branches   int                            // without the first
}

// branchTip is the end of a branch, as found and as the import extends it.
type branchTip struct {
	id      chat.BranchID // empty until the branch is created
	lastSeq int64         // turn_seq of its last turn, or of its fork
	epoch   int64
	head    chat.StateID
	summary *string // of its head, nil: not read yet
	closed  bool    // archived, of another device, or with an open turn: nothing is added
}

// turnPosition is the position of a turn.
type turnPosition struct {
	tip     *branchTip
	id      chat.TurnID
	seq     int64
	at      time.Time
	summary *string // of a state summary that ends with it; nil: there may be none
}

func (m *Importer) run() error {
	if err := m.Load(); err != nil || m.already {
		return err
	}
	if err := m.Sort(); err != nil {
		return err
	}
	for {
		part, err := m.Plan()
		if err != nil {
			return err
		}
		if err := m.Write(part); err != nil {
			return err
		}
		m.forget(part)
		if part.Last {
			return nil
		}
		if err := faults.Point("import.part"); err != nil {
			return err
		}
		if err := m.Ctx.Err(); err != nil {
			return err
		}
	}
}

// forget drops the summaries of a finished part, except of the branch that is continued: they can be read again.
func (m *Importer) forget(part ImportPart) {
	for i, run := range part.runs {
		m.positions[run.turns[len(run.turns)-1].Key].summary = nil
		if i < len(part.runs)-1 && run.tip != part.runs[len(part.runs)-1].tip {
			run.tip.summary = nil
		}
	}
}

func (m *Importer) outcome(sum chat.Imported) chat.ImportOutcome {
	switch {
	case !m.finished:
		return chat.ImportCreated
	case sum.Turns > 0:
		return chat.ImportGrown
	}
	return chat.ImportAlready
}

// Sort puts the path to the conversation's last position first: it becomes the first branch.
func (m *Importer) Sort() error {
	m.children, m.questions = map[string][]int{}, map[string]map[[32]byte]string{}
	index := make(map[string]int, len(m.Conversation.Turns))
	for i := range m.Conversation.Turns {
		index[m.Conversation.Turns[i].Key] = i
		m.children[m.Conversation.Turns[i].Parent] = append(m.children[m.Conversation.Turns[i].Parent], i)
	}
	var path []int
	first := map[int]bool{}
	for i, ok := index[m.Conversation.Current]; ok && !first[i]; i, ok = index[m.Conversation.Turns[i].Parent] {
		path, first[i] = append(path, i), true
	}
	for k := len(path) - 1; k >= 0; k-- {
		m.order = append(m.order, path[k])
	}
	for i := range m.Conversation.Turns {
		if !first[i] {
			m.order = append(m.order, i)
		}
		if t := &m.Conversation.Turns[i]; m.positions[t.Key] != nil {
			m.addQuestion(t)
		}
	}
	return m.checkDepth()
}

// MaxForks limits how deep branches fork off each other: reading a branch walks to the root.
const MaxForks = 1_000

func (m *Importer) checkDepth() error {
	depth, continued := make(map[string]int, len(m.order)), map[string]bool{}
	for _, i := range m.order {
		t := &m.Conversation.Turns[i]
		depth[t.Key] = depth[t.Parent]
		if continued[t.Parent] {
			depth[t.Key]++
		}
		if continued[t.Parent] = true; depth[t.Key] > MaxForks {
			return sqlite.Invalid("Its branches fork off each other more than %d deep.", MaxForks)
		}
	}
	return nil
}

// addQuestion records the question of a turn that has siblings.
func (m *Importer) addQuestion(t *transfer.Turn) {
	if len(m.children[t.Parent]) < 2 {
		return
	}
	if m.questions[t.Parent] == nil {
		m.questions[t.Parent] = map[[32]byte]string{}
	}
	if hash := questionHash(t); m.questions[t.Parent][hash] == "" {
		m.questions[t.Parent][hash] = t.Key
	}
}

// retryOf returns the turn whose question this turn answers again, as for turns created here; empty: none.
func (m *Importer) retryOf(t *transfer.Turn) chat.TurnID {
	if len(m.children[t.Parent]) < 2 {
		return ""
	}
	hash := questionHash(t)
	first := m.questions[t.Parent][hash]
	if first == "" || first == t.Key || hash == questionHash(&transfer.Turn{User: chat.NoMessage()}) {
		return ""
	}
	return m.positions[first].id
}

// Load reads the imported part of the conversation.
func (m *Importer) Load() error {
	m.tips, m.positions = map[chat.BranchID]*branchTip{}, map[string]*turnPosition{}
	m.labels, m.labelUses = map[string]bool{}, map[string]int64{}
	m.latest = m.moment(m.Conversation.UpdatedAt)
	return m.Store.Read(m.Ctx, opImport, func(db *gorm.DB) error {
		sessions, err := importKey(db, m.Conversation.Source, keyContent+m.Conversation.Key)
		if err != nil {
			return err
		}
		if len(sessions) > 0 {
			m.Session, m.finished, m.already = chat.SessionID(sessions[0]), true, true
			return nil
		}
		if sessions, err = importKey(db, m.Conversation.Source, KeyConversation+m.Conversation.ID); err != nil || len(sessions) == 0 {
			return err
		}
		m.Session = chat.SessionID(sessions[0])
		return m.loadSession(db)
	})
}

func (m *Importer) loadSession(db *gorm.DB) error {
	row, err := schema.SessionByID(db, m.Session)
	if err != nil {
		return err
	}
	m.latest = schema.Latest(m.latest, schema.ParseTime(row.UpdatedAt))
	branches, err := sqlite.All[struct {
		ID        chat.BranchID
		Label     string
		Root      bool
		Epoch     int64
		HeadState chat.StateID
		Tip       int64
		Closed    bool
		Lane      string
	}](db, `SELECT b.id, b.lane, b.label, b.parent_branch IS NULL AS root, b.epoch, b.head_state,
		  coalesce((SELECT max(t.turn_seq) FROM turns t WHERE t.branch_id = b.id), b.fork_seq) AS tip,
		  b.archived_at IS NOT NULL OR EXISTS (SELECT 1 FROM turns t WHERE t.branch_id = b.id
		    AND t.phase IN ('Accepted', 'ContextPrepared', 'Responding', 'ResponseFinalized')) AS closed
		FROM branches b WHERE b.session_id = ?`, m.Session)
	if err != nil {
		return err
	}
	for _, b := range branches {
		m.tips[b.ID] = &branchTip{id: b.ID, lastSeq: b.Tip, epoch: b.Epoch, head: b.HeadState, closed: b.Closed || !m.Store.Device().Wrote(b.Lane, row.BegunBy)}
		m.labels[b.Label] = true
		if b.Root {
			m.main = m.tips[b.ID]
		}
	}
	return m.loadTurns(db)
}

// loadTurns finds the turns already imported, and whether the conversation was ever complete.
func (m *Importer) loadTurns(db *gorm.DB) error {
	rows, err := sqlite.All[struct {
		Key       string
		ID        chat.TurnID
		BranchID  chat.BranchID
		TurnSeq   int64
		CreatedAt string
	}](db, `SELECT k.key, t.id, t.branch_id, t.turn_seq, t.created_at FROM import_keys k JOIN turns t ON t.id = k.entity_id
		WHERE k.session_id = ? AND k.source = ?`, m.Session, m.Conversation.Source)
	if err != nil {
		return err
	}
	byKey := make(map[string]*turnPosition, len(rows))
	for _, r := range rows {
		byKey[r.Key] = &turnPosition{tip: m.tips[r.BranchID], id: r.ID, seq: r.TurnSeq, at: schema.ParseTime(r.CreatedAt)}
	}
	for i := range m.Conversation.Turns {
		if p := byKey[keyTurn+m.Conversation.Turns[i].ContentKey]; p != nil && p.tip != nil {
			m.positions[m.Conversation.Turns[i].Key] = p
		}
	}
	last, err := sqlite.All[chat.BranchID](db, `SELECT entity_id FROM import_keys WHERE session_id = ? AND source = ? AND key > ? AND key < ?
		ORDER BY rowid DESC LIMIT 1`, m.Session, m.Conversation.Source, keyContent, keyContent+"~")
	if len(last) > 0 {
		m.finished, m.lastBranch = true, last[0]
	}
	return err
}

// moment returns a source's time as stored: none in the future, and none from before such conversations existed. Zero
// stays zero.
func (m *Importer) moment(at time.Time) time.Time {
	switch {
	case at.Year() < 1970:
		return time.Time{}
	case at.After(m.Now):
		m.future = true
		return m.Now
	}
	return at
}
