package prompt

import (
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

// linesIn returns the lines of a text that are in a state summary verbatim.
func linesIn(text, state string) []int {
	var out []int
	for i, line := range strings.Split(text, "\n") {
		if strings.Contains(state, line) {
			out = append(out, i)
		}
	}
	return out
}

// overlapping is a long conversation whose range summaries and state overlap.
func overlapping(state string) Input {
	in := sample().over(long(40, 300), nil)
	in.Head.Summary = state
	in.Extract = func([]chat.Turn, int) string { return "- the port is 8080\n- the owner is Ada" }
	in.Repeats = linesIn
	return in
}

// Lines that the state summary contains are left out of the range summaries before it, and the space goes to recalled
// memory.
func TestTheStateIsNotRepeated(t *testing.T) {
	unfiltered, state := overlapping("- the port is 8080"), "- the port is 8080"
	unfiltered.Repeats = nil
	var spaces []int
	for _, in := range []Input{unfiltered, overlapping(state)} {
		d, err := NewDraft(in)
		if err != nil {
			t.Fatal(err)
		}
		spaces = append(spaces, d.a.budget.Ceiling-d.a.used())
	}
	c := must(t, overlapping(state))
	text := sent(c)
	if strings.Count(text, "the port is 8080") != 1 || !strings.Contains(text, "the owner is Ada") || spaces[1] <= spaces[0] {
		t.Errorf("the free space is %v; the prompt:\n%s", spaces, text)
	}
	c = must(t, overlapping("- the port is 8080\n- the owner is Ada"))
	if text := sent(c); strings.Count(text, "the owner is Ada") != 1 || !strings.Contains(text, repeatedInState) {
		t.Errorf("a range that the state repeats completely:\n%s", text)
	}
}

// While the plan is the same, the same lines are left out even if the state summary changes, so that the prompt begins
// with the same bytes; assembling from the manifest gives the same prompt.
func TestOmittedLinesStayOmitted(t *testing.T) {
	first := must(t, overlapping("- the port is 8080"))
	m := first.Manifest()
	next := overlapping("- the owner is Ada")
	next.Previous = &m.History
	second := must(t, next)
	if !slices.Equal(second.Manifest().History.Pieces[0].Omit, []int{0}) || summariesOf(first) != summariesOf(second) {
		t.Errorf("the ranges changed with the state:\n%s\n%s", summariesOf(first), summariesOf(second))
	}
	if strings.Contains(sent(first, SectionState), "8080") && strings.Count(sent(first), "8080") != 1 || !strings.Contains(sent(second, SectionState), "- the port is 8080\n</turns>") {
		t.Errorf("the line that the state dropped does not follow it:\n%s", sent(second, SectionState))
	}
	m2 := second.Manifest()
	replayed := overlapping("- the owner is Ada")
	replayed.Repeats, replayed.Replay = nil, &m2
	if got := must(t, replayed); got.Manifest().SHA256 != m2.SHA256 {
		t.Error("replaying the manifest did not produce the prompt with the dropped line")
	}
	returned := overlapping("- the port is 8080")
	returned.Previous = &m2.History
	if text := sent(must(t, returned)); strings.Count(text, "8080") != 1 {
		t.Errorf("both the state and the range contain the line:\n%s", text)
	}
	replay := overlapping("- the port is 8080")
	replay.Repeats, replay.Replay = nil, &m
	if got := must(t, replay); got.Manifest().SHA256 != m.SHA256 {
		t.Error("replaying the manifest did not produce the same prompt")
	}
	bare := overlapping("")
	bare.Previous = &m.History
	if !strings.Contains(summariesOf(must(t, bare)), "8080") {
		t.Error("without a state summary a line is left out anyway")
	}
}

// A line that the state summary dropped and that no longer fits is left out before retrieved memory is.
func TestDroppedLinesAreLeftOutFirst(t *testing.T) {
	first := must(t, overlapping("- the port is 8080"))
	m := first.Manifest()
	next := overlapping("- the owner is Ada")
	next.Previous = &m.History
	next.Retrieved = nil
	next.Policy.History = HistoryElastic
	a := newAssembler(next)
	if err := a.build(); err != nil {
		t.Fatal(err)
	}
	if len(a.restored) == 0 {
		t.Fatal("the dropped line is not beside the state")
	}
	a.budget.Ceiling = a.used() - total(a.restored)
	if err := a.dropRestored(); err != nil || !a.fits() || a.prepared().manifest.History.Pieces[0].Restored != nil {
		t.Errorf("%d tokens of %d: %v", a.used(), a.budget.Ceiling, err)
	}
	if !slices.Equal(m.History.Pieces[0].Omit, []int{0}) {
		t.Error("the request before was changed")
	}
}

// TestDroppedLinesStayWithinTheCapOfTheState: the section with the state summary and the lines that it dropped never
// exceeds its cap.
func TestDroppedLinesStayWithinTheCapOfTheState(t *testing.T) {
	port := "- the port is 8080" + strings.Repeat(" still", 3*stateOverhead)
	inputWith := func(state string) Input {
		in := overlapping(state)
		in.Extract = func([]chat.Turn, int) string { return port + "\n- the owner is Ada" }
		return in
	}
	m := must(t, inputWith(port)).Manifest()
	section := func(words int) Section {
		in := inputWith("- the owner is Ada" + strings.Repeat(" indeed", words))
		in.Previous = &m.History
		sections := must(t, in).Manifest().Sections
		return sections[slices.IndexFunc(sections, func(s Section) bool { return s.Name == SectionState })]
	}
	extracts := func(s Section) (n int) {
		for _, x := range s.Items {
			if x.Source == "extract" {
				n++
			}
		}
		return n
	}
	short, full := section(0), section(m.Budget.MaxStateTokens()-4)
	if extracts(short) != 2 || extracts(full) != 0 || short.Tokens > short.Cap || full.Tokens > full.Cap {
		t.Errorf("a short summary: %d of %d tokens, %d extracts; one of the largest size: %d of %d, %d",
			short.Tokens, short.Cap, extracts(short), full.Tokens, full.Cap, extracts(full))
	}
}

func must(t *testing.T, in Input) PreparedContext {
	t.Helper()
	c, err := Assemble(in)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// sent returns the text of the given sections, or of all.
func sent(c PreparedContext, sections ...string) string {
	var b strings.Builder
	for _, text := range c.Texts() {
		if len(sections) == 0 || slices.Contains(sections, text.Section) {
			b.WriteString(text.Text)
		}
	}
	return b.String()
}

func summariesOf(c PreparedContext) string { return sent(c, SectionSummaries) }
