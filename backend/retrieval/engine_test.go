package retrieval

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/prompt"
)

// chatter is small talk among which a search must find its results.
func chatter() *memory {
	m := newMemory()
	for i := range 30 {
		m.add(line{seq: int64(i + 1), text: fmt.Sprintf("Let us talk about garden number %d and the weather there.", i)},
			line{seq: int64(i + 1), role: chat.RoleAssistant, text: fmt.Sprintf("Garden %d has roses; the weather is mild.", i)})
	}
	return m
}

func find(t *testing.T, e *Engine, q Query) Result {
	t.Helper()
	res, err := e.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestSearch(t *testing.T) {
	m := chatter()
	m.add(line{seq: 31, text: "We pay the invoice for Contoso on Fridays."}, line{seq: 31, role: chat.RoleAssistant, text: "Noted: Fridays it is."})
	res := find(t, m.engine(), Query{Text: "When do we pay Contoso's invoice?", Within: chat.Within{Branch: "b"}, MaxTokens: 200})
	if len(res.Hits) == 0 || !strings.Contains(res.Hits[0].Text, "Contoso") || res.Hits[0].Rank != 1 || res.Hits[0].Keyword != 1 || res.Hits[0].BM25 <= 0 {
		t.Fatalf("%+v", res.Hits)
	}
	if x := res.Timing; x.Vector <= 0 || x.Keyword <= 0 || x.Rank <= 0 || x.Pack <= 0 || x.Total < max(x.Vector, x.Keyword)+x.Rank+x.Pack-0.01 {
		t.Errorf("%+v", x)
	}
	if res.Embedder != "local/hashed/256/v1" || !res.Warning.IsZero() || res.Candidates == 0 {
		t.Errorf("%+v", res)
	}
	if a := res.Artifacts[0]; a.Form != chat.PackedFull || a.Slices != nil || a.Text != "#31 16:00 user: We pay the invoice for Contoso on Fridays." {
		t.Errorf("%+v", a)
	}
	// The answer shares no word with the question but is next to it.
	if !slices.ContainsFunc(res.Artifacts, func(a Artifact) bool { return strings.Contains(a.Text, "Fridays it is") }) {
		t.Error("the neighbour was not packed")
	}
}

// TestVectorsFindWhatWordsMiss: inflected forms, parts of compounds, misspellings.
func TestVectorsFindWhatWordsMiss(t *testing.T) {
	m := chatter()
	m.add(line{seq: 40, text: "Die Rechnungsnummer lautet 4711."})
	for _, query := range []string{"Rechnungsnummern", "rechnungsnumer"} {
		res := find(t, m.engine(), Query{Text: query, Within: chat.Within{Branch: "b"}})
		if len(res.Hits) == 0 || !strings.Contains(res.Hits[0].Text, "4711") || res.Hits[0].Similarity < 0.9 || res.Hits[0].Cosine <= 0 {
			t.Errorf("%s: %+v", query, res.Hits)
		}
	}
}

func TestThresholdKeepsKeywordResults(t *testing.T) {
	m := chatter()
	strict := func(s *Settings) { s.Threshold = 1 }
	if res := find(t, m.engine(strict), Query{Text: "roses", Within: chat.Within{Branch: "b"}}); len(res.Hits) != 6 {
		t.Errorf("%d hits by words", len(res.Hits))
	}
	if res := find(t, m.engine(strict), Query{Text: "zzzz qqqq", Within: chat.Within{Branch: "b"}}); len(res.Hits) != 0 {
		t.Errorf("%d hits were found by noise", len(res.Hits))
	}
}

func TestScopeLimitsTheSearch(t *testing.T) {
	m := chatter()
	m.add(line{seq: 31, branch: "sibling", text: "Contoso pays late."}, line{seq: 32, text: "Contoso pays in time."})
	for _, in := range []chat.Within{{Branch: "b"}, {Branch: "b", Before: 32}, {Branch: "sibling"}} {
		for _, h := range find(t, m.engine(), Query{Text: "Contoso pays", Within: in, Limit: 50}).Hits {
			if h.BranchID != in.Branch || in.Before > 0 && h.TurnSeq >= in.Before {
				t.Errorf("%+v gave %s of turn %d", in, h.BranchID, h.TurnSeq)
			}
		}
	}
}

func TestNoResultIsNotAnError(t *testing.T) {
	for name, m := range map[string]*memory{"an empty memory": newMemory(), "no such word": chatter()} {
		for _, text := range []string{"", "   ", "?!", "zzzzqqqq"} {
			if res := find(t, m.engine(), Query{Text: text, MaxTokens: 100}); len(res.Hits)+len(res.Artifacts) != 0 {
				t.Errorf("%s, %q: %d hits", name, text, len(res.Hits))
			}
		}
	}
	m := chatter()
	m.serving = false
	if res := find(t, m.engine(), Query{Text: "roses"}); len(res.Hits) == 0 || res.Embedder != "" || !res.Warning.IsZero() {
		t.Errorf("while vectors are being created: %+v", res)
	}
}

func TestFailures(t *testing.T) {
	for _, tt := range []struct {
		method     string
		wordsAlone bool
		ok         bool
	}{
		{"Embedder", false, false},
		{"Embedder", true, true},
		{"vectors", false, false},
		{"vectors", true, true},
		{"Serving", true, true},
		{"Scope", true, true},
		{"SampleVectors", false, false},
		{"SampleVectors", true, true},
		{"TermFrequencies", true, false},
		{"SearchUnits", true, false},
		{"Units", true, false},
		{"UnitsNear", true, false},
		{"ChunkTexts", true, false},
	} {
		m := chatter()
		m.fail[tt.method] = errBroken
		res, err := m.engine().Search(t.Context(), Query{Text: "roses", AllowWordsOnly: tt.wordsAlone, MaxTokens: 100})
		switch {
		case tt.ok && (err != nil || len(res.Hits) == 0 || res.Warning.IsZero() || res.Embedder != ""):
			t.Errorf("%+v: %v %+v", tt, err, res)
		case !tt.ok && (!errors.Is(err, errBroken) || chat.CodeOf(err) != chat.CodeInternal || len(res.Hits) > 0):
			t.Errorf("%+v: %v", tt, err)
		}
	}
	m := chatter()
	m.fail["Embedder"] = chat.Errorf(chat.CodeProvider, "embed", "The server does not answer.")
	if _, err := m.engine().Search(t.Context(), Query{Text: "roses"}); chat.CodeOf(err) != chat.CodeProvider {
		t.Errorf("the embedder's message is lost: %v", err)
	}
	m.fail["TermFrequencies"] = chat.Errorf(chat.CodeCancelled, "search.terms", "The operation was cancelled and undone.")
	if _, err := m.engine().Search(t.Context(), Query{Text: "roses"}); chat.CodeOf(err) != chat.CodeProvider {
		t.Errorf("the half that failed lacks the embedder's message: %v", err)
	}
	delete(m.fail, "TermFrequencies")
	m.fail["Embedder"] = chat.Errorf(chat.CodeConfig, "embed", "That embedder is not configured any more.")
	if res := find(t, m.engine(), Query{Text: "roses"}); len(res.Hits) == 0 || res.Embedder != "" || !strings.Contains(res.Warning.String(), "not configured any more") {
		t.Errorf("while another embedder's vectors are being created, words must be searched: %+v", res)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := chatter().engine().Search(ctx, Query{Text: "roses"}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestSpeakersAndRoles(t *testing.T) {
	m := chatter()
	m.add(line{seq: 40, speaker: "Ann", text: "The marathon was hard."}, line{seq: 40, role: chat.RoleAssistant, speaker: "Bob Lee", text: "The marathon was easy."})
	for query, want := range map[string]string{"Ann and the marathon": "Ann", "the marathon of Lee": "Bob Lee"} {
		if res := find(t, m.engine(), Query{Text: query}); res.Hits[0].Speaker != want {
			t.Errorf("%q: %+v", query, res.Hits[0])
		}
	}
	m = chatter()
	m.add(line{seq: 41, role: chat.RoleAssistant, text: "Contoso invoices."}, line{seq: 42, text: "Contoso invoices, if you ask me."})
	if res := find(t, m.engine(), Query{Text: "Contoso invoices"}); res.Hits[0].Role != chat.RoleUser {
		t.Error("the user's statement must be first")
	}
	none := func(s *Settings) { s.rolePrior = 0 }
	if res := find(t, m.engine(none), Query{Text: "Contoso invoices"}); res.Hits[0].Role != chat.RoleAssistant {
		t.Error("without a prior the better match must be first")
	}
}

func TestDecisionsAndRecency(t *testing.T) {
	m := chatter()
	m.add(line{seq: 40, text: "Contoso invoices monthly"}, line{seq: 41, text: "Contoso invoices weekly", kind: chat.ChunkDecision}, line{seq: 60, text: "Contoso invoices daily"})
	for want, change := range map[string]func(*Settings){
		"weekly": func(s *Settings) { s.DecisionWeight = 2 },
		"daily":  func(s *Settings) { s.Recency = 0.3 },
	} {
		if res := find(t, m.engine(change), Query{Text: "Contoso invoices"}); !strings.HasSuffix(res.Hits[0].Text, want) {
			t.Errorf("%s: %s", want, res.Hits[0].Text)
		}
	}
}

// TestTiesAreBroken: newer passages come first, then the order of chunks decides.
func TestTiesAreBroken(t *testing.T) {
	m := newMemory()
	for i := range 5 {
		m.add(line{seq: int64(20 * (i + 1)), text: "the very same words"})
	}
	alone := func(s *Settings) { s.nearbyBest, s.neighbourSum = 0, 0 }
	res := find(t, m.engine(alone), Query{Text: "same words", MaxTokens: 500})
	for i := 1; i < len(res.Hits); i++ {
		if !res.Hits[i].At.Before(res.Hits[i-1].At) {
			t.Fatalf("hit %d is not older", i)
		}
	}
	if len(res.Hits) != 5 || len(res.Artifacts) != 1 {
		t.Errorf("%d hits; the same words packed %d times", len(res.Hits), len(res.Artifacts))
	}
}

func TestVariety(t *testing.T) {
	m := newMemory()
	m.add(line{seq: 10, text: "Contoso invoices come by mail on Monday"}, line{seq: 30, text: "Contoso invoices come by mail on Mondays"},
		line{seq: 50, text: "Contoso invoices in the mail: all lost in the harbour of Oslo"})
	order := func(mmr bool) (out []string) {
		for _, a := range find(t, m.engine(func(s *Settings) { s.MMR, s.rolePrior = mmr, 0 }), Query{Text: "Contoso invoices mail", MaxTokens: 500}).Artifacts {
			out = append(out, lastWord(a.Text))
		}
		return out
	}
	if a, b := order(false), order(true); a[2] != "Oslo" || b[1] != "Oslo" {
		t.Errorf("%q, with variety %q", a, b)
	}
}

func lastWord(s string) string { return s[strings.LastIndexByte(s, ' ')+1:] }

func TestWorkIsBounded(t *testing.T) {
	m := chatter()
	find(t, m.engine(), Query{Text: strings.Repeat("roses weather garden talk number ", 2000), MaxTokens: 300})
	for method, n := range m.calls {
		if n > 3 {
			t.Errorf("%s was called %d times", method, n)
		}
	}
	if got := find(t, m.engine(), Query{Text: strings.Repeat("nothing ", 1000) + "roses" + strings.Repeat(" at all", 1000)}); len(got.Hits) > 0 && got.Hits[0].Keyword > 0 {
		t.Error("the search used the middle of a long question")
	}
	freq := map[string]int{"a": 100_000, "b": 5, "c": 20_000, "d": 90_000, "e": 29_000}
	if got := affordable([]string{"a", "b", "c", "d", "e"}, freq, 1_000_000); !slices.Equal(got, []string{"b", "c", "e"}) {
		t.Errorf("%q", got)
	}
	// If all terms occur nearly everywhere, one of them is used.
	for want, terms := range map[string][]string{"d": {"a", "d"}, "b": {"a", "b", "d"}} {
		if got := affordable(terms, freq, 120_000); !slices.Equal(got, []string{want}) {
			t.Errorf("%q of %q, want %q", got, terms, want)
		}
	}
	if got := affordable([]string{"x", "y"}, map[string]int{"x": 90, "y": 80}, 100); len(got) != 2 {
		t.Errorf("%q: a small memory is searched for all terms", got)
	}
}

// TestTheSampleGrowsWithMemory: the sample that cosines are compared with is read once, and again when memory grew by a quarter.
func TestTheSampleGrowsWithMemory(t *testing.T) {
	m := chatter()
	e := m.engine()
	for want, more := range []int{0, 10, 150} {
		m.add(chatterLines(more)...)
		for range 3 {
			find(t, e, Query{Text: "roses"})
		}
		if got := m.calls["SampleVectors"]; got != max(want, 1) {
			t.Errorf("with %d units, sampled %d times", len(m.units), got)
		}
	}
}

func chatterLines(n int) (out []line) {
	for i := range n {
		out = append(out, line{seq: int64(100 + i), text: fmt.Sprintf("line %d on something", i)})
	}
	return out
}

func TestSearchIsDeterministic(t *testing.T) {
	m := chatter()
	e := m.engine()
	q := Query{Text: "what about the roses in garden 7", Within: chat.Within{Branch: "b"}, MaxTokens: 150}
	first := find(t, e, q)
	for range 5 {
		again := find(t, e, q)
		again.Timing = first.Timing
		if !reflect.DeepEqual(first, again) {
			t.Fatal("repeating the search gave another result")
		}
	}
}

func TestAttached(t *testing.T) {
	m := newMemory()
	long := strings.Repeat("This is a sentence of some words. ", 60)
	m.add(line{text: "short words"}, line{text: long})
	got, err := m.engine().Attached(t.Context(), []chat.ChunkID{"chunk0001", "gone", "chunk0000", "chunk0000"}, 10_000, nil)
	if err != nil || len(got) != 2 || got[0].ID != "chunk0001" || got[0].Form != chat.PackedFull || got[1].Rank != 2 {
		t.Fatalf("%v %+v", err, got)
	}
	got, err = m.engine().Attached(t.Context(), []chat.ChunkID{"chunk0001"}, 200, nil)
	if err != nil || len(got) != 1 || got[0].Form != chat.PackedSlice || got[0].Slices[0].Start != 0 || got[0].Tokens > 200 || got[0].Tokens < 100 {
		t.Fatalf("%v %+v", err, got)
	}
	got, err = m.engine().Attached(t.Context(), []chat.ChunkID{"chunk0001"}, 20, nil)
	if err != nil || len(got) != 1 || got[0].Form != chat.PackedSummary || got[0].Tokens > 20 {
		t.Fatalf("%v %+v", err, got)
	}
	for _, tokens := range []int{0, 3} {
		if got, err = m.engine().Attached(t.Context(), []chat.ChunkID{"chunk0001"}, tokens, nil); err != nil || len(got) != 0 {
			t.Fatalf("%v %+v", err, got)
		}
	}
	m.fail["ChunkTexts"] = errBroken
	if _, err = m.engine().Attached(t.Context(), []chat.ChunkID{"chunk0001"}, 20, nil); !errors.Is(err, errBroken) {
		t.Fatal(err)
	}
	if prompt.ArtifactCost("x", func(s string) int { return len(s) }) <= 1 {
		t.Error("a frame must have a cost")
	}
}
