package retrieval

import (
	"fmt"
	"strings"
	"testing"
)

// planned is a conversation with one reply whose paragraphs together answer the question, among many short mentions of
// its subject. Only the first paragraph names the subject.
func planned() (m *memory, paragraphs []string) {
	m = chatter()
	m.serving = false
	paragraphs = []string{
		"I recommend structuring the kiln firing in four stages, each with a pause, so that nothing cracks on the way up.",
		"Begin on Friday evening with an hour of candling, the door ajar by a finger, until no more steam can be seen.",
		"Then close the door and climb by sixty degrees an hour, which takes until after midnight; sleep beside the alarm.",
		"On Saturday hold the peak for twenty minutes and watch the cones instead of the display, which reads too high.",
		"Afterwards let it cool untouched for a whole day, and open the lid only when a hand can rest on the bricks.",
	}
	m.exchange(40, "How should the weekend go?", strings.Join(paragraphs, "\n\n"))
	for i := range 40 {
		m.exchange(int64(60+2*i), fmt.Sprintf("Kiln firing number %d went well, with shelf %d full.", i, i+7), fmt.Sprintf("Good to hear that the kiln firing of shelf %d went well.", i+7))
	}
	return m, paragraphs
}

func packedParagraphs(t *testing.T, query string, budget int) int {
	t.Helper()
	m, paragraphs := planned()
	var packed strings.Builder
	for _, a := range find(t, m.engine(), Query{Text: query, MaxTokens: budget}).Artifacts {
		packed.WriteString(a.Text + "\n")
	}
	n := 0
	for _, p := range paragraphs {
		if strings.Contains(packed.String(), p) {
			n++
		}
	}
	return n
}

// TestABestReplyIsPackedCompletely: a question about a recommendation is answered with the complete recommendation,
// unless that takes too much of the budget.
func TestABestReplyIsPackedCompletely(t *testing.T) {
	const query = "How did you recommend structuring the kiln firing?"
	if n := packedParagraphs(t, query, 800); n != 5 {
		t.Errorf("%d of 5 paragraphs are packed into 800 tokens", n)
	}
	if n := packedParagraphs(t, query, 300); n == 0 || n == 5 {
		t.Errorf("%d of 5 paragraphs are packed into 300 tokens", n)
	}
	if n := packedParagraphs(t, "How many shelves did I say were full at the kiln firing?", 800); n == 5 {
		t.Error("the reply is packed completely, although the question asks for the user's words")
	}
}

// TestLargerBudgetsReachFurther: passages near a match are packed once there is space for the matches themselves.
func TestLargerBudgetsReachFurther(t *testing.T) {
	s := Measured()
	small, medium, large, huge := s.effective(1500), s.effective(5000), s.effective(6000), s.effective(50000)
	if small.nearbyBest != s.nearbyBest || medium.nearbyBest <= small.nearbyBest || large.nearbyBest <= medium.nearbyBest || huge.nearbyBest != large.nearbyBest {
		t.Errorf("%g, %g, %g, %g", small.nearbyBest, medium.nearbyBest, large.nearbyBest, huge.nearbyBest)
	}
}
