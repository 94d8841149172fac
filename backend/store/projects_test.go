package store

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/chunking"
	"contextinfinity/backend/internal/lists"
)

func (f *fixture) project(name string) chat.Project {
	f.Helper()
	p, err := f.CreateProject(f.ctx, chat.ProjectSettings{Name: name, Instructions: "Be brief.", Facts: []string{"one", "two"}, Tools: []string{"builtin"}})
	f.ok(err)
	return p
}

func (f *fixture) projectFile(p chat.ProjectID, path, text string) bool {
	f.Helper()
	f.clock.Advance(time.Second)
	made, err := f.PutProjectFile(f.ctx, chat.NewProjectFile{
		Project: p, Path: path, Kind: chat.ProjectWatched, ModifiedAt: f.clock.Now(),
		NewFile: chat.NewFile{Name: path, MediaType: "text/plain", Content: []byte(text), Tokens: 5},
	})
	f.ok(err)
	return made
}

// indexFiles indexes every turn that is due, as the worker does.
func (f *fixture) indexFiles() {
	f.Helper()
	for {
		job, ok, err := f.ClaimJob(f.ctx, time.Minute, chat.JobIndexTurn)
		f.ok(err)
		if !ok {
			return
		}
		turn, err := f.Turn(f.ctx, job.TurnID)
		f.ok(err)
		files, err := f.TurnFiles(f.ctx, job.TurnID)
		f.ok(err)
		f.ok(f.Index(f.ctx, chat.Indexing{TurnID: job.TurnID, Status: chat.IndexOK, Job: job.Lease(), Chunks: chunking.Chunk(turn, chunking.Options{}, files...)}))
	}
}

func (f *fixture) inFolder(folder string) chat.Session {
	f.Helper()
	s, _, err := f.CreateSession(f.ctx, chat.NewSession{Title: "in " + folder, Folder: folder})
	f.ok(err)
	return s
}

func (f *fixture) chunksIn(within chat.Within) []string {
	f.Helper()
	page, _, err := f.Chunks(f.ctx, chat.ChunkQuery{Within: within})
	f.ok(err)
	return lists.Map(page, func(c chat.ChunkText) string { return c.Text })
}

func TestProjectSettings(t *testing.T) {
	f := newFixture(t)
	p := f.project("Garden")
	f.refusedProject(chat.ProjectSettings{Name: "Garden"}, chat.CodeConflict)
	f.refusedProject(chat.ProjectSettings{Name: " "}, chat.CodeInvalid)
	f.refusedProject(chat.ProjectSettings{Name: "x", ToolsMode: "sometimes"}, chat.CodeInvalid)
	f.refusedProject(chat.ProjectSettings{Name: "x", Instructions: strings.Repeat("a", chat.MaxProjectInstructions+1)}, chat.CodeInvalid)

	v := p.Settings()
	v.Model, v.Facts, v.ToolsMode = "m", []string{"two", "three"}, "disabled"
	changed, err := f.SetProject(f.ctx, p.ID, v)
	f.ok(err)
	if changed.Facts[0].ID != p.Facts[1].ID || changed.Facts[1].Text != "three" || len(changed.Facts) != 2 {
		t.Errorf("facts %+v after %+v", changed.Facts, p.Facts)
	}
	s := f.inFolder("Garden")
	if s.Folder != "Garden" || s.Model != "m" {
		t.Errorf("a new session of it: %+v", s)
	}
	v.Name = "Orchard"
	_, err = f.SetProject(f.ctx, p.ID, v)
	f.ok(err)
	if s, err = f.Session(f.ctx, s.ID); err != nil || s.Folder != "Orchard" {
		t.Errorf("its folder is %q: %v", s.Folder, err)
	}
	f.ok(f.RenameFolder(f.ctx, "Orchard", "Wood"))
	if now, ok, err := f.ProjectIn(f.ctx, "Wood"); err != nil || !ok || now.ID != p.ID || now.Sessions != 1 || now.Instructions != "Be brief." {
		t.Errorf("after its folder was renamed: %+v %v %v", now, ok, err)
	}
	f.verifyClean()
}

func (f *fixture) refusedProject(v chat.ProjectSettings, code chat.Code) {
	f.Helper()
	_, err := f.CreateProject(f.ctx, v)
	f.refused(err, code)
}

func TestProjectFilesAreFoundOnlyInTheirProject(t *testing.T) {
	f := newFixture(t)
	garden, other := f.project("Garden"), f.project("Kitchen")
	f.projectFile(garden.ID, "beds/roses.md", "Roses want sun.")
	f.projectFile(other.ID, "soup.md", "Soup wants salt.")
	f.indexFiles()
	s := f.inFolder("Garden")
	plain, _ := f.session("plain")
	for name, c := range map[string]struct {
		in   chat.Within
		want string
	}{
		"project":           {chat.Within{Scope: chat.ScopeProject, Branch: s.ActiveBranch}, "Roses want sun."},
		"all":               {chat.Within{Scope: chat.ScopeAll, Branch: s.ActiveBranch}, "Roses want sun."},
		"all of nobody":     {chat.Within{Scope: chat.ScopeAll}, ""},
		"archived ones too": {chat.Within{Scope: chat.ScopeAll, Archived: true}, ""},
		"lineage":           {chat.Within{Scope: chat.ScopeLineage, Branch: s.ActiveBranch}, ""},
		"session":           {chat.Within{Scope: chat.ScopeSession, Session: s.ID}, ""},
		"without a project": {chat.Within{Scope: chat.ScopeProject, Branch: plain.ActiveBranch}, ""},
	} {
		if got := strings.Join(f.chunksIn(c.in), "|"); got != c.want {
			t.Errorf("%s reaches %q, want %q", name, got, c.want)
		}
		filter, err := f.ScopeFilter(f.ctx, c.in)
		f.ok(err)
		files, err := f.ProjectFiles(f.ctx, garden.ID)
		f.ok(err)
		if _, _, seen := filter.Span(files[0].Session, ""); seen != (c.want != "") {
			t.Errorf("%s: the vector index sees the file: %v", name, seen)
		}
	}
	for _, archived := range []bool{false, true} {
		list, err := f.Sessions(f.ctx, chat.SessionQuery{Archived: archived})
		f.ok(err)
		for _, finding := range list {
			if finding.Source == chat.SourceFiles {
				t.Errorf("a file is in the list of sessions: %q", finding.Title)
			}
		}
	}
	f.verifyClean()
}

func TestAFileOfAProjectIsReplacedAndRemoved(t *testing.T) {
	f := newFixture(t)
	p := f.project("Garden")
	if !f.projectFile(p.ID, "a.txt", "first words") || f.projectFile(p.ID, "a.txt", "first words") {
		t.Error("the same content was accepted twice")
	}
	f.indexFiles()
	s := f.inFolder("Garden")
	here := chat.Within{Scope: chat.ScopeProject, Branch: s.ActiveBranch}
	page, _, err := f.Chunks(f.ctx, chat.ChunkQuery{Within: here})
	f.ok(err)
	quoting := f.accept(s.ActiveBranch, "what are the first words?")
	f.ok(f.Prepare(f.ctx, chat.Preparation{TurnID: quoting.ID, Manifest: []byte(`{"sections":[]}`), Tokens: 3,
		Retrieved: []chat.Retrieval{{Chunk: page[0].ID, Packed: chat.PackedFull, Rank: 1, Tokens: 3}}}))

	f.projectFile(p.ID, "a.txt", "second words")
	f.indexFiles()
	if got := strings.Join(f.chunksIn(here), "|"); got != "second words" {
		t.Errorf("after the change %q is found", got)
	}
	if kept, err := f.ChunkTexts(f.ctx, []chat.ChunkID{page[0].ID}); err != nil || len(kept) != 1 || kept[0].Text != "first words" || !kept[0].ProjectFile {
		t.Errorf("a chunk quoted by a context was deleted: %+v %v", kept, err)
	}
	f.projectFile(p.ID, "a.txt", "third words")
	f.indexFiles()
	f.ok(f.DeleteProjectFiles(f.ctx, p.ID, chat.ProjectWatched, []string{"a.txt"}))
	if got := f.chunksIn(here); len(got) != 0 {
		t.Errorf("after the removal %q is found", got)
	}
	var sessions int
	f.ok(f.core.DB.Reader.Raw(`SELECT count(*) FROM sessions WHERE source = 'files'`).Scan(&sessions).Error)
	if sessions != 1 {
		t.Errorf("%d versions are kept, and one is quoted", sessions)
	}
	f.verifyClean()
	_, err = f.FailTurn(f.ctx, chat.TurnFailure{TurnID: quoting.ID, Outcome: chat.OutcomeFailed})
	f.ok(err)
	_, err = f.Delete(f.ctx, chat.DeletionSession, string(s.ID))
	f.ok(err)
	f.ok(f.SweepProjectFiles(f.ctx))
	f.ok(f.core.DB.Reader.Raw(`SELECT count(*) FROM sessions WHERE source = 'files'`).Scan(&sessions).Error)
	if sessions != 0 {
		t.Errorf("%d versions that nothing quotes are kept", sessions)
	}
	f.verifyClean()
}

func TestAProjectFileIsNotAConversation(t *testing.T) {
	f := newFixture(t)
	p := f.project("Garden")
	f.projectFile(p.ID, "a.txt", "words")
	f.indexFiles()
	files, err := f.ProjectFiles(f.ctx, p.ID)
	f.ok(err)
	sessions, err := f.SessionOrFile(f.ctx, files[0].Session)
	f.ok(err)
	id, branch := sessions.ID, sessions.ActiveBranch
	var turn chat.TurnID
	f.ok(f.core.DB.Reader.Raw(`SELECT id FROM turns WHERE session_id = ?`, id).Scan(&turn).Error)
	f.accept(f.inFolder("Garden").ActiveBranch, "hello")
	kept := filepath.Join(t.TempDir(), "b.db")
	f.backup(kept)
	for name, act := range map[string]func() error{
		"open":      func() error { _, err := f.Session(f.ctx, id); return err },
		"branch":    func() error { _, err := f.Branch(f.ctx, branch); return err },
		"branches":  func() error { _, err := f.Branches(f.ctx, id); return err },
		"tree":      func() error { _, err := f.Tree(f.ctx, id); return err },
		"read":      func() error { _, err := f.Lineage(f.ctx, chat.LineageQuery{Branch: branch}); return err },
		"last turn": func() error { _, _, err := f.LastTurn(f.ctx, branch); return err },
		"find":      func() error { _, err := f.Find(f.ctx, chat.FindQuery{Branch: branch, Text: "words"}); return err },
		"states":    func() error { _, err := f.States(f.ctx, branch); return err },
		"pins":      func() error { _, err := f.Pins(f.ctx, branch); return err },
		"metrics":   func() error { _, err := f.Metrics(f.ctx, branch, 5); return err },
		"send": func() error {
			_, err := f.Accept(f.ctx, chat.Acceptance{BranchID: branch, User: chat.UserText("x")})
			return err
		},
		"attach": func() error {
			_, err := f.AddFile(f.ctx, chat.NewFile{SessionID: id, Name: "b.txt", MediaType: "text/plain", Content: []byte("b")})
			return err
		},
		"draft":         func() error { return f.SaveDraft(f.ctx, chat.Draft{BranchID: branch, Message: chat.UserText("x")}) },
		"queue":         func() error { _, err := f.Enqueue(f.ctx, branch, chat.UserText("x"), 0, false); return err },
		"pin":           func() error { _, err := f.AddPin(f.ctx, branch, "x", 1); return err },
		"fork":          func() error { _, err := f.Fork(f.ctx, chat.ForkPoint{Branch: branch, After: turn}); return err },
		"name a branch": func() error { return f.RenameBranch(f.ctx, branch, "x") },
		"switch":        func() error { return f.SwitchBranch(f.ctx, id, branch) },
		"duplicate":     func() error { _, err := f.Duplicate(f.ctx, branch, "x"); return err },
		"export":        func() error { _, err := f.WriteBundle(f.ctx, id, new(bytes.Buffer), false); return err },
		"archive":       func() error { return f.ArchiveSession(f.ctx, id, false) },
		"rename":        func() error { return f.RenameSession(f.ctx, id, "x") },
		"folder":        func() error { return f.SetFolder(f.ctx, []chat.SessionID{id}, "x") },
		"settings":      func() error { return f.SetSessionSettings(f.ctx, id, chat.SessionSettings{}) },
		"preview":       func() error { _, err := f.PreviewDeletion(f.ctx, chat.DeletionSession, string(id)); return err },
		"delete":        func() error { _, err := f.Delete(f.ctx, chat.DeletionSession, string(id)); return err },
		"delete turn":   func() error { _, err := f.Delete(f.ctx, chat.DeletionTurn, string(turn)); return err },
		"grant": func() error {
			return f.AllowClient(f.ctx, chat.ClientChoice{Name: "editor", Scope: chat.ClientChosen, Sessions: []chat.SessionID{id}})
		},
	} {
		err := act()
		if chat.CodeOf(err) != chat.CodeInvalid || !strings.Contains(err.Error(), `"a.txt", a file of the project "Garden"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, kind := range chat.KnownKinds {
		if page, total, err := f.Known(f.ctx, chat.KnownQuery{Kind: kind, Text: "a.txt"}); err != nil || total != 0 {
			t.Errorf("%s of a file is listed: %+v %v", kind, page, err)
		}
	}
	measured, err := f.Measures(f.ctx, chat.MeasureQuery{})
	f.ok(err)
	for _, m := range measured {
		if m.Session == id {
			t.Errorf("a file is measured: %+v", m)
		}
	}
	if st, err := f.Stats(f.ctx); err != nil || st.Sessions != 1 || st.Turns != 1 || st.Branches != 1 {
		t.Errorf("stats %+v: %v", st, err)
	}
	if in, err := f.backupPart.Archive.PreviewRestore(f.ctx, kept); err != nil || in.Backup.Sessions != 1 || in.Backup.Turns != 1 {
		t.Errorf("a backup says %+v: %v", in, err)
	}
	f.verifyClean()
}

func TestFactsAndInstructionsOfProjectsAreKnown(t *testing.T) {
	f := newFixture(t)
	p := f.project("Garden")
	s := f.inFolder("Garden")
	_, err := f.AddPin(f.ctx, s.ActiveBranch, "three", 1)
	f.ok(err)
	for kind, want := range map[chat.KnownKind]string{chat.KnownPin: "Garden: one, Garden: two, : three", chat.KnownInstructions: "Garden: Be brief.", chat.KnownSummary: ""} {
		page, total, err := f.Known(f.ctx, chat.KnownQuery{Kind: kind})
		f.ok(err)
		got := lists.Map(page, func(k chat.Known) string { return k.Project + ": " + k.Text })
		if strings.Join(got, ", ") != want || total != len(page) {
			t.Errorf("%s: %q, %d in all", kind, got, total)
		}
	}
	page, total, err := f.Known(f.ctx, chat.KnownQuery{Kind: chat.KnownPin, Offset: 1, Limit: 1})
	if err != nil || total != 3 || len(page) != 1 || page[0].ID != string(p.Facts[1].ID) || page[0].SessionID != "" {
		t.Errorf("the second of %d is %+v: %v", total, page, err)
	}
}

func TestTurnsInAProjectFileAreNeverRemovedWithIt(t *testing.T) {
	f := newFixture(t)
	p := f.project("Garden")
	f.projectFile(p.ID, "a.txt", "first words")
	f.indexFiles()
	files, err := f.ProjectFiles(f.ctx, p.ID)
	f.ok(err)
	f.ok(f.core.DB.Writer.Exec(`UPDATE turns SET primary_provider = 'openai' WHERE session_id = ?`, files[0].Session).Error)
	f.projectFile(p.ID, "a.txt", "second words")
	f.ok(f.DeleteProjectFiles(f.ctx, p.ID, chat.ProjectWatched, nil))
	f.ok(f.SweepProjectFiles(f.ctx))
	if _, err := f.SessionOrFile(f.ctx, files[0].Session); err != nil {
		t.Errorf("a changed file removed what was written: %v", err)
	}
	found, err := f.Verify(f.ctx)
	f.ok(err)
	if !slices.ContainsFunc(found, func(finding chat.Finding) bool {
		return strings.Contains(finding.Message, `Turns were written into the file "a.txt"`)
	}) {
		t.Errorf("verify says %+v", found)
	}
}
