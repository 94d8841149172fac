package turn_test

import (
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

const pause = `{"t":"pause"}`

// searched is the event of a provider's own tool call, before its result arrives.
var searched = event(wireEvent{T: "hosted", S: `{"type":"server_tool_use","id":"srv_1","name":"web_search"}`})

// An answer that its provider paused is continued in the turn's next step: it is sent back unchanged, without a new
// user message.
func TestAPausedAnswerIsContinued(t *testing.T) {
	w := newEnv(t)
	for _, part := range []string{"I look. ", "And further. "} {
		w.provider.script(call{events: []string{text(part), searched, pause}})
	}
	w.provider.script(call{events: []string{text("It rains."), done}})
	got := w.send("weather?")
	w.is(got, chat.PhaseResponseFinalized, chat.OutcomeCompleted, "I look. \n\nAnd further. \n\nIt rains.")
	sent := w.provider.requests()
	if len(sent) != 3 {
		t.Fatalf("%d requests", len(sent))
	}
	for i, want := range []int{0, 1, 2} {
		if n := strings.Count(sent[i], "srv_1"); n != want {
			t.Errorf("request %d contains %d blocks of the provider's tools: %s", i, n, sent[i])
		}
		if strings.Contains(sent[i], "Continue it exactly") || i > 0 && strings.LastIndex(sent[i], `"role":"user"`) > strings.LastIndex(sent[i], "I look. ") {
			t.Errorf("request %d asks for more: %s", i, sent[i])
		}
	}
	steps, err := w.store.Steps(t.Context(), got.ID)
	if err != nil || len(steps) != 3 || steps[0].Outcome.Reason != "pause_turn" || steps[2].Index != 2 || steps[2].Outcome.Status != chat.StepCompleted {
		t.Errorf("%+v, %v", steps, err)
	}
	w.clean()
}

// The steps limit of a turn also limits its pauses.
func TestPausesAreLimited(t *testing.T) {
	w := newEnv(t)
	w.settings.MaxSteps = 3
	for range 5 {
		w.provider.script(call{events: []string{text("Still. "), searched, pause}})
	}
	got := w.send("weather?")
	w.is(got, chat.PhaseResponseFinalized, chat.OutcomePaused, "Still. \n\nStill. \n\nStill. ")
	if n := len(w.provider.requests()); n != 3 {
		t.Errorf("%d requests", n)
	}
	w.clean()
}

// A kill right after a pause loses nothing: when the user continues, the answer is sent back unchanged.
func TestAKillAfterAPause(t *testing.T) {
	w, got := killed(t, text("I look. "), searched, pause)
	w.recover()
	w.is(w.reload(got.ID), chat.PhaseResponding, chat.OutcomeIncomplete, "I look. ")
	w.provider.script(call{events: []string{text("It rains."), done}})
	h, err := w.engine.Continue(t.Context(), got.ID, "")
	if err != nil {
		t.Fatal(err)
	}
	w.is(w.wait(h), chat.PhaseResponseFinalized, chat.OutcomeCompleted, "I look. \n\nIt rains.")
	if sent := w.provider.requests()[0]; !strings.Contains(sent, "srv_1") || strings.Contains(sent, "Continue it exactly") {
		t.Errorf("sent %s", sent)
	}
	w.clean()
}
