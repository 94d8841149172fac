package turn_test

import (
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/turn"
)

// TestADefectEndsItsTurnAlone: a panic while an answer streams, or in reading it, leaves
// what had arrived, as a crash would; the next message goes on, nothing is left open.
func TestADefectEndsItsTurnAlone(t *testing.T) {
	boom := func(int) { panic("the user's secret words") }
	for name, c := range map[string]struct {
		call   call
		phase  chat.Phase
		out    chat.Outcome
		answer string
	}{
		"in the run, with text":    {call{events: []string{text("half")}, after: boom}, chat.PhaseResponding, chat.OutcomeIncomplete, "half"},
		"in the run, without text": {call{events: []string{`{"t":"ping"}`}, after: boom}, chat.PhaseFailed, chat.OutcomeFailed, ""},
		"in reading":               {call{events: []string{text("read "), `{"t":"panic"}`, text("unread"), done}}, chat.PhaseResponding, chat.OutcomeIncomplete, "read "},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.provider.script(c.call)
			got := w.send("hi")
			w.is(got, c.phase, c.out, c.answer)
			if got.Failure == nil || w.engine.Unsettled() != 0 || len(w.engine.Running()) != 0 {
				t.Errorf("failure %+v, %d unsettled", got.Failure, w.engine.Unsettled())
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
			if left, err := w.journals.List(); err != nil || len(left) != 0 {
				t.Errorf("journals are left: %v %v", left, err)
			}
			w.clean()
		})
	}
}
