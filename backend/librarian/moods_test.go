package librarian_test

import (
	"fmt"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/librarian"
)

// Hopes and fears of the user are not constraints, but a demand in the same sentence is.
func TestMoodsAreNotConstraints(t *testing.T) {
	for sentence, want := range map[string]bool{
		"I'm a bit worried that we must not be late again.":                     false,
		"I’m worried I don't want to look unprepared in front of the board.":    false,
		"I hope the visa office must not see the old form.":                     false,
		"We're really hoping that we never have to move again.":                 false,
		"Hopefully it must not be paid before the summer.":                      false,
		"Ich hoffe, dass wir nicht mehr umziehen müssen.":                       false,
		"If the plan fails, I can always adjust the hours of the course.":       false,
		"The copied criterion doesn't always work for these triangles.":         false,
		"I hope this helps, but the tests must never touch the live database.":  true,
		"I'm worried about the keys, so never log an API key.":                  true,
		"The report must not exceed 12 pages.":                                  true,
		"We hope to grow; passwords must be hashed with bcrypt in any case.":    true,
		"I don't want any cookies on the start page.":                           true,
		"You must always answer in metric units, and I hope that is no burden.": true,
	} {
		sum := librarian.Parse(librarian.Fallback(librarian.Update{Turns: []chat.Turn{turn(sentence, "Noted.")}}).Summary)
		if got := len(sum.Entries(librarian.Constraints)) > 0; got != want {
			t.Errorf("%q: constraints %q, facts %q", sentence, sum.Entries(librarian.Constraints), sum.Entries(librarian.Facts))
		}
	}
}

// A fragment of a sentence is not a constraint; a complete clause is.
func TestFragmentsAreNotConstraints(t *testing.T) {
	for sentence, want := range map[string]bool{
		"I've also installed the required packages using pip:":                                                 false,
		"Could you review my Flask login, as well as the loader, ensuring that sessions must never be shared?": false,
		"× 343/365 ≈ 0.493, and the result must be subtracted from one.":                                       false,
		"ensuring that all tests must pass":                                                                    false,
		"which must be rotated every month":                                                                    false,
		"make sure that the log never holds a key":                                                             true,
		"nothing must be written outside the data directory":                                                   true,
		"Which means: keys must never be logged.":                                                              true,
		"logging must never contain keys":                                                                      true,
		"deploying on fridays is forbidden":                                                                    true,
		"using tabs is not allowed":                                                                            true,
		"and storing passwords in plain text is forbidden":                                                     true,
		"making it clear that keys must never be logged":                                                       false,
		"keeping in mind that the build must never take an hour":                                               false,
		"so using fixtures that must never change":                                                             false,
		"always answer in metric units":                                                                        true,
	} {
		sum := librarian.Parse(librarian.Fallback(librarian.Update{Turns: []chat.Turn{turn(sentence, "Noted.")}}).Summary)
		if got := len(sum.Entries(librarian.Constraints)) > 0; got != want {
			t.Errorf("%q: constraints %q", sentence, sum.Entries(librarian.Constraints))
		}
	}
}

// From the assistant's code, only addresses, paths, settings and what the user asked for by name are remembered; not
// every function, member and label in it.
func TestSnippetsOfTheAssistant(t *testing.T) {
	var code strings.Builder
	for i := range 20 {
		fmt.Fprintf(&code, "def helper_number%d(x):\n    self.style%d.width = \"auto\"\n", i, i)
	}
	answer := "Here it is:\n```python\n" + code.String() + "MAX_RETRIES = 5\ndef parse_invoice(path):\n    return open(\"data/invoices.csv\")\n```\n" +
		"Then choose `Insert Citation`, set `role=\"button\"`, and use `<link rel=\"preload\">`; call `run_migrations()` once."
	sum := librarian.Parse(librarian.Fallback(librarian.Update{Turns: []chat.Turn{turn("Please write parse_invoice for me.", answer)}}).Summary)
	got := strings.Join(sum.Entries(librarian.Artifacts), " | ")
	for _, name := range []string{"MAX_RETRIES = 5", "parse_invoice", "data/invoices.csv", "run_migrations"} {
		if !strings.Contains(strings.ReplaceAll(got, `\`, ""), name) {
			t.Errorf("%q is not remembered: %s", name, got)
		}
	}
	for _, noise := range []string{"helper_number", "style", "Insert Citation", "role", "preload"} {
		if strings.Contains(got, noise) {
			t.Errorf("%q is remembered: %s", noise, got)
		}
	}
}
