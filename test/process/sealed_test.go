package process

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/test/harness"
)

// canaryOf returns a word that is only in what is stored of this kind.
func canaryOf(kind string) string { return "xylocanary" + kind }

// storeCanaries stores a word of each kind, and returns the session and the kinds.
func storeCanaries(h *harness.Home, dir string) (session string, kinds []string) {
	file := func(kind string) string {
		path := filepath.Join(dir, kind, "notes.md")
		harness.WriteFile(h.T, path, []byte(strings.Repeat("# The "+canaryOf(kind)+"\n\nIt lives in the reeds.\n", 40)))
		return path
	}
	h.OK("send", "--new", "--attach", file("attachment"), "Where is the "+canaryOf("message")+"?")
	session = h.LastSession()
	for kind, args := range map[string][]string{
		"title":     {"sessions", "rename", session, "About"},
		"folder":    {"sessions", "folder", session},
		"pin":       {"pin", session},
		"assistant": {"assistants", "new"},
		"prompt":    {"prompts", "new", "mine"},
		"project":   {"projects", "new"},
	} {
		if kind == "title" {
			args[len(args)-1] += " " + canaryOf(kind)
		} else {
			args = append(args, canaryOf(kind))
		}
		h.OK(args...)
		kinds = append(kinds, kind)
	}
	h.OK("projects", "set", canaryOf("project"), "--instructions", canaryOf("instructions"), "--fact", canaryOf("fact"))
	h.OK("projects", "add", canaryOf("project"), file("document"))
	return session, append(kinds, "attachment", "message", "answer", "instructions", "fact", "document")
}

// TestNoTextOfSealedDataIsOnTheDisk: a program with sealed data is killed while an answer arrives, and again while it
// recovers. No file of its home or of its temporary folder has, plain or compressed, a word of messages, answers, titles,
// attached files, pins, names of folders, projects, assistants and prompts, instructions, facts or documents. The same
// search finds each of them where the data is plain.
func TestNoTextOfSealedDataIsOnTheDisk(t *testing.T) {
	t.Parallel()
	answer := "The " + canaryOf("answer")
	for _, sealed := range []bool{false, true} {
		t.Run(map[bool]string{false: "plain", true: "sealed"}[sealed], func(t *testing.T) {
			t.Parallel()
			whole := harness.NewHeldServer(t, false, harness.ChatWire.TextStream(true, answer, " sings", " at dawn.")...)
			held := harness.NewHeldServer(t, true, harness.ChatWire.TextStream(false, answer, " sings", " at dawn.")...)
			models := harness.ChatWire.Model("m", whole.URL) + harness.ChatWire.Model("held", held.URL)
			h := harness.NewHome(t, harness.Shipped(t), "[general]\ndefault_model = \"m\"\n\n"+models)
			temp := filepath.Join(h.Dir, "tmp")
			if err := os.MkdirAll(temp, 0o700); err != nil {
				t.Fatal(err)
			}
			h = h.With("TMPDIR=" + temp)
			if sealed {
				if err := h.Seal(); err != nil {
					t.Fatal(err)
				}
			}
			session, kinds := storeCanaries(h, t.TempDir())
			search := func(when string) {
				t.Helper()
				if sealed {
					if found := harness.FilesWith(t, h.Dir, canaryOf("")); len(found) > 0 {
						t.Errorf("%s: found in %q", when, found)
					}
					return
				}
				for _, kind := range kinds {
					if len(harness.FilesWith(t, h.Dir, canaryOf(kind))) == 0 {
						t.Errorf("%s: the search does not see the %s", when, kind)
					}
				}
			}
			search("after a turn")
			for _, when := range []string{"during an answer", "again"} {
				p := h.Start(nil, "send", "--session", session, "--model", "held", "--events", "And the young?")
				p.AwaitOutput(canaryOf("answer"))
				p.Kill()
				search("killed " + when)
			}
			h.OK("reconcile")
			h.OK("verify")
			search("at the end")
		})
	}
}

// noCoreDumps checks that a process that has the key writes no dump of its memory, and that the kernel gives none to
// another program (a limit of 1).
func noCoreDumps(t *testing.T, pid int) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
	if err != nil || !regexp.MustCompile(`(?m)^Max core file size +1 `).Match(limits) {
		t.Errorf("%v\n%s", err, limits)
	}
}

// TestSealedData: after encrypt no file of the data, configuration and cache folders contains what was said, and every verb
// works with the passphrase, or beside a program that has the data open; without it they refuse, and change nothing. The
// recovery code opens the data, and a backup that is alone on another machine. After decrypt everything is as before.
func TestSealedData(t *testing.T) {
	t.Parallel()
	const word = "xylocanary"
	h := harness.NewHome(t, harness.Shipped(t), "")
	secret, wrong := filepath.Join(t.TempDir(), "secret"), filepath.Join(t.TempDir(), "wrong")
	harness.WriteFile(t, secret, []byte("correct horse\n"))
	harness.WriteFile(t, wrong, []byte("another\n"))
	h.OK("send", "--new", "--model", "recall", "Where is the "+word+"?")
	session := h.LastSession()
	backups := filepath.Join(h.DataDir(), "backups")
	if err := os.MkdirAll(backups, 0o700); err != nil {
		t.Fatal(err)
	}
	h.OK("backup", filepath.Join(backups, "mine.db"))
	if found := harness.FilesWith(t, h.Dir, word); len(found) < 2 { // the data, the backup, and perhaps a daily one
		t.Fatalf("the search sees %q", found)
	}

	var done struct {
		Code    string `json:"recovery_code"`
		Backups int
	}
	h.Using(harness.Breakable(t)).OK("encrypt", "--passphrase-file", secret, "--yes", "--json").Document(&done)
	if found := harness.FilesWith(t, h.Dir, word); len(found) > 0 || done.Backups != 1 || len(done.Code) != 39 {
		t.Fatalf("found in %q, %+v", found, done)
	}
	h.Run("encrypt", "--passphrase-file", secret, "--yes", "--json").Fails(1, chat.CodeConflict)
	copied := h.Run("backup", t.TempDir(), "--json")
	copied.Fails(1, chat.CodeSealed)
	if !strings.Contains(copied.Stdout+copied.Stderr, "copy the folder") {
		t.Errorf("a backup without the passphrase: %s%s", copied.Stdout, copied.Stderr)
	}
	for _, args := range [][]string{{"show", session}, {"send", "--session", session, "more"}, {"verify"}, {"decrypt", "--yes"}} {
		h.Run(append(args, "--json")...).Fails(1, chat.CodeSealed)
		h.Run(append(args, "--json", "--passphrase-file", wrong)...).Fails(1, chat.CodeSealed)
	}
	folder := filepath.Join(t.TempDir(), "copied")
	if err := os.CopyFS(folder, os.DirFS(h.DataDir())); err != nil {
		t.Fatal(err)
	}
	h.OK("verify", "--data-dir", folder, "--passphrase-file", secret)
	if r := h.Run("show", session); !strings.Contains(r.Stderr, "is sealed") || !strings.Contains(r.Stderr, "--passphrase-file") {
		t.Errorf("it refuses by saying %q", r.Stderr)
	}
	h.OK("send", "--session", session, "--model", "recall", "The "+word+" sings.", "--passphrase-file", secret)
	if r := h.OK("show", session, "--passphrase-file", secret); !strings.Contains(r.Stdout, word+" sings") {
		t.Errorf("shown: %q", r.Stdout)
	}
	h.OK("verify", "--passphrase-file", secret)
	h.OK("backups", "--check", "--passphrase-file", secret)
	h.OK("export", session, "-o", filepath.Join(t.TempDir(), "x.md"), "--format", "md", "--data-passphrase-file", secret)

	h.OK("mcp", "clients", "allow", "Reader", "--all", "--passphrase-file", secret)
	requests := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"r","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_sessions","arguments":{}}}
`
	from, to := io.Pipe()
	defer to.Close()
	reader := h.Start(from, "mcp", "--client", "Reader", "--passphrase-file", secret)
	_, _ = io.WriteString(to, requests)
	reader.AwaitOutput(`"id":1`)
	_ = to.Close()
	if r := reader.Wait().Exits(0); !strings.Contains(r.Stdout, word) {
		t.Errorf("another program reads %q", r.Stdout)
	}

	host := h.Host("--passphrase-file", secret)
	if r := h.OK("sessions"); !strings.Contains(r.Stdout, word) {
		t.Errorf("beside a program that has it open: %q", r.Stdout)
	}
	noCoreDumps(t, host.Cmd.Process.Pid)
	host.Leave()
	if found := harness.FilesWith(t, h.Dir, word); len(found) > 0 {
		t.Fatalf("found in %q", found)
	}

	h.OK("keys", "rotate", "--passphrase-file", secret, "--yes", "--json").Document(&done)
	code := filepath.Join(t.TempDir(), "code")
	harness.WriteFile(t, code, []byte(strings.ToLower(strings.ReplaceAll(done.Code, "-", " "))))
	h.OK("verify", "--passphrase-file", code)
	other := harness.NewHome(t, harness.Shipped(t), "")
	other.Run("restore", filepath.Join(backups, "mine.db"), "--yes", "--json").Fails(1, chat.CodeSealed)
	other.OK("restore", filepath.Join(backups, "mine.db"), "--yes", "--passphrase-file", code)
	if r := other.OK("show", session, "--passphrase-file", secret); !strings.Contains(r.Stdout, word) {
		t.Errorf("on another machine: %q", r.Stdout)
	}
	if found := harness.FilesWith(t, other.Dir, word); len(found) > 0 {
		t.Errorf("on another machine it is in %q", found)
	}

	h.Using(harness.Breakable(t)).OK("keys", "passphrase", "--passphrase-file", code, "--new-passphrase-file", wrong)
	h.Run("sessions", "--json", "--passphrase-file", secret).Fails(1, chat.CodeSealed)
	h.OK("keys", "recovery", "--passphrase-file", wrong, "--yes", "--json").Document(&done)
	h.Run("sessions", "--json", "--passphrase-file", code).Fails(1, chat.CodeSealed)

	h.OK("decrypt", "--passphrase-file", wrong, "--yes")
	if found := harness.FilesWith(t, h.Dir, word); len(found) < 2 { // the data, the backup, and perhaps a daily one
		t.Errorf("the plain data: %q", found)
	}
	h.OK("verify")
	h.Clean()
}

// TestABackupThatWasLeftIsSealedLater: a backup that encrypt cannot convert is named, and the same command converts it once
// that is possible.
func TestABackupThatWasLeftIsSealedLater(t *testing.T) {
	t.Parallel()
	const word = "xylocanary"
	h := harness.NewHome(t, harness.Shipped(t), "")
	secret := filepath.Join(t.TempDir(), "secret")
	harness.WriteFile(t, secret, []byte("correct horse\n"))
	h.OK("send", "--new", "--model", "recall", "Where is the "+word+"?")
	left := filepath.Join(h.DataDir(), "backups", "left.db")
	if err := os.MkdirAll(filepath.Dir(left), 0o700); err != nil {
		t.Fatal(err)
	}
	h.OK("backup", left)
	whole := harness.ReadFile(t, left)
	harness.WriteFile(t, left, append(whole, 0)) // not a whole database
	var done struct {
		Code    string `json:"recovery_code"`
		Backups int
		Left    []string
	}
	encrypt := []string{"encrypt", "--passphrase-file", secret, "--yes", "--json"}
	h.Run(encrypt...).Exits(3).Document(&done)
	harness.WriteFile(t, secret, []byte(done.Code)) // it opens faster than a passphrase
	again := done
	h.Run(encrypt...).Exits(3).Document(&again)
	for _, left := range [][]string{done.Left, again.Left} {
		if len(left) != 1 || filepath.Base(left[0]) != "left.db" {
			t.Fatalf("left: %q", left)
		}
	}
	harness.WriteFile(t, left, whole)
	done.Left = nil
	h.Run(encrypt...).Exits(0).Document(&done)
	if found := harness.FilesWith(t, h.Dir, word); done.Backups != 1 || len(done.Left) > 0 || len(found) > 0 {
		t.Errorf("%+v, found in %q", done, found)
	}
	h.Run(encrypt...).Fails(1, chat.CodeConflict)
	h.OK("verify", "--passphrase-file", secret)
}
