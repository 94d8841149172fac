package api

import (
	"context"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store"
)

// addAnswered adds a turn with a final answer, which no state summary covers yet.
func addAnswered(t *testing.T, s *store.Store, branch chat.BranchID, user string) chat.Turn {
	t.Helper()
	ctx := context.Background()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	turn, err := s.Accept(ctx, chat.Acceptance{BranchID: branch, User: chat.UserText(user), Provider: "p", Model: "m"})
	must(err)
	must(s.Prepare(ctx, chat.Preparation{TurnID: turn.ID, Manifest: []byte("{}")}))
	step, err := s.BeginStep(ctx, chat.StepStart{TurnID: turn.ID, Provider: "p", ModelID: "m", Request: []byte("{}"),
		StreamPath: func(id chat.StepID) string { return string(id) }})
	must(err)
	turn, err = s.Finalize(ctx, chat.Finalization{TurnID: turn.ID, Outcome: chat.OutcomeCompleted, Message: chat.AssistantText("ok"),
		Step: &chat.StepEnd{StepID: step.ID, Outcome: chat.StepOutcome{Status: chat.StepCompleted}}})
	must(err)
	return turn
}

// commitTurns commits turns with one state summary.
func commitTurns(t *testing.T, s *store.Store, branch chat.BranchID, turns ...chat.TurnID) {
	t.Helper()
	b, err := s.Branch(context.Background(), branch)
	if err == nil {
		_, err = s.Commit(context.Background(), chat.Commit{BranchID: b.ID, Epoch: b.Epoch, Turns: turns, Summary: "x", Origin: chat.StateFallback})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A turn that is committed while the list is read is not in it, and the next turn is the first.
func TestPendingWithoutTurnsCommittedMeanwhile(t *testing.T) {
	c, st, session := newTestChat(t)
	first, second := addAnswered(t, st, session.ActiveBranch, "One"), addAnswered(t, st, session.ActiveBranch, "Two")
	turns, err := st.PendingTurns(t.Context(), session.ActiveBranch)
	if err != nil || len(turns) != 2 {
		t.Fatal(turns, err)
	}
	commitTurns(t, st, session.ActiveBranch, first.ID) // as a worker does
	branch, err := st.Branch(t.Context(), session.ActiveBranch)
	if err != nil {
		t.Fatal(err)
	}
	list, err := NewInspect(c.c).pending(t.Context(), branch, turns)
	if err != nil || len(list) != 1 || list[0].TurnID != string(second.ID) {
		t.Fatalf("%+v, %v", list, err)
	}
	if p := list[0]; !p.InContext || p.LeftOut || p.Reason != "It is queued." {
		t.Errorf("%+v", p)
	}
}

// A turn is reported as left out only if it does not fit.
func TestPendingThatDoesNotFit(t *testing.T) {
	c, st, session := newTestChat(t)
	for range 8 {
		addAnswered(t, st, session.ActiveBranch, strings.Repeat("word ", 1000))
	}
	in := NewInspect(c.c)
	list, err := in.Pending(string(session.ActiveBranch))
	if err != nil || len(list) != 8 || list[0].InContext || !list[0].LeftOut || !list[7].InContext || list[7].LeftOut {
		t.Fatalf("%+v, %v", list, err)
	}
	long := strings.Repeat("rule ", 20000)
	if err := st.SetSessionSettings(context.Background(), session.ID, chat.SessionSettings{SystemPrompt: long}); err != nil {
		t.Fatal(err)
	}
	if list, err = in.Pending(string(session.ActiveBranch)); err != nil || list[7].InContext || list[7].LeftOut {
		t.Errorf("without a context: %+v, %v", list, err)
	}
}

// For each state of the job the reason is correct; a job that is done is not reported as failed.
func TestWhyPending(t *testing.T) {
	for _, test := range []struct {
		job    chat.Job
		ahead  int
		paused bool
		want   string
	}{
		{chat.Job{}, 0, false, "is missing"},
		{chat.Job{ID: 1, State: chat.JobQueued}, 0, false, "is queued"},
		{chat.Job{ID: 1, State: chat.JobQueued}, 1, false, "the turn before it"},
		{chat.Job{ID: 1, State: chat.JobQueued, Attempts: 1}, 0, false, "last attempt failed"},
		{chat.Job{ID: 1, State: chat.JobRunning, Attempts: 1}, 0, false, "being summarized"},
		{chat.Job{ID: 1, State: chat.JobFailed, Attempts: 8}, 0, false, "failed too often"},
		{chat.Job{ID: 1, State: chat.JobQueued}, 1, true, "is paused"},
		{chat.Job{}, 0, true, "is paused"},
		{chat.Job{ID: 1, State: chat.JobFailed, Attempts: 8}, 0, true, "failed too often"},
		{chat.Job{ID: 1, State: chat.JobDone, Attempts: 1}, 0, false, "left no summary"},
	} {
		if got := whyPending(test.job, test.ahead, test.paused); !strings.Contains(got, test.want) {
			t.Errorf("%+v: %q", test.job, got)
		}
	}
}

// Of the turns that the head covers, only the last is marked as the head.
func TestOnlyTheLastTurnOfTheHeadIsMarked(t *testing.T) {
	c, st, session := newTestChat(t)
	var ids []chat.TurnID
	var turns []chat.Turn
	for _, text := range []string{"One", "Two", "Three"} {
		ids = append(ids, addAnswered(t, st, session.ActiveBranch, text).ID)
	}
	commitTurns(t, st, session.ActiveBranch, ids[:2]...)
	for _, id := range ids {
		turn, err := st.Turn(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		turns = append(turns, turn)
	}
	b, err := st.Branch(t.Context(), session.ActiveBranch)
	if err != nil {
		t.Fatal(err)
	}
	views, err := c.c.turnViews(t.Context(), b, turns)
	if err != nil || len(views) != 3 || views[0].State != TurnCommitted || views[1].State != TurnHead || views[2].State != TurnPending {
		t.Errorf("%+v, %v", views, err)
	}
}
