package intent_test

import (
	"testing"

	"contextinfinity/backend/internal/intent"
)

func TestOf(t *testing.T) {
	cases := map[string]struct {
		kind        intent.Kind
		isStatement bool
	}{
		"We decided on SQLite.":            {intent.Decision, true},
		"OK, let’s go with Postgres then.": {intent.Decision, true},
		"Wir haben uns entschieden.":       {intent.Decision, true},
		"Se acordó: usaremos Kafka.":       {intent.Decision, true},
		"Мы решили взять Go.":              {intent.Decision, true},
		"我们决定用 Redis。":                     {intent.Decision, true},
		"We must never log keys.":          {intent.Constraint, true},
		"TODO: we decided to test it.":     {intent.Task, true}, // open tasks take precedence
		"My name is Ana.":                  {intent.Fact, true},
		"Tom hat am 2. Mai Geburtstag.":    {"", true}, // Italian "mai" is "never"
		"Anna est née le 2 mai.":           {"", true},
		"Non usare mai le tabelle.":        {intent.Constraint, true},
		"Mai usare tabelle.":               {intent.Constraint, true},
		"The sky is blue.":                 {"", true},
		"Have we decided?":                 {"", false},
		"Agreed":                           {"", false},
		"undecided people everywhere":      {"", true},
		"":                                 {"", false},
	}
	for sentence, want := range cases {
		if kind, isStatement := intent.Of(sentence); kind != want.kind || isStatement != want.isStatement {
			t.Errorf("%q: %q, %v; want %q, %v", sentence, kind, isStatement, want.kind, want.isStatement)
		}
	}
}
