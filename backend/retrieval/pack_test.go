package retrieval

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/prompt"
)

func bytesOf(s string) int { return len(s) }

func TestSlicesOfAChunk(t *testing.T) {
	parts := []string{"Contoso pays in May. ", "Nothing to see here, at length, on gardens and much else. ", "Contoso pays by card."}
	text := strings.Join(parts, "")
	m := chatter()
	m.add(line{seq: 90, text: text, units: []int{len(parts[0]), len(parts[0]) + len(parts[1])}})
	alone := func(s *Settings) { s.nearbyBest, s.neighbourSum, s.neighbourWord, s.rolePrior = 0, 0, 0, 0 }
	res := find(t, m.engine(alone), Query{Text: "Contoso pays", MaxTokens: 500})
	a := res.Artifacts[0]
	if a.Form != chat.PackedSlice || len(a.Slices) != 2 || a.Text != "#90 03:00 user: Contoso pays in May. … Contoso pays by card." {
		t.Fatalf("%+v", a)
	}
	if a.Text != Render(a.ChunkText, a.Form, a.Slices) {
		t.Error("it cannot be rebuilt")
	}
	res = find(t, m.engine(), Query{Text: "Contoso pays", MaxTokens: 500}) // the neighbours' share includes the middle one
	if a := res.Artifacts[0]; a.Form != chat.PackedFull || a.Slices != nil {
		t.Errorf("%+v", a)
	}
}

func TestOversized(t *testing.T) {
	m := newMemory()
	filler := strings.Repeat("The meadow is green and wide and quiet. ", 80)
	m.add(line{seq: 5, text: filler + "Contoso pays in May by card. " + filler})
	res := find(t, m.engine(), Query{Text: "how does Contoso pay in May", MaxTokens: 150})
	if len(res.Artifacts) != 1 || res.Artifacts[0].Form != chat.PackedSlice || !strings.Contains(res.Artifacts[0].Text, "Contoso pays in May") {
		t.Fatalf("%+v", res.Artifacts)
	}
	res = find(t, m.engine(), Query{Text: "Contoso", MaxTokens: 20})
	if len(res.Artifacts) != 1 || res.Artifacts[0].Form != chat.PackedSummary || res.Tokens > 20 {
		t.Fatalf("%+v", res.Artifacts)
	}
}

// TestWhatDoesNotFitIsSkipped: a unit that does not fit is skipped, because later ones may be smaller.
func TestWhatDoesNotFitIsSkipped(t *testing.T) {
	m := newMemory()
	m.add(line{seq: 5, text: "Contoso pays in May. " + strings.Repeat("Contoso. ", 40)}, line{seq: 50, text: "Contoso is in Oslo."}, line{seq: 90, text: "Contoso: two offices."})
	res := find(t, m.engine(), Query{Text: "Contoso pays May", MaxTokens: 45})
	if len(res.Artifacts) < 2 || res.Tokens > 45 {
		t.Errorf("%d tokens: %+v", res.Tokens, res.Artifacts)
	}
}

func TestMerged(t *testing.T) {
	span := func(start, end int) chat.Span { return chat.Span{Start: start, End: end} }
	for _, tt := range []struct{ in, want []chat.Span }{
		{[]chat.Span{span(9, 14), span(0, 3), span(4, 7), span(1, 3)}, []chat.Span{span(0, 14)}},
		{[]chat.Span{span(15, 19), span(0, 3)}, []chat.Span{span(0, 3), span(15, 19)}},
	} {
		if got := merged("one two  three four", slices.Clone(tt.in)); !slices.Equal(got, tt.want) {
			t.Errorf("%v: %v, want %v", tt.in, got, tt.want)
		}
	}
}

var wordList = []string{"Contoso", "pays", "May", "garden", "roses", "naïve", "数据库", "迁移", "<b>", "the", "a", "parseHeader", "\n", "…"}

func anyText(rt *rapid.T, label string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(wordList), 1, 120).Draw(rt, label), " ")
}

// TestPacking: the result is within the budget and the scope, spans are in bounds and on rune boundaries, each chunk
// occurs once, rebuilding gives the same text, and the result is deterministic.
func TestPacking(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newMemory()
		for i := range rapid.IntRange(0, 12).Draw(rt, "messages") {
			s := line{seq: int64(i/2 + 1), text: anyText(rt, "text"), branch: rapid.SampledFrom([]chat.BranchID{"b", "c"}).Draw(rt, "branch")}
			if i%2 == 1 {
				s.role = chat.RoleAssistant
			}
			if cut := rapid.IntRange(0, len(s.text)).Draw(rt, "cut"); cut > 0 && cut < len(s.text) && utf8.RuneStart(s.text[cut]) {
				s.units = []int{cut}
			}
			m.add(s)
		}
		q := Query{
			Text: anyText(rt, "query"), MaxTokens: rapid.IntRange(0, 900).Draw(rt, "budget"), Limit: rapid.IntRange(0, 9).Draw(rt, "limit"), Count: bytesOf,
			Within: chat.Within{Branch: rapid.SampledFrom([]chat.BranchID{"", "b"}).Draw(rt, "scope"), Before: rapid.Int64Range(0, 6).Draw(rt, "before")},
		}
		e := m.engine(func(s *Settings) {
			s.MMR = rapid.Bool().Draw(rt, "mmr")
			s.SRD = rapid.IntRange(0, 5).Draw(rt, "srd") == 0
		})
		res, err := e.Search(t.Context(), q)
		if err != nil {
			rt.Fatal(err)
		}
		if fault := faultOf(res, q); fault != "" {
			rt.Fatal(fault)
		}
		again, err := e.Search(t.Context(), q)
		if again.Timing = res.Timing; err != nil || !reflect.DeepEqual(res, again) {
			rt.Fatalf("repeating the search gave another result, %v", err)
		}
	})
}

func faultOf(res Result, q Query) string {
	sum, days, seen := 0, map[string]int{}, map[chat.ChunkID]bool{}
	for i, a := range res.Artifacts {
		sum += a.Tokens
		switch {
		case a.Tokens != prompt.ArtifactCost(a.Text, bytesOf):
			return fmt.Sprintf("artifact %d costs %d, not %d", i, prompt.ArtifactCost(a.Text, bytesOf), a.Tokens)
		case a.Text != Render(a.ChunkText, a.Form, a.Slices):
			return "an artifact cannot be rebuilt"
		case seen[a.ID]:
			return "a chunk is packed twice"
		case a.Rank != i+1 || a.Score <= 0:
			return fmt.Sprintf("artifact %d has rank %d, score %f", i, a.Rank, a.Score)
		case (a.Form == chat.PackedSlice) != (a.Slices != nil):
			return "slices and form do not agree"
		}
		seen[a.ID] = true
		days[Day(a.ChunkText, "")] = prompt.DayCost(Day(a.ChunkText, ""), bytesOf)
		last := -1
		for _, s := range a.Slices {
			if s.Start <= last || s.Start >= s.End || s.End > len(a.Source) || !utf8.ValidString(a.Source[s.Start:s.End]) {
				return fmt.Sprintf("slice %+v of %d bytes", s, len(a.Source))
			}
			last = s.End
		}
	}
	for _, h := range append(res.Hits, hitsOf(res)...) {
		if q.Within.Branch != "" && h.BranchID != q.Within.Branch || q.Within.Before > 0 && h.TurnSeq >= q.Within.Before {
			return "a hit is out of scope"
		}
	}
	lines := 0
	for _, cost := range days {
		lines += cost
	}
	if sum+lines > q.MaxTokens && len(res.Artifacts) > 0 || sum != res.Tokens {
		return fmt.Sprintf("%d tokens and %d of days, reported %d, of %d", sum, lines, res.Tokens, q.MaxTokens)
	}
	return ""
}

func hitsOf(res Result) (out []Hit) {
	for _, a := range res.Artifacts {
		out = append(out, a.Hit)
	}
	return out
}
