package main

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"contextinfinity/test/harness"
)

// These tests are the short form, with a fixed seed, so that each run does the same. make crash is the long form.

var (
	buildOnce sync.Once
	bins      builds
	buildErr  error
)

func TestMain(m *testing.M) {
	if path := os.Getenv(counterFile); path != "" {
		os.Exit(serveCounter(path))
	}
	dir, err := os.MkdirTemp("", "contextinfinity-crash-test-")
	if err != nil {
		panic(err)
	}
	scratch = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

var scratch string

func testSetup(t *testing.T, seed uint64) *setup {
	t.Helper()
	r := &setup{plan: plan{seed: seed, restarts: 26, stride: 1, work: t.TempDir(), quiet: true}}
	var err error
	if r.module, err = harness.Root(); err != nil {
		t.Fatal(err)
	}
	buildOnce.Do(func() {
		bins, buildErr = build(context.Background(), scratch)
	})
	if buildErr != nil {
		t.Fatal(buildErr)
	}
	r.builds = bins
	if r.provider, err = newProvider(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.provider.close)
	return r
}

// expectNoProblems fails the test if the harness found a problem.
func expectNoProblems(t *testing.T, rows []outcome, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	if printTable(&table, rows) > 0 {
		t.Error(table.String())
	}
	t.Log(table.String())
}

func TestRandomKillsLoseNothing(t *testing.T) {
	t.Parallel()
	r := testSetup(t, 7)
	rows, err := runKills(t.Context(), r)
	expectNoProblems(t, rows, err)
	for _, row := range rows {
		if row.tried != 13 {
			t.Errorf("%s: %d restarts", row.what, row.tried)
		}
	}
}

// Tool calls with effects are killed at random points, by power failures and by disk faults: none runs twice.
func TestToolCallsRunAtMostOnce(t *testing.T) {
	t.Parallel()
	r := testSetup(t, 5)
	r.restarts, r.stride = 8, 25
	rows, err := runTools(t.Context(), r)
	expectNoProblems(t, rows, err)
	if len(rows) != 3 || rows[0].tried != 8 || rows[1].tried < 2 || rows[2].tried < 3 {
		t.Errorf("tried %+v", rows)
	}
}

// A turn is killed at some of its points; make crash tries all points of all scenarios.
func TestATurnIsKilledAtItsPoints(t *testing.T) {
	t.Parallel()
	r := testSetup(t, 1)
	s, err := r.newStage(t.Context(), 0, scenarios[1], filepath.Join(r.work, "scene"))
	if err != nil {
		t.Fatal(err)
	}
	var tasks []task
	for _, fault := range []string{
		"tx.turn.accept.committed:exit", "turn.event:6:power", "turn.journal_sealed:power", "turn.settled:exit", "tx.state.commit.committing:exit", "tx.turn.index.committed:power",
	} {
		tasks = append(tasks, task{s, fault})
	}
	out, died, err := r.playAll(t.Context(), "points", tasks)
	expectNoProblems(t, []outcome{out}, err)
	if died != len(tasks) {
		t.Errorf("%d of %d deaths", died, len(tasks))
	}
}

// A permanent deletion, the import of an export from before it, and a move of the data are killed at some of their
// points.
func TestADeleteAnImportAndAMoveAreKilledAtTheirPoints(t *testing.T) {
	t.Parallel()
	r := testSetup(t, 1)
	last := len(scenarios)
	for i, faults := range [][]string{
		{"tx.content.delete.committing:exit", "delete.written:exit", "delete.rewritten:power"}, {"tx.bundle.import.committing:2:exit", "tx.bundle.import.committed:2:power"},
		{"move.file:1:exit", "move.copied:power", "move.adopted:power"},
	} {
		s, err := r.newStage(t.Context(), 300+i, scenarios[last-3+i], filepath.Join(r.work, "scene", scenarios[last-3+i].name))
		if err != nil {
			t.Fatal(err)
		}
		var tasks []task
		for _, fault := range faults {
			tasks = append(tasks, task{s, fault})
		}
		out, died, err := r.playAll(t.Context(), s.name, tasks)
		expectNoProblems(t, []outcome{out}, err)
		if died != len(tasks) {
			t.Errorf("%s: %d of %d deaths", s.name, died, len(tasks))
		}
	}
}

// With a safeguard removed, the harness must find a problem; otherwise its checks prove nothing.
func TestTheHarnessFindsRemovedSafeguards(t *testing.T) {
	t.Parallel()
	for i, p := range proofs {
		t.Run(p.what, func(t *testing.T) {
			t.Parallel()
			r := testSetup(t, 1)
			s, err := r.newStage(t.Context(), i, scenarios[1], filepath.Join(r.work, "scene"))
			if err != nil {
				t.Fatal(err)
			}
			tried, found, err := p.fails(t.Context(), s)
			if err != nil || len(found) == 0 {
				t.Fatalf("%d faults were tried and nothing was found (%v)", tried, err)
			}
			t.Logf("fault %d: %s", tried, found[0])
		})
	}
}

func TestDamageIsReportedAndTheRestIsReadable(t *testing.T) {
	t.Parallel()
	r := testSetup(t, 3)
	r.stride = 120
	rows, err := runDamage(t.Context(), r)
	expectNoProblems(t, rows, err)
}

func TestFlippedBytesAreFound(t *testing.T) {
	t.Parallel()
	r := testSetup(t, 5)
	r.flips = 60
	rows, err := runFlips(t.Context(), r)
	expectNoProblems(t, rows, err)
	for _, row := range rows {
		if c := row.flips; c.found+c.harmless+c.valid != c.flips || c.found == 0 {
			t.Errorf("%s: %s of %d", row.what, c, c.flips)
		}
	}
}

// The outcome of a flip is counted correctly for a program that notices nothing and for one that notices everything.
func TestAMissedFlipIsCounted(t *testing.T) {
	t.Parallel()
	h, err := newHome("", t.TempDir(), "# nothing\n")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.MkdirAll(h.data(), 0o700), os.WriteFile(h.database(), []byte("abc"), 0o600)); err != nil {
		t.Fatal(err)
	}
	returns := func(text string) func(context.Context, *home) (string, error) {
		return func(context.Context, *home) (string, error) { return text, nil }
	}
	read := func(_ context.Context, h *home) (string, error) {
		data, err := os.ReadFile(h.database())
		return string(data), err
	}
	files := h.relative(h.database())
	for want, a := range map[string]flipArea{
		flipFound: {check: returns("byte 1 is damaged"), read: read}, flipMissed: {check: returns(""), read: read},
		flipHarmless: {check: returns(""), read: returns("abc")}, flipValid: {check: returns(""), read: read, valid: true},
	} {
		a.sample, a.files = &sample{home: h}, files
		what, missed, err := a.try(t.Context(), flipOf{files[0], 1, 0}, filepath.Join(t.TempDir(), "copy"), "abc")
		if err != nil || what != want || (missed != "") != (want == flipMissed) {
			t.Errorf("%s: %s, %q, %v", want, what, missed, err)
		}
	}
}

// A failed turn that is discarded has two events of one type; one that only failed has one.
func TestFailingTwiceIsFoundAndDiscardingIsNot(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1) // each connection would have its own database
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), `CREATE TABLE turns (id TEXT, outcome TEXT); CREATE TABLE events (type TEXT, entity_id TEXT);
		INSERT INTO turns VALUES ('once', 'failed'), ('twice', 'failed'), ('failed, discarded', 'discarded'), ('and again', 'discarded');
		INSERT INTO events VALUES ('turn_failed', 'once'), ('turn_failed', 'twice'), ('turn_failed', 'twice'), ('turn_failed', 'failed, discarded'),
			('turn_failed', 'failed, discarded'), ('turn_failed', 'and again'), ('turn_failed', 'and again'), ('turn_failed', 'and again')`); err != nil {
		t.Fatal(err)
	}
	found, err := column(t.Context(), db, failedTwice+" ORDER BY 1")
	if err != nil || !slices.Equal(found, []string{"turn_failed and again", "turn_failed twice"}) {
		t.Fatalf("found %q, %v", found, err)
	}
}

// The checker notices wrong answers.
func TestTheCheckerNoticesWrongAnswers(t *testing.T) {
	t.Parallel()
	b := newBook()
	p := b.prompt(kindSlow, "")
	full := answerText(p.number)
	for _, line := range []string{
		`{"event":"accepted","session_id":"s","branch_id":"b","turn_id":"t","turn_seq":1}`,
		`{"event":"frame","step_id":"x","seq":1,"kind":"text","text":"A1: 1.0 gr","displayed_bytes":10,"durable_bytes":8}`,
	} {
		if err := b.acknowledge(p, []byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	good := shownTurn{ID: "t", Branch: "b", Seq: 1, Phase: "Responding", Outcome: "incomplete", User: textMessage(p.text), Partial: "A1: 1.0 gr"}
	good.Steps = append(good.Steps, struct {
		ID      string `json:"step_id"`
		Outcome struct{ Status string }
		Items   []message
	}{ID: "x", Items: []message{textMessage("A1: 1.0 gr")}})
	for want, change := range map[string]func(*shownTurn, map[string]shownTurn){
		"":                    func(*shownTurn, map[string]shownTurn) {},
		"LOST: prompt 1":      func(_ *shownTurn, all map[string]shownTurn) { delete(all, "t") },
		"DUPLICATE: prompt 1": func(c *shownTurn, all map[string]shownTurn) { d := *c; d.ID, d.Seq = "u", 2; all["u"] = d },
		"never sent":          func(c *shownTurn, _ map[string]shownTurn) { c.User = textMessage("Something else") },
		"acknowledged as":     func(c *shownTurn, _ map[string]shownTurn) { c.Seq = 2 },
		"LOST: step x":        func(c *shownTurn, _ map[string]shownTurn) { c.Steps[0].Items = []message{textMessage("A1: 1")} },
		"contains text that":  func(c *shownTurn, _ map[string]shownTurn) { c.Partial = "A1: 1.0 gr and more" },
		"was not stopped by":  func(c *shownTurn, _ map[string]shownTurn) { c.Outcome = "stopped" },
		"did not request it":  func(c *shownTurn, _ map[string]shownTurn) { c.Outcome = "kept" },
		"PARTIAL CALLED":      func(c *shownTurn, _ map[string]shownTurn) { c.Outcome = "completed" },
		"PARTIAL CALLED COM":  func(c *shownTurn, _ map[string]shownTurn) { c.Steps[0].Outcome.Status = "completed" },
		"still open":          func(c *shownTurn, _ map[string]shownTurn) { c.Steps[0].Outcome.Status = "running" },
	} {
		c := good
		c.Steps = append(good.Steps[:0:0], good.Steps...)
		all := map[string]shownTurn{}
		all["t"] = c
		change(&c, all)
		if _, ok := all["t"]; ok {
			all["t"] = c
		}
		o := &checker{book: b, provider: fixedAnswer{full}}
		o.prompts(all, true, true)
		if got := strings.Join(o.found, "; "); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("want %q, found %q", want, got)
		}
	}
}

func textMessage(text string) message {
	return message{Blocks: []struct{ Type, Text string }{{"text", text}}}
}

// fixedAnswer is a provider with one answer, which was never sent completely.
type fixedAnswer struct{ text string }

func (a fixedAnswer) answer(int) string { return a.text }
func (fixedAnswer) sent(int) bool       { return false }
