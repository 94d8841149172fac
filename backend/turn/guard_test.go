package turn_test

import (
	"strconv"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/turn"
)

// TestAPanicEndsOnlyItsTurn: a panic while an answer streams or is decoded leaves the text that had arrived, like a
// crash; the next message can be sent, and nothing stays open.
func TestAPanicEndsOnlyItsTurn(t *testing.T) {
	boom := func(int) { panic("the user's secret words") }
	for name, c := range map[string]struct {
		call   call
		phase  chat.Phase
		out    chat.Outcome
		answer string
	}{
		"in the run, with text":    {call{events: []string{text("half")}, after: boom}, chat.PhaseResponding, chat.OutcomeIncomplete, "half"},
		"in the run, without text": {call{events: []string{`{"t":"ping"}`}, after: boom}, chat.PhaseFailed, chat.OutcomeFailed, ""},
		"while reading":            {call{events: []string{text("read "), `{"t":"panic"}`, text("unread"), done}}, chat.PhaseResponding, chat.OutcomeIncomplete, "read "},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			w.provider.script(c.call)
			got := w.send("hi")
			w.is(got, c.phase, c.out, c.answer)
			if got.Failure == nil || w.engine.Unsaved() != 0 || len(w.engine.Running()) != 0 {
				t.Errorf("failure %+v, %d unsaved", got.Failure, w.engine.Unsaved())
			}
			if got.Incomplete() {
				if _, err := w.engine.Keep(t.Context(), got.ID); err != nil {
					t.Fatal(err)
				}
			}
			h, err := w.engine.Send(t.Context(), turn.Message{Branch: w.branch.ID, Content: chat.UserText("next")})
			if err != nil {
				t.Fatal(err)
			}
			w.is(w.wait(h), chat.PhaseResponseFinalized, chat.OutcomeCompleted, "ok")
			if journals, err := w.journals.List(); err != nil || len(journals) != 0 {
				t.Errorf("journals are left: %v %v", journals, err)
			}
			w.clean()
		})
	}
}

// TestImpossibleUsageIsDropped: impossible numbers are dropped, with a reason, from the turn, its step, its metrics and
// the calibration; the answer is kept.
func TestImpossibleUsageIsDropped(t *testing.T) {
	for name, c := range map[string]struct{ reported, reason string }{
		"negative":                      {`{"output_tokens":-5}`, "negative"},
		"more than the window":          {`{"input_tokens":900000}`, "more than the"},
		"answer longer than the window": {`{"output_tokens":900000}`, "more than the"},
		"absurd count of cached tokens": {`{"cached_input_tokens":4611686018427387904}`, "more than the"},
		"a plausible count":             {`{"input_tokens":11}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			w.provider.script(call{events: []string{text("fine"), done, `{"t":"usage","s":` + strconv.Quote(c.reported) + `}`}})
			got := w.send("hi")
			w.is(got, chat.PhaseResponseFinalized, chat.OutcomeCompleted, "fine")
			steps, err := w.store.Steps(t.Context(), got.ID)
			if err != nil || len(steps) != 1 {
				t.Fatal(steps, err)
			}
			for _, u := range []*chat.Usage{got.Usage, steps[0].Usage} {
				if c.reason == "" {
					if u == nil || u.InputTokens != 11 || u.DroppedBecause != "" {
						t.Errorf("%+v", u)
					}
					continue
				}
				if u == nil || !strings.Contains(u.DroppedBecause, c.reason) || *u != (chat.Usage{DroppedBecause: u.DroppedBecause, DroppedWords: u.DroppedWords}) {
					t.Errorf("%+v", u)
				}
			}
		})
	}
}
