package process

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/test/harness"
)

// Two processes with one data directory (SPEC 4): there are never two writers, reading always works, and the first
// writer is not disturbed.
func TestASecondWriterIsRefusedAndTheFirstUnharmed(t *testing.T) {
	t.Parallel()
	text := []string{"One ", "two ", "three."}
	server := harness.NewHeldServer(t, true, harness.AnthropicWire.TextStream(true, text...)...)
	h := harness.NewHome(t, harness.Shipped(t), harness.AnthropicWire.Model("held", server.URL))
	first := h.Start(nil, "send", "--new", "--json", "--model", "held", "First.")
	<-server.Asked

	session := h.LastSession()
	writers := [][]string{
		{"send", "--session", session, "--wait-turn", "0s", "Second."},
		{"commit", session},
		{"pin", session, "fact"},
		{"reconcile"},
		{"sessions", "rename", session, "Other"},
		{"discard", h.Only(session).ID},
	}
	var refused []*harness.Process // each waits a little for the first one
	for _, args := range writers {
		refused = append(refused, h.Start(nil, append(args, "--json")...))
	}
	for i, args := range writers {
		f := refused[i].Wait().Fails(1, chat.CodeLocked)
		if !strings.Contains(f.Message, strconv.Itoa(first.Cmd.Process.Pid)) || f.Hint == "" {
			t.Errorf("%s: the error does not name the holder: %+v", args[0], f)
		}
	}
	for _, args := range [][]string{{"sessions"}, {"show", session}, {"branches", session}, {"pending", session}, {"jobs"}, {"stats"}, {"models"}, {"verify"}} {
		h.OK(append(args, "--json")...)
	}
	server.Release()
	s := first.Wait().Exits(0).Sent()
	if s.Text != strings.Join(text, "") || s.Outcome != chat.OutcomeCompleted || s.Attempts != 1 {
		t.Errorf("the first writer ended with %+v", s)
	}
	if doc := h.Show(session); len(doc.Turns) != 1 || doc.Session.Title == "Other" {
		t.Errorf("a refused writer wrote: %+v", doc)
	}
	h.Clean()
}

// A command that writes waits for one that is about to end.
func TestShortCommandsWaitForEachOther(t *testing.T) {
	t.Parallel()
	server := harness.NewHeldServer(t, true, harness.AnthropicWire.TextStream(true, "One.")...)
	h := harness.NewHome(t, harness.Shipped(t), harness.AnthropicWire.Model("held", server.URL))
	first := h.Start(nil, "send", "--new", "--json", "--model", "held", "First.")
	<-server.Asked
	session := h.LastSession()
	var waiting []*harness.Process
	for _, fact := range []string{"one", "two", "three"} {
		waiting = append(waiting, h.Start(nil, "pin", session, fact))
	}
	server.Release()
	first.Wait().Exits(0)
	for _, p := range waiting {
		p.Wait().Exits(0)
	}
	if pins := h.OK("pins", session).Stdout; !strings.Contains(pins, "one") || !strings.Contains(pins, "two") || !strings.Contains(pins, "three") {
		t.Errorf("pinned: %s", pins)
	}
	h.Clean()
}

// Messages to one session from several commands at once are all answered, with a running program or without: each waits
// for the answers before it, and reports that.
func TestMessagesAtOnceWaitForEachOther(t *testing.T) {
	t.Parallel()
	for name, hosted := range map[string]bool{"alone": false, "in a running program": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := harness.NewHeldServer(t, true, harness.ChatWire.TextStream(true, "It is noted.")...)
			h := harness.NewHome(t, harness.Shipped(t), harness.ChatWire.Model("held", server.URL)+"[librarian]\nmodel = \"\"\n")
			session := h.OK("send", "--new", "--model", "recall", "--json", "One.").Sent().SessionID
			var host *harness.Host
			if hosted {
				host = h.Host()
			}
			send := func(words string, more ...string) *harness.Process {
				return h.Start(nil, append([]string{"send", "--session", session, "--model", "held", words}, more...)...)
			}
			first := send("Two.")
			<-server.Asked
			waiting := []*harness.Process{send("Three."), send("Four."), send("Five.")}
			for _, p := range waiting {
				p.Await("it said that it waits", p.Err, func(s string) bool { return strings.Contains(s, "this message waits for it") })
			}
			if hosted {
				send("Not at all.", "--json", "--wait-turn", "0s").Wait().Fails(1, chat.CodeBusy)
			}
			server.Release()
			for _, p := range append(waiting, first) {
				p.Wait().Exits(0)
			}
			if hosted {
				host.Leave()
			}
			if turns := h.Show(session).Turns; len(turns) != 5 {
				t.Errorf("%d turns", len(turns))
			}
			h.Clean()
		})
	}
}

// A lock file that a killed process left behind does not block others.
func TestAStaleLockDoesNotBlock(t *testing.T) {
	t.Parallel()
	server := harness.NewHeldServer(t, true, harness.OpenAIWire.TextStream(false, "Half.")...)
	h := harness.NewHome(t, harness.Shipped(t), harness.OpenAIWire.Model("held", server.URL))
	p := h.Start(nil, "send", "--new", "--model", "held", "First.")
	p.AwaitOutput("Half.")
	p.Kill()
	lock, err := os.ReadFile(filepath.Join(h.DataDir(), "writer.lock"))
	if err != nil || strings.TrimSpace(string(lock)) != strconv.Itoa(p.Cmd.Process.Pid) {
		t.Fatalf("after a crash the lock contains %q (%v), so the test proves nothing", lock, err)
	}
	h.OK("commit", h.LastSession())
	h.Clean()
}

// Data and configuration are readable only by their user.
func TestFilesArePrivate(t *testing.T) {
	t.Parallel()
	server := harness.NewHeldServer(t, true, harness.ChatWire.TextStream(false, "Half.")...)
	h := harness.NewHome(t, harness.Shipped(t), harness.ChatWire.Model("held", server.URL))
	p := h.Start(nil, "send", "--new", "--model", "held", "First.")
	p.AwaitOutput("Half.")
	p.Kill()
	files := 0
	err := filepath.WalkDir(h.DataDir(), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files++
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %v", filepath.Base(path), info.Mode())
		}
		return nil
	})
	if err != nil || files < 4 {
		t.Errorf("%d files and folders were checked (%v)", files, err)
	}
}
