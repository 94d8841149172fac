package retrieval

import (
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

// TestCompoundsAreFound: a question with a part of a compound word, or with a longer word, finds the word.
func TestCompoundsAreFound(t *testing.T) {
	m := chatter()
	m.add(line{seq: 40, text: "Zuerst wird die Kellerdecke mit Wolle belegt."}, line{seq: 50, text: "Danach kommt die Heizung heraus."},
		line{seq: 60, text: "The whiteboards are delivered in spring."})
	for query, want := range map[string]string{"Was ist mit dem Keller?": "Kellerdecke", "Und die alte Ölheizung?": "Heizung", "Whiteboards": "whiteboards"} {
		res := find(t, m.engine(), Query{Text: query, Within: chat.Within{Branch: "b"}})
		if len(res.Hits) == 0 || !strings.Contains(res.Hits[0].Text, want) || res.Hits[0].Keyword != 1 {
			t.Errorf("%q: %+v", query, res.Hits)
		}
	}
	for term, want := range map[string]int{"kellern": 0, "kell": 0, "decke": 0, "heiz": 0, "wherever": 0} {
		found, err := m.engine().compounds(t.Context(), term, len(m.units))
		if err != nil || len(found) != want {
			t.Errorf("%q: %v %v: endings, short parts and other words are not compounds", term, found, err)
		}
	}
	m.fail["Vocabulary"] = errBroken
	if _, err := m.engine().compounds(t.Context(), "keller", 100); err == nil {
		t.Error("an error was lost")
	}
}

// TestCharactersReplacePairs: single characters replace only pairs that memory does not contain, and characters that
// say nothing about a subject are never used.
func TestCharactersReplacePairs(t *testing.T) {
	m := chatter()
	m.add(line{seq: 40, text: "集"}, line{seq: 41, text: "度"}, line{seq: 42, text: "的"}, line{seq: 43, text: "周"})
	terms, freq := []string{"赶集", "集的", "周五", "weekday", "猫"}, map[string]int{"周五": 1}
	single, err := m.engine().singleCharacters(t.Context(), terms, freq, len(m.units))
	if err != nil || len(single) != 1 || single[0] != (chat.TermCount{Term: "集", Units: 1}) {
		t.Errorf("%v %v", single, err)
	}
	m.fail["TermFrequencies"] = errBroken
	if _, err := m.engine().singleCharacters(t.Context(), terms, freq, 100); err == nil {
		t.Error("an error was lost")
	}
}
