package app

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"contextinfinity/backend/api"
	"contextinfinity/backend/chat"
)

// Creating a project, the settings and memory scope of its sessions, and the event that informs the page about its
// deletion.
func TestWindowProjects(t *testing.T) {
	p := openPage(t, t.TempDir())
	s := serviceIn[*api.Projects](p.window)
	project := must[api.ProjectView](t)(s.Create(" Bakery "))
	if project.Name != "Bakery" || project.ID == "" || project.Facts == nil || project.Tools == nil || project.Scan != nil {
		t.Errorf("%+v", project)
	}
	if _, err := s.Create("Bakery"); chat.CodeOf(err) != chat.CodeConflict {
		t.Errorf("%v", err)
	}
	project.Instructions, project.Facts, project.Model, project.ToolsMode, project.Tools = "Answer as a baker.", []string{"The oven is Hildegard.", "Rye on Monday."}, "recall", "disabled", []string{"builtin"}
	if v := must[api.ProjectView](t)(s.Save(project)); v.Instructions != project.Instructions || !slices.Equal(v.Facts, project.Facts) || v.Model != "recall" || v.ToolsMode != "disabled" || !slices.Equal(v.Tools, project.Tools) {
		t.Errorf("%+v", v)
	}

	row := must[api.SessionRow](t)(s.StartSession("Bakery"))
	open := must[api.SessionSnapshot](t)(p.sessions.Open(row.ID, ""))
	if h := open.Header; row.Folder != "Bakery" || h.Project != "Bakery" || h.ProjectID != project.ID || h.Scope != "project" || h.OwnScope != "" || h.Model != "recall" {
		t.Errorf("%+v %+v", row, h)
	}
	if err := s.SetScope(row.ID, "lineage"); err != nil {
		t.Fatal(err)
	}
	if h := must[api.Header](t)(p.sessions.Header(row.ActiveBranch, "")); h.Scope != "lineage" || h.OwnScope != "lineage" {
		t.Errorf("%+v", h)
	}
	if err := s.SetScope(row.ID, "everything"); chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("%v", err)
	}
	next := must[api.ContextView](t)(p.inspect.NextContext(row.ActiveBranch, "", api.Draft{Text: "Hello"}))
	if next.Scope != "lineage" || next.Project != "Bakery" {
		t.Errorf("scope %q of %q", next.Scope, next.Project)
	}
	if plain := must[api.SessionRow](t)(s.StartSession("Letters")); plain.Folder != "Letters" {
		t.Errorf("%+v", plain)
	}

	projectFilesInWindow(t, s, project.ID)

	p.seen()
	preview := must[api.DeletionPreview](t)(p.storage.PreviewDeletion(chat.DeletionProject, project.ID, nil))
	receipt := must[api.ReceiptView](t)(p.storage.Delete(chat.DeletionProject, project.ID, preview.Confirm, nil))
	if _, changes := p.seen(); receipt.Kind != chat.DeletionProject || !anyKind(changes, chat.ChangeProjects) {
		t.Errorf("%+v, reported %+v", receipt, changes)
	}
	if panel := must[api.ProjectsPanel](t)(s.Panel()); len(panel.Projects) != 0 {
		t.Errorf("%+v", panel)
	}
	if h := must[api.Header](t)(p.sessions.Header(row.ActiveBranch, "")); h.Project != "" || h.Scope != "lineage" {
		t.Errorf("%+v", h)
	}
}

// projectFilesInWindow uploads a document in two pieces, watches a folder, and changes its files.
func projectFilesInWindow(t *testing.T, s *api.Projects, id string) {
	t.Helper()
	send := func(part api.AttachPart, text string) api.AttachResult {
		part.Name, part.Data = "oven.md", base64.StdEncoding.EncodeToString([]byte(text))
		return must[api.AttachResult](t)(s.AddDocument(id, part))
	}
	send(api.AttachPart{Upload: send(api.AttachPart{}, "# Oven\n\n").Upload, Last: true}, "It is called Hildegard.")
	if page := must[api.ProjectFilesPage](t)(s.Files(id, "document", 0, 10)); page.Total != 1 || page.Files[0].Path != "oven.md" || page.Files[0].Size != 31 {
		t.Errorf("%+v", page)
	}
	if _, err := s.AddDocument(id, api.AttachPart{Name: "x.md", Data: "not base64!"}); chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("%v", err)
	}

	dir := t.TempDir()
	for name, text := range map[string]string{"a.md": "one", "b.md": "two", ".env": "KEY=1"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	watched := must[api.ProjectView](t)(s.Watch(id, dir))
	if watched.Scan == nil || watched.Scan.NewCount != 2 || watched.Files != 3 || !slices.Equal(watched.Scan.Skipped, []api.SkippedCount{{Reason: "may contain secrets", Count: 1}}) {
		t.Errorf("%+v %+v", watched, watched.Scan)
	}
	if err := os.Remove(filepath.Join(dir, "a.md")); err != nil {
		t.Fatal(err)
	}
	if scan := must[api.ProjectScanView](t)(s.Rescan(id)); scan.NewCount != 0 || !slices.Equal(scan.Removed, []string{"a.md"}) || scan.Found != 1 {
		t.Errorf("%+v", scan)
	}
	if page := must[api.ProjectFilesPage](t)(s.Files(id, "watched", 1, 10)); page.Total != 1 || len(page.Files) != 0 {
		t.Errorf("%+v", page)
	}
	if err := s.RemoveDocuments(id, []string{"oven.md", "none.md"}); chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("%v", err)
	}
	if err := s.RemoveDocuments(id, []string{"oven.md"}); err != nil {
		t.Fatal(err)
	}
	if v := must[api.ProjectView](t)(s.Watch(id, "")); v.Files != 0 || v.Watch != "" || v.Scan != nil {
		t.Errorf("%+v", v)
	}
}
