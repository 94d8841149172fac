package exporting_test

import (
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/atrest"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/exporting"
	"contextinfinity/backend/store"
)

func TestADraggedFileIsWrittenOnce(t *testing.T) {
	d := forked(t)
	r := exporting.Request{Scope: exporting.ScopeBranch, Session: d.session.ID}
	first, err := d.DragFile(d.ctx, r)
	d.ok(err)
	if rel, err := filepath.Rel(filepath.Join(d.dir, exporting.Dir, string(d.session.ID)), first.Path); err != nil || strings.HasPrefix(rel, "..") {
		t.Errorf("it is at %s", first.Path)
	}
	u, err := url.Parse(first.URI)
	if err != nil || u.Scheme != "file" || u.Host != "" || !strings.HasSuffix(filepath.ToSlash(first.Path), strings.TrimPrefix(u.Path, "/")) || first.Name != filepath.Base(first.Path) {
		t.Errorf("%+v", first)
	}
	if text := d.read(first.Path); questions(text) != "one two-b three-b" || first.Size != int64(len(text)) {
		t.Errorf("%+v contains %q", first, questions(text))
	}
	for _, path := range []string{filepath.Dir(first.Path), filepath.Join(d.dir, exporting.Dir)} {
		if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	d.ok(os.WriteFile(first.Path, []byte("as it was"), 0o600))
	again, err := d.DragFile(d.ctx, r)
	if err != nil || again.Path != first.Path || d.read(again.Path) != "as it was" {
		t.Errorf("written again without a change: %+v, %v", again, err)
	}
	d.ok(d.store.RenameSession(d.ctx, d.session.ID, "New"))
	renamed, err := d.DragFile(d.ctx, r)
	if err != nil || renamed.Path == first.Path || !strings.HasPrefix(renamed.Name, "New - ") || questions(d.read(renamed.Path)) != "one two-b three-b" {
		t.Errorf("after a change: %+v, %v", renamed, err)
	}
	r.Format = exporting.FormatHTML
	if page, err := d.DragFile(d.ctx, r); err != nil || page.Path == renamed.Path || filepath.Ext(page.Name) != ".html" {
		t.Errorf("of another format: %+v, %v", page, err)
	}
}

// A running turn sends no event for each word, so a dragged file is always written again.
func TestADragDuringAnAnswerIsWrittenAgain(t *testing.T) {
	d := forked(t)
	_, err := d.store.Accept(d.ctx, chat.Acceptance{BranchID: d.session.ActiveBranch, User: chat.UserText("open"), Provider: "p", Model: "m"})
	d.ok(err)
	r := exporting.Request{Scope: exporting.ScopeSession, Session: d.session.ID, Format: exporting.FormatJSON}
	first, err := d.DragFile(d.ctx, r)
	d.ok(err)
	d.ok(os.WriteFile(first.Path, []byte("old"), 0o600))
	again, err := d.DragFile(d.ctx, r)
	if err != nil || d.read(again.Path) == "old" {
		t.Errorf("%+v, %v", again, err)
	}
}

func TestOldDragsAreRemoved(t *testing.T) {
	d := forked(t)
	other := d.imports("s2", "Other", "x")
	old, err := d.DragFile(d.ctx, exporting.Request{Scope: exporting.ScopeSession, Session: other.ID})
	d.ok(err)
	d.now = time.Now().Add(23 * time.Hour)
	r := exporting.Request{Scope: exporting.ScopeSession, Session: d.session.ID, Format: exporting.FormatMarkdown}
	young, err := d.DragFile(d.ctx, r)
	d.ok(err)
	if _, err := os.Stat(old.Path); err != nil {
		t.Errorf("a drag of today is gone: %v", err)
	}
	d.now = time.Now().Add(25 * time.Hour)
	r.Format = exporting.FormatJSON
	kept, err := d.DragFile(d.ctx, r)
	d.ok(err)
	for _, path := range []string{old.Path, young.Path, filepath.Dir(filepath.Dir(old.Path))} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is still there", path)
		}
	}
	d.read(kept.Path)
	atrest.SweepStart(d.dir)
	if _, err := os.Stat(filepath.Join(d.dir, exporting.Dir)); err == nil {
		t.Error("the folder is not swept")
	}
	atrest.SweepStart(d.dir) // there is no folder
	if _, err := d.DragFile(d.ctx, exporting.Request{Scope: exporting.ScopeAll}); chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("all at once: %v", err)
	}
}

// A link in the folder is removed, but not its target.
func TestSweepFollowsNoLink(t *testing.T) {
	d := newFixture(t)
	outside := filepath.Join(d.out, "precious")
	d.ok(os.WriteFile(outside, nil, 0o600))
	d.ok(os.MkdirAll(filepath.Join(d.dir, exporting.Dir), 0o700))
	if os.Symlink(d.out, filepath.Join(d.dir, exporting.Dir, "link")) != nil {
		t.Skip("this system has no links")
	}
	atrest.SweepStart(d.dir)
	d.read(outside)
}

// Deleting a session permanently also removes the files that were dragged out of it.
func TestDeletionsRemoveDraggedFiles(t *testing.T) {
	if exporting.Dir != store.DragDir {
		t.Errorf("%q, and a delete looks in %q", exporting.Dir, store.DragDir)
	}
}
