package cli_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// masks replace what differs between runs: ids (numbered in order of appearance), times, and paths.
type masks struct {
	ids   map[string]string
	paths []string
}

var (
	idPattern   = regexp.MustCompile(`\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b`)
	timePattern = regexp.MustCompile(`\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	filePattern = regexp.MustCompile(`("sha256": "|"bytes": |-)([0-9a-f]{64}|[0-9]+\b|[0-9]{8}T[0-9]{6}\.[0-9]{3})(",?|,|\.db)`)
	goPattern   = regexp.MustCompile(`"(go|os|arch)": "[^"]*"`)
)

func (m *masks) apply(doc string) string {
	for _, p := range m.paths {
		doc = strings.ReplaceAll(doc, p, "PATH")
	}
	doc = timePattern.ReplaceAllString(doc, "TIME")
	doc = goPattern.ReplaceAllString(doc, `"$1": "..."`)
	return idPattern.ReplaceAllStringFunc(doc, func(id string) string {
		if m.ids[id] == "" {
			m.ids[id] = fmt.Sprintf("ID%02d", len(m.ids)+1)
		}
		return m.ids[id]
	})
}

// golden compares a document with testdata/NAME.json, because programs read these documents.
func (m *masks) golden(t *testing.T, name string, doc map[string]any) {
	t.Helper()
	raw, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got := m.apply(string(raw)) + "\n"
	if strings.HasPrefix(name, "backup") || strings.HasPrefix(name, "restore") {
		got = filePattern.ReplaceAllString(got, "$1...$3")
	}
	path := filepath.Join("testdata", name+".json")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs from %s (go test -update rewrites it):\n%s", name, path, got)
	}
}

// TestDocuments runs the commands one after the other on one home, and compares each document with its golden file.
func TestDocuments(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	m := &masks{ids: map[string]string{}, paths: []string{h.dir, h.config}}
	step := func(name string, code int, args ...string) map[string]any {
		t.Helper()
		doc := h.run(append(args, "--json")...).exits(code).document()
		m.golden(t, name, doc)
		return doc
	}
	id := func(doc map[string]any, key string) string { t.Helper(); return doc[key].(string) }

	step("sessions_none", 0, "sessions")
	step("verify_none", 0, "verify")
	first := step("send", 0, "send", "--new", "Name a colour")
	session := id(first, "session_id")
	step("pending", 0, "pending", session)
	step("jobs", 0, "jobs")
	step("commit", 0, "commit", session)
	pin := step("pin", 0, "pin", session, "The user likes blue")
	step("pins", 0, "pins", session)
	step("unpin", 0, "unpin", session, pin["pin"].(map[string]any)["pin_id"].(string))
	h.provider.script(cut("half"))
	second := step("send_incomplete", 1, "send", "Go on")
	step("show", 0, "show", session)
	step("keep", 0, "keep", id(second, "turn_id"))
	fork := step("fork", 0, "fork", id(first, "turn_id"), "--label", "other")
	step("branches", 0, "branches", session)
	step("switch", 0, "switch", session, id(fork, "branch_id"))
	states := step("states", 0, "states", session)
	all := states["states"].([]any)
	step("rollback", 0, "rollback", session, "--to", all[len(all)-1].(map[string]any)["state_id"].(string))
	step("rename", 0, "sessions", "rename", session, "Colours")
	step("archive", 0, "sessions", "archive", session)
	step("sessions_archived", 0, "sessions", "--archived")
	step("unarchive", 0, "sessions", "unarchive", session)
	step("reconcile", 0, "reconcile")
	step("verify", 0, "verify")
	step("stats", 0, "stats")
	copyPath := filepath.Join(h.dir, "copy.db")
	step("backup", 0, "backup", copyPath)
	step("restore_unasked", 2, "restore", copyPath)
	step("restore", 0, "restore", copyPath, "--yes")
	step("backups", 0, "backups", "--check")
	step("models", 0, "models")
	step("keys_list", 0, "keys", "list")
	step("config_path", 0, "config", "path")
	step("config_check", 0, "config", "check")
	step("config_set", 0, "config", "set", "budget.working_set_tokens", "40000")
	step("config_reset", 0, "config", "reset", "budget.working_set_tokens")
	step("version", 0, "version")
	step("failure_usage", 2, "nonsense")
	step("failure_not_found", 1, "show", "01ARZ3NDEKTSV4RRFFQ69G5FAV")
}

// TestEveryFailureIsOneDocument makes every command fail, with invalid usage and during its work.
func TestEveryFailureIsOneDocument(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.send("--new", "hi")
	const none = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
	cases := []struct {
		exit int
		code string
		args []string
	}{
		{2, "invalid", []string{"send", "--session"}}, {1, "not_found", []string{"send", "--session", none, "hi"}},
		{1, "not_found", []string{"send", "--branch", none, "hi"}}, {1, "not_found", []string{"send", "--session", s.SessionID, "--branch", none, "hi"}},
		{2, "invalid", []string{"chat"}}, {2, "invalid", []string{"sessions", "extra"}}, {2, "invalid", []string{"sessions", "--limit", "-1"}},
		{1, "not_found", []string{"sessions", "rename", none, "x"}}, {2, "invalid", []string{"sessions", "rename", s.SessionID, " "}},
		{1, "not_found", []string{"sessions", "archive", none}}, {2, "invalid", []string{"sessions", "archive"}},
		{2, "invalid", []string{"show"}}, {1, "not_found", []string{"show", none}}, {2, "invalid", []string{"show", "x"}},
		{2, "invalid", []string{"show", s.SessionID, "--last", "-3"}}, {1, "not_found", []string{"show", s.SessionID, "--raw", none}},
		{2, "invalid", []string{"branches"}}, {1, "not_found", []string{"branches", none}},
		{2, "invalid", []string{"fork"}}, {1, "not_found", []string{"fork", none}}, {1, "not_found", []string{"fork", "ZZZZ"}},
		{2, "invalid", []string{"answers"}}, {1, "not_found", []string{"answers", none}}, {1, "not_found", []string{"answers", "also", none}},
		{1, "conflict", []string{"answers", "merge", s.TurnID}},
		{2, "invalid", []string{"rollback", s.SessionID}}, {1, "not_found", []string{"rollback", s.SessionID, "--to", none}},
		{2, "invalid", []string{"switch", s.SessionID}}, {1, "not_found", []string{"switch", s.SessionID, none}},
		{1, "not_found", []string{"states", none}},
		{1, "not_found", []string{"retry", none}}, {1, "conflict", []string{"continue", s.TurnID}},
		{1, "conflict", []string{"resend", s.TurnID}}, {1, "conflict", []string{"keep", s.TurnID}}, {1, "conflict", []string{"discard", s.TurnID}},
		{2, "invalid", []string{"retry", s.TurnID, "--wait", "x"}},
		{2, "invalid", []string{"pin", s.SessionID, ""}}, {1, "invalid", []string{"pin", s.SessionID, "a\xff"}},
		{1, "not_found", []string{"pins", none}}, {1, "not_found", []string{"unpin", s.SessionID, none}}, {2, "invalid", []string{"unpin", s.SessionID, "!"}},
		{1, "not_found", []string{"pending", none}}, {1, "not_found", []string{"commit", none}},
		{2, "invalid", []string{"models", "x"}}, {2, "invalid", []string{"keys"}}, {2, "invalid", []string{"keys", "frob"}},
		{2, "invalid", []string{"keys", "set", "nobody"}}, {1, "invalid", []string{"keys", "set", "anthropic"}}, {2, "invalid", []string{"keys", "remove", "nobody"}},
		{2, "invalid", []string{"config"}}, {1, "invalid", []string{"config", "set", "no.such", "1"}},
		{1, "invalid", []string{"config", "set", "budget.working_set_tokens", "many"}}, {1, "invalid", []string{"config", "reset", "no.such"}},
		{2, "invalid", []string{"jobs", "--state", "odd"}}, {2, "invalid", []string{"jobs", "retry", "x"}}, {1, "not_found", []string{"jobs", "retry", "9999"}},
		{1, "not_found", []string{"jobs", "dismiss", "9999"}}, {1, "not_found", []string{"jobs", "--session", none}},
		{2, "invalid", []string{"reconcile", "x"}}, {2, "invalid", []string{"verify", "x"}}, {2, "invalid", []string{"stats", "x"}},
		{2, "invalid", []string{"backup"}}, {1, "conflict", []string{"backup", h.config}}, {1, "not_found", []string{"backup", filepath.Join(h.dir, "none", "x.db")}},
		{2, "invalid", []string{"backups", "x"}}, {2, "invalid", []string{"restore"}}, {1, "not_found", []string{"restore", "none.db"}}, {2, "invalid", []string{"delete", none}}, {1, "not_found", []string{"delete", none, "--hard", "--yes"}}, {2, "invalid", []string{"receipts", "x"}},
		{1, "invalid", []string{"restore", h.config, "--yes"}},
		{2, "invalid", []string{"version", "x"}}, {2, "invalid", []string{"completion", "tcsh"}}, {2, "invalid", []string{"completion"}},
		{2, "invalid", []string{"--nope"}}, {2, "invalid", []string{"nonsense"}}, {2, "invalid", []string{"help", "nonsense"}},
	}
	for _, c := range cases {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			// --json first and last: parsing may stop before it is reached.
			for _, args := range [][]string{append([]string{"--json"}, c.args...), append(append([]string{}, c.args...), "--json")} {
				if c.args[len(c.args)-1] == "--session" && args[0] != "--json" {
					continue // the flag would take --json for its value
				}
				r := h.run(args...)
				r.t = t
				if f := r.exits(c.exit).failure(); f.Code != c.code {
					t.Errorf("code %s, want %s: %+v", f.Code, c.code, f)
				}
			}
			r := h.run(c.args...)
			r.t = t
			if c.args[0] != "chat" && (r.exits(c.exit).out != "" || !strings.HasPrefix(r.err, "error: ")) {
				t.Errorf("stdout %q, stderr %q", r.out, r.err)
			}
		})
	}
}
