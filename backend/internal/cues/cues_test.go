package cues_test

import (
	"testing"

	"contextinfinity/backend/internal/cues"
)

func TestOf(t *testing.T) {
	cases := map[string]struct {
		kind   cues.Kind
		states bool
	}{
		"We decided on SQLite.":            {cues.Decision, true},
		"OK, let’s go with Postgres then.": {cues.Decision, true},
		"Wir haben uns entschieden.":       {cues.Decision, true},
		"Se acordó: usaremos Kafka.":       {cues.Decision, true},
		"Мы решили взять Go.":              {cues.Decision, true},
		"我们决定用 Redis。":                     {cues.Decision, true},
		"We must never log keys.":          {cues.Constraint, true},
		"TODO: we decided to test it.":     {cues.Task, true}, // an open task first
		"My name is Ana.":                  {cues.Fact, true},
		"The sky is blue.":                 {"", true},
		"Have we decided?":                 {"", false},
		"Agreed":                           {"", false},
		"undecided people everywhere":      {"", true},
		"":                                 {"", false},
	}
	for sentence, want := range cases {
		if kind, states := cues.Of(sentence); kind != want.kind || states != want.states {
			t.Errorf("%q: %q, %v; want %q, %v", sentence, kind, states, want.kind, want.states)
		}
	}
}
