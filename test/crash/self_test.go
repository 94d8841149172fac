package crash

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

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
