package bundles

import (
	"cmp"
	"context"
	"slices"
	"time"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/records"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// A duplicate is a separate session: the turns on a branch's lineage are written again, event by event, with their
// original times. Nothing is shared with the original. What belongs only to provider calls (requests, raw streams,
// manifests, measurements) stays with the original, as do drafts and vectors; the turns are indexed again.

// original is the session that is copied.
type original struct {
	session   schema.SessionRow
	turns     []chat.Turn
	steps     map[chat.TurnID][]chat.Step
	states    []chat.State // oldest first, without the root
	covers    map[chat.StateID]int64
	pins      []records.Pinned
	summaries []chat.RangeSummary
}

// Duplicate creates a session from the lineage of a branch. A turn that is still open is left out.
func (s *Bundles) Duplicate(ctx context.Context, branch chat.BranchID, title string) (chat.Duplicate, error) {
	from, leftOut, err := s.readOriginal(ctx, branch)
	if err != nil {
		return chat.Duplicate{}, err
	}
	var created schema.SessionRow
	err = s.Write(ctx, "session.duplicate", func(t *core.Tx) error {
		c := copier{Tx: t, store: s, from: from, ids: map[chat.TurnID]chat.TurnID{}, files: map[chat.FileID]chat.FileID{}, pins: map[string]string{}}
		if err := c.run(title); err != nil {
			return err
		}
		var err error
		created, err = schema.SessionByID(t.DB, chat.SessionID(c.branch.SessionID))
		return err
	})
	return chat.Duplicate{Session: created.Session(), Turns: len(from.turns), LeftOut: leftOut}, err
}

// readOriginal reads the original before the writing transaction begins, which is safe: stored turns never change.
func (s *Bundles) readOriginal(ctx context.Context, branch chat.BranchID) (from original, leftOut int, err error) {
	all, err := s.records.Lineage(ctx, chat.LineageQuery{Branch: branch})
	if err != nil {
		return from, 0, err
	}
	ids := make([]chat.TurnID, 0, len(all))
	for _, t := range all {
		if !t.Phase.Finalized() && t.Phase != chat.PhaseFailed {
			leftOut++
			continue
		}
		if f := t.Failure; f != nil && f.Code == chat.CodeCorrupt {
			return from, 0, chat.Errorf(chat.CodeCorrupt, "session.duplicate", "Turn #%d cannot be read, so nothing was copied.", t.Seq).
				WithHint("run verify to see what is damaged; a branch from before it can be duplicated")
		}
		from.turns, ids = append(from.turns, t), append(ids, t.ID)
	}
	from.steps = map[chat.TurnID][]chat.Step{}
	for part := range slices.Chunk(ids, 500) {
		steps, err := s.records.StepsWithItems(ctx, part)
		if err != nil {
			return from, 0, err
		}
		for id, list := range steps {
			from.steps[id] = list
		}
	}
	states, err := s.records.States(ctx, branch)
	if err != nil {
		return from, 0, err
	}
	slices.Reverse(states)
	from.states = slices.DeleteFunc(states, func(st chat.State) bool { return st.Origin == chat.StateRoot })
	if from.summaries, err = s.records.UsableSummaries(ctx, branch); err != nil {
		return from, 0, err
	}
	err = s.Read(ctx, "session.duplicate", func(db *gorm.DB) (err error) { return from.readRest(db, branch) })
	return from, leftOut, err
}

func (o *original) readRest(db *gorm.DB, branch chat.BranchID) error {
	segs, err := core.Segments(db, branch)
	if err != nil {
		return err
	}
	if o.session, err = schema.SessionByID(db, chat.SessionID(segs[0].Session)); err != nil {
		return err
	}
	if o.pins, err = records.PinsOn(db, segs); err != nil {
		return err
	}
	covers, err := sqlite.All[struct {
		ID        chat.StateID
		CoversSeq int64
	}](db, `SELECT id, covers_seq FROM states WHERE session_id = ?`, o.session.ID)
	o.covers = make(map[chat.StateID]int64, len(covers))
	for _, c := range covers {
		o.covers[c.ID] = c.CoversSeq
	}
	return err
}

// copier writes the turns of the original again.
type copier struct {
	*core.Tx
	store   *Bundles
	from    original
	branch  schema.BranchRow            // as written so far
	ids     map[chat.TurnID]chat.TurnID // of the original's turns
	files   map[chat.FileID]chat.FileID
	pins    map[string]string // first version of a pin -> the copy's
	pending []chat.TurnID     // final turns of the copy that no state summary covers yet
	seqs    []int64           // and their turn_seq
}

func (c *copier) run(title string) error {
	now := c.Now
	o := c.from.session
	session, branch, err := records.CreateSession(c.Tx, chat.NewSession{Title: title, SystemPrompt: o.SystemPrompt, Source: chat.SourceDuplicate})
	if err != nil {
		return err
	}
	c.branch = branch
	if err := c.settings(chat.SessionID(session.ID)); err != nil {
		return err
	}
	if len(c.from.turns) > 0 {
		c.Now = c.from.turns[0].CreatedAt
	}
	if err := c.history(); err != nil {
		return err
	}
	c.Now = schema.Latest(c.Now, now)
	if err := c.ranges(); err != nil {
		return err
	}
	return c.pinOrder()
}

// settings copies the session's own settings.
func (c *copier) settings(id chat.SessionID) error {
	o := c.from.session
	if o.Model != "" {
		if err := records.SetSession(c.Tx, id, ledger.EventSessionModel, ledger.TextChanged{Text: o.Model}); err != nil {
			return err
		}
	}
	if o.Folder != "" {
		if err := records.SetSession(c.Tx, id, ledger.EventSessionFolder, ledger.TextChanged{Text: o.Folder}); err != nil {
			return err
		}
	}
	own := o.Session().Settings()
	if own == (chat.SessionSettings{SystemPrompt: o.SystemPrompt}) {
		return nil
	}
	return records.SetSettings(c.Tx, id, own)
}

// history writes the turns again, creates each state summary where it was created, at the earliest once its turns are
// final, and pins after each turn what was pinned then. Nothing moves the time past the next turn, so that each turn has
// the time of its original.
func (c *copier) history() error {
	states, pins := c.from.states, slices.SortedStableFunc(slices.Values(c.from.pins), func(a, b records.Pinned) int { return int(a.AfterTurnSeq - b.AfterTurnSeq) })
	for i := 0; ; i++ {
		last := i == len(c.from.turns) // the pins after a turn that is left out are still copied
		var err error
		for len(states) > 0 && (last || c.from.covers[states[0].ID] <= int64(i) && !states[0].CreatedAt.After(c.from.turns[i].CreatedAt)) && err == nil {
			err = c.state(states[0])
			states = states[1:]
		}
		for len(pins) > 0 && (last || pins[0].AfterTurnSeq <= int64(i)) && err == nil {
			at := schema.ParseTime(pins[0].CreatedAt)
			if !last && at.After(c.from.turns[i].CreatedAt) { // it was edited later
				at = c.from.turns[i].CreatedAt
			}
			err = c.pin(pins[0], at)
			pins = pins[1:]
		}
		if err != nil || last {
			return err
		}
		if err := c.turn(c.from.turns[i]); err != nil {
			return err
		}
	}
}

// setTime sets the transaction's time to a moment of the original.
func (c *copier) setTime(moment time.Time) { c.Now = schema.Latest(moment, c.Now) }

// state commits the final turns covered by the original state.
func (c *copier) state(st chat.State) error {
	n := 0
	for n < len(c.seqs) && c.seqs[n] <= c.from.covers[st.ID] {
		n++
	}
	if n == 0 && st.Origin != chat.StatePins {
		st.Origin = chat.StatePins // covers only turns that are covered already
	}
	c.setTime(st.CreatedAt)
	committed, err := records.Commit(c.Tx, chat.Commit{
		BranchID: chat.BranchID(c.branch.ID), Epoch: c.branch.Epoch, Turns: c.pending[:n], Summary: st.Summary, PinnedFacts: st.PinnedFacts,
		TokenCount: st.TokenCount, Origin: st.Origin, Model: st.Model, Validation: st.Validation,
	})
	c.branch.Epoch++
	c.branch.HeadState, c.branch.HeadSeq = committed.ID, committed.StateSeq
	c.pending, c.seqs = c.pending[n:], c.seqs[n:]
	return err
}

// pin pins a fact again, with its current text.
func (c *copier) pin(p records.Pinned, at time.Time) error {
	segs, err := core.Segments(c.DB, chat.BranchID(c.branch.ID))
	if err != nil {
		return err
	}
	c.setTime(at)
	row, err := records.InsertPin(c.Tx, segs, schema.PinRow{Text: p.Text, Tokens: p.Tokens}, ledger.EventPinAdded)
	c.pins[p.First] = row.ID
	return err
}

// pinOrder reproduces the original order of the pins if it differs.
func (c *copier) pinOrder() error {
	if len(c.from.pins) < 2 {
		return nil
	}
	segs, err := core.Segments(c.DB, chat.BranchID(c.branch.ID))
	if err != nil {
		return err
	}
	order := lists.Map(c.from.pins, func(p records.Pinned) records.Pinned {
		return records.Pinned{PinRow: schema.PinRow{ID: c.pins[p.First]}, First: c.pins[p.First]}
	})
	current, err := records.PinsOn(c.DB, segs)
	if err != nil || slices.EqualFunc(current, order, func(a, b records.Pinned) bool { return a.First == b.First }) {
		return err
	}
	return records.InsertPinOrder(c.Tx, segs, order)
}

// ranges copies the range summaries, superseded ones first.
func (c *copier) ranges() error {
	ids := map[string]string{}
	list := slices.SortedStableFunc(slices.Values(c.from.summaries), func(a, b chat.RangeSummary) int { return cmp.Compare(a.ID, b.ID) })
	for _, r := range list {
		n := chat.NewSummary{
			BranchID: chat.BranchID(c.branch.ID), From: r.From, To: r.To, Content: r.Content, TokenCount: r.TokenCount,
			OriginalTokens: r.OriginalTokens, GeneratedBy: r.GeneratedBy, Validation: r.Validation,
		}
		for _, old := range list {
			if old.SupersededBy == r.ID && ids[old.ID] != "" {
				n.Supersedes = append(n.Supersedes, ids[old.ID])
			}
		}
		row, err := records.AddSummary(c.Tx, n)
		if chat.CodeOf(err) == chat.CodeConflict { // several branches of the lineage may have had one
			continue
		}
		if err != nil {
			return err
		}
		ids[r.ID] = row.ID
	}
	return nil
}
