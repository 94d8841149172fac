package ledger

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"contextinfinity/backend/chat"
)

// Apply makes the state what it is after an event. One that does not go on from the
// last, or that cannot be replayed, is an error and changes nothing. The hash chain is
// not checked: that is what Faults and Intact are for.
func (s *State) Apply(e Event) error {
	if e.SessionID != s.SessionID {
		return fmt.Errorf("it is of session %s", e.SessionID)
	}
	if e.Seq != s.EventSeq+1 {
		return fmt.Errorf("it is number %d after %d", e.Seq, s.EventSeq)
	}
	if !utf8.ValidString(e.Entity) {
		return errors.New("what it is about has no id that is text")
	}
	if err := s.apply(e); err != nil {
		return err
	}
	s.Skip(e)
	return nil
}

// Skip goes past an event that cannot be applied, for those who name what is wrong and
// go on.
func (s *State) Skip(e Event) { s.EventSeq, s.EventHash = e.Seq, hex.EncodeToString(e.Hash) }

func (s *State) apply(e Event) error {
	var env envelope[json.RawMessage]
	if err := json.Unmarshal(e.Payload, &env); err != nil {
		return err
	}
	if env.Version != PayloadVersion {
		return fmt.Errorf("payload version %d", env.Version)
	}
	switch e.Type {
	case EventSessionCreated, EventSessionRenamed, EventSessionPrompt, EventSessionModel, EventSessionSettings, EventSessionFolder,
		EventSessionPinned, EventSessionArchived, EventSessionImported, EventBranchSwitched:
		return s.applySession(e, env.Data)
	case EventBranchCreated, EventBranchRenamed, EventBranchArchived:
		return s.applyBranch(e, env.Data)
	case EventTurnAccepted, EventTurnPrepared, EventTurnInterrupted, EventTurnResumed, EventTurnFinalized, EventTurnFailed, EventTurnIndexed:
		return s.applyTurn(e, env.Data)
	case EventStepStarted:
		return reduce(env.Data, func(p StepStarted) error { return s.stepStarted(e, p) })
	case EventStepEnded:
		return reduce(env.Data, func(p StepEnded) error { return s.stepEnded(e, p) })
	case EventStateCommitted:
		return reduce(env.Data, func(p StateCommitted) error { return s.stateCommitted(e, p) })
	case EventPinAdded, EventPinEdited, EventPinRemoved:
		return reduce(env.Data, func(p PinChanged) error { return s.pinChanged(e, p) })
	case EventPinsMoved:
		return reduce(env.Data, func(p PinsMoved) error { return s.pinsMoved(e, p) })
	}
	return s.applyHistory(e, env.Data)
}

// reduce decodes what an event tells and applies it.
func reduce[P any](data json.RawMessage, apply func(P) error) error {
	var p P
	if err := json.Unmarshal(data, &p); err != nil {
		return err
	}
	return apply(p)
}

// on applies a change to a record that an earlier event made.
func on[R any](rows map[string]*R, id string, change func(*R)) error {
	r, ok := rows[id]
	if !ok {
		return fmt.Errorf("no earlier event made %s", id)
	}
	change(r)
	return nil
}

func (s *State) applySession(e Event, data json.RawMessage) error {
	switch e.Type {
	case EventSessionCreated:
		return reduce(data, func(p SessionCreated) error {
			if e.Entity != s.SessionID {
				return fmt.Errorf("it made another session, %s", e.Entity)
			}
			s.Sessions[e.Entity] = &Session{CreatedAt: e.CreatedAt, UpdatedAt: e.CreatedAt, Source: p.Source,
				ActiveBranch: string(p.ActiveBranch), Title: SumOfText(p.Title), SystemPrompt: SumOfText(p.SystemPrompt)}
			return nil
		})
	case EventSessionPinned, EventSessionArchived:
		return reduce(data, func(p FlagChanged) error {
			return on(s.Sessions, e.Entity, func(r *Session) {
				if e.Type == EventSessionPinned {
					r.Pinned = p.On
				} else {
					r.ArchivedAt = since(p.On, e)
				}
			})
		})
	case EventSessionImported:
		return reduce(data, func(p SessionImported) error {
			if _, err := chat.ParseTime(p.UpdatedAt); err != nil {
				return err
			}
			return on(s.Sessions, e.Entity, func(r *Session) { r.UpdatedAt = p.UpdatedAt })
		})
	case EventSessionSettings:
		return reduce(data, func(p SettingsChanged) error {
			return on(s.Sessions, e.Entity, func(r *Session) {
				r.SystemPrompt, r.Temperature, r.Effort = SumOfText(p.SystemPrompt), p.Temperature, p.Effort
			})
		})
	}
	return reduce(data, func(p TextChanged) error {
		return on(s.Sessions, e.Entity, func(r *Session) {
			switch e.Type {
			case EventSessionRenamed:
				r.Title = SumOfText(p.Text)
			case EventSessionPrompt:
				r.SystemPrompt = SumOfText(p.Text)
			case EventSessionModel:
				r.Model = p.Text
			case EventSessionFolder:
				r.Folder = SumOfFolder(p.Text)
			case EventBranchSwitched:
				r.ActiveBranch = p.Text
			}
		})
	})
}

// since is when something was archived; empty: it is not.
func since(is bool, e Event) string {
	if is {
		return e.CreatedAt
	}
	return ""
}

func (s *State) applyBranch(e Event, data json.RawMessage) error {
	switch e.Type {
	case EventBranchRenamed:
		return reduce(data, func(p TextChanged) error {
			return on(s.Branches, e.Entity, func(r *Branch) { r.Label = SumOfText(p.Text) })
		})
	case EventBranchArchived:
		return reduce(data, func(p FlagChanged) error {
			return on(s.Branches, e.Entity, func(r *Branch) { r.ArchivedAt = since(p.On, e) })
		})
	}
	return reduce(data, func(p BranchCreated) error {
		s.Branches[e.Entity] = &Branch{
			CreatedAt: e.CreatedAt, ParentBranch: string(p.ParentBranch), ForkTurn: string(p.ForkTurn), ForkSeq: p.ForkSeq,
			BaseState: string(p.BaseState), BaseSeq: p.BaseSeq, HeadState: string(p.BaseState), HeadSeq: p.BaseSeq, Label: SumOfText(p.Label),
		}
		return nil
	})
}

func (s *State) stateCommitted(e Event, p StateCommitted) error {
	for _, id := range p.Turns {
		if s.Turns[string(id)] == nil {
			return fmt.Errorf("no earlier event made turn %s", id)
		}
	}
	err := on(s.Branches, string(p.BranchID), func(b *Branch) {
		b.HeadState, b.HeadSeq, b.Epoch = e.Entity, p.Seq, p.Epoch
	})
	if err != nil {
		return err
	}
	s.States[e.Entity] = &Checkpoint{
		BranchID: string(p.BranchID), Seq: p.Seq, ParentID: string(p.ParentID), CoversSeq: p.CoversSeq, Origin: string(p.Origin),
		Model: p.Model, Tokens: p.Tokens, CreatedAt: e.CreatedAt, Content: SumOfCheckpoint(p.Summary, p.PinnedFacts),
		Validation: SumOfRaw(p.Validation),
	}
	for _, id := range p.Turns {
		t := s.Turns[string(id)]
		t.Phase, t.StateAfter, t.UpdatedAt = string(chat.PhaseStateCommitted), e.Entity, e.CreatedAt
	}
	return nil
}

func (s *State) pinChanged(e Event, p PinChanged) error {
	s.Pins[e.Entity] = &Pin{
		BranchID: string(p.BranchID), AfterTurn: p.AfterTurn, Replaces: string(p.Replaces), Removed: e.Type == EventPinRemoved,
		Tokens: p.Tokens, CreatedAt: e.CreatedAt, Text: SumOfText(p.Text),
	}
	return nil
}

func (s *State) pinsMoved(e Event, p PinsMoved) error {
	order, err := chat.MarshalJSON(p.Pins)
	if err != nil {
		return err
	}
	s.PinOrders[e.Entity] = &PinOrder{BranchID: string(p.BranchID), AfterTurn: p.AfterTurn, CreatedAt: e.CreatedAt, Pins: SumOf(order)}
	return nil
}

// applyHistory replays what stands for turns in a prompt, how they are weighed, and
// documents. Types that no version so far writes change nothing.
func (s *State) applyHistory(e Event, data json.RawMessage) error {
	switch e.Type {
	case EventSummaryCreated:
		return reduce(data, func(p SummaryCreated) error {
			s.Summaries[e.Entity] = &Summary{
				BranchID: string(p.BranchID), From: p.From, To: p.To, Tokens: p.Tokens, OriginalTokens: p.OriginalTokens,
				GeneratedBy: p.GeneratedBy, CreatedAt: e.CreatedAt, Content: SumOfText(p.Content), Validation: SumOfRaw(p.Validation),
			}
			return nil
		})
	case EventSummarySuperseded:
		return reduce(data, func(p SummarySuperseded) error {
			return on(s.Summaries, e.Entity, func(r *Summary) { r.SupersededBy = p.By })
		})
	case EventCalibrationSet:
		return reduce(data, func(p CalibrationSet) error {
			s.Calibrations[p.Provider+"/"+p.ModelID] = &Calibration{Factor: p.Factor, Samples: p.Samples, Revision: p.Revision}
			return nil
		})
	case EventFileAdded:
		return reduce(data, func(p FileAdded) error { return s.fileAdded(e, p) })
	case EventContentErased:
		return reduce(data, s.erased)
	}
	return nil
}

func (s *State) fileAdded(e Event, p FileAdded) error {
	if s.Turns[string(p.TurnID)] == nil {
		return fmt.Errorf("no earlier event made turn %s", p.TurnID)
	}
	content, err := sumOfHex(p.SHA256)
	if err != nil {
		return err
	}
	words, err := sumOfHex(p.TextSHA256)
	if err != nil {
		return err
	}
	s.Files[e.Entity] = &File{TurnID: string(p.TurnID), MediaType: p.MediaType, Size: p.Size, Tokens: p.Tokens,
		Name: SumOfText(p.Name), Content: content, Text: words}
	return nil
}
