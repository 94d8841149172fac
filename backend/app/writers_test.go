package app

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

// Two processes on one data directory (SPEC 4): never two writers, reading
// always works, and the first is not disturbed.
func TestASecondWriterIsRefusedAndTheFirstUnharmed(t *testing.T) {
	t.Parallel()
	text := []string{"One ", "two ", "three."}
	server := newHeldServer(t, true, anthropicWire.saying(true, text...)...)
	h := newHome(t, shipped(t), anthropicWire.model("held", server.url))
	first := h.start(nil, "send", "--new", "--json", "--model", "held", "First.")
	<-server.asked

	session := h.lastSession()
	writers := [][]string{
		{"send", "--session", session, "Second."}, {"commit", session}, {"pin", session, "fact"}, {"reconcile"},
		{"sessions", "rename", session, "Other"}, {"discard", h.only(session).ID},
	}
	var refused []*process // each waits a little for the first one
	for _, args := range writers {
		refused = append(refused, h.start(nil, append(args, "--json")...))
	}
	for i, args := range writers {
		f := refused[i].wait().fails(1, chat.CodeLocked)
		if !strings.Contains(f.Message, strconv.Itoa(first.cmd.Process.Pid)) || f.Hint == "" {
			t.Errorf("%s: the error does not name the holder: %+v", args[0], f)
		}
	}
	for _, args := range [][]string{{"sessions"}, {"show", session}, {"branches", session}, {"pending", session}, {"jobs"}, {"stats"}, {"models"}, {"verify"}} {
		h.ok(append(args, "--json")...)
	}
	server.release()
	s := first.wait().exits(0).sent()
	if s.Text != strings.Join(text, "") || s.Outcome != chat.OutcomeCompleted || s.Attempts != 1 {
		t.Errorf("the first writer ended with %+v", s)
	}
	if doc := h.show(session); len(doc.Turns) != 1 || doc.Session.Title == "Other" {
		t.Errorf("a refused writer wrote: %+v", doc)
	}
	h.clean()
}

// A verb that writes waits for one that is about to be done.
func TestShortVerbsWaitForEachOther(t *testing.T) {
	t.Parallel()
	server := newHeldServer(t, true, anthropicWire.saying(true, "One.")...)
	h := newHome(t, shipped(t), anthropicWire.model("held", server.url))
	first := h.start(nil, "send", "--new", "--json", "--model", "held", "First.")
	<-server.asked
	session := h.lastSession()
	var waiting []*process
	for _, fact := range []string{"one", "two", "three"} {
		waiting = append(waiting, h.start(nil, "pin", session, fact))
	}
	server.release()
	first.wait().exits(0)
	for _, p := range waiting {
		p.wait().exits(0)
	}
	if pins := h.ok("pins", session).stdout; !strings.Contains(pins, "one") || !strings.Contains(pins, "two") || !strings.Contains(pins, "three") {
		t.Errorf("pinned: %s", pins)
	}
	h.clean()
}

// A lock file that a killed process left behind blocks nobody.
func TestAStaleLockDoesNotBlock(t *testing.T) {
	t.Parallel()
	server := newHeldServer(t, true, openaiWire.saying(false, "Half.")...)
	h := newHome(t, shipped(t), openaiWire.model("held", server.url))
	p := h.start(nil, "send", "--new", "--model", "held", "First.")
	p.awaitOutput("Half.")
	p.kill()
	lock, err := os.ReadFile(filepath.Join(h.dataDir(), "writer.lock"))
	if err != nil || strings.TrimSpace(string(lock)) != strconv.Itoa(p.cmd.Process.Pid) {
		t.Fatalf("the lock a crash leaves holds %q (%v), so this proves nothing", lock, err)
	}
	h.ok("commit", h.lastSession())
	h.clean()
}

// Data and configuration are the user's alone.
func TestFilesArePrivate(t *testing.T) {
	t.Parallel()
	server := newHeldServer(t, true, chatWire.saying(false, "Half.")...)
	h := newHome(t, shipped(t), chatWire.model("held", server.url))
	p := h.start(nil, "send", "--new", "--model", "held", "First.")
	p.awaitOutput("Half.")
	p.kill()
	files := 0
	err := filepath.WalkDir(h.dataDir(), func(path string, d os.DirEntry, err error) error {
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
		t.Errorf("%d files and folders were looked at (%v)", files, err)
	}
}
