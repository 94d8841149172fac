package librarian_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/librarian"
)

func TestExtract(t *testing.T) {
	got := librarian.Extract([]chat.Turn{
		turn("By the way, my sister Ilse moved to Graz in March 2019. Never call the Lisbon office on Mondays.", "Noted. You should always ring before ten."),
		turn("We decided to use SQLite. See backend/store/open.go and ABC-123.\n- [ ] write the importer", "The p95 is 38 ms."),
		turn("- [ ] write the exporter\n- [x] write the importer\nIs Graz nice in winter?", "Very."),
	}, 400, quarter)
	want := `## Constraints
- Never call the Lisbon office on Mondays.
## Decisions
- We decided to use SQLite.
## Facts
- my sister Ilse moved to Graz in March 2019.
- Assistant: The p95 is 38 ms.
## Open tasks
- write the exporter
## Artifacts
- backend/store/open.go · ABC-123
## What happened
- Is Graz nice in winter?
`
	if got != want {
		t.Errorf("the extract is\n%s\nwant\n%s", got, want)
	}
	if again := librarian.ExtractFrom([]string{got}, nil, 400, quarter); again != got {
		t.Errorf("the extract of the extract is\n%s", again)
	}
}

// TestExtractPrefersTheUser: if not everything fits, what the user said is kept and what the assistant said is
// dropped.
func TestExtractPrefersTheUser(t *testing.T) {
	var turns []chat.Turn
	for i := range 20 {
		turns = append(turns, turn(fmt.Sprintf("My friend Marek%d lives in Porto.", i), fmt.Sprintf("You must always keep %d ms in mind. It should never be %d kg.", i, i)))
	}
	got := librarian.Extract(turns, 220, quarter)
	if n := strings.Count(got, "Marek"); n < 18 || quarter(got) > 220 {
		t.Errorf("%d of 20 facts in %d tokens:\n%s", n, quarter(got), got)
	}
}

// TestLongRangesAreReadAtTheirEnds: the first 100 and the last 300 turns are read.
func TestLongRangesAreReadAtTheirEnds(t *testing.T) {
	var turns []chat.Turn
	for i := range 1000 {
		turns = append(turns, turn(fmt.Sprintf("See part%d/file.go.", i), ""))
	}
	got := librarian.Extract(turns, 100_000, quarter)
	for i, want := range map[int]bool{0: true, 99: true, 100: false, 699: false, 700: true, 999: true} {
		if strings.Contains(got, fmt.Sprintf("part%d/file.go", i)) != want {
			t.Errorf("turn %d: in the extract %v", i, !want)
		}
	}
}

func TestExtractProperties(t *testing.T) {
	fragment := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"\n## Decisions\n", "We must never ", "決定。", "- [ ] ", "`a.go` ", "My sister Ilse lives in Graz. ", "12 EUR. ", "\xff", "```\n", " · ", "Assistant: ", "By the way, ",
	}))
	text := rapid.Custom(func(rt *rapid.T) string { return strings.Join(rapid.SliceOfN(fragment, 0, 12).Draw(rt, "f"), "") })
	rapid.Check(t, func(rt *rapid.T) {
		var turns []chat.Turn
		for range rapid.IntRange(0, 4).Draw(rt, "turns") {
			turns = append(turns, turn(text.Draw(rt, "user"), text.Draw(rt, "assistant")))
		}
		pieces := rapid.SliceOfN(text, 0, 3).Draw(rt, "pieces")
		target := rapid.IntRange(-1, 200).Draw(rt, "target")
		got := librarian.ExtractFrom(pieces, turns, target, quarter)
		if quarter(got) > max(target, 0) {
			rt.Fatalf("%d tokens, target %d", quarter(got), target)
		}
		if again := librarian.ExtractFrom(pieces, turns, target, quarter); again != got {
			rt.Fatal("the same input gives a different extract")
		}
		known := []string{"## Constraints", "## Decisions", "## Facts", "## Open tasks", "## Artifacts", "## What happened"}
		for line := range strings.Lines(got) {
			line = strings.TrimSuffix(line, "\n")
			if !strings.HasPrefix(line, "- ") && !slices.Contains(known, line) {
				rt.Fatalf("stray line %q in\n%s", line, got)
			}
		}
	})
}

// TestExtractIsFast: it takes less than a millisecond for an ordinary turn; the limit leaves room for a slow machine
// with the race detector.
func TestExtractIsFast(t *testing.T) {
	var turns []chat.Turn
	for i := range 400 {
		turns = append(turns, turn(fmt.Sprintf("My sister Ilse%d moved to Graz. Could you explain it?", i), strings.Repeat("An answer of some length that must be read. ", 40)))
	}
	start := time.Now()
	librarian.Extract(turns, 2048, quarter)
	took := time.Since(start)
	t.Logf("%v a turn", took/400)
	if took > 4*time.Second {
		t.Errorf("400 turns took %v", took)
	}
	huge := strings.Repeat("We must never forget main.go, said the man. ", 100_000)
	start = time.Now()
	librarian.Extract([]chat.Turn{turn(huge, huge)}, 500, quarter)
	if took := time.Since(start); took > time.Second {
		t.Errorf("two messages of 4 MB took %v", took)
	}
}
