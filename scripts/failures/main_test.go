package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const playwright = `  ✘  26 [browser] › browser/streams.spec.ts:37:1 › reload (8.3s)
  ✓  25 [browser] › browser/streams.spec.ts:6:1 › two sessions (10.1s)


  1) [browser] › browser/streams.spec.ts:37:1 › reload 

    Error: the page reported errors:
    TypeError: no

    attachment #1: screenshot (image/png) ──────────────
    results/files/streams/test-failed-1.png
    ────────────────────────────────────────────────────

  2) [browser] › browser/temporary.spec.ts:45:1 › stopped 

    Error: expect(received).toBe(expected)

    Expected: 1
    Received: 2

  1 flaky
    [browser] › browser/keys.spec.ts:5:1 › a key 
  2 failed
    [browser] › browser/streams.spec.ts:37:1 › reload 
  27 passed (2.3m)
`

const vitest = " ❯ src/a.test.ts (2 tests | 1 failed)\n⎯⎯⎯ Failed Tests 1 ⎯⎯⎯\n\n FAIL  src/a.test.ts > a draft > is kept\n" +
	"AssertionError: expected 1 to be 2\n ❯ src/a.test.ts:3:1\n⎯⎯⎯⎯[1/1]⎯\n Tests  1 failed | 1 passed (2)\n"

const gotestsum = `✖  p (4ms)

=== Skipped
=== SKIP: p TestB (0.00s)
    a_test.go:4: no display here

=== Failed
=== FAIL: p TestA/sub (0.00s)
    a_test.go:3: got 1, want 2

=== FAIL: q  (0.00s)
FAIL	x/q [build failed]

=== Errors
q/b.go:2:12: undefined: y

DONE 6 tests, 1 skipped, 2 failures, 1 error in 0.219s
4 passed, 3 failed, 1 skipped
`

func TestDigest(t *testing.T) {
	many := strings.Builder{}
	for i := range 100 {
		fmt.Fprintf(&many, "=== FAIL: p Test%d (0.00s)\n    x_test.go:1: no\n\n", i)
	}
	tests := []struct {
		name, log string
		most      int
		want      []string
	}{
		{"Playwright", playwright, 20, []string{
			"1) [browser] › browser/streams.spec.ts:37:1 › reload", "    Error: the page reported errors:", "    TypeError: no",
			"2) [browser] › browser/temporary.spec.ts:45:1 › stopped", "    Error: expect(received).toBe(expected)", "    Expected: 1", "    Received: 2",
		}},
		{"few lines: only the names", playwright, 2, []string{
			"1) [browser] › browser/streams.spec.ts:37:1 › reload", "2) [browser] › browser/temporary.spec.ts:45:1 › stopped",
		}},
		{"Vitest", vitest, 20, []string{"FAIL  src/a.test.ts > a draft > is kept", "    AssertionError: expected 1 to be 2", "    ❯ src/a.test.ts:3:1"}},
		{"gotestsum", gotestsum, 20, []string{
			"=== FAIL: p TestA/sub (0.00s)", "    a_test.go:3: got 1, want 2",
			"=== FAIL: q  (0.00s)", "    FAIL	x/q [build failed]", "=== Errors", "    q/b.go:2:12: undefined: y",
		}},
		{"too many", many.String(), 3, []string{"=== FAIL: p Test0 (0.00s)", "=== FAIL: p Test1 (0.00s)", "and 98 more"}},
		{"no test: the end of the log", "one\n\ntwo\nthree\n", 2, []string{"two", "three"}},
		{"colours", "\x1b[31mbroken\x1b[39m\n", 2, []string{"broken"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			log := strings.Split(colour.ReplaceAllString(tt.log, ""), "\n")
			got := digest(log, tt.most)
			if !slices.Equal(got, tt.want) {
				t.Errorf("\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

func TestFlaky(t *testing.T) {
	if got := flaky(strings.Split(playwright, "\n")); !slices.Equal(got, []string{"[browser] › browser/keys.spec.ts:5:1 › a key"}) {
		t.Errorf("%q", got)
	}
	if got := flaky(strings.Split(vitest, "\n")); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

func TestCutKeepsWholeCharacters(t *testing.T) {
	if got := cut(strings.Repeat("ä", lineWidth)); !strings.HasSuffix(got, "ä …") || len(got) > lineWidth+4 {
		t.Errorf("%d bytes: %q", len(got), got)
	}
	if got := cut(strings.Repeat("x", lineWidth)); len(got) != lineWidth {
		t.Errorf("a line that fits was cut to %d bytes", len(got))
	}
}
