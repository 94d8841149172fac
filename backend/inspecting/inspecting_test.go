package inspecting

import (
	"testing"

	"contextinfinity/backend/prompt"
	"contextinfinity/backend/retrieval"
)

// TestReasonsUseOnlyTheQuestion: the numbers in an attached table are not part of the question, and the
// time in front of a passage is not part of its text.
func TestReasonsUseOnlyTheQuestion(t *testing.T) {
	text := func(source, text string) prompt.Text {
		return prompt.Text{Part: prompt.Part{Source: source}, Text: text}
	}
	question, passages := splitItems([]prompt.Text{
		text("chunk", "#18 19:18 user: The oven is called Hildegard."),
		text("chunk", "#1 19:28 user: The dog is called Bello."),
		text("message", "<document name=\"table.xlsx\">\n| 19 | 18 | 1 | 28 |\n</document>Which dog did I mention?"),
	})
	for i, want := range []string{"next to a passage that matches", "matched: dog"} {
		if got := retrieval.MatchOf(question, passages[i], prompt.Part{}, 1).String(); got != want {
			t.Errorf("%q: %q, want %q", passages[i], got, want)
		}
	}
}
