package process

import (
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/test/harness"
)

// A turn with tools with each protocol of a third-party mock, which calls two unknown tools at once in each of three
// steps. Each call gets an error as its result, the model receives all results, and the conversation continues with
// every protocol.
func TestATurnContinuesAfterCallsOfUnknownTools(t *testing.T) {
	t.Parallel()
	config := harness.AimockModels(t) + "\n[tools]\nmode = \"enabled\"\n"
	for _, w := range harness.Wires {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			h := harness.NewHome(t, harness.Shipped(t), config)
			r := h.OK("send", "--new", "--json", "--model", w.Name, "Look it up. "+harness.Tag("tools", 3))
			s := r.Sent()
			if s.Outcome != chat.OutcomeCompleted || strings.Count(s.Text, "get_weather({") != 3 || strings.Count(s.Text, "files__search({") != 3 {
				t.Errorf("send: %+v", s)
			}
			for i, next := range harness.Wires {
				if s = h.OK("send", "--json", "--model", next.Name, "And now? "+harness.Tag("good", 500+i)).Sent(); s.Text != harness.AnswerTo(500+i) {
					t.Errorf("the next message, over %s: %+v", next.Name, s)
				}
			}
			h.Clean()
		})
	}
}
