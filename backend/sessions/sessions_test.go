package sessions

import (
	"context"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store"
)

// shortLimit refuses instructions of more than 10 bytes.
type shortLimit struct{}

func (shortLimit) CheckInstructions(_ context.Context, _ chat.SessionID, text string) error {
	if len(text) > 10 {
		return chat.Errorf(chat.CodeOverBudget, "test", "too long")
	}
	return nil
}

type fixture struct {
	*testing.T
	*Service
	published []string
	wakes     int
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{DataDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	f := &fixture{T: t}
	f.Service = New(Deps{
		Store: s, History: s, Limits: shortLimit{}, Wake: func() { f.wakes++ },
		Publish: func(c chat.Change) { f.published = append(f.published, string(c.Kind)+" "+c.ID) },
	})
	return f
}

func (f *fixture) create(n chat.NewSession) chat.Session {
	f.Helper()
	s, _, err := f.CreateSession(f.Context(), n)
	if err != nil {
		f.Fatal(err)
	}
	return s
}

// stored returns the stored session.
func (f *fixture) stored(id chat.SessionID) chat.Session {
	f.Helper()
	s, err := f.Session(f.Context(), id)
	if err != nil {
		f.Fatal(err)
	}
	return s
}

// Each change follows its rule and is published; a failed one changes nothing and is not published.
func TestChanges(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	s := f.create(chat.NewSession{Folder: " Trips "})
	other := f.create(chat.NewSession{Title: "Sailing"})
	if s.Folder != "Trips" {
		t.Errorf("folder %q", s.Folder)
	}
	check := func(err error, code chat.Code, want ...string) {
		t.Helper()
		if (err != nil) != (code != "") || err != nil && chat.CodeOf(err) != code {
			t.Errorf("%v, not %q", err, code)
		}
		if !slices.Equal(f.published, want) {
			t.Errorf("published %q, not %q", f.published, want)
		}
		f.published = nil
	}
	changes := func(ids ...chat.SessionID) (out []string) {
		for _, id := range ids {
			out = append(out, "sessions "+string(id), "session "+string(id))
		}
		return out
	}
	f.published = nil
	check(f.RenameSession(ctx, s.ID, " \t"), chat.CodeInvalid)
	check(f.SetTitleFrom(ctx, s, chat.Message{}), "")
	check(f.SetTitleFrom(ctx, s, chat.UserText("Where do we moor?")), "", changes(s.ID)...)
	check(f.SetTitleFrom(ctx, f.stored(s.ID), chat.UserText("And then?")), "")
	if got := f.stored(s.ID).Title; got != "Where do we moor?" {
		t.Errorf("title %q", got)
	}
	check(f.RenameSession(ctx, s.ID, "  Mooring "), "", changes(s.ID)...)
	check(f.SetFolder(ctx, []chat.SessionID{s.ID, other.ID}, "Boats"), "", changes(s.ID, other.ID)...)
	check(f.SetFolder(ctx, []chat.SessionID{s.ID}, strings.Repeat("x", 10_000)), chat.CodeInvalid)
	check(f.RenameFolder(ctx, "Boats", "Ships"), "", "sessions ", "projects ")
	check(f.ArchiveSessions(ctx, []chat.SessionID{s.ID, "nobody"}, true), chat.CodeNotFound)
	check(f.ChangeSettings(ctx, s.ID, func(v *chat.SessionSettings) { v.SystemPrompt = "far too long" }), chat.CodeOverBudget)
	check(f.SetSystemPrompt(ctx, s.ID, "far too long"), chat.CodeOverBudget)
	check(f.SetSystemPrompt(ctx, s.ID, "Be brief."), "", changes(s.ID)...)
	check(f.ChangeSettings(ctx, s.ID, func(v *chat.SessionSettings) { v.MemoryScope = chat.ScopeAll }), "", changes(s.ID)...)
	if got := f.stored(s.ID); got.Title != "Mooring" || got.Folder != "Ships" || got.ArchivedAt != nil || got.SystemPrompt != "Be brief." || got.MemoryScope != chat.ScopeAll {
		t.Errorf("kept %+v", got)
	}
	duplicate, err := f.Duplicate(ctx, s.ActiveBranch, "")
	check(err, "", append(changes(duplicate.Session.ID), "jobs ")...)
	if duplicate.Session.Title != chat.CopyTitle("Mooring") || f.wakes != 1 {
		t.Errorf("copied as %q, woke %d times", duplicate.Session.Title, f.wakes)
	}
}
