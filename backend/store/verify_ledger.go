package store

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"contextinfinity/backend/chat"
)

// replay is what the ledgers alone say the tables hold. Long contents stand in
// it by hash.
type replay struct {
	sessions map[string]*sessionRow
	branches map[string]*branchRow
	states   map[string]*stateRow
	turns    map[string]*turnRow
	manifest map[string]string // by turn
	steps    map[string]*wantStep
	pins     map[string]*pinRow
	orders   map[string]*pinOrderRow
	chunks   map[string]*chunkRow
	units    map[string]*unitRow
	unitsOf  map[string][]string // by turn
	// retrieved are the hashes of what memory stood in the contexts of turns.
	retrieved map[string]string

	summaries    map[string]*rangeSummaryRow
	calibrations map[string]calibrationSet // the newest, by provider and model
	files        map[string]*fileAdded     // that were sent
}

type wantStep struct {
	stepRow
	request, response, events string // SHA-256 in hex
}

func newReplay() *replay {
	return &replay{
		sessions: map[string]*sessionRow{}, branches: map[string]*branchRow{}, states: map[string]*stateRow{},
		turns: map[string]*turnRow{}, manifest: map[string]string{}, steps: map[string]*wantStep{},
		pins: map[string]*pinRow{}, orders: map[string]*pinOrderRow{}, chunks: map[string]*chunkRow{}, units: map[string]*unitRow{},
		unitsOf: map[string][]string{}, retrieved: map[string]string{},
		summaries: map[string]*rangeSummaryRow{}, calibrations: map[string]calibrationSet{}, files: map[string]*fileAdded{},
	}
}

// ledger checks each session's chain and replays it.
func (a *audit) ledger() {
	var prev eventRow
	each(a, "events", "*", "session_id, event_seq", func(e eventRow) {
		if e.SessionID != prev.SessionID {
			prev = eventRow{SessionID: e.SessionID, Hash: genesis}
		}
		a.event(prev, e)
		prev = e
	})
}

// event checks one event against the one before it, and replays it.
func (a *audit) event(prev, e eventRow) {
	id := fmt.Sprintf("%s/%d", e.SessionID, e.EventSeq)
	a.expect(e.EventSeq == prev.EventSeq+1, findLedger, "events", id, "Events %d to %d are missing before it.", prev.EventSeq+1, e.EventSeq-1)
	a.expect(bytes.Equal(e.PrevHash, prev.Hash), findLedger, "events", id, "It does not follow from the event before it.")
	a.expect(bytes.Equal(e.Hash, eventHash(e)), findLedger, "events", id, "It does not match its hash.")
	a.expect(eventTypes[EventType(e.Type)], findLedger, "events", id, "Its type %q is not known.", e.Type)
	a.times("events", id, &e.CreatedAt)
	payload, err := a.payload(e)
	if err != nil || payload == nil {
		a.add(findLedger, "events", id, "Its payload cannot be read.")
		return
	}
	if !bytes.Equal(hashBytes(payload), e.PayloadHash) {
		a.add(findLedger, "events", id, "Its payload does not match its hash.")
		return
	}
	var env struct {
		Version int             `json:"v"`
		Data    json.RawMessage `json:"data"`
	}
	err = json.Unmarshal(payload, &env)
	if err == nil && env.Version != payloadVersion {
		err = fmt.Errorf("payload version %d", env.Version)
	}
	if err == nil {
		err = a.want.apply(e, env.Data)
	}
	a.expect(err == nil, findLedger, "events", id, "It cannot be replayed: %v.", err)
}

// payload decodes an event's; those decoded last are kept for events that rest on
// them.
func (a *audit) payload(e eventRow) ([]byte, error) {
	name := func(seq int64) string { return e.SessionID + "/" + itoa(seq) }
	var payload []byte
	var err error
	_, ref, rests := restsOn(e.Payload)
	if base, ok := a.decoded.get(name(ref)); rests && ok {
		payload, err = unpackOn(base, e.Payload)
	} else {
		payload, err = unpackPayload(a.db, e.SessionID, e.Payload)
	}
	if err == nil && payload != nil {
		a.decoded.put(name(e.EventSeq), payload)
	}
	return payload, err
}

// reduce decodes an event's data and applies it.
func reduce[P any](data json.RawMessage, apply func(P) error) error {
	var p P
	if err := json.Unmarshal(data, &p); err != nil {
		return err
	}
	return apply(p)
}

// on applies a change to a record an earlier event made.
func on[R any](records map[string]*R, id string, change func(*R)) error {
	r, ok := records[id]
	if !ok {
		return fmt.Errorf("no earlier event made %s", id)
	}
	change(r)
	return nil
}

// apply replays one event. Types that no version so far writes change nothing.
func (w *replay) apply(e eventRow, data json.RawMessage) error {
	switch EventType(e.Type) {
	case EventSessionCreated:
		return reduce(data, func(p sessionCreated) error {
			w.sessions[e.EntityID] = &sessionRow{ID: e.EntityID, CreatedAt: e.CreatedAt, Source: p.Source,
				ActiveBranch: string(p.ActiveBranch), Title: p.Title, SystemPrompt: p.SystemPrompt}
			return nil
		})
	case EventSessionRenamed, EventSessionPrompt, EventSessionModel, EventBranchSwitched, EventBranchRenamed:
		return reduce(data, func(p textChanged) error { return w.text(e, p.Text) })
	case EventSessionPinned, EventSessionArchived, EventBranchArchived:
		return reduce(data, func(p flagChanged) error { return w.flag(e, p.On) })
	case EventSessionSettings:
		return reduce(data, func(p settingsChanged) error {
			return on(w.sessions, e.EntityID, func(r *sessionRow) {
				r.SystemPrompt, r.Temperature, r.Effort = p.SystemPrompt, p.Temperature, p.Effort
			})
		})
	case EventBranchCreated:
		return reduce(data, func(p branchCreated) error { return w.branch(e, p) })
	case EventStateCommitted:
		return reduce(data, func(p stateCommitted) error { return w.state(e, p) })
	case EventPinAdded, EventPinEdited, EventPinRemoved:
		return reduce(data, func(p pinChanged) error { return w.pin(e, p) })
	case EventPinsMoved:
		return reduce(data, func(p pinsMoved) error { return w.order(e, p) })
	case EventStepStarted:
		return reduce(data, func(p stepStarted) error { return w.stepStarted(e, p) })
	case EventStepEnded:
		return reduce(data, func(p stepEnded) error { return w.stepEnded(e, p) })
	}
	return w.applyHistory(e, data)
}

// applyHistory replays what stands for turns in a prompt, and how it is weighed.
func (w *replay) applyHistory(e eventRow, data json.RawMessage) error {
	switch EventType(e.Type) {
	case EventSummaryCreated:
		return reduce(data, func(p summaryCreated) error { return w.summary(e, p) })
	case EventSummarySuperseded:
		return reduce(data, func(p summarySuperseded) error {
			return on(w.summaries, e.EntityID, func(r *rangeSummaryRow) { r.SupersededBy = &p.By })
		})
	case EventCalibrationSet:
		return reduce(data, func(p calibrationSet) error {
			if key := p.Provider + "/" + p.ModelID; p.Revision > w.calibrations[key].Revision {
				w.calibrations[key] = p
			}
			return nil
		})
	}
	return w.applyTurn(e, data)
}

func (w *replay) applyTurn(e eventRow, data json.RawMessage) error {
	switch EventType(e.Type) {
	case EventTurnAccepted:
		return reduce(data, func(p turnAccepted) error { return w.accepted(e, p) })
	case EventTurnPrepared:
		return reduce(data, func(p turnPrepared) error {
			w.manifest[e.EntityID], w.retrieved[e.EntityID] = p.ManifestSHA256, p.RetrievedSHA256
			return on(w.turns, e.EntityID, func(t *turnRow) {
				if chat.Phase(t.Phase) == chat.PhaseAccepted {
					t.Phase = string(chat.PhaseContextPrepared)
				}
			})
		})
	case EventTurnResumed:
		return on(w.turns, e.EntityID, func(t *turnRow) { t.Outcome = "" })
	case EventTurnInterrupted, EventTurnFailed:
		return reduce(data, func(p turnEnded) error {
			return on(w.turns, e.EntityID, func(t *turnRow) {
				t.Outcome = string(p.Outcome)
				if EventType(e.Type) == EventTurnFailed {
					t.Phase = string(chat.PhaseFailed)
				}
			})
		})
	case EventTurnFinalized:
		return reduce(data, func(p turnFinalized) error {
			return on(w.turns, e.EntityID, func(t *turnRow) {
				t.Phase, t.Outcome, t.AssistantHash = string(chat.PhaseResponseFinalized), string(p.Outcome), hashBytes(p.Assistant)
			})
		})
	case EventTurnIndexed:
		return reduce(data, func(p turnIndexed) error { return w.indexed(e, p) })
	case EventFileAdded:
		return reduce(data, func(p fileAdded) error { return w.file(e, p) })
	}
	return nil
}

func (w *replay) text(e eventRow, s string) error {
	if EventType(e.Type) == EventBranchRenamed {
		return on(w.branches, e.EntityID, func(b *branchRow) { b.Label = s })
	}
	return on(w.sessions, e.EntityID, func(r *sessionRow) {
		switch EventType(e.Type) {
		case EventSessionRenamed:
			r.Title = s
		case EventSessionPrompt:
			r.SystemPrompt = s
		case EventSessionModel:
			r.Model = s
		case EventBranchSwitched:
			r.ActiveBranch = s
		}
	})
}

func (w *replay) flag(e eventRow, set bool) error {
	var at *string
	if set {
		at = &e.CreatedAt
	}
	if EventType(e.Type) == EventBranchArchived {
		return on(w.branches, e.EntityID, func(b *branchRow) { b.ArchivedAt = at })
	}
	return on(w.sessions, e.EntityID, func(r *sessionRow) {
		if EventType(e.Type) == EventSessionArchived {
			r.ArchivedAt = at
		} else {
			r.Pinned = set
		}
	})
}

func (w *replay) branch(e eventRow, p branchCreated) error {
	w.branches[e.EntityID] = &branchRow{
		ID: e.EntityID, SessionID: e.SessionID, CreatedAt: e.CreatedAt, ParentBranch: orNull(p.ParentBranch),
		ForkTurn: orNull(p.ForkTurn), ForkSeq: p.ForkSeq, BaseState: string(p.BaseState), BaseSeq: p.BaseSeq,
		HeadState: string(p.BaseState), HeadSeq: p.BaseSeq, Label: p.Label,
	}
	return nil
}

func (w *replay) state(e eventRow, p stateCommitted) error {
	st := &stateRow{
		ID: e.EntityID, SessionID: e.SessionID, BranchID: string(p.BranchID), StateSeq: p.Seq, ParentID: orNull(p.ParentID),
		CoversSeq: p.CoversSeq, Origin: string(p.Origin), Model: p.Model, TokenCountEst: p.Tokens, CreatedAt: e.CreatedAt,
		Summary: p.Summary, PinnedFacts: p.PinnedFacts,
	}
	st.ContentHash, st.Summary, st.PinnedFacts = st.hash(), "", ""
	w.states[e.EntityID] = st
	for _, id := range p.Turns {
		if err := on(w.turns, string(id), func(t *turnRow) {
			t.Phase, t.StateAfter = string(chat.PhaseStateCommitted), &e.EntityID
		}); err != nil {
			return err
		}
	}
	return on(w.branches, string(p.BranchID), func(b *branchRow) {
		b.HeadState, b.HeadSeq, b.Epoch = e.EntityID, p.Seq, p.Epoch
	})
}

func (w *replay) accepted(e eventRow, p turnAccepted) error {
	w.turns[e.EntityID] = &turnRow{
		ID: e.EntityID, SessionID: e.SessionID, BranchID: string(p.BranchID), TurnSeq: p.Seq, StateBefore: string(p.StateBefore),
		Phase: string(chat.PhaseAccepted), PrimaryProvider: p.Provider, PrimaryModel: p.Model, RetryOf: orNull(p.RetryOf),
		CreatedAt: e.CreatedAt, UserHash: hashBytes(p.User),
	}
	return nil
}

func (w *replay) stepStarted(e eventRow, p stepStarted) error {
	w.steps[e.EntityID] = &wantStep{request: p.RequestSHA256, stepRow: stepRow{
		ID: e.EntityID, TurnID: string(p.TurnID), StepIndex: p.Index, Attempt: p.Attempt, Status: string(chat.StepRunning),
		Provider: p.Provider, ModelID: p.ModelID, StartedAt: e.CreatedAt, StreamPath: p.StreamPath, NormalizedItemsJSON: "[]",
	}}
	return on(w.turns, string(p.TurnID), func(t *turnRow) { t.Phase = string(chat.PhaseResponding) })
}

func (w *replay) stepEnded(e eventRow, p stepEnded) error {
	return on(w.steps, e.EntityID, func(s *wantStep) {
		s.Status, s.NormalizedItemsJSON = string(p.Outcome.Status), string(p.Items)
		s.StreamDisplayedBytes, s.StreamDurableBytes = p.DisplayedBytes, p.DurableBytes
		s.response, s.events = p.ResponseSHA256, p.EventsSHA256
	})
}

func (w *replay) pin(e eventRow, p pinChanged) error {
	w.pins[e.EntityID] = &pinRow{
		ID: e.EntityID, SessionID: e.SessionID, BranchID: string(p.BranchID), AfterTurnSeq: p.AfterTurn,
		Replaces: orNull(p.Replaces), Removed: EventType(e.Type) == EventPinRemoved, Tokens: p.Tokens,
		CreatedAt: e.CreatedAt, ContentHash: hashBytes([]byte(p.Text)),
	}
	return nil
}

func (w *replay) summary(e eventRow, p summaryCreated) error {
	w.summaries[e.EntityID] = &rangeSummaryRow{
		ID: e.EntityID, SessionID: e.SessionID, BranchID: string(p.BranchID), FromSeq: p.From, ToSeq: p.To,
		TokenCount: p.Tokens, OriginalTokens: p.OriginalTokens, GeneratedBy: p.GeneratedBy, CreatedAt: e.CreatedAt,
		ContentHash: hashBytes([]byte(p.Content)),
	}
	return nil
}

func (w *replay) order(e eventRow, p pinsMoved) error {
	order, err := chat.MarshalJSON(p.Pins)
	w.orders[e.EntityID] = &pinOrderRow{
		ID: e.EntityID, SessionID: e.SessionID, BranchID: string(p.BranchID), AfterTurnSeq: p.AfterTurn,
		CreatedAt: e.CreatedAt, PinsJSON: string(order),
	}
	return err
}

func (w *replay) indexed(e eventRow, p turnIndexed) error {
	if p.Dropped {
		version := math.MaxInt32
		for _, c := range p.Chunks {
			version = min(version, c.Version)
		}
		w.drop(e.EntityID, version)
	}
	for _, c := range p.Chunks {
		hash, err := hex.DecodeString(c.SHA256)
		if err != nil {
			return err
		}
		w.chunks[string(c.ID)] = &chunkRow{
			ID: string(c.ID), SourceTurn: e.EntityID, FileID: orNull(c.File), Ordinal: c.Ordinal, Role: string(c.Role), StartOffset: c.Start,
			EndOffset: c.End, ChunkType: string(c.Type), TokenEst: c.Tokens, ChunkerVersion: c.Version, ContentHash: hash, Summary: c.Summary,
		}
		if err := w.indexedUnits(e.EntityID, c); err != nil {
			return err
		}
	}
	if p.Status == chat.IndexNone {
		return nil
	}
	return on(w.turns, e.EntityID, func(t *turnRow) {
		t.IndexStatus = string(p.Status)
		if p.Status != chat.IndexDegraded {
			t.Phase = string(chat.PhaseDone)
		}
	})
}

func (w *replay) indexedUnits(turn string, c indexedChunk) error {
	for _, u := range c.Units {
		hash := hashBytes([]byte(u.Text))
		if u.SHA256 != "" {
			var err error
			if hash, err = hex.DecodeString(u.SHA256); err != nil {
				return err
			}
		}
		w.units[string(u.ID)] = &unitRow{
			ID: string(u.ID), ChunkID: string(c.ID), StartOffset: u.Start, EndOffset: u.End, Tokens: u.Tokens, ContentHash: hash,
		}
		w.unitsOf[turn] = append(w.unitsOf[turn], string(u.ID))
	}
	return nil
}

// drop takes away a turn's units of chunkers before a version.
func (w *replay) drop(turn string, version int) {
	w.unitsOf[turn] = slices.DeleteFunc(w.unitsOf[turn], func(id string) bool {
		gone := w.chunks[w.units[id].ChunkID].ChunkerVersion < version
		if gone {
			delete(w.units, id)
		}
		return gone
	})
}
