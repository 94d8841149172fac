package jobs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store"
)

// memory implements the part of a store that the runner needs, without a disk: one branch with state
// summaries, range summaries and jobs, and the rules of the store. A long conversation then takes only seconds; other tests use the
// real store.
type memory struct {
	*store.Store // nil: a call of a method that is not implemented here panics

	mu        sync.Mutex
	branch    chat.Branch
	states    []chat.State
	covers    map[chat.StateID]int64
	turns     []chat.Turn
	pins      []chat.Pin
	jobs      []chat.Job
	summaries []chat.RangeSummary
}

func newMemory() *memory {
	m := &memory{covers: map[chat.StateID]int64{"s0": 0}}
	m.states = []chat.State{{ID: "s0", Origin: chat.StateRoot}}
	m.branch = chat.Branch{ID: "b", SessionID: "x", HeadState: "s0", BaseState: "s0"}
	return m
}

func (m *memory) enqueue(kind chat.JobType, t chat.Turn, from int64) bool {
	if slices.ContainsFunc(m.jobs, func(j chat.Job) bool { return j.Type == kind && j.TurnID == t.ID && j.FromSeq == from }) {
		return false
	}
	m.jobs = append(m.jobs, chat.Job{ID: int64(len(m.jobs) + 1), Type: kind, BranchID: "b", SessionID: "x", TurnID: t.ID, FromSeq: from, State: chat.JobQueued})
	return true
}

func (m *memory) addTurn(user, answer string) chat.Turn {
	a := chat.AssistantText(answer)
	t := chat.Turn{
		ID: chat.TurnID(fmt.Sprint("t", len(m.turns)+1)), SessionID: "x", BranchID: "b", Seq: int64(len(m.turns) + 1), Phase: chat.PhaseResponseFinalized,
		Outcome: chat.OutcomeCompleted, User: chat.UserText(user), Assistant: &a, Provider: "p", Model: "m",
	}
	m.turns = append(m.turns, t)
	m.enqueue(chat.JobSummarizeTurn, t, 0)
	return t
}

func (m *memory) ClaimJob(_ context.Context, _ time.Duration, types ...chat.JobType) (chat.Job, bool, error) {
	for _, kind := range types {
		for i := len(m.jobs) - 1; i >= max(0, len(m.jobs)-50); i-- { // older ones are done
			if j := &m.jobs[i]; j.Type == kind && j.State == chat.JobQueued {
				j.State, j.Attempts = chat.JobRunning, j.Attempts+1
				return *j, true, nil
			}
		}
	}
	return chat.Job{}, false, nil
}

// NextJob returns none: no job fails here, so none waits.
func (*memory) NextJob(context.Context, ...chat.JobType) (time.Duration, bool, error) {
	return 0, false, nil
}

// JobFor returns none: there is no other worker.
func (*memory) JobFor(context.Context, chat.TurnID, chat.JobType) (chat.Job, bool, error) {
	return chat.Job{}, false, nil
}

func (m *memory) TurnFiles(context.Context, chat.TurnID) ([]chat.FileText, error) { return nil, nil }

func (m *memory) FinishJob(_ context.Context, h chat.Lease) error {
	m.jobs[h.Job-1].State = chat.JobDone
	return nil
}

func (m *memory) FailJob(_ context.Context, h chat.Lease, why chat.Phrase, _ time.Duration) (chat.Job, error) {
	j := &m.jobs[h.Job-1]
	j.State, j.LastError = chat.JobFailed, why.String() // the simulated store never fails
	return *j, nil
}

func (m *memory) PostponeJob(_ context.Context, h chat.Lease, _ time.Duration) error {
	m.jobs[h.Job-1].State = chat.JobQueued
	return nil
}

func (m *memory) turn(id chat.TurnID) *chat.Turn {
	i := slices.IndexFunc(m.turns, func(t chat.Turn) bool { return t.ID == id })
	return &m.turns[i]
}

func (m *memory) Session(context.Context, chat.SessionID) (chat.Session, error) {
	return chat.Session{}, nil
}

func (m *memory) Turn(_ context.Context, id chat.TurnID) (chat.Turn, error) { return *m.turn(id), nil }

func (m *memory) Branch(context.Context, chat.BranchID) (chat.Branch, error) { return m.branch, nil }

func (m *memory) State(_ context.Context, id chat.StateID) (chat.State, error) {
	var n int
	_, err := fmt.Sscanf(string(id), "s%d", &n)
	return m.states[n], err
}

func (m *memory) StateTurnSeq(_ context.Context, id chat.StateID) (int64, error) {
	return m.covers[id], nil
}

func (m *memory) Pins(context.Context, chat.BranchID) ([]chat.Pin, error) { return m.pins, nil }

func (m *memory) PendingTurns(context.Context, chat.BranchID) ([]chat.Turn, error) {
	return slices.Clone(m.turns[m.covers[m.branch.HeadState]:]), nil
}

func (m *memory) Lineage(_ context.Context, q chat.LineageQuery) ([]chat.Turn, error) {
	return slices.Clone(m.turns[q.FromSeq-1 : q.ToSeq]), nil
}

func (m *memory) Commit(_ context.Context, c chat.Commit) (chat.State, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	covers := m.covers[m.branch.HeadState]
	for i, id := range c.Turns {
		if c.Epoch != m.branch.Epoch || m.turns[covers+int64(i)].ID != id {
			return chat.State{}, chat.Errorf(chat.CodeConflict, "memory.commit", "lost")
		}
	}
	st := chat.State{
		ID: chat.StateID(fmt.Sprint("s", len(m.states))), Seq: int64(len(m.states)), ParentID: m.branch.HeadState, Summary: c.Summary,
		PinnedFacts: c.PinnedFacts, TokenCount: c.TokenCount, Origin: c.Origin, Model: c.Model, Validation: c.Validation,
	}
	m.states = append(m.states, st)
	m.covers[st.ID] = covers + int64(len(c.Turns))
	m.branch.HeadState, m.branch.HeadSeq, m.branch.Epoch = st.ID, st.Seq, m.branch.Epoch+1
	for _, id := range c.Turns {
		t := m.turn(id)
		t.Phase, t.StateAfter = chat.PhaseStateCommitted, st.ID
		m.enqueue(chat.JobIndexTurn, *t, 0)
		for i := range m.jobs[max(0, len(m.jobs)-50):] {
			if j := &m.jobs[max(0, len(m.jobs)-50)+i]; j.TurnID == id && j.Type == chat.JobSummarizeTurn {
				j.State = chat.JobDone
			}
		}
	}
	return st, nil
}

func (m *memory) Index(_ context.Context, i chat.Indexing) error {
	m.turn(i.TurnID).Phase = chat.PhaseDone
	return m.FinishJob(context.Background(), i.Job)
}

func (m *memory) Summaries(context.Context, chat.BranchID) ([]chat.RangeSummary, error) {
	live := slices.DeleteFunc(slices.Clone(m.summaries), func(s chat.RangeSummary) bool { return s.SupersededBy != "" })
	slices.SortStableFunc(live, func(a, b chat.RangeSummary) int { return int(a.From - b.From) })
	return live, nil
}

func (m *memory) AddSummary(_ context.Context, n chat.NewSummary) (chat.RangeSummary, error) {
	if n.TokenCount >= n.OriginalTokens || n.Content == "" {
		return chat.RangeSummary{}, chat.Errorf(chat.CodeInvalid, "memory.summary", "it does not reduce")
	}
	s := chat.RangeSummary{
		ID: fmt.Sprint("r", len(m.summaries)), BranchID: n.BranchID, From: n.From, To: n.To, Content: n.Content, TokenCount: n.TokenCount,
		OriginalTokens: n.OriginalTokens, GeneratedBy: n.GeneratedBy,
	}
	for i := range m.summaries {
		if slices.Contains(n.Supersedes, m.summaries[i].ID) {
			m.summaries[i].SupersededBy = s.ID
		}
	}
	m.summaries = append(m.summaries, s)
	return s, m.FinishJob(context.Background(), n.Job)
}

func (*memory) PreviousManifest(context.Context, chat.BranchID, int64) (json.RawMessage, chat.TurnID, error) {
	return nil, "", nil
}
