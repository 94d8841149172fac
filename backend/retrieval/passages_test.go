package retrieval

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"contextinfinity/backend/chat"
)

func TestPartsOf(t *testing.T) {
	long := strings.Repeat("This sentence is about gardens and roses in general. ", 6)
	for name, tt := range map[string]struct {
		text string
		want []string // lead > words
	}{
		"table":   {"Results:\n\n| Way | Rows |\n|---|---|\n| dump | 1 |\n| dual | 2 |\n", []string{"| Way | Rows | > | dump | 1 |", "| Way | Rows | > | dual | 2 |"}},
		"list":    {"Steps:\n- one\n- two\n  more of two\n", []string{"Steps: > - one", "Steps: > - two\n  more of two"}},
		"numbers": {"1. First\n2. Second", []string{"1. First", "2. Second"}},
		"code":    {"Run this:\n```sh\nmake all\n```\nThen wait.", []string{"Run this: > ```sh\nmake all\n```", "Run this: > Then wait."}},
		"label":   {"Here it is.\n**Video Sample:**\n\nA clip of a minute.\n1. **Audio:**\n   - a song\n\n_Left out:_", []string{"Here it is.\n**Video Sample:**", "**Video Sample:** > A clip of a minute.", "1. **Audio:** > - a song"}},
		"heading": {"# Keys\nRotate them.", []string{"# Keys > Rotate them."}},
		"open":    {"```\nnever closed", []string{"```\nnever closed"}},
		"prose":   {long, slices.Repeat([]string{"This sentence is about gardens and roses in general. This sentence is about gardens and roses in general."}, 3)},
	} {
		var got []string
		for _, p := range partsOf(tt.text, chat.Span{End: len(tt.text)}) {
			pieces := strings.TrimSpace(tt.text[p.Start:p.End])
			if p.lead.Start < p.lead.End {
				pieces = strings.TrimSpace(tt.text[p.lead.Start:p.lead.End]) + " > " + pieces
			}
			got = append(got, pieces)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// TestPartsAreInOrderAndWithinBounds checks this for any text.
func TestPartsAreInOrderAndWithinBounds(t *testing.T) {
	pieces := []string{"```", "\n", "| a | b |", "|---|", "- x", "# h", "end:", ". ", "naïve", "数据库。", "1. y", "text ", strings.Repeat("z", 300)}
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(rt, "text"), "")
		last := 0
		for _, p := range partsOf(text, chat.Span{End: len(text)}) {
			if p.Start < last || p.Start >= p.End || p.End > len(text) || p.lead.End > p.Start && p.lead.Start < p.lead.End {
				rt.Fatalf("%+v after %d of %q", p, last, text)
			}
			last = p.End
		}
	})
}

func TestIntentOf(t *testing.T) {
	for text, want := range map[string]questionIntent{
		"Which command did you give me for that?":            {aim: aimReply},
		"What was recommended for the timeout?":              {aim: aimReply},
		"Was hast du mir empfohlen?":                         {aim: aimReply},
		"你建议我用什么？":                                           {aim: aimReply},
		"Which port did I choose for my server?":             {aim: aimUser},
		"What did I tell you about the server?":              {aim: aimUser, asksOwn: true},
		"How many rows were copied?":                         {amount: true},
		"When is it, and how much?":                          {amount: true, day: true},
		"Which day is the meeting?":                          {day: true},
		"Can you walk me through the order of the releases?": {overview: true},
		"Fass den Verlauf zusammen":                          {overview: true},
		"Give me a summary of the move":                      {overview: true, summary: true},
		"Summarize the move in order":                        {overview: true},
		"请总结一下旅行":                                            {overview: true, summary: true},
		"What would you suggest for my resume?":              {},
		"the gateway":                                        {},
	} {
		if got := intentOf(text); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

func TestMessagesThatOnlyAsk(t *testing.T) {
	for text, want := range map[string]bool{
		"How many rows were copied?":          true,
		"Why? And how?":                       true,
		"何行コピーされましたか？":                        true,
		"I use Redis, can it expire keys?":    false,
		"We moved to Postgres. Is that fine?": false,
		"It is fine.":                         false,
		"":                                    false,
		"Is 4.5 bar right?":                   false, // a full stop inside: rather kept than dropped
		strings.Repeat("What of the garden ", 5) + "?": false, // long enough to describe something
	} {
		if got := onlyAsks(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

func TestMatcherFindsFormsOfTerms(t *testing.T) {
	m := newMatcher([]string{"copied", "迁移", "über"})
	counts := make([]int, 3)
	if n := m.count("Copying copies; über 数据库迁移 naïve copy", counts); n < 5 || !slices.Equal(counts, []int{3, 1, 1}) {
		t.Errorf("%d words, %v", n, counts)
	}
}

// TestALabelIsNeverPackedAlone: a heading that names the subject is useless without the text it introduces, even if
// it is the whole unit of a reply.
func TestALabelIsNeverPackedAlone(t *testing.T) {
	m := chatter()
	reply := "Two things to prepare before the fair opens, and both have to be with the printer by the end of the month at the latest.\n\n" +
		"**Heron Video Sample:**\n\nA clip of forty seconds that shows the loading dock at dusk, without any sound.\n\n" +
		"**Flyer:**\n\nOne page on thick paper, folded twice, with the opening hours on the back and nothing else.\n\n**Heron Audio Sample:**\n"
	m.exchange(40, "What do we need for the fair?", reply)
	m.exchange(60, "And for the Heron booth?", "**Heron Booth Sample:**")
	m.exchange(80, "A title for the talk on kilns?", "# Ten Ways to Fire a Kiln")
	if res := find(t, m.engine(), Query{Text: "Which title of kilns did you give me?", MaxTokens: 400, Limit: 9}); len(res.Artifacts) == 0 || !strings.Contains(fmt.Sprint(res.Artifacts), "Ten Ways") {
		t.Errorf("a reply that is a title is not found: %v", res.Artifacts)
	}
	if onlyLabels("#kiln #pottery") || !onlyLabels("## Kilns") {
		t.Error("a tag is treated as a heading, or a heading is not")
	}
	for _, query := range []string{"Heron video sample", "What sample of Heron did you suggest?", "Heron audio sample", "Heron booth sample"} {
		res := find(t, m.engine(), Query{Text: query, MaxTokens: 400, Limit: 9})
		packed := ""
		for _, a := range res.Artifacts {
			packed += a.Text + "\n"
		}
		if strings.Contains(packed, "Audio Sample") || strings.Contains(packed, "Booth Sample") || strings.Contains(packed, "Video Sample") && !strings.Contains(packed, "forty seconds") {
			t.Errorf("for %q a label is packed without its content:\n%s", query, packed)
		}
		if strings.Contains(query, "video") && !strings.Contains(packed, "**Heron Video Sample:** … A clip") && !strings.Contains(packed, "**Heron Video Sample:**\n\nA clip") {
			t.Errorf("for %q the passage is not packed with its label:\n%s", query, packed)
		}
	}
}
