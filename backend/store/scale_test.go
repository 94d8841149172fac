package store

import (
	"strings"
	"testing"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
)

// TestTitlesOfAMegabyte: titles of new records are cut; renaming to one is refused and the old title stays.
func TestTitlesOfAMegabyte(t *testing.T) {
	f := newFixture(t)
	long := strings.Repeat("title ", 1<<20/6)
	session, main, err := f.CreateSession(f.ctx, chat.NewSession{Title: long})
	f.ok(err)
	if session.Title != chat.BoundTitle(long) || len(session.Title) > 2*chat.MaxTitleRunes {
		t.Errorf("a session name has %d bytes", len(session.Title))
	}
	fork, err := f.Fork(f.ctx, chat.ForkPoint{SessionID: session.ID, Branch: main.ID, Label: long})
	f.ok(err)
	if fork.Label != chat.BoundTitle(long) {
		t.Errorf("a branch name has %d bytes", len(fork.Label))
	}
	for name, err := range map[string]error{
		"session": f.RenameSession(f.ctx, session.ID, long), "branch": f.RenameBranch(f.ctx, fork.ID, long), "folder": f.SetFolder(f.ctx, []chat.SessionID{session.ID}, long),
	} {
		if chat.CodeOf(err) != chat.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	after, err := f.Session(f.ctx, session.ID)
	f.ok(err)
	if after.Title != session.Title || after.Folder != "" {
		t.Errorf("now %d bytes in %q", len(after.Title), after.Folder)
	}
	f.verifyClean()
}

// TestVerifyReadsLittleOfEmptySessions: verify does not query tables that contain nothing of a session. Preparing
// those queries took most of the time with a hundred thousand sessions.
func TestVerifyReadsLittleOfEmptySessions(t *testing.T) {
	f := newFixture(t)
	queries := 0
	f.ok(f.core.DB.Reader.Callback().Row().Register("count", func(*gorm.DB) { queries++ }))
	count := func() int {
		queries = 0
		f.verifyClean()
		return queries
	}
	add := func(sessions int) {
		for range sessions {
			f.session("empty")
		}
	}
	add(1)
	one := count()
	add(50)
	if each := (count() - one) / 50; each < 1 || each > 5 {
		t.Errorf("an empty session costs %d queries", each)
	}
}
