package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestTally(t *testing.T) {
	tests := []struct {
		name, in, closing string
		ok                bool
		says              []string
	}{
		{
			name: "all pass",
			in: `{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestB"}
{"Action":"pass","Package":"p","Elapsed":0.5}`,
			closing: "2 passed, 0 failed, 0 skipped in 1 packages", ok: true,
		},
		{
			name: "a failure prints its own output and not its neighbour's",
			in: `{"Action":"output","Package":"p","Test":"TestA","Output":"quiet words\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"loud words\n"}
{"Action":"fail","Package":"p","Test":"TestB"}
{"Action":"fail","Package":"p"}`,
			closing: "1 passed, 1 failed, 0 skipped in 1 packages", says: []string{"loud words", "!quiet words", "failed  p TestB: loud words\n"},
		},
		{
			name: "a package that does not build is a failure",
			in: `{"ImportPath":"p","Action":"build-output","Output":"p.go:1: broken\n"}
{"ImportPath":"p","Action":"build-fail"}
{"Action":"fail","Package":"p","FailedBuild":"p"}`,
			closing: "0 passed, 1 failed, 0 skipped in 1 packages", says: []string{"p.go:1: broken", "failed  p: does not build: p.go:1: broken\n"},
		},
		{
			name: "a package that dies outside a test is a failure",
			in: `{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"panic: late\n"}
{"Action":"fail","Package":"p"}`,
			closing: "1 passed, 1 failed, 0 skipped in 1 packages", says: []string{"failed  p: panic: late\n"},
		},
		{
			name: "of a test and its subtest the one that says why is named",
			in: `{"Action":"output","Package":"p","Test":"TestT","Output":"=== RUN   TestT\n"}
{"Action":"output","Package":"p","Test":"TestT/one","Output":"=== RUN   TestT/one\n"}
{"Action":"output","Package":"p","Test":"TestT/one","Output":"some log\n"}
{"Action":"output","Package":"p","Test":"TestT/one","Output":"    t_test.go:7: got 1, want 2\n"}
{"Action":"output","Package":"p","Test":"TestT/one","Output":"--- FAIL: TestT/one (0.00s)\n"}
{"Action":"fail","Package":"p","Test":"TestT/one"}
{"Action":"fail","Package":"p","Test":"TestT"}
{"Action":"fail","Package":"p"}`,
			closing: "0 passed, 2 failed, 0 skipped in 1 packages", says: []string{"failed  p TestT/one: t_test.go:7: got 1, want 2\n", "!failed  p TestT:"},
		},
		{
			name: "a skip gives its reason",
			in: `{"Action":"output","Package":"p","Test":"TestS","Output":"    s_test.go:9: no fixtures here\n"}
{"Action":"output","Package":"p","Test":"TestS","Output":"--- SKIP: TestS (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestS"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p"}`,
			closing: "1 passed, 0 failed, 1 skipped in 1 packages", ok: true, says: []string{"skip  p TestS: no fixtures here"},
		},
		{
			name:    "nothing ran",
			in:      `{"Action":"skip","Package":"p"}`,
			closing: "0 passed, 0 failed, 0 skipped in 0 packages",
		},
		{
			name:    "the go command's own complaint is shown",
			in:      "pattern ./...: go.mod is torn\n",
			closing: "0 passed, 0 failed, 0 skipped in 0 packages", says: []string{"go.mod is torn"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { check(t, tt.in, tt.closing, tt.ok, tt.says) })
	}
}

func check(t *testing.T, in, closing string, ok bool, says []string) {
	t.Helper()
	var out bytes.Buffer
	got := &tally{out: &out, runs: map[string]*run{}, skipped: map[string]string{}, failed: map[string]string{}}
	if err := got.read(strings.NewReader(in)); err != nil {
		t.Fatal(err)
	}
	if got.close() != ok {
		t.Errorf("close() = %v, want %v", !ok, ok)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if last := lines[len(lines)-1]; last != closing {
		t.Errorf("closing line %q, want %q", last, closing)
	}
	for _, words := range says {
		if unwanted, not := strings.CutPrefix(words, "!"); not {
			if strings.Contains(out.String(), unwanted) {
				t.Errorf("says %q, and should not", unwanted)
			}
		} else if !strings.Contains(out.String(), words) {
			t.Errorf("does not say %q:\n%s", words, out.String())
		}
	}
}
