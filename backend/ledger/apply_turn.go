package ledger

import (
	"encoding/json"
	"errors"
	"math"
	"slices"

	"contextinfinity/backend/chat"
)

func (s *State) applyTurn(e Event, data json.RawMessage) error {
	switch e.Type {
	case EventTurnAccepted:
		return reduce(data, func(p TurnAccepted) error { return s.accepted(e, p) })
	case EventTurnPrepared:
		return reduce(data, func(p TurnPrepared) error { return s.prepared(e, p) })
	case EventTurnResumed:
		return on(s.Turns, e.Entity, func(t *Turn) { t.Outcome, t.Failure, t.UpdatedAt = "", "", e.CreatedAt })
	case EventTurnInterrupted, EventTurnFailed:
		return reduce(data, func(p TurnEnded) error { return s.ended(e, p) })
	case EventTurnFinalized:
		return reduce(data, func(p TurnFinalized) error { return s.finalized(e, p) })
	}
	return reduce(data, func(p TurnIndexed) error { return s.indexed(e, p) })
}

func (s *State) accepted(e Event, p TurnAccepted) error {
	if err := s.touch(e); err != nil {
		return err
	}
	s.Turns[e.Entity] = &Turn{
		BranchID: string(p.BranchID), Seq: p.Seq, StateBefore: string(p.StateBefore), Phase: string(chat.PhaseAccepted),
		Provider: p.Provider, Model: p.Model, RetryOf: string(p.RetryOf), CreatedAt: e.CreatedAt, UpdatedAt: e.CreatedAt, User: SumOf(p.User),
	}
	return nil
}

// touch moves the session to the top of its list.
func (s *State) touch(e Event) error {
	return on(s.Sessions, s.SessionID, func(r *Session) { r.UpdatedAt = e.CreatedAt })
}

// nothing is the sum of a manifest that there is none of, as it is told.
var nothing = SumOf()

func (s *State) prepared(e Event, p TurnPrepared) error {
	manifest, err := sumOfHex(p.ManifestSHA256)
	if err != nil {
		return err
	}
	retrieved, err := sumOfHex(p.RetrievedSHA256)
	if err != nil {
		return err
	}
	if manifest == nothing {
		manifest = ""
	}
	return on(s.Turns, e.Entity, func(t *Turn) {
		t.Manifest, t.Retrieved, t.UpdatedAt = manifest, retrieved, e.CreatedAt
		if chat.Phase(t.Phase) == chat.PhaseAccepted {
			t.Phase = string(chat.PhaseContextPrepared)
		}
	})
}

// ended is a turn without a final answer: incomplete or failed.
func (s *State) ended(e Event, p TurnEnded) error {
	failure, err := sumOfJSON(p.Failure)
	if err != nil {
		return err
	}
	usage, err := sumOfJSON(p.Usage)
	if err != nil {
		return err
	}
	return on(s.Turns, e.Entity, func(t *Turn) {
		t.Outcome, t.UpdatedAt = string(p.Outcome), e.CreatedAt
		if e.Type == EventTurnFailed {
			t.Phase = string(chat.PhaseFailed)
		}
		if p.Failure != nil {
			t.Failure = failure
		}
		if p.Usage != nil {
			t.Usage = usage
		}
	})
}

func (s *State) finalized(e Event, p TurnFinalized) error {
	usage, err := sumOfJSON(p.Usage)
	if err != nil {
		return err
	}
	if s.Sessions[s.SessionID] == nil {
		return errors.New("no earlier event made the session")
	}
	if err := on(s.Turns, e.Entity, func(t *Turn) {
		t.Phase, t.Outcome, t.Assistant = string(chat.PhaseResponseFinalized), string(p.Outcome), SumOf(p.Assistant)
		t.Failure, t.UpdatedAt = "", e.CreatedAt
		if p.Usage != nil {
			t.Usage = usage
		}
	}); err != nil {
		return err
	}
	return s.touch(e)
}

// running is the outcome of a step that has not ended.
var running = SumOfText(`{"status":"running"}`)

func (s *State) stepStarted(e Event, p StepStarted) error {
	request, err := sumOfHex(p.RequestSHA256)
	if err != nil {
		return err
	}
	if err := on(s.Turns, string(p.TurnID), func(t *Turn) {
		if t.Phase != string(chat.PhaseResponding) {
			t.Phase, t.UpdatedAt = string(chat.PhaseResponding), e.CreatedAt
		}
	}); err != nil {
		return err
	}
	s.Steps[e.Entity] = &Step{
		TurnID: string(p.TurnID), Index: p.Index, Attempt: p.Attempt, Status: string(chat.StepRunning), Provider: p.Provider,
		ModelID: p.ModelID, StartedAt: e.CreatedAt, StreamPath: p.StreamPath, Outcome: running, Items: SumOfText("[]"), Request: request,
	}
	return nil
}

func (s *State) stepEnded(e Event, p StepEnded) error {
	outcome, err := sumOfJSON(&p.Outcome)
	if err != nil {
		return err
	}
	usage, err := sumOfJSON(p.Usage)
	if err != nil {
		return err
	}
	response, err := sumOfHex(p.ResponseSHA256)
	if err != nil {
		return err
	}
	events, err := sumOfHex(p.EventsSHA256)
	if err != nil {
		return err
	}
	return on(s.Steps, e.Entity, func(r *Step) {
		r.Status, r.EndedAt, r.DisplayedBytes, r.DurableBytes = string(p.Outcome.Status), e.CreatedAt, p.DisplayedBytes, p.DurableBytes
		r.Outcome, r.Usage, r.Items, r.Response, r.Events = outcome, usage, SumOf(p.Items), response, events
	})
}

// indexed replays TX-C: chunks and units that came, and units that went.
func (s *State) indexed(e Event, p TurnIndexed) error {
	chunks, units, err := indexedRecords(e, p)
	if err != nil {
		return err
	}
	turn, ok := s.Turns[e.Entity]
	if !ok {
		return errors.New("no earlier event made its turn")
	}
	if p.Dropped {
		version := math.MaxInt32
		for _, c := range p.Chunks {
			version = min(version, c.Version)
		}
		s.drop(e.Entity, version)
	}
	for i, c := range p.Chunks {
		s.Chunks[string(c.ID)] = chunks[i]
	}
	for id, u := range units {
		s.Units[id] = u
		s.unitsOf[e.Entity] = append(s.unitsOf[e.Entity], id)
	}
	if p.Status == chat.IndexNone {
		return nil
	}
	turn.IndexStatus = string(p.Status)
	if p.Status != chat.IndexDegraded && turn.Phase != string(chat.PhaseDone) {
		turn.Phase, turn.UpdatedAt = string(chat.PhaseDone), e.CreatedAt
	}
	return nil
}

func indexedRecords(e Event, p TurnIndexed) ([]*Chunk, map[string]*Unit, error) {
	chunks, units := make([]*Chunk, len(p.Chunks)), map[string]*Unit{}
	for i, c := range p.Chunks {
		content, err := sumOfHex(c.SHA256)
		if err != nil {
			return nil, nil, err
		}
		chunks[i] = &Chunk{
			TurnID: e.Entity, FileID: string(c.File), Ordinal: c.Ordinal, Role: string(c.Role), Start: c.Start, End: c.End, Type: string(c.Type),
			Tokens: c.Tokens, Version: c.Version, CreatedAt: e.CreatedAt, Content: content, Summary: SumOfText(c.Summary),
		}
		for _, u := range c.Units {
			words := SumOfText(u.Text)
			if u.SHA256 != "" {
				if words, err = sumOfHex(u.SHA256); err != nil {
					return nil, nil, err
				}
			}
			units[string(u.ID)] = &Unit{TurnID: e.Entity, ChunkID: string(c.ID), Start: u.Start, End: u.End, Tokens: u.Tokens, Text: words}
		}
	}
	return chunks, units, nil
}

// drop takes away a turn's units of chunkers before a version.
func (s *State) drop(turn string, version int) {
	s.unitsOf[turn] = slices.DeleteFunc(s.unitsOf[turn], func(id string) bool {
		chunk := s.Chunks[s.Units[id].ChunkID]
		gone := chunk != nil && chunk.Version < version
		if gone {
			delete(s.Units, id)
		}
		return gone
	})
}
