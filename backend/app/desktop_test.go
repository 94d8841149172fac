package app

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/desktop"
)

// A user who is not looking at the window is notified when an answer ends, with a fixed text unless they want to see
// the answer's. There is no notification if they are looking, stopped the answer themselves, or are in a temporary
// chat.
func TestNotificationsOfAnAnswersEnd(t *testing.T) {
	open := chat.Turn{Phase: chat.PhaseResponding}
	done := chat.Turn{Phase: chat.PhaseResponseFinalized, Outcome: chat.OutcomeCompleted,
		Assistant: &chat.Message{Blocks: chat.Blocks{chat.Text{Text: "The secret word"}}}}
	broken := chat.Turn{Phase: chat.PhaseResponding, Outcome: chat.OutcomeIncomplete}
	failed := chat.Turn{Phase: chat.PhaseFailed, Outcome: chat.OutcomeFailed}
	stopped := chat.Turn{Phase: chat.PhaseDone, Outcome: chat.OutcomeStopped}
	const ready = "Your answer is ready."
	for name, c := range map[string]struct {
		steps            []chat.Turn
		took             time.Duration
		visible, focused bool
		preview          bool
		want             []string
	}{
		"hidden, short":                       {steps: []chat.Turn{open, done}, took: time.Second, want: []string{ready}},
		"hidden, each once":                   {steps: []chat.Turn{open, open, done, done}, want: []string{ready}},
		"another session, short answer":       {steps: []chat.Turn{open, done}, took: longAnswer - 1, visible: true},
		"another session, long answer":        {steps: []chat.Turn{open, done}, took: longAnswer, visible: true, want: []string{ready}},
		"looking":                             {steps: []chat.Turn{open, done}, took: time.Hour, visible: true, focused: true},
		"hidden, interrupted":                 {steps: []chat.Turn{open, broken}, want: []string{"The answer was interrupted. The partial answer is kept."}},
		"hidden, tried again":                 {steps: []chat.Turn{open, broken, open, done}, want: []string{"The answer was interrupted. The partial answer is kept.", ready}},
		"hidden, failed":                      {steps: []chat.Turn{open, failed}, want: []string{"The answer failed."}},
		"hidden, stopped":                     {steps: []chat.Turn{open, stopped}},
		"an answer of an earlier run":         {steps: []chat.Turn{done}},
		"the answer's own words":              {steps: []chat.Turn{open, done}, preview: true, want: []string{"The secret word"}},
		"no preview of an interrupted answer": {steps: []chat.Turn{open, broken}, preview: true, want: []string{"The answer was interrupted. The partial answer is kept."}},
	} {
		t.Run(name, func(t *testing.T) {
			var notified []string
			var now time.Time
			var at int
			n := &answerNotifier{
				turn: func(context.Context, chat.TurnID) (chat.Turn, error) {
					step := c.steps[at]
					step.ID, step.SessionID = "t1", "s1"
					return step, nil
				},
				session: func(context.Context, chat.SessionID) (chat.Session, error) {
					return chat.Session{ID: "s1", Title: "A title"}, nil
				},
				watched: func() (bool, bool) { return c.visible, c.focused },
				preview: func() bool { return c.preview },
				notify: func(n desktop.Notice) {
					if n.Session != "s1" || n.Title != "A title" {
						t.Errorf("%+v", n)
					}
					notified = append(notified, n.Text)
				},
				now: func() time.Time { return now }, startedAt: map[chat.TurnID]time.Time{},
			}
			for at = range c.steps {
				n.check(t.Context(), "t1")
				now = now.Add(c.took)
			}
			if !reflect.DeepEqual(notified, c.want) {
				t.Errorf("notified %q, want %q", notified, c.want)
			}
			n.turn = func(context.Context, chat.TurnID) (chat.Turn, error) { return chat.Turn{}, errors.New("temporary") }
			n.check(t.Context(), "t2")
			if len(n.startedAt) != 0 {
				t.Errorf("%v is still tracked", n.startedAt)
			}
		})
	}
}
