package prompt

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"contextinfinity/backend/chat"
)

// conversation8k is a conversation of n turns of this size in words, with a ceiling of 8 000 tokens and space for
// retrieved memory.
func conversation8k(n, size int) Input {
	in := sample()
	in.Limits = Limits{ContextLimit: 128_000, MaxOutput: 4096, ResponseReserve: 4000, SafetyMargin: 1500, WorkingSet: 8000, StateTarget: 1200, Retrieval: 6000}
	in.Pins, in.Head.Summary = nil, strings.TrimSpace(strings.Repeat("fact ", 600))
	return in.over(long(n, size), nil)
}

// artifacts returns n artifacts of this size in words, best first, from newest to oldest.
func artifacts(n, size int) []Artifact {
	var out []Artifact
	for i := range n {
		out = append(out, Artifact{
			ID: fmt.Sprintf("c%03d", i), Text: strings.TrimSpace(strings.Repeat("m ", size)), Score: float64(n - i),
			Day: fmt.Sprintf("%d May 2026", 1+i/10), At: int64(n-i) * 1000, Seq: int64(n - i),
		})
	}
	return out
}

// While everything fits, everything is sent, to the last token; the state summary, which contains less than the
// turns, is left out before any of them.
func TestEverythingIsSentWhileItFits(t *testing.T) {
	maxUsed := 0
	for n := 1; n <= 40; n++ {
		in := conversation8k(n, 240)
		c, err := Assemble(in)
		if err != nil {
			t.Fatal(err)
		}
		m := c.Manifest()
		size := count(systemText("", in.Policy)) + messageOverhead + weight(in.Sizes) + count("four") + messageOverhead
		if fits := size <= 8000; fits != (m.History.Cut == 0) || fits && len(c.Messages()) != 2*n+1 {
			t.Fatalf("%d turns, %d tokens without the state: cut %d, %d messages", n, size, m.History.Cut, len(c.Messages()))
		}
		if m.History.Cut == 0 {
			maxUsed = c.Tokens()
		}
		if omitted := !m.has(SectionState); omitted != (m.History.Cut == 0 && size+602 > 8000) || omitted != (len(m.Notes) == 1) || len(m.Shrink) != 0 {
			t.Errorf("%d turns: state left out %v, notes %q, steps %q", n, omitted, m.Notes, m.Shrink)
		}
	}
	if maxUsed < 7700 {
		t.Errorf("at most %d of 8000 tokens were used before the first cut", maxUsed)
	}
}

func count(s string) int { return len(strings.Fields(s)) }

// After the first cut, retrieved memory gets what the other sections leave, up to its setting and never more.
func TestRecallFillsTheRemainingSpace(t *testing.T) {
	for n := 40; n < 80; n++ {
		in := conversation8k(n, 240)
		d, err := NewDraft(in)
		if err != nil {
			t.Fatal(err)
		}
		space, used := d.Room(), 0
		var fit []Artifact
		for _, a := range artifacts(200, 40) {
			if used += 41 + 3; used > space {
				break
			}
			fit = append(fit, a)
		}
		c, err := d.Finish(fit, chat.Phrase{})
		if err != nil {
			t.Fatal(err)
		}
		if c.Tokens() < 7500 || c.Tokens() > 8000 || len(c.Manifest().Shrink) > 0 {
			t.Fatalf("%d turns: %d of 8000 tokens used, space %d, steps %q", n, c.Tokens(), space, c.Manifest().Shrink)
		}
	}
	in := conversation8k(60, 240)
	in.Limits.Retrieval = 500
	d, err := NewDraft(in)
	if err != nil || d.Room() > 500 || d.Room() < 480 {
		t.Errorf("space %d of 500, %v", d.Room(), err)
	}
}

// The cut, and with it the prefix, does not depend on what changes with each turn: the sizes of the state summary,
// the message and the retrieved memory.
func TestTheCutDoesNotJitter(t *testing.T) {
	for seed := range uint64(4) {
		draw := rand.New(rand.NewPCG(seed, 1))
		turns := long(60, 240)
		var before PreparedContext
		advances, last := 0, 0
		for n := 1; n <= len(turns); n++ {
			in := conversation8k(0, 0).over(turns[:n], nil)
			in.Head.Summary = strings.Repeat("fact ", 1+draw.IntN(900))
			in.Current = chat.UserText(strings.TrimSpace(strings.Repeat("w ", 1+draw.IntN(120))))
			if n > 1 {
				previous := before.Manifest().History
				in.Previous = &previous
			}
			d, err := NewDraft(in)
			if err != nil {
				t.Fatal(err)
			}
			c, err := d.Finish(artifacts(draw.IntN(1+d.Room()/50), 40), chat.Phrase{})
			if err != nil {
				t.Fatal(err)
			}
			cut, lastCut := c.Manifest().History.Cut, before.Manifest().History.Cut
			switch {
			case cut != lastCut:
				if cut < lastCut || last > 0 && n-last < 4 {
					t.Fatalf("seed %d, turn %d: the cut moved from %d to %d, last at turn %d", seed, n, lastCut, cut, last)
				}
				advances, last = advances+1, n
			case n > 1 && !strings.HasPrefix(stableBytes(c), stableBytes(before)):
				t.Fatalf("seed %d, turn %d does not share the prefix of the turn before", seed, n)
			}
			before = c
		}
		if advances < 2 {
			t.Fatalf("the cut advanced %d times", advances)
		}
	}
}

// One more pinned fact does not move the cut, because their size is rounded to quarters of their cap.
func TestPinsMoveTheCutInSteps(t *testing.T) {
	cuts := map[int64]bool{}
	for n := range 28 {
		in := conversation8k(60, 240)
		for i := range n {
			in.Pins = append(in.Pins, chat.Pin{ID: chat.PinID(fmt.Sprint(i)), Text: strings.Repeat("p ", 20)})
		}
		plan, b, err := PlanOf(in)
		if err != nil || (b.Ceiling-b.Whole)%160 != (800+count(systemText("", in.Policy))+messageOverhead)%160 {
			t.Fatalf("%d pins: %+v %v", n, b, err)
		}
		cuts[plan.Cut] = true
	}
	if len(cuts) < 1 || len(cuts) > 5 {
		t.Errorf("28 facts gave %d cuts", len(cuts))
	}
}

// Instructions and pinned facts over their caps are rejected, with the numbers.
func TestCapsAreEnforced(t *testing.T) {
	for section, change := range map[string]func(*Input){
		SectionPinned: func(in *Input) {
			in.Pins = []chat.Pin{{Text: strings.Repeat("p ", 400)}, {Text: strings.Repeat("p ", 241)}}
		},
		SectionSystem: func(in *Input) { in.System = strings.Repeat("s ", 641) },
	} {
		in := conversation8k(3, 100)
		change(&in)
		_, err := Assemble(in)
		var over *SectionOverCap
		if !errors.As(err, &over) || over.Section != section || over.Cap != 640 || over.Have <= 640 || chat.CodeOf(err) != chat.CodeOverBudget || chat.AsError(err).Hint == "" {
			t.Errorf("%s: %v", section, err)
		}
	}
}

// Only the message may use the space that others leave, and the manifest shows it.
func TestMessageOverItsCap(t *testing.T) {
	in := conversation8k(60, 240)
	in.Current = chat.UserText(strings.Repeat("w ", 3000))
	d, err := NewDraft(in)
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.Finish(nil, chat.Phrase{})
	if err != nil || len(c.Manifest().Notes) != 1 || !strings.Contains(c.Manifest().Notes[0], "over its cap of 800") || d.Room() == 0 {
		t.Errorf("notes %q, space %d, %v", c.Manifest().Notes, d.Room(), err)
	}
}

// After a rejection for its size a context is smaller than the rejected one, even if that was far below the ceiling,
// and each step is logged.
func TestReducedBelowTheCeiling(t *testing.T) {
	in := conversation8k(15, 240)
	in.Head.Summary = strings.Repeat("fact ", 100)
	rejected, err := Assemble(in)
	if err != nil || rejected.Manifest().History.Cut != 0 || rejected.Tokens() > 4100 {
		t.Fatalf("%d tokens, %v", rejected.Tokens(), err)
	}
	for range 3 {
		in.Reduce = 0.9 * float64(rejected.Tokens()) / 8000
		c, err := Assemble(in)
		if err != nil {
			t.Fatal(err)
		}
		steps := c.Manifest().Shrink
		if c.Tokens() > rejected.Tokens()*9/10 || c.Tokens() < rejected.Tokens()/2 || len(steps) == 0 || !strings.HasPrefix(steps[0], "0: ") {
			t.Fatalf("%d tokens after %d were rejected: %q", c.Tokens(), rejected.Tokens(), steps)
		}
		rejected = c
	}
}

// Recalled passages are in chronological order whatever their rank, with each day named once, and the manifest keeps
// the rank.
func TestPassagesAreInChronologicalOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := conversation8k(60, 240)
		for i := range rapid.IntRange(1, 30).Draw(t, "found") {
			at := rapid.Int64Range(0, 5*dayMs).Draw(t, "at")
			day := fmt.Sprintf("%d May 2026", 1+at/dayMs)
			if rapid.Bool().Draw(t, "other") {
				day += ", another conversation"
			}
			in.Retrieved = append(in.Retrieved, Artifact{ID: fmt.Sprint("c", i), Text: "word", At: at, Day: day, Score: float64(100 - i)})
		}
		c, err := Assemble(in)
		if err != nil {
			t.Fatal(err)
		}
		days, last := map[string]bool{}, int64(-1)
		under := ""
		for _, x := range c.Texts() {
			switch x.Source {
			case "day":
				if days[x.Text] {
					t.Fatalf("the line %q occurs twice", x.Text)
				}
				days[x.Text], under = true, x.Text
			case "chunk":
				i := slices.IndexFunc(in.Retrieved, func(a Artifact) bool { return a.ID == x.ID })
				a := in.Retrieved[i]
				if x.Rank != i+1 || dayText(a.Day) != under || a.At/dayMs < last {
					t.Fatalf("%+v of rank %d under %q after day %d", x.Part, i+1, under, last)
				}
				last = a.At / dayMs
			}
		}
	})
}
