package prompt

import (
	"reflect"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

// Facts returns the pinned facts as they are sent: complete, without secrets, those of the project first.
func TestFacts(t *testing.T) {
	c, err := Assemble(Input{
		Model: "m", Limits: Limits{ContextLimit: 100_000, MaxOutput: 1000}, Count: func(s string) int { return len(s) / 4 },
		Project: &Project{ID: "P", Facts: []chat.ProjectFact{{ID: "F", Text: "- one\n  two\n\nthree"}}},
		Pins:    []chat.Pin{{ID: "P1", Text: "The door code is 4711."}},
		Redact:  func(s string) (string, []Redaction) { return strings.ReplaceAll(s, "4711", "[code]"), nil },
		Current: chat.UserText("Hello"),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []Fact{{Text: "- one\n  two\n\nthree", Project: true}, {Text: "The door code is [code]."}}
	if got := c.Facts(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
