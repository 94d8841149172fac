package imports

import (
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/queue"
	"contextinfinity/backend/store/records"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/transfer"
)

// importTx writes one part of a conversation.
type importTx struct {
	*core.Tx
	m               *Importer
	turns, branches int // written
}

// Write writes a part completely or not at all.
func (m *Importer) Write(part ImportPart) error {
	s, before := m.Store, m.Session
	var w importTx
	err := s.Write(m.Ctx, "import.write", func(t *core.Tx) error {
		t.Commits = true
		w = importTx{Tx: t, m: m}
		return w.part(part)
	})
	if err != nil {
		m.Session = before
		return err
	}
	m.Turns, m.Branches = m.Turns+w.turns, m.Branches+w.branches
	return nil
}

func (w *importTx) part(part ImportPart) error {
	if w.m.Session == "" {
		if err := w.begin(); err != nil {
			return err
		}
	}
	for _, run := range part.runs {
		if err := w.run(run); err != nil {
			return err
		}
	}
	if part.Last {
		return w.finish()
	}
	return w.recordImport()
}

// begin creates the session.
func (w *importTx) begin() error {
	c := w.m.Conversation
	w.Now = w.m.Now
	if at := w.m.moment(c.CreatedAt); !at.IsZero() {
		w.Now = at
	}
	session, branch, err := records.CreateSession(w.Tx, chat.NewSession{Title: c.Title, Source: string(c.Source)})
	if err != nil {
		return err
	}
	id := chat.SessionID(session.ID)
	if model := schema.Clean(w.m.Rules.Model); model != "" {
		if err := records.SetSession(w.Tx, id, ledger.EventSessionModel, ledger.TextChanged{Text: model}); err != nil {
			return err
		}
	}
	if folder := chat.BoundTitle(schema.Clean(c.Folder)); folder != "" {
		if err := records.SetSession(w.Tx, id, ledger.EventSessionFolder, ledger.TextChanged{Text: folder}); err != nil {
			return err
		}
	}
	w.m.Session = id
	w.m.latest = schema.Latest(w.m.latest, w.Now)
	if w.m.main == nil { // no turn has been placed on the first branch
		w.m.main = &branchTip{}
	}
	w.m.main.id, w.m.main.head = chat.BranchID(branch.ID), chat.StateID(branch.HeadState)
	return w.key(KeyConversation+c.ID, session.ID)
}

// key records what an import created.
func (w *importTx) key(key, entity string) error {
	return w.Run(`INSERT INTO import_keys (source, key, session_id, entity_id, imported_at) VALUES (?, ?, ?, ?, ?)`,
		w.m.Conversation.Source, key, w.m.Session, entity, chat.FormatTime(w.m.Now))
}

// run writes turns of one branch and commits them.
func (w *importTx) run(r *importRun) error {
	at := w.m.moment(w.m.Conversation.CreatedAt)
	if r.from != nil {
		at = r.from.at
	}
	first := r.turns[0]
	if started := w.m.moment(first.CreatedAt); !started.IsZero() {
		at = started
	}
	if at.IsZero() {
		at = w.m.Now
	}
	w.Now = at
	if r.forks {
		if err := w.fork(r); err != nil {
			return err
		}
	} else if err := w.checkTip(r); err != nil {
		return err
	}
	var answered []chat.TurnID
	for _, t := range r.turns {
		id, err := w.turn(r, t)
		if err != nil {
			return err
		}
		if Ended(t) {
			answered = append(answered, id)
		}
	}
	if len(answered) == 0 {
		return nil
	}
	return w.commitRun(r, answered)
}

// fork creates the run's branch.
func (w *importTx) fork(r *importRun) error {
	p := chat.ForkPoint{SessionID: w.m.Session, Branch: w.m.main.id, Label: r.label, Fallback: r.gap}
	if r.from != nil {
		p.Branch, p.After = r.from.tip.id, r.from.id
	}
	b, err := records.Fork(w.Tx, p)
	if err != nil {
		return err
	}
	r.tip.id, r.tip.epoch, r.tip.head = chat.BranchID(b.ID), b.Epoch, chat.StateID(b.HeadState)
	w.m.tips[r.tip.id] = r.tip
	w.branches++
	return nil
}

// checkTip refuses a branch that was continued since it was read.
func (w *importTx) checkTip(r *importRun) error {
	b, err := schema.BranchByID(w.DB, r.tip.id)
	if err != nil {
		return err
	}
	tip, err := sqlite.One[int64](w.DB, "branch", b.ID, `SELECT coalesce(max(turn_seq), ?) FROM turns WHERE branch_id = ?`, b.ForkSeq, b.ID)
	if err != nil {
		return err
	}
	if tip != w.m.positions[r.turns[0].Key].seq-1 || b.Epoch != r.tip.epoch || b.ArchivedAt != nil {
		return sqlite.Conflict("The branch has changed in the meantime.").WithHint("import the file again")
	}
	return nil
}

// commitRun creates the state of the run's turns, and queues them for the index behind other work that is due.
func (w *importTx) commitRun(r *importRun, turns []chat.TurnID) error {
	st, err := records.Commit(w.Tx, chat.Commit{
		BranchID: r.tip.id, Epoch: r.tip.epoch, Turns: turns, Summary: r.state.Summary, PinnedFacts: r.state.PinnedFacts,
		TokenCount: r.state.TokenCount, Origin: chat.StateFallback, Validation: r.state.Validation,
	})
	if err != nil {
		return err
	}
	r.tip.epoch++
	r.tip.head = chat.StateID(st.ID)
	keys := lists.Map(turns, func(id chat.TurnID) string { return queue.JobKey(chat.JobIndexTurn, string(id)) })
	list, err := chat.MarshalJSON(keys)
	if err != nil {
		return err
	}
	now := chat.FormatTime(w.m.Now)
	return w.Run(`UPDATE jobs SET priority = ?, run_after = ?, created_at = ?, updated_at = ? WHERE job_key IN (SELECT value FROM json_each(?))`,
		queue.PriorityImported, now, now, now, string(list))
}

// finish marks the conversation as complete. Changes made here since the last import stay.
func (w *importTx) finish() error {
	c := w.m.Conversation
	branch, err := w.activateCurrent()
	if err != nil {
		return err
	}
	w.Now = w.m.Now
	if !w.m.finished {
		if c.Pinned {
			if err := records.SetSession(w.Tx, w.m.Session, ledger.EventSessionPinned, ledger.FlagChanged{On: true}); err != nil {
				return err
			}
		}
		if c.Archived {
			if err := records.SetSession(w.Tx, w.m.Session, ledger.EventSessionArchived, ledger.FlagChanged{On: true}); err != nil {
				return err
			}
		}
	}
	if err := w.key(keyContent+c.Key, string(branch)); err != nil {
		return err
	}
	return w.recordImport()
}

// activateCurrent activates the branch that is current in the source, unless the user chose or continued another here,
// and returns the active branch.
func (w *importTx) activateCurrent() (chat.BranchID, error) {
	row, err := schema.SessionByID(w.DB, w.m.Session)
	if err != nil {
		return "", err
	}
	active := chat.BranchID(row.ActiveBranch)
	target := active
	if p := w.m.positions[w.m.Conversation.Current]; p != nil {
		target = p.tip.id
	}
	if target == active || w.m.finished && active != w.m.lastBranch {
		return active, nil
	}
	added, err := sqlite.All[string](w.DB, `SELECT id FROM turns WHERE branch_id = ? AND id NOT IN
		(SELECT entity_id FROM import_keys WHERE session_id = ?) LIMIT 1`, active, w.m.Session)
	if err != nil || len(added) > 0 {
		return active, err
	}
	return target, records.Activate(w.Tx, w.m.Session, target)
}

// recordImport gives the session the position of its newest turn in the list, because turns are written by branch, not
// by time. It also records the import in the ledger.
func (w *importTx) recordImport() error {
	w.Now = w.m.Now
	c := w.m.Conversation
	return events.Record(w.Tx, w.m.Session, ledger.EventSessionImported, string(w.m.Session), ledger.SessionImported{
		Source: string(c.Source), ID: schema.Clean(c.ID), Parent: schema.Clean(c.Parent), Key: c.Key,
		UpdatedAt: chat.FormatTime(w.m.latest),
	})
}

// turnTimes returns when a turn began and ended, as far as its source says.
func (w *importTx) turnTimes(t *transfer.Turn) (started, ended time.Time) {
	started = w.m.moment(t.CreatedAt)
	if started.IsZero() {
		started = w.Now
	}
	if ended = w.m.moment(t.AnsweredAt); ended.Before(started) {
		ended = started
	}
	return started, ended
}
