package retrieval

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
)

func TestEditDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b    string
		similar bool
	}{
		{"faheem", "fahim", true},
		{"fahim", "faheem", true},
		{"jhon", "john", true},
		{"katharine", "katherine", true},
		{"kubernets", "kubernetes", true},
		{"müller", "mueller", true},
		{"postgers", "postgres", true},
		{"rechnungen", "rechnung", true},
		{"rechnungs", "rechnungen", true},
		{"maisons", "maison", true},
		{"anna", "adam", false},
		{"mark", "mail", false},
		{"parse", "horse", false},
		{"configure", "confident", false},
		{"contract", "contrast", true}, // an unavoidable error, but only for words that memory does not contain
		{"planning", "platform", false},
		{"test", "testament", false},
	} {
		if _, ok := editDistance([]rune(tt.a), []rune(tt.b)); ok != tt.similar {
			t.Errorf("%s and %s: %v", tt.a, tt.b, ok)
		}
	}
}

// TestMisspeltNamesAreFound: misspelt names are found by words.
func TestMisspeltNamesAreFound(t *testing.T) {
	m := chatter()
	m.add(line{seq: 40, text: "Fahim starts in the warehouse on Monday."}, line{seq: 41, text: "Die Rechnung von Kowalczyk ist offen."})
	for query, want := range map[string]string{
		"When does Faheem start?": "Fahim", "Kowalcyzk": "Kowalczyk", "Rechnungen?": "Kowalczyk",
	} {
		res := find(t, m.engine(), Query{Text: query, Within: chat.Within{Branch: "b"}})
		if len(res.Hits) == 0 || !strings.Contains(res.Hits[0].Text, want) || res.Hits[0].Keyword != 1 {
			t.Errorf("%q: %+v", query, res.Hits)
		}
	}
}

func TestMisspeltSpeakersAreNamed(t *testing.T) {
	m := chatter()
	m.add(line{seq: 40, speaker: "Nadia", text: "The marathon was hard, said Fahim."}, line{seq: 41, speaker: "Fahim", text: "The marathon was easy, Nadia."})
	res := find(t, m.engine(), Query{Text: "Faheem and the marathon", Within: chat.Within{Branch: "b"}})
	if len(res.Hits) == 0 || res.Hits[0].Speaker != "Fahim" {
		t.Errorf("%+v", res.Hits)
	}
}

// TestGuessesAreFewAndOnlyForUnknownWords: words that memory contains are not changed.
func TestGuessesAreFewAndOnlyForUnknownWords(t *testing.T) {
	known := []chat.TermCount{
		{Term: "contrast", Units: 9},
		{Term: "contract", Units: 3},
		{Term: "contracts", Units: 2},
		{Term: "contrary", Units: 1},
		{Term: "contrasted", Units: 400},
		{Term: "4711", Units: 1},
	}
	names := lists.Map(closest("contrast", known, 0, 1000), func(c chat.TermCount) string { return c.Term })
	if !slices.Equal(names, []string{"contract", "contracts"}) {
		t.Errorf("%q: the form itself and common words are not guesses", names)
	}
	m := chatter()
	m.add(line{seq: 40, text: "Fahim is here."}, line{seq: 41, text: "Faheem is there."})
	for _, h := range find(t, m.engine(), Query{Text: "Faheem", Within: chat.Within{Branch: "b"}}).Hits {
		if h.BM25 > 0 && !strings.Contains(h.Text, "Faheem") {
			t.Errorf("an equally frequent word was corrected: %+v", h)
		}
	}
	find(t, m.engine(), Query{Text: "garden", Within: chat.Within{Branch: "b"}})
	if m.calls["Vocabulary"] != 1 {
		t.Error("the vocabulary was searched for words similar to a frequent one")
	}
	// A misspelt question that was asked before does not hide the name.
	for i := range 5 {
		m.add(line{seq: int64(50 + 3*i), text: fmt.Sprintf("Fahim was at station %d.", i)})
	}
	res := find(t, m.engine(), Query{Text: "Faheem", Within: chat.Within{Branch: "b"}})
	if contains := func(h Hit) bool { return strings.Contains(h.Text, "Fahim was") }; len(slices.DeleteFunc(res.Hits, func(h Hit) bool { return !contains(h) })) < 4 {
		t.Errorf("%+v", res.Hits)
	}
	for query, lookups := range map[string]int{"4712": 0, "xyz": 0, "x9f3ab77": 0, "zzzb zzzc zzzd zzze zzzf zzzg zzzh zzzi": maxRespelled} {
		m.calls["Vocabulary"] = 0
		find(t, m.engine(), Query{Text: query, Within: chat.Within{Branch: "b"}})
		if m.calls["Vocabulary"] != lookups {
			t.Errorf("%q: %d words were looked up, want %d", query, m.calls["Vocabulary"], lookups)
		}
	}
	m.fail["Vocabulary"] = errBroken
	if _, err := m.engine().Search(t.Context(), Query{Text: "Faheemm"}); !errors.Is(err, errBroken) {
		t.Errorf("%v", err)
	}
}

// TestAGuessCountsLessThanTheWord: of two equally rare words, the one in the question decides.
func TestAGuessCountsLessThanTheWord(t *testing.T) {
	m := chatter()
	m.add(line{seq: 40, text: "Fahim lives in Bergen."}, line{seq: 50, text: "Oslo hosts a regatta."})
	res := find(t, m.engine(), Query{Text: "Faheem regatta", Within: chat.Within{Branch: "b"}})
	if len(res.Hits) < 2 || !strings.Contains(res.Hits[0].Text, "regatta") || !strings.Contains(res.Hits[1].Text, "Fahim") {
		t.Errorf("%+v", res.Hits)
	}
}

// TestLargeMemoriesRequireTwoCommonLetters: in a large memory, similar words must have the same first two letters, so
// that little of the index is read.
func TestLargeMemoriesRequireTwoCommonLetters(t *testing.T) {
	m := chatter()
	m.add(line{seq: 40, text: "Fahim starts on Monday."})
	for _, tt := range []struct {
		term       string
		all, found int
	}{{"faheem", 100, 1}, {"fhaim", 100, 1}, {"faheem", largeMemory + 1, 1}, {"fhaim", largeMemory + 1, 0}} {
		guessed, err := m.engine().similarWords(t.Context(), []string{tt.term}, map[string]int{}, tt.all)
		if err != nil || len(guessed) != tt.found {
			t.Errorf("%+v: %v %v", tt, guessed, err)
		}
	}
}
