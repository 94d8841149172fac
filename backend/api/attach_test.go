package api

import (
	"context"
	"encoding/base64"
	"log/slog"
	"slices"
	"strconv"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/deletion"
	"contextinfinity/backend/inspecting"
	"contextinfinity/backend/jobs"
	"contextinfinity/backend/models"
	"contextinfinity/backend/pins"
	"contextinfinity/backend/services"
	"contextinfinity/backend/sessions"
	"contextinfinity/backend/store"
	"contextinfinity/backend/turn"
)

type wordCounter struct{}

func (wordCounter) Encoding(string) string { return "words" }

func (wordCounter) Count(_, text string) int { return len(text) / 4 }

// newTestChat returns the chat service with a real store, and a session to attach to.
func newTestChat(t *testing.T) (*Chat, *store.Store, chat.Session) {
	t.Helper()
	s, err := store.Open(context.Background(), store.Options{DataDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	session, _, err := s.CreateSession(context.Background(), chat.NewSession{Title: "t"})
	if err != nil {
		t.Fatal(err)
	}
	return NewChat(newTestCore(s)), s, session
}

// newTestCore returns the core of the services, with a real store and one small model.
func newTestCore(s *store.Store) *Core {
	hub := NewHub()
	engine := turn.NewEngine(turn.Deps{Turns: s, History: s, Contexts: s, Drafts: s, Calls: s, Models: smallModel{}, Counter: bytesCounter{}, Settings: func() turn.Settings { return turn.Settings{} }})
	runner := jobs.NewRunner(jobs.Deps{Queue: s, Store: s, Publish: hub, Counter: wordCounter{}, TargetTokens: func() int { return 1200 }})
	count := func(text string) int { return wordCounter{}.Count("", text) }
	return &Core{Hub: hub, Set: &services.Set{
		Setup:      services.Setup{Log: slog.New(slog.DiscardHandler), Models: models.New(models.Deps{Config: config.Default})},
		Store:      s,
		Counter:    wordCounter{},
		Turns:      engine,
		Jobs:       runner,
		Queue:      jobs.NewList(s, runner, hub),
		Inspecting: inspecting.New(s, engine),
		Sessions:   sessions.New(sessions.Deps{Store: s, History: s, Limits: engine, Publish: hub.Change, Wake: func() {}}),
		Pins:       pins.New(pins.Deps{Store: s, Limits: engine, Count: count, Publish: hub.Change}),
		Deletion:   deletion.New(deletion.Deps{Store: s, Publish: hub.Change}),
	}}
}

func part(s chat.Session, upload, data string, last bool) AttachPart {
	return AttachPart{BranchID: string(s.ActiveBranch), Name: "notes.md", Upload: upload, Data: base64.StdEncoding.EncodeToString([]byte(data)), Last: last}
}

// A document is uploaded in pieces, stored, kept in a draft, and can be read.
func TestAttachInPieces(t *testing.T) {
	c, _, session := newTestChat(t)
	first, err := c.Attach(part(session, "", "The harbour ", false))
	if err != nil || first.File != nil || first.Upload == "" {
		t.Fatalf("first piece: %+v, %v", first, err)
	}
	last, err := c.Attach(part(session, first.Upload, "opens at seven.", true))
	if err != nil || last.File == nil {
		t.Fatalf("last piece: %+v, %v", last, err)
	}
	if want := (FileView{ID: last.File.ID, Name: "notes.md", MediaType: "text/markdown", Tokens: 6}); *last.File != want {
		t.Errorf("file %+v, want %+v", *last.File, want)
	}
	read, err := c.Document(last.File.ID)
	if err != nil || read.Text != "The harbour opens at seven." {
		t.Errorf("read %+v, %v", read, err)
	}
	sessions := NewSessions(c.c)
	branch := string(session.ActiveBranch)
	if err := sessions.SaveDraft(branch, Draft{Text: "when?", Files: []FileView{*last.File}}); err != nil {
		t.Fatal(err)
	}
	draft, err := sessions.Draft(branch)
	if err != nil || len(draft.Files) != 1 || draft.Files[0] != *last.File || draft.Text != "when?" {
		t.Errorf("draft %+v, %v", draft, err)
	}
}

func TestAttachRefuses(t *testing.T) {
	c, st, session := newTestChat(t)
	expectRefusal := func(p AttachPart, code chat.Code) {
		t.Helper()
		if r, err := c.Attach(p); chat.CodeOf(err) != code {
			t.Errorf("%+v: %+v, %v; want %s", p, r, err, code)
		}
	}
	expectRefusal(part(session, "", "a\x00b", true), chat.CodeInvalid)
	expectRefusal(part(session, "", "", true), chat.CodeInvalid)
	expectRefusal(part(session, "no such upload", "x", true), chat.CodeNotFound)
	expectRefusal(AttachPart{BranchID: string(session.ActiveBranch), Name: "x", Data: "not base64!", Last: true}, chat.CodeInvalid)
	expectRefusal(AttachPart{BranchID: "01JZZZZZZZZZZZZZZZZZZZZZZZ", Name: "x", Data: "eA==", Last: true}, chat.CodeNotFound)
	open, err := c.Attach(part(session, "", "x", false))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AttachCancel(open.Upload); err != nil {
		t.Fatal(err)
	}
	expectRefusal(part(session, open.Upload, "y", true), chat.CodeNotFound)
	for i := range maxUploads {
		if _, err := c.Attach(part(session, "", strconv.Itoa(i), false)); err != nil {
			t.Fatal(err)
		}
	}
	expectRefusal(part(session, "", "one too many", false), chat.CodeBusy)
	p, err := st.PreviewDeletion(context.Background(), chat.DeletionSession, string(session.ID))
	if err != nil || slices.ContainsFunc(p.Deleted, func(e chat.DeletedCount) bool { return e.Store == "files" && e.Count > 0 }) {
		t.Errorf("kept: %+v, %v", p.Deleted, err)
	}
}
