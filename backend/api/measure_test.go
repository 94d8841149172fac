package api

import (
	"testing"
	"time"

	"contextinfinity/backend/chat"
)

// Attempts at one call are measured from the start of the first to the end of the last. The time until the user decides
// to continue or retry does not count.
func TestMeasure(t *testing.T) {
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
	step := func(index, attempt, from, to int, status chat.StepStatus) chat.Step {
		end := at(to)
		return chat.Step{Index: index, Attempt: attempt, StartedAt: at(from), EndedAt: &end, Outcome: chat.StepOutcome{Status: status}}
	}
	partial := step(0, 1, 0, 50, chat.StepFailed)
	partial.DisplayedBytes = 3
	open := step(0, 2, 4000, 0, chat.StepRunning)
	open.EndedAt = nil
	for name, c := range map[string]struct {
		steps []chat.Step
		want  int64
	}{
		"none":                  {nil, 0},
		"one":                   {[]chat.Step{step(0, 1, 0, 50, chat.StepCompleted)}, 50},
		"retried automatically": {[]chat.Step{step(0, 1, 0, 50, chat.StepFailed), step(0, 2, 1050, 1100, chat.StepFailed), step(0, 3, 3900, 4000, chat.StepFailed)}, 4000},
		"continued later":       {[]chat.Step{step(0, 1, 0, 50, chat.StepFailed), step(1, 1, 90_000, 90_100, chat.StepCompleted)}, 150},
		"retried after a pause too long for an automatic retry": {[]chat.Step{step(0, 1, 0, 50, chat.StepFailed), step(0, 2, 90_000, 90_100, chat.StepCompleted)}, 150},
		"retried after part of the answer had arrived":          {[]chat.Step{partial, step(0, 2, 5000, 5100, chat.StepCompleted)}, 150},
		"still running": {[]chat.Step{step(0, 1, 0, 50, chat.StepFailed), open}, 4000},
	} {
		var v TurnView
		if v.measure(c.steps); v.DurationMs != c.want {
			t.Errorf("%s: %d ms, not %d", name, v.DurationMs, c.want)
		}
	}
}
