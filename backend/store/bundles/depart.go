package bundles

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/records"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

const opDepart = "vault.depart"

// number is an event's number in its lane.
const number = `iif(lane_seq = 0, event_seq, lane_seq)`

// Depart makes this data another device, because other data writes to the vault under the same id: it was copied. What
// no log of the vault has of its own lanes is moved to the lane of the new id: the same turns, on branches that continue
// the ones of before. held are the sessions of which that is not possible: their last part stays here, and is not sent.
// PutVault must have been told all that the vault has.
// departed is false if an answer is being written; nothing was changed then.
func (s *Bundles) Depart(ctx context.Context, state []byte) (departed bool, held []chat.SessionID, err error) {
	err = s.Write(ctx, opDepart, func(t *core.Tx) error {
		departed, held = false, nil
		before := t.Device
		open, err := sqlite.All[int](t.DB, `SELECT 1 FROM turns t WHERE t.phase IN ('Accepted', 'ContextPrepared', 'Responding') AND t.outcome = '' AND `+
			core.MayFinish+` LIMIT 1`, before.Finishing()...)
		if err != nil || len(open) > 0 {
			return err
		}
		sessions, err := sqlite.All[schema.SessionRow](t.DB, `SELECT id, begun_by FROM sessions ORDER BY id`)
		if err != nil {
			return err
		}
		if err := s.RenewDevice(t); err != nil {
			return err
		}
		for _, row := range sessions {
			moved, err := departFrom(ctx, t, row, before)
			if err != nil {
				return err
			}
			if !moved {
				held = append(held, chat.SessionID(row.ID))
			}
		}
		departed = true
		return core.PutSetting(t, core.VaultKey, state)
	})
	if err != nil {
		_ = s.Read(context.WithoutCancel(ctx), opDepart, s.ReadDevice) // it is the one of before
	}
	s.Forget()
	return departed, held, err
}

// departFrom moves the end of this data's lane of a session; moved is false if it stays as it is.
func departFrom(ctx context.Context, t *core.Tx, row schema.SessionRow, before core.Device) (moved bool, err error) {
	session := chat.SessionID(row.ID)
	has, _, err := core.InVaultOf(t.DB, session)
	if err != nil {
		return false, err
	}
	own := before.ID
	if row.BegunBy == before.Home {
		own = ""
		if len(has.Lanes) == 0 { // no other data has the session
			return true, t.Run(`UPDATE sessions SET begun_by = ? WHERE id = ?`, t.Device.Home, session)
		}
	}
	tail, err := sqlite.All[schema.EventRow](t.DB, `SELECT * FROM events WHERE session_id = ? AND lane = ? AND `+number+` > ? ORDER BY event_seq`,
		session, own, has.Lanes[own])
	if err != nil || len(tail) == 0 {
		return true, err
	}
	if err := t.Run(`SAVEPOINT departing`); err != nil {
		return false, err
	}
	now := t.Now
	m := &moving{tx: t, session: session, rows: tail, created: map[string]bool{}, branches: map[chat.BranchID]chat.BranchID{}}
	err = m.run()
	if t.Now = now; err == nil {
		return true, t.Run(`RELEASE departing`)
	}
	switch code := chat.CodeOf(err); {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case errors.Is(err, errEntangled), sqlite.Constrained(err),
		code == chat.CodeCorrupt, code == chat.CodeInvalid, code == chat.CodeConflict, code == chat.CodeNotFound:
	default:
		return false, err
	}
	if err := t.Run(`ROLLBACK TO departing`); err != nil {
		return false, err
	}
	if err := t.Run(`RELEASE departing`); err != nil {
		return false, err
	}
	has.Lanes[own] = tail[len(tail)-1].Event(nil).Number() // not sent under the id of before
	return false, core.PutInVault(t, session, has)
}

// moving moves the last events of a lane of a session to the lane of a new device. Records keep their ids; what was
// written to branches of before goes to branches that continue them.
type moving struct {
	tx       *core.Tx
	session  chat.SessionID
	rows     []schema.EventRow
	events   []ledger.Event
	created  map[string]bool                 // records that these events create
	branches map[chat.BranchID]chat.BranchID // of before, and their continuations
	order    []chat.BranchID                 // of before
	began    map[chat.BranchID]string        // when the first of the events was written to it
	states   map[chat.BranchID]int64         // how many state summaries they add to a branch
	undone   []ledger.Event                  // index entries of turns of before: they are left to the other data
}

func (m *moving) run() error {
	t := m.tx
	for _, do := range []func() error{m.read, m.detach, m.append, m.correct} {
		if err := do(); err != nil {
			return err
		}
	}
	if f, found := firstFinding(t, string(m.session)); found {
		return fmt.Errorf("%w: %s %s: %s", errEntangled, f.Table, f.ID, f.Message)
	}
	return nil
}

// errEntangled means that the events change what existed before them in a way that only its own device may.
var errEntangled = errors.New("it changed something that the copy has too")

// read decodes the events, and finds the branches of before that they write to.
func (m *moving) read() error {
	m.began, m.states = map[chat.BranchID]string{}, map[chat.BranchID]int64{}
	var decoded core.RecentValues
	for _, r := range m.rows {
		payload, err := decoded.Payload(m.tx.DB, r)
		if err != nil || payload == nil {
			return sqlite.CorruptRecord("events", r.SessionID+"/"+sqlite.Itoa(r.EventSeq), err)
		}
		e := r.Event(payload)
		known, err := sqlite.All[int](m.tx.DB, `SELECT 1 FROM events WHERE session_id = ? AND entity_id = ? AND event_seq < ? LIMIT 1`,
			m.session, e.Entity, m.rows[0].EventSeq)
		if err != nil {
			return err
		}
		m.created[e.Entity] = m.created[e.Entity] || len(known) == 0
		switch {
		case m.created[e.Entity], events.LastCounts(e.Type), e.Type == ledger.EventContentDeleted, e.Type == ledger.EventCalibrationSet:
		case e.Type == ledger.EventTurnIndexed:
			m.undone = append(m.undone, e)
			continue
		default:
			return errEntangled
		}
		m.events = append(m.events, e)
		var on chat.BranchID
		fits := true
		if _, err := m.rewrite(e, func(b *chat.BranchID) { on = *b }, func(id *chat.TurnID) { fits = fits && m.created[string(*id)] }); err != nil {
			return err
		}
		if !fits {
			return errEntangled
		}
		if e.Type == ledger.EventStateCommitted {
			m.states[on]++
		}
		if on != "" && !m.created[string(on)] && m.branches[on] == "" {
			m.branches[on] = chat.BranchID(chat.NewID(schema.ParseTime(e.CreatedAt)))
			m.began[on] = e.CreatedAt
			m.order = append(m.order, on)
		}
	}
	return nil
}

// rewrite returns an event's payload; branch gets the branch that it writes to, turn a turn that it adds to.
func (m *moving) rewrite(e ledger.Event, branch func(*chat.BranchID), turn func(*chat.TurnID)) ([]byte, error) {
	switch e.Type {
	case ledger.EventTurnAccepted:
		return ledger.Rewrite(e.Payload, func(p *ledger.TurnAccepted) { branch(&p.BranchID) })
	case ledger.EventStateCommitted:
		return ledger.Rewrite(e.Payload, func(p *ledger.StateCommitted) {
			branch(&p.BranchID)
			p.Turns = slices.DeleteFunc(p.Turns, func(id chat.TurnID) bool { return !m.created[string(id)] })
		})
	case ledger.EventPinAdded, ledger.EventPinEdited, ledger.EventPinRemoved:
		return ledger.Rewrite(e.Payload, func(p *ledger.PinChanged) { branch(&p.BranchID) })
	case ledger.EventPinsMoved:
		return ledger.Rewrite(e.Payload, func(p *ledger.PinsMoved) { branch(&p.BranchID) })
	case ledger.EventSummaryCreated:
		return ledger.Rewrite(e.Payload, func(p *ledger.SummaryCreated) { branch(&p.BranchID) })
	case ledger.EventStepStarted:
		return ledger.Rewrite(e.Payload, func(p *ledger.StepStarted) { turn(&p.TurnID) })
	case ledger.EventFileAdded:
		return ledger.Rewrite(e.Payload, func(p *ledger.FileAdded) { turn(&p.TurnID) })
	}
	return e.Payload, nil
}

// detach removes the events, gives the branches of before back as they were, and begins their continuations.
func (m *moving) detach() error {
	t := m.tx
	for _, r := range m.rows {
		if err := t.Run(`DELETE FROM events WHERE session_id = ? AND event_seq = ?`, m.session, r.EventSeq); err != nil {
			return err
		}
	}
	if err := t.Run(`DELETE FROM snapshots WHERE session_id = ?`, m.session); err != nil {
		return err
	}
	for _, e := range m.undone {
		if err := m.unindex(e); err != nil {
			return err
		}
	}
	ids := make([]string, 0, len(m.created))
	for id, created := range m.created {
		if created {
			ids = append(ids, id)
		}
	}
	created, err := chat.MarshalJSON(ids)
	if err != nil {
		return err
	}
	for _, on := range m.order {
		if err := m.move(on, string(created), "turns", "id", "states", "id"); err != nil {
			return err
		}
		if err := m.fork(on); err != nil {
			return err
		}
		if err := m.move(on, string(created), "summaries", "id", "pins", "id", "pin_orders", "id",
			"chunks", "source_turn", "units", "turn_id", "jobs", "turn_id", "pin_suggestions", "turn_id"); err != nil {
			return err
		}
	}
	return nil
}

// move moves rows of tables to the continuation of a branch: those whose column, which follows the table, names a record
// that the events created.
func (m *moving) move(on chat.BranchID, created string, tables ...string) error {
	for pair := range slices.Chunk(tables, 2) {
		if err := m.tx.Run(`UPDATE `+pair[0]+` SET branch_id = ? WHERE branch_id = ? AND `+pair[1]+` IN (SELECT value FROM json_each(?))`,
			m.branches[on], on, created); err != nil {
			return err
		}
	}
	return nil
}

// unindex removes the index entries that an event added to a turn of before.
func (m *moving) unindex(e ledger.Event) error {
	return inPayloadOf(e, func(p ledger.TurnIndexed) error {
		if p.Dropped {
			return errEntangled
		}
		for _, c := range p.Chunks {
			for _, query := range []string{
				`DELETE FROM unit_embeddings WHERE unit_n IN (SELECT n FROM units WHERE chunk_id = ?)`,
				`DELETE FROM units WHERE chunk_id = ?`, `DELETE FROM chunk_summaries WHERE chunk_id = ?`, `DELETE FROM chunks WHERE id = ?`,
			} {
				if err := m.tx.Run(query, c.ID); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// inPayloadOf calls do with an event's decoded payload.
func inPayloadOf[P any](e ledger.Event, do func(P) error) error {
	_, err := events.PayloadOf(e, func(_ ledger.Event, p P) (struct{}, error) { return struct{}{}, do(p) })
	return err
}

// fork begins the continuation of a branch of before, after its last finished turn.
func (m *moving) fork(on chat.BranchID) error {
	t := m.tx
	t.Now = schema.ParseTime(m.began[on])
	segs, err := core.Segments(t.DB, on)
	if err != nil {
		return err
	}
	tips, err := core.InScope[struct {
		ID  chat.TurnID
		Seq int64
	}](t.DB, segs, core.ScopeCTE+`SELECT t.id, t.turn_seq AS seq FROM seg JOIN turns t ON t.branch_id = seg.branch
		AND t.turn_seq > seg."from" AND t.turn_seq <= seg."to" WHERE t.phase NOT IN ('Accepted', 'ContextPrepared', 'Responding')
		ORDER BY t.turn_seq DESC LIMIT 1`)
	if err != nil {
		return err
	}
	p := chat.ForkPoint{Branch: on, Continues: true}
	if len(tips) > 0 {
		p.After = tips[0].ID
		if m.states[on] == 0 { // otherwise the first of these covers the turns that the branch of before has pending
			head, err := sqlite.One[schema.StateRow](t.DB, "state", on, `SELECT st.* FROM branches b JOIN states st ON st.id = b.head_state WHERE b.id = ?`, on)
			if err == nil {
				err = head.Unpack(t.DB)
			}
			if err != nil {
				return err
			}
			p.Fallback = &chat.ForkState{Summary: head.Summary, PinnedFacts: head.PinnedFacts, TokenCount: head.TokenCountEst}
		}
	}
	active, err := sqlite.All[int](t.DB, `SELECT 1 FROM sessions WHERE id = ? AND active_branch = ?`, m.session, on)
	if err != nil {
		return err
	}
	p.Activate = len(active) > 0
	_, err = records.ForkAs(t, string(m.branches[on]), p)
	return err
}

// append writes the events again, in the new lane.
func (m *moving) append() error {
	moved := map[ledger.Spot]bool{}
	epochs := map[chat.BranchID]int64{}
	for _, e := range m.events {
		moved[e.Spot()] = true
		payload, err := m.rewrite(e, func(b *chat.BranchID) {
			if to, ok := m.branches[*b]; ok {
				*b = to
			}
		}, func(*chat.TurnID) {})
		if err != nil {
			return err
		}
		switch e.Type {
		case ledger.EventStateCommitted:
			payload, err = ledger.Rewrite(payload, func(p *ledger.StateCommitted) {
				if slices.Contains(m.order, m.original(p.BranchID)) {
					epochs[p.BranchID]++
					p.Epoch = epochs[p.BranchID]
				}
			})
		case ledger.EventBranchCreated:
			payload, err = m.branchCreated(payload)
		case ledger.EventContentDeleted: // what was moved never had what was deleted
			payload, err = ledger.Rewrite(payload, func(p *ledger.ContentDeleted) {
				p.Events = slices.DeleteFunc(p.Events, func(d ledger.DeletedEvent) bool { return moved[ledger.Spot{Lane: d.Lane, Number: d.Seq}] })
			})
		}
		if err != nil {
			return err
		}
		m.tx.Now = schema.ParseTime(e.CreatedAt)
		if err := m.tx.Append(m.session, e.Type, e.Entity, core.Payload{Packed: codec.Pack(payload), Hash: codec.Hash(payload)}); err != nil {
			return err
		}
	}
	return nil
}

// original returns the branch that a continuation continues.
func (m *moving) original(b chat.BranchID) chat.BranchID {
	for from, to := range m.branches {
		if to == b {
			return from
		}
	}
	return ""
}

// branchCreated moves a branch that began at a turn that was moved.
func (m *moving) branchCreated(payload []byte) ([]byte, error) {
	return ledger.Rewrite(payload, func(p *ledger.BranchCreated) {
		if to, ok := m.branches[p.ParentBranch]; ok && m.created[string(p.ForkTurn)] {
			p.ParentBranch = to
		}
	})
}

// correct sets what the ledger now says of the branches and of the turns of before.
func (m *moving) correct() error {
	t := m.tx
	state, _, err := records.ReplaySession(t.DB, string(m.session))
	if err != nil {
		return fmt.Errorf("%w: its ledger cannot be replayed: %w", errEntangled, err)
	}
	for id, b := range state.Branches {
		if err := t.Run(`UPDATE branches SET parent_branch = ?, head_state = ?, head_seq = ?, epoch = ?, lane = ? WHERE id = ?`,
			schema.OrNull(b.ParentBranch), b.HeadState, b.HeadSeq, b.Epoch, b.Lane, id); err != nil {
			return err
		}
	}
	for id, turn := range state.Turns {
		if m.created[id] {
			continue
		}
		// Two changes of a turn may have the same moment.
		values := []any{turn.Phase, schema.OrNull(turn.StateAfter), turn.IndexStatus, turn.UpdatedAt}
		if err := t.Run(`UPDATE turns SET (phase, state_after, index_status, updated_at) = (?, ?, ?, ?)
			WHERE id = ? AND (phase, state_after, index_status, updated_at) IS NOT (?, ?, ?, ?)`, slices.Concat(values, []any{id}, values)...); err != nil {
			return err
		}
	}
	p := &events.Applier{Tx: t, Session: string(m.session)}
	if err := p.LastValues(state.Sessions[string(m.session)].UpdatedAt); err != nil {
		return fmt.Errorf("its last values cannot be set: %w", err)
	}
	return nil
}
