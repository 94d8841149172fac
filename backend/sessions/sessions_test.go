package sessions

import (
	"context"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store"
)

// full refuses long instructions.
type full struct{}

func (full) CheckInstructions(_ context.Context, _ chat.SessionID, text string) error {
	if len(text) > 10 {
		return chat.Errorf(chat.CodeOverBudget, "test", "too long")
	}
	return nil
}

type bench struct {
	*testing.T
	*Service
	published []string
	woke      int
}

func newBench(t *testing.T) *bench {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{DataDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	b := &bench{T: t}
	b.Service = New(Deps{
		Store: s, History: s, Limits: full{}, Wake: func() { b.woke++ },
		Publish: func(c chat.Change) { b.published = append(b.published, string(c.Kind)+" "+c.ID) },
	})
	return b
}

func (b *bench) made(n chat.NewSession) chat.Session {
	b.Helper()
	s, _, err := b.CreateSession(b.Context(), n)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// of returns the stored session.
func (b *bench) of(id chat.SessionID) chat.Session {
	b.Helper()
	s, err := b.Session(b.Context(), id)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// Each act follows its rule and is published; a failed one changes nothing and is not published.
func TestActs(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	s := b.made(chat.NewSession{Folder: " Trips "})
	other := b.made(chat.NewSession{Title: "Sailing"})
	if s.Folder != "Trips" {
		t.Errorf("folder %q", s.Folder)
	}
	change := func(do error, code chat.Code, want ...string) {
		t.Helper()
		if (do != nil) != (code != "") || do != nil && chat.CodeOf(do) != code {
			t.Errorf("%v, not %q", do, code)
		}
		if !slices.Equal(b.published, want) {
			t.Errorf("published %q, not %q", b.published, want)
		}
		b.published = nil
	}
	of := func(ids ...chat.SessionID) (out []string) {
		for _, id := range ids {
			out = append(out, "sessions "+string(id), "session "+string(id))
		}
		return out
	}
	b.published = nil
	change(b.RenameSession(ctx, s.ID, " \t"), chat.CodeInvalid)
	change(b.NameBy(ctx, s, chat.Message{}), "")
	change(b.NameBy(ctx, s, chat.UserText("Where do we moor?")), "", of(s.ID)...)
	change(b.NameBy(ctx, b.of(s.ID), chat.UserText("And then?")), "")
	if got := b.of(s.ID).Title; got != "Where do we moor?" {
		t.Errorf("title %q", got)
	}
	change(b.RenameSession(ctx, s.ID, "  Mooring "), "", of(s.ID)...)
	change(b.SetFolder(ctx, []chat.SessionID{s.ID, other.ID}, "Boats"), "", of(s.ID, other.ID)...)
	change(b.SetFolder(ctx, []chat.SessionID{s.ID}, strings.Repeat("x", 10_000)), chat.CodeInvalid)
	change(b.RenameFolder(ctx, "Boats", "Ships"), "", "sessions ", "projects ")
	change(b.ArchiveSessions(ctx, []chat.SessionID{s.ID, "nobody"}, true), chat.CodeNotFound)
	change(b.ChangeSettings(ctx, s.ID, func(v *chat.SessionSettings) { v.SystemPrompt = "far too long" }), chat.CodeOverBudget)
	change(b.SetSystemPrompt(ctx, s.ID, "far too long"), chat.CodeOverBudget)
	change(b.SetSystemPrompt(ctx, s.ID, "Be brief."), "", of(s.ID)...)
	change(b.ChangeSettings(ctx, s.ID, func(v *chat.SessionSettings) { v.MemoryScope = chat.ScopeAll }), "", of(s.ID)...)
	if got := b.of(s.ID); got.Title != "Mooring" || got.Folder != "Ships" || got.ArchivedAt != nil || got.SystemPrompt != "Be brief." || got.MemoryScope != chat.ScopeAll {
		t.Errorf("kept %+v", got)
	}
	made, err := b.Duplicate(ctx, s.ActiveBranch, "")
	change(err, "", append(of(made.Session.ID), "jobs ")...)
	if made.Session.Title != chat.CopyTitle("Mooring") || b.woke != 1 {
		t.Errorf("copied as %q, woke %d times", made.Session.Title, b.woke)
	}
}
