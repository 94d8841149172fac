package api

import (
	"context"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/prompt"
)

// Inspect shows and controls what is behind the conversation: pending turns, state summaries, pins, jobs, recovery, raw
// requests.
type Inspect struct{ c *Core }

// NewInspect returns the service.
func NewInspect(c *Core) *Inspect { return &Inspect{c} }

// Pending lists the branch's uncommitted turns, with the reason why each is pending.
func (s *Inspect) Pending(branchID string) ([]PendingView, error) {
	ctx := s.c.ctx()
	b, err := s.c.Sessions.Branch(ctx, chat.BranchID(branchID))
	if err != nil {
		return nil, err
	}
	turns, err := s.c.Store.PendingTurns(ctx, b.ID)
	if err != nil {
		return nil, err
	}
	return s.pending(ctx, b, turns)
}

// pending describes turns that were pending when they were read.
func (s *Inspect) pending(ctx context.Context, b chat.Branch, turns []chat.Turn) ([]PendingView, error) {
	head := chat.Say("head #%d %s", b.HeadSeq, chat.ShortID(b.HeadState))
	next := s.pendingInNext(ctx, b.ID)
	out := make([]PendingView, 0, len(turns))
	for _, t := range turns {
		job, _, err := s.c.Queue.JobFor(ctx, t.ID, chat.JobSummarizeTurn)
		if err != nil {
			return nil, err
		}
		if job.State == chat.JobDone || next.lacks(t) {
			t, err = s.c.Store.Turn(ctx, t.ID)
			if chat.CodeOf(err) == chat.CodeNotFound || err == nil && !t.Pending() {
				continue // committed or deleted since the list was read
			}
			if err != nil {
				return nil, err
			}
		}
		out = append(out, s.pendingView(ctx, head, t, job, len(out), next))
	}
	return out, nil
}

// pendingInNext describes what the next context does with the pending turns.
type pendingInNext struct {
	included map[string]bool // in full, by the id of the turn
	dropped  []int64         // left out because they do not fit
	known    bool            // false: the context cannot be assembled
}

// lacks reports whether the context neither contains a turn nor leaves it out: then the turn was committed before the
// context was read.
func (n pendingInNext) lacks(t chat.Turn) bool {
	return n.known && !n.included[string(t.ID)] && !slices.Contains(n.dropped, t.Seq)
}

func (s *Inspect) pendingInNext(ctx context.Context, branch chat.BranchID) pendingInNext {
	p, _, err := s.c.Turns.Preview(ctx, branch, "", chat.UserText(" "))
	if err != nil {
		return pendingInNext{}
	}
	m := p.Manifest()
	included := map[string]bool{}
	for _, sec := range m.Sections {
		if sec.Name != prompt.SectionPending {
			continue
		}
		for _, it := range sec.Items {
			included[it.ID] = true
		}
	}
	return pendingInNext{included: included, dropped: m.DroppedPending, known: true}
}

func (s *Inspect) pendingView(ctx context.Context, head chat.Phrase, t chat.Turn, job chat.Job, ahead int, next pendingInNext) PendingView {
	v := PendingView{
		TurnID: string(t.ID), Seq: t.Seq, Title: t.User.Title(), CreatedAt: ms(t.CreatedAt),
		Tokens: s.c.Counter.Count("", t.User.RenderedText()), InContext: next.included[string(t.ID)],
		LeftOut: slices.Contains(next.dropped, t.Seq), WaitsFor: head, Job: s.c.jobView(ctx, job),
	}
	if t.Assistant != nil {
		v.Tokens += s.c.Counter.Count("", t.Assistant.RenderedText())
	}
	v.Reason = whyPending(job, ahead, s.c.Jobs.Paused())
	return v
}

func whyPending(job chat.Job, ahead int, paused bool) string {
	switch {
	case job.State == chat.JobFailed:
		return "Summarizing failed too often. Retry it manually. Nothing is lost: until then the turn is sent in full."
	case job.State == chat.JobRunning:
		return "It is being summarized into the state now."
	case paused:
		return "Background work is paused. It is summarized when that is resumed; until then the turn is sent in full."
	case job.State == chat.JobDone:
		return "Its job is over but left no summary. The next reconciliation queues it again."
	case ahead > 0:
		return "It waits for the turn before it: turns are committed in order."
	case job.Attempts > 0:
		return "The last attempt failed and the next one is due soon."
	case job.ID == 0:
		return "Its job is missing and will be queued by the next reconciliation."
	}
	return "It is queued."
}

// CommitNow commits the branch's pending turns now.
func (s *Inspect) CommitNow(branchID string) error {
	_, err := s.c.Jobs.CommitPending(s.c.ctx(), chat.BranchID(branchID))
	s.c.Hub.Change(chat.Change{Kind: chat.ChangeJobs})
	return err
}

// State returns the State tab: head, history, pins.
func (s *Inspect) State(branchID string) (StatePanel, error) {
	var p StatePanel
	ctx := s.c.ctx()
	b, err := s.c.Sessions.Branch(ctx, chat.BranchID(branchID))
	if err != nil {
		return p, err
	}
	states, err := s.c.Inspecting.StatesOf(ctx, b)
	if err != nil {
		return p, err
	}
	p.History = make([]StateView, 0, len(states))
	for _, st := range states {
		v := stateView(st)
		if v.Head {
			p.Head = v
		} else {
			v.Summary = "" // the page requests the state summary that is opened
		}
		p.History = append(p.History, v)
	}
	if p.Pins, err = s.pins(ctx, b); err != nil {
		return p, err
	}
	for _, pin := range p.Pins {
		p.PinTokens += pin.Tokens
	}
	return p, s.ranges(ctx, &p, b)
}

// ranges sets the session's range summaries, which of them the next context contains, and the sizes of the state
// summary and the pins in it.
func (s *Inspect) ranges(ctx context.Context, p *StatePanel, b chat.Branch) error {
	p.Ranges = []RangeView{}
	all, next, err := s.c.Inspecting.SummariesOf(ctx, b)
	if err != nil {
		return err
	}
	if next != nil {
		p.Cut = next.History.Cut
		p.useSentSizes(*next)
	}
	for _, r := range all {
		p.Ranges = append(p.Ranges, RangeView{
			ID: r.ID, FromSeq: r.From, ToSeq: r.To - 1, Tokens: r.TokenCount, OriginalTokens: r.OriginalTokens, By: r.GeneratedBy,
			Content: r.Content, Validation: string(r.Validation), Orphan: r.SupersededBy != "", InUse: r.InUse, CreatedAt: ms(r.CreatedAt),
		})
	}
	slices.SortStableFunc(p.Ranges, func(a, b RangeView) int {
		if a.Orphan != b.Orphan {
			if a.Orphan {
				return 1
			}
			return -1
		}
		return int(a.FromSeq - b.FromSeq)
	})
	return nil
}

// useSentSizes sets the sizes of the state summary and the pins to those in the next request, which the X-ray shows:
// counted for its model, with their markup. The history keeps the stored sizes, which are comparable with each other.
func (p *StatePanel) useSentSizes(m prompt.Manifest) {
	for _, section := range m.Sections {
		switch {
		case section.Tokens == 0:
		case section.Name == prompt.SectionPinned:
			p.PinTokens = m.Budget.InModelTokens(section.Tokens)
		case section.Name == prompt.SectionState:
			p.Head.Tokens = m.Budget.InModelTokens(section.Tokens)
		}
	}
}

// StateByID returns one complete state.
func (s *Inspect) StateByID(stateID string) (StateView, error) {
	st, err := s.c.Inspecting.StateByID(s.c.ctx(), chat.StateID(stateID))
	return stateView(st), err
}

func (s *Inspect) pins(ctx context.Context, b chat.Branch) ([]PinView, error) {
	pins, err := s.c.Pins.Pins(ctx, b.ID)
	return lists.Map(pins, func(p chat.Pin) PinView { return pinView(p, b.ID) }), err
}

func pinView(p chat.Pin, branch chat.BranchID) PinView {
	return PinView{
		ID: string(p.ID), Text: p.Text, Position: p.Position, Tokens: p.Tokens, Version: max(1, p.Version),
		CreatedAt: ms(p.CreatedAt), Inherited: p.BranchID != branch,
	}
}

// AddPin pins a fact: it is sent verbatim with every request from now on.
func (s *Inspect) AddPin(branchID, text string) (PinView, error) {
	return s.pin(branchID, func(ctx context.Context, b chat.BranchID) (chat.Pin, error) { return s.c.Pins.Add(ctx, b, text) })
}

// EditPin creates a new version of a pinned fact; the old one is kept.
func (s *Inspect) EditPin(branchID, pinID, text string) (PinView, error) {
	return s.pin(branchID, func(ctx context.Context, b chat.BranchID) (chat.Pin, error) {
		return s.c.Pins.Edit(ctx, b, chat.PinID(pinID), text)
	})
}

func (s *Inspect) pin(branchID string, do func(context.Context, chat.BranchID) (chat.Pin, error)) (PinView, error) {
	p, err := do(s.c.ctx(), chat.BranchID(branchID))
	return pinView(p, chat.BranchID(branchID)), err
}

// RemovePin unpins a fact on this branch.
func (s *Inspect) RemovePin(branchID, pinID string) error {
	return s.c.Pins.Remove(s.c.ctx(), chat.BranchID(branchID), chat.PinID(pinID))
}

// MovePin moves a fact to a position, counted from 0.
func (s *Inspect) MovePin(branchID, pinID string, position int) error {
	return s.c.Pins.Move(s.c.ctx(), chat.BranchID(branchID), chat.PinID(pinID), position)
}
