package cli_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/cli"
)

func TestWindowOrCommandLine(t *testing.T) {
	t.Parallel()
	cases := []struct {
		args   string
		window bool
	}{
		{"", true}, {"--data-dir /x", true}, {"--config=verbs_test.go --data-dir /x", true}, {"--config=none.toml --data-dir /x", false}, {"--data-dir=", false}, {"-psn_0_1234", true},
		{"send hi", false}, {"--data-dir /x send hi", false}, {"--help", false}, {"--json", false}, {"--nope", false},
		{"nonsense", false}, {"--data-dir", false},
		{"verbs_test.go --data-dir /x ..", true}, {"verbs_test.go none.json", false}, {"--new-chat", true}, {"--new-chat send", false},
	}
	for _, c := range cases {
		o, window := cli.WindowOptions(strings.Fields(c.args), false)
		if window != c.window {
			t.Errorf("%q: window %v", c.args, window)
		}
		if window && strings.Contains(c.args, "/x") && o.DataDir != "/x" {
			t.Errorf("%q: %+v", c.args, o)
		}
	}
	here, err := filepath.Abs("verbs_test.go")
	if err != nil {
		t.Fatal(err)
	}
	if o, ok := cli.WindowOptions([]string{"verbs_test.go", "--new-chat"}, false); !ok || !o.NewChat || len(o.Files) != 1 || o.Files[0] != here {
		t.Errorf("%+v, %v", o, ok)
	}
	if o, ok := cli.WindowOptions([]string{"--new-window", "--session", "X"}, false); !ok || !o.NewWindow || o.Session != "X" {
		t.Errorf("%+v, %v", o, ok)
	}
	if o, ok := cli.WindowOptions([]string{"--quick"}, false); !ok || !o.Quick {
		t.Errorf("%+v, %v", o, ok)
	}
	if _, ok := cli.WindowOptions([]string{"--session", "X"}, false); ok {
		t.Error("a session without a window")
	}
	for _, restarted := range []bool{false, true} { // what opens the data is handed over then
		if _, ok := cli.WindowOptions([]string{"--passphrase-file", "gone"}, restarted); ok != restarted {
			t.Errorf("without the file of the passphrase, restarted %t: window %t", restarted, ok)
		}
	}
	if o, ok := cli.WindowOptions([]string{"--hidden"}, false); !ok || !o.Hidden {
		t.Errorf("%+v, %v", o, ok)
	}
	for _, v := range append(cli.Verbs(), "help", "__complete") {
		if !cli.IsVerb(v) {
			t.Errorf("%s is not a verb", v)
		}
	}
	if cli.IsVerb("nonsense") {
		t.Error("an invalid word is accepted as a verb")
	}
}

func TestHelpIsOneDocumentToo(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for _, args := range [][]string{{"--help"}, {"--hidden", "--help"}, {"--quick", "--new-window", "--session", "S", "--help"}, {"send", "--help"}, {"help"}, {"help", "jobs", "retry"}, {"keys", "--help"}} {
		doc := h.run(append(args, "--json")...).exits(0).document()
		if text, _ := doc["help"].(string); !strings.Contains(text, "Usage:") {
			t.Errorf("%v: %v", args, doc)
		}
		if r := h.run(args...).exits(0); !strings.Contains(r.out, "Usage:") {
			t.Errorf("%v: %q", args, r.out)
		}
	}
}

func TestShortIDs(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	a, b := h.send("--new", "a"), h.send("--new", "b")
	common := 0
	for a.SessionID[common] == b.SessionID[common] {
		common++
	}
	f := h.run("show", "--json", a.SessionID[:common]).exits(2).failure()
	if !strings.Contains(f.Hint, a.SessionID) || !strings.Contains(f.Hint, b.SessionID) {
		t.Errorf("%+v", f)
	}
	h.run("show", "--json", strings.ToLower(a.SessionID)).exits(0)
	h.run("show", "--json", a.SessionID[20:]).exits(0)
	h.run("fork", "--json", a.TurnID[18:]).exits(0)
	h.run("send", "--json", "--branch", b.BranchID[18:], "on").exits(0)
}

func TestForkSwitchesOnlyOnRequest(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.send("--new", "hi")
	var fork struct {
		BranchID string `json:"branch_id"`
		Active   bool
	}
	h.run("fork", "--json", s.TurnID).exits(0).into(&fork)
	if fork.Active {
		t.Error("fork switched")
	}
	if next := h.send("still here"); next.BranchID != s.BranchID {
		t.Error("the next message went to the fork")
	}
	h.run("fork", "--json", "--switch", "--before", s.TurnID).exits(0).into(&fork)
	if next := h.send("asked again"); next.BranchID != fork.BranchID || next.Seq != 1 {
		t.Errorf("%+v", next)
	}
}

func TestRollbackContinuesFromAnEarlierState(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.send("--new", "--wait", "committed", "one")
	first := h.show(s.SessionID).Turns[0].StateAfter
	h.send("--wait", "committed", "two")
	last := h.show(s.SessionID).Turns[1]
	for _, target := range [][]string{{"--to", last.StateAfter[18:]}, {"--turn", last.ID}} { // a copy of the branch is not something to roll back to
		if r := h.run(append([]string{"rollback", s.SessionID}, target...)...).exits(1); !strings.Contains(r.err, "already ends there") {
			t.Errorf("%v: %s", target, r.err)
		}
	}
	if out := h.run("rollback", s.SessionID, "--to", first[18:]).exits(0).out; !strings.Contains(out, "head #1 ") {
		t.Errorf("%s", out)
	}
	if next := h.send("other two"); next.Seq != 2 || next.BranchID == s.BranchID {
		t.Errorf("%+v", next)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.runWith(strings.NewReader("sk-good-1\n"), "keys", "set", "anthropic").exits(0)
	if h.keyring.stored["anthropic"] != "sk-good-1" || strings.Contains(r.out+r.err, "sk-good") {
		t.Errorf("stored %v, printed %q %q", h.keyring.stored, r.out, r.err)
	}
	r = h.runWith(strings.NewReader("sk-bad-1\n"), "keys", "set", "--json", "anthropic").exits(1)
	if f := r.failure(); f.Code != "auth" || strings.Contains(r.out+r.err, "sk-bad") || h.keyring.stored["anthropic"] != "sk-good-1" {
		t.Errorf("%+v, stored %v", f, h.keyring.stored)
	}
	h.runWith(strings.NewReader("sk-bad-1"), "keys", "set", "--no-test", "anthropic").exits(0)
	if h.keyring.stored["anthropic"] != "sk-bad-1" {
		t.Errorf("stored %v", h.keyring.stored)
	}
	if r := h.run("keys", "list").exits(0); !strings.Contains(r.out, "keyring") {
		t.Errorf("%q", r.out)
	}
	h.run("keys", "remove", "anthropic").exits(0)
	h.keyring.none = true
	if f := h.runWith(strings.NewReader("sk-good-1"), "keys", "set", "--json", "anthropic").exits(1).failure(); f.Code != "unavailable" {
		t.Errorf("%+v", f)
	}
}

func TestAnInvalidConfigurationIsReportedAndIgnored(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.configure("[general]\ndefault_modle = \"x\"\n")
	if f := h.run("config", "check", "--json").exits(1).failure(); f.Code != "config" || !strings.Contains(f.Message, "config.toml:2") {
		t.Errorf("%+v", f)
	}
	for _, args := range [][]string{{"models"}, {"send", "--new", "hi"}, {"sessions"}} {
		if r := h.run(args...).exits(0); !strings.Contains(r.err, "config.toml:2") {
			t.Errorf("%v: %q", args, r.err)
		}
	}
}

func TestJobsCommands(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.send("--new", "hi")
	h.run("jobs", "dismiss", "1").exits(0)
	var doc struct{ Jobs []chat.Job }
	h.run("jobs", "--json", "--state", "failed").exits(0).into(&doc)
	if len(doc.Jobs) != 1 || doc.Jobs[0].ID != 1 {
		t.Errorf("%+v", doc)
	}
	if r := h.run("jobs").exits(0); strings.Contains(r.out, "dead") || strings.Count(r.out, "failed") != 2 {
		t.Errorf("%s", r.out)
	}
	if r := h.run("jobs", "retry", "99").exits(1); !strings.Contains(r.err, "(contextinfinity jobs lists them)") {
		t.Errorf("%s", r.err)
	}
	h.run("jobs", "retry", "1").exits(0)
	h.run("jobs", "--json", "--state", "queued").exits(0).into(&doc)
	if len(doc.Jobs) != 1 {
		t.Errorf("%+v", doc)
	}
}

// A pause also applies to later commands; they only do the background work that they are explicitly asked for.
func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.send("--new", "hi")
	var paused struct {
		Paused bool
		Queued int
	}
	h.run("jobs", "pause", "--json").exits(0).into(&paused)
	if !paused.Paused || paused.Queued == 0 {
		t.Errorf("%+v", paused)
	}
	if r := h.run("jobs").exits(0); !strings.Contains(r.out, "failed, paused") {
		t.Errorf("%q", r.out)
	}
	if r := h.run("reconcile", "--json").exits(0); !strings.Contains(r.out, `"jobs_run":2`) {
		t.Errorf("on request, it did %s", r.out)
	}
	if r := h.run("jobs", "resume").exits(0); r.out != "Background work resumed, 0 jobs queued.\n" {
		t.Errorf("%q", r.out)
	}
	h.run("jobs", "--json").exits(0).into(&paused)
	if paused.Paused {
		t.Error("it is paused after resuming")
	}
}

func TestRawStep(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.send("--new", "what was sent?")
	step := h.show(s.SessionID).Turns[0].Steps[0].ID
	var raw struct {
		Request struct{ Model string }
		Events  []struct{ Data map[string]any }
	}
	h.run("show", "--json", s.SessionID, "--raw", step[16:]).exits(0).into(&raw)
	if raw.Request.Model != "test-1" || len(raw.Events) != 2 || raw.Events[0].Data["s"] != "ok" {
		t.Errorf("%+v", raw)
	}
	if r := h.run("show", s.SessionID, "--raw", step).exits(0); !strings.Contains(r.out, "what was sent?") {
		t.Errorf("%q", r.out)
	}
}

func TestShowLast(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.send("--new", "one")
	h.send("two")
	h.send("three")
	got := h.show(s.SessionID, "--last", "2").Turns
	if len(got) != 2 || got[0].Seq != 2 || got[1].Seq != 3 {
		t.Errorf("%+v", got)
	}
}

func TestTextOutput(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.send("--new", "世界 first words")
	h.run("pin", s.SessionID, "a fact").exits(0)
	for verb, want := range map[string]string{
		"sessions": "世界 first words", "show " + s.SessionID: "you:\n世界 first words\nanswer:\nok\n", "branches " + s.SessionID: "*",
		"pins " + s.SessionID: "a fact", "pending " + s.SessionID: "queued",
		"models": "configured", "config show": "budget.working_set_tokens", "stats": "failed jobs", "jobs": "summarize_turn",
		"config path": h.config, "version": "contextinfinity 1.2.3 (abc)", "--version": "contextinfinity 1.2.3 (abc)", "states " + s.SessionID: "root",
	} {
		if r := h.run(strings.Fields(verb)...).exits(0); !strings.Contains(r.out, want) || strings.Contains(r.out, "\x1b") {
			t.Errorf("%s: %q", verb, r.out)
		}
	}
	if r := h.run("commit", s.SessionID).exits(0); !strings.Contains(r.out, "Committed 1 turn") {
		t.Errorf("%q", r.out)
	}
	if r := h.run("verify").exits(0); r.out != "No problems found.\n" {
		t.Errorf("%q", r.out)
	}
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.send("--new", "A title")
	if r := h.run("completion", "bash").exits(0); !strings.Contains(r.out, "contextinfinity") {
		t.Errorf("%q", r.out)
	}
	for typed, want := range map[string]string{
		"show ": s.SessionID + "\tA title", "switch " + s.SessionID + " ": s.BranchID, "keys set ": "anthropic",
		"config set budget.wor": "budget.working_set_tokens", "send --wait ": "committed", "retr": "retry",
	} {
		args := append([]string{"__complete"}, strings.Split(typed, " ")...)
		if r := h.run(args...).exits(0); !strings.Contains(r.out, want) || !strings.HasPrefix(lastLineOf(r.out), ":") {
			t.Errorf("%q: %q", typed, r.out)
		}
	}
}

func lastLineOf(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

func TestBackupIsACompleteDatabase(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.send("--new", "hi")
	other := newHome(t)
	if err := os.MkdirAll(other.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	h.run("backup", filepath.Join(other.dir, "contextinfinity.db")).exits(0)
	if got := other.show(s.SessionID).Turns; len(got) != 1 || got[0].ID != s.TurnID {
		t.Errorf("%+v", got)
	}
}

// The user is shown what a restore replaces and asked to confirm it; the replaced data can be recovered.
func TestRestoreAsks(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.send("--new", "the first")
	path := filepath.Join(t.TempDir(), "copy.db")
	h.run("backup", path).exits(0)
	h.send("--new", "the second")
	for _, args := range [][]string{{"restore", path}, {"restore", "--fresh"}, {"restore", "--drop-log"}} {
		if f := h.run(append(args, "--json")...).exits(2).failure(); f.Message != "This needs confirmation, which is not possible here; nothing was changed." || f.Hint != "add --yes" {
			t.Errorf("%v: %+v", args, f)
		}
	}
	ask := func(answer string) result {
		app := h.app()
		var out, errs bytes.Buffer
		app.In, app.Out, app.Err, app.Terminals = strings.NewReader(answer), &out, &errs, &cli.Terminals{In: true}
		code := cli.Run(context.Background(), app, []string{"--data-dir", h.dir, "--config", h.config, "restore", path})
		return result{t, code, out.String(), errs.String()}
	}
	for _, answer := range []string{"n\n", "\n", "", "maybe\n"} {
		r := ask(answer).exits(1)
		if !strings.Contains(r.err, "[y/N]") || !strings.Contains(r.out, "current data") || strings.Contains(r.out, "Restored") {
			t.Errorf("%q: %s %s", answer, r.out, r.err)
		}
	}
	r := ask("y\n").exits(0)
	kept := regexp.MustCompile(`The previous data: (.*)`).FindStringSubmatch(r.out)
	if kept == nil {
		t.Fatalf("%s", r.out)
	}
	if list := h.run("sessions").exits(0).out; strings.Contains(list, "second") || !strings.Contains(list, "first") {
		t.Errorf("restored: %s", list)
	}
	w := h.writer()
	if f := h.run("restore", kept[1], "--yes", "--json").exits(1).failure(); f.Code != string(chat.CodeLocked) || !strings.Contains(f.Hint, "close") {
		t.Errorf("while a writer runs: %+v", f)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	h.run("restore", filepath.Base(kept[1]), "--yes").exits(0)
	if list := h.run("sessions").exits(0).out; !strings.Contains(list, "second") {
		t.Errorf("and back: %s", list)
	}
	if list := h.run("backups").exits(0).out; strings.Count(list, "before restore") != 2 {
		t.Errorf("listed: %s", list)
	}
	h.run("backups", "--check").exits(0)
	if err := os.WriteFile(filepath.Join(h.dir, "backups", "bad.db"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := h.run("backups", "--check").exits(3); !strings.Contains(r.out, "DAMAGED") || !strings.Contains(r.err, "1 backup cannot") {
		t.Errorf("%s %s", r.out, r.err)
	}
}

// The check for a new version reports its result; without --check nothing is requested from the network.
func TestVersionCheck(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.configure(configText + "\n[updates]\nurl = \"https://feed.example/releases\"\n")
	checks, feed := 0, ""
	h.feed = func(*http.Request) (*http.Response, error) {
		checks++
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(feed))}, nil
	}
	newer := `{"version": "2.0.0", "page": "https://example.org/2"}`
	for _, c := range []struct {
		running, feed string
		code          int
		want          string
	}{
		{"1.2.3", newer, 0, "contextinfinity 1.2.3 (abc)\nVersion 2.0.0 is available.\nhttps://example.org/2\n"},
		{"1.2.3", `{"version": "1.2.3"}`, 0, "There is no newer version (the newest release is 1.2.3).\n"},
		{"unknown", newer, 0, "The version of this copy is not known.\n"},
		{"1.2.3", "a page", 1, "it is not the JSON of a release"},
	} {
		checks, feed, h.running = 0, c.feed, c.running
		if r := h.run("version").exits(0); checks != 0 || r.out != "contextinfinity 1.2.3 (abc)\n" {
			t.Errorf("%q, asked %d times", r.out, checks)
		}
		r := h.run("version", "--check")
		if r.code != c.code || checks != 1 || !strings.Contains(r.out+r.err, c.want) {
			t.Errorf("%d %q %q, asked %d times", r.code, r.out, r.err, checks)
		}
	}
	feed, h.running = `{"version": "2.0.0"}`, "1.2.3"
	found, _ := h.run("version", "--check", "--json").exits(0).document()["update"].(map[string]any)
	if found["verdict"] != "newer" || found["newest"] != "2.0.0" || found["page"] != "" {
		t.Errorf("%v", found)
	}
}
