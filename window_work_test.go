package main

import (
	"testing"

	"contextinfinity/backend/api"
	"contextinfinity/backend/chat"
)

// TestWindowPausesBackgroundWork: paused, a conversation goes on and nothing of it is
// summarized or indexed, not after a restart either; resumed, all of it is.
func TestWindowPausesBackgroundWork(t *testing.T) {
	dir := t.TempDir()
	p := openPage(t, dir)
	if err := p.settings.FinishFirstRun("recall"); err != nil {
		t.Fatal(err)
	}
	first := p.say(api.SendRequest{Text: "We decided to deploy Orders on Sunday at 05:00."})
	if b := must[api.Background](t)(p.work.Pause(true)); !b.Paused {
		t.Fatalf("%+v", b)
	}
	second := must[api.SendResult](t)(p.chat.Send(api.SendRequest{SessionID: first.SessionID, Text: "When do we deploy Orders?"}))
	final := func(p *page) bool {
		v, err := p.sessions.Turn(second.BranchID, second.TurnID)
		return err == nil && v.Phase == string(chat.PhaseResponseFinalized)
	}
	p.eventually("the answer did not end", func() bool { return final(p) })
	p.window.Close()

	again := openPage(t, dir)
	if b := must[api.Background](t)(again.work.Background()); !b.Paused || b.Queued == 0 {
		t.Fatalf("after a restart: %+v", b)
	}
	if !final(again) {
		t.Error("paused, the turn was worked on")
	}
	if b := must[api.Background](t)(again.work.Pause(false)); b.Paused {
		t.Fatalf("%+v", b)
	}
	again.eventually("resumed, it did not go on", func() bool {
		v, err := again.sessions.Turn(second.BranchID, second.TurnID)
		return err == nil && v.Phase == string(chat.PhaseDone)
	})
	if list := must[[]api.TaskView](t)(again.work.Tasks()); len(list) != 0 {
		t.Errorf("nobody began long work, and there is %+v", list)
	}
}
