package retrieval

import (
	"fmt"
	"slices"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/embedding/encoder"
)

var various = []string{
	"How do I boil an egg for exactly six minutes?", "Write a haiku about the sea in winter.", "The build fails with exit code 137 on the CI.",
	"What is the capital of Mongolia?", "Please translate 'good morning' to Portuguese.", "Explain the difference between TCP and UDP.",
}

// A conversation of a few messages has too few vectors to say what is usual. What is asked in other words is found in it all
// the same, and nothing is found for a question about something else.
func TestAYoungConversation(t *testing.T) {
	var weekly []string
	for i := range 72 {
		weekly = append(weekly, fmt.Sprintf("Please summarise weekly report number %d of the sales team.", i+1))
	}
	for name, said := range map[string][]string{
		"alone":                          nil,
		"among others":                   various,
		"among the same again and again": weekly[:24],
		"among the same, more often":     weekly,
	} {
		m := newMemory()
		m.embedder = encoder.New()
		const fact = "My dog Rex was at the vet today."
		for _, text := range append(slices.Clip(said), fact) {
			m.add(line{text: text})
		}
		for _, question := range []string{"do I own a pet?", "which animal do I have"} {
			if hits := find(t, m.engine(), Query{Text: question, Within: chat.Within{Branch: "b"}}).Hits; len(hits) == 0 || hits[0].Text != fact {
				t.Errorf("%s: %q finds %+v", name, question, hits)
			}
		}
		for _, question := range []string{"what is my favourite colour?", "how is the weather", "quantum chromodynamics", "thanks"} {
			if hits := find(t, m.engine(), Query{Text: question, Within: chat.Within{Branch: "b"}}).Hits; len(hits) > 0 {
				t.Errorf("%s: %q finds %q", name, question, hits[0].Text)
			}
		}
	}
}

// What answers a question is found again when the question is in memory itself, because it was asked before.
func TestAQuestionIsAskedAgain(t *testing.T) {
	const question, fact = "do I own a pet?", "My dog Rex was at the vet today."
	m := newMemory()
	m.embedder = encoder.New()
	m.add(line{text: fact})
	for _, text := range various {
		m.add(line{text: text})
	}
	similarity := func() float64 {
		for _, h := range find(t, m.engine(), Query{Text: question, Within: chat.Within{Branch: "b"}, Limit: 50}).Hits {
			if h.Text == fact {
				return h.Similarity
			}
		}
		return 0
	}
	first := similarity()
	m.add(line{text: question}, line{text: question})
	if again := similarity(); first < 0.99 || again < first-0.005 {
		t.Errorf("similarity %.3f, and %.3f when the question was asked before", first, again)
	}
}
