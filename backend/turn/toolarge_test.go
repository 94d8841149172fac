package turn

import (
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/librarian"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/prompt"
)

// The request after a rejection is smaller than the rejected one, and below the provider's limit if it names one,
// however the provider counts.
func TestNextSize(t *testing.T) {
	for name, c := range map[string]struct {
		limit, counted, want int
	}{
		"no number":                             {0, 0, 900},
		"both":                                  {8192, 9000, 882},
		"both, barely too large":                {9000, 9001, 969},
		"it counts far fewer tokens than we do": {100, 110, 881},
		"a limit alone":                         {500, 0, 485},
		"a limit above what we sent":            {5000, 0, 900},
		"a count below the limit":               {5000, 10, 900},
	} {
		if got := nextSize(1000, &llm.Error{Code: chat.CodeTooLarge, SizeLimit: c.limit, SizeCounted: c.counted}); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	if got := nextSize(1000, nil); got != 900 {
		t.Errorf("without an error of a provider: %d", got)
	}
}

// The newest exchange is in the context verbatim, so its excerpt is left out of the state summary; the other sections
// are unchanged.
func TestHeadText(t *testing.T) {
	summary := "## Facts\n- a\n\n## " + librarian.LastExchange.Heading() + "\n- User: b\n- Assistant: ## no heading\n\n## More\n- c"
	in := prompt.Input{Policy: prompt.DefaultPolicy(), Head: chat.State{Summary: summary}}
	if got := headText(in); got != summary {
		t.Errorf("without turns: %q", got)
	}
	in.Sizes = []prompt.Size{{Seq: 1, Tokens: 5}}
	if got, want := headText(in), "## Facts\n- a\n\n## More\n- c"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	in.Policy.History = prompt.HistorySRD
	if got := headText(in); got != summary {
		t.Errorf("without originals: %q", got)
	}
}

// A state summary that was made for a larger window is cut to its cap.
func TestCapHead(t *testing.T) {
	in := prompt.Input{
		Policy: prompt.DefaultPolicy(), Count: func(s string) int { return (len(s) + 3) / 4 }, Head: chat.State{Summary: longSummary()},
		Limits: prompt.Limits{ContextLimit: 128_000, ResponseReserve: 4000, SafetyMargin: 1500, WorkingSet: 8000, StateTarget: 1200},
	}
	before := in.Count(in.Head.Summary)
	capHead(&in)
	if got := in.Count(in.Head.Summary); !in.HeadCapped || before <= 960 || got > 960-48 || got < 500 {
		t.Fatalf("%d tokens became %d", before, got)
	}
	c, err := prompt.Assemble(withoutHistory(in))
	if err != nil {
		t.Fatal(err)
	}
	m := c.Manifest()
	for _, s := range m.Sections {
		if s.Name == prompt.SectionState && s.Tokens > 960 {
			t.Errorf("the section has %d tokens of %d", s.Tokens, s.Cap)
		}
	}
	if len(m.Notes) != 1 || m.Inputs.HeadShrunk != in.Head.Summary {
		t.Errorf("notes %q, pinned %q", m.Notes, m.Inputs.HeadShrunk)
	}
}

func longSummary() string {
	s := "## Facts\n"
	for range 200 {
		s += "- the tide of the harbour was high\n"
	}
	return s + "\n## Decisions\n\n## Constraints\n\n## Artifacts\n\n## Open tasks"
}

// withoutHistory returns the input of a conversation that has not begun.
func withoutHistory(in prompt.Input) prompt.Input {
	in.Current, in.Now = chat.UserText("hello"), "Monday"
	return in
}

func TestIsAcknowledgement(t *testing.T) {
	for words, want := range map[string]bool{
		"Sure, thanks!": true, "OK.": true, "Thank you very much, that’s great": true, "Danke, alles klar": true, "Спасибо!": true,
		"Yes, on Friday": false, "thanks, deploy it": false, "": false, "?!": false, "ok ok ok ok ok ok ok ok ok": false, "No. 7": false,
	} {
		if got := isAcknowledgement([]string{words}); got != want {
			t.Errorf("%q: %v", words, got)
		}
	}
	if isAcknowledgement(nil) || isAcknowledgement([]string{"thanks", "The key is behind the clock."}) {
		t.Error("a passage with content is treated as an acknowledgement")
	}
}

func TestMoment(t *testing.T) {
	at := time.Date(2026, 5, 4, 9, 5, 0, 0, time.FixedZone("", -7*60*60/2))
	if got := timeText(at); got != "Monday, 4 May 2026, 09:05 UTC-03:30" {
		t.Errorf("%q", got)
	}
	if got := timeText(at.UTC()); got != "Monday, 4 May 2026, 12:35 UTC" {
		t.Errorf("%q", got)
	}
}
