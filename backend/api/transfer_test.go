package api

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/exporting"
	"contextinfinity/backend/filetype"
	"contextinfinity/backend/importing"
	"contextinfinity/backend/internal/seal"
	"contextinfinity/backend/services"
	"contextinfinity/backend/store"
	"contextinfinity/backend/tasks"
	"contextinfinity/backend/transfer"
)

// fakeImporter is a scripted importer; without step it reads nothing.
type fakeImporter struct {
	calls  []string
	report importing.Report
	step   func(ctx context.Context, progress func(importing.Progress)) error
}

func (r *fakeImporter) Import(ctx context.Context, path string, o importing.Options) (importing.Report, error) {
	r.calls = append(r.calls, path+" "+string(o.Format))
	if r.step == nil {
		return r.report, nil
	}
	return r.report, r.step(ctx, o.Progress)
}

// fakeExporter is a scripted exporter.
type fakeExporter struct {
	plan     ExportPlan
	requests []ExportRequest
	err      error
	size     int // how much WriteTo writes after its first bytes
}

func (w *fakeExporter) Plan(_ context.Context, r ExportRequest) (ExportPlan, error) {
	p := w.plan
	if r.Path != "" {
		p.Path = r.Path
	}
	return p, w.err
}

func (w *fakeExporter) Write(
	_ context.Context, r ExportRequest, progress exporting.Progress,
) (exporting.Result, error) {
	w.requests = append(w.requests, r)
	progress(3, 4)
	return exporting.Result{Plan: exporting.Plan{Path: r.Path}}, nil
}

func (w *fakeExporter) WriteTo(
	_ context.Context, r ExportRequest, out io.Writer, _ exporting.Progress,
) (exporting.Result, error) {
	_, err := io.WriteString(out, "<p>"+string(r.Format)+" "+string(r.Branch)+strings.Repeat("x", w.size))
	return exporting.Result{}, err
}

// fixture has the services with a real store.
type fixture struct {
	*testing.T
	core     *Core
	store    *store.Store
	session  chat.Session
	importer *fakeImporter
	exporter *fakeExporter
	transfer *Transfer
	work     *Work
}

func init() { seal.Work = 10 } // what a passphrase seals is cheap to open

func newFixture(t *testing.T) *fixture {
	t.Helper()
	c, s, session := newTestChat(t)
	return newFixtureWith(t, c.c, s, session)
}

// newFixtureWith returns a fixture with an existing store.
func newFixtureWith(t *testing.T, core *Core, s *store.Store, session chat.Session) *fixture {
	t.Helper()
	m, err := tasks.New(t.Context(), tasks.Deps{Store: s, Publish: core.Hub})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	d := &fixture{T: t, core: core, store: s, session: session, importer: &fakeImporter{}, exporter: &fakeExporter{}, work: NewWork(core)}
	core.Tasks = m
	core.Imports = importing.New(importing.Deps{Store: s})
	d.transfer = NewTransfer(core)
	d.transfer.imports, d.transfer.exports = d.importer.Import, d.exporter
	return d
}

// awaitTask waits until a task has ended and returns its view.
func (d *fixture) awaitTask(id string) TaskView {
	d.Helper()
	if _, err := d.core.Tasks.Wait(d.Context(), id); err != nil {
		d.Fatal(err)
	}
	list, err := d.work.Tasks()
	if err != nil {
		d.Fatal(err)
	}
	i := slices.IndexFunc(list, func(v TaskView) bool { return v.ID == id })
	if i < 0 {
		d.Fatalf("there is no task %s in %+v", id, list)
	}
	return list[i]
}

func (d *fixture) file(name, content string) string {
	d.Helper()
	path := filepath.Join(d.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		d.Fatal(err)
	}
	return path
}

// An import is a task for each file, which keeps its report until it is dismissed.
func TestImportFiles(t *testing.T) {
	d := newFixture(t)
	d.importer.report = importing.Report{Format: "chatgpt", Sessions: 2, Turns: 9, SkippedCount: 300, First: "s"}
	for range 300 {
		d.importer.report.Skipped = append(d.importer.report.Skipped, transfer.SkippedRow{Reason: "it is empty"})
	}
	d.importer.step = func(_ context.Context, progress func(importing.Progress)) error {
		progress(importing.Progress{Done: 5, Total: 10, Title: "Harbours"})
		return nil
	}
	started, err := d.transfer.ImportFiles([]string{"/x/conversations.json", "/x/more.zip"}, "chatgpt", "")
	if err != nil || len(started) != 2 {
		t.Fatalf("%+v, %v", started, err)
	}
	if b := started[0]; b.Kind != "import" || b.Title.String() != "Import conversations.json" || b.State != "running" || b.EndedAt != 0 || b.Resumable {
		t.Errorf("%+v", b)
	}
	for _, b := range started {
		v := d.awaitTask(b.ID)
		if v.State != "done" || v.Done != 5 || v.Total != 10 || v.Unit != "bytes" || v.EndedAt == 0 || v.Error != nil || v.Resumable {
			t.Errorf("%+v", v)
		}
		if r := v.Import; r == nil || r.Sessions != 2 || r.SkippedCount != 300 || len(r.Skipped) != maxSkipped || r.FirstSession != "s" {
			t.Errorf("%+v", r)
		}
		if err := d.work.Dismiss(b.ID); err != nil {
			t.Error(err)
		}
	}
	if list, err := d.work.Tasks(); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	if !slices.Equal(d.importer.calls, []string{"/x/conversations.json chatgpt", "/x/more.zip chatgpt"}) {
		t.Errorf("%q", d.importer.calls)
	}
}

// Files that cannot be imported are refused before any task begins.
func TestImportFilesRefuses(t *testing.T) {
	d := newFixture(t)
	for name, c := range map[string]struct {
		paths  []string
		format string
		code   chat.Code
	}{
		"an unknown format":       {[]string{"/a.json"}, "word", chat.CodeInvalid},
		"a path without a folder": {[]string{"/a.json", "b.json"}, "", chat.CodeInvalid},
		"too many":                {make([]string, tasks.MaxOpen+1), "", chat.CodeBusy},
	} {
		if started, err := d.transfer.ImportFiles(c.paths, c.format, ""); chat.CodeOf(err) != c.code || len(started) != 0 {
			t.Errorf("%s: %+v, %v", name, started, err)
		}
	}
	if len(d.importer.calls) != 0 {
		t.Errorf("%q was started", d.importer.calls)
	}
}

// An import that is cancelled or fails reports what was imported.
func TestImportThatEndsEarly(t *testing.T) {
	d := newFixture(t)
	d.importer.report = importing.Report{Sessions: 1}
	running := make(chan struct{})
	d.importer.step = func(ctx context.Context, _ func(importing.Progress)) error {
		close(running)
		<-ctx.Done()
		return chat.WrapError(chat.CodeCancelled, "import.read", ctx.Err(), "The import was stopped; 1 session was imported and is kept.")
	}
	started, err := d.transfer.ImportFiles([]string{"/a.json"}, "", "")
	if err != nil {
		t.Fatal(err)
	}
	<-running
	if err := d.work.Cancel(started[0].ID); err != nil {
		t.Fatal(err)
	}
	if v := d.awaitTask(started[0].ID); v.State != "cancelled" || v.Import == nil || v.Import.Sessions != 1 || v.Error != nil || !v.Resumable {
		t.Errorf("%+v", v)
	}
	d.importer.step = func(context.Context, func(importing.Progress)) error {
		return chat.Errorf(chat.CodeNoSpace, "import.write", "The disk is full.").WithHint("free some space")
	}
	again, err := d.work.Resume(started[0].ID)
	if err != nil || again.ID != started[0].ID || again.State != "running" {
		t.Fatalf("%+v, %v", again, err)
	}
	v := d.awaitTask(started[0].ID)
	if v.State != "failed" || v.Error == nil || v.Error.Hint.String() != "free some space" || v.Import.Sessions != 1 || !v.Resumable {
		t.Errorf("%+v", v)
	}
}

// An import that was interrupted by the end of the program can be resumed after the next start, with the same file and
// format.
func TestImportIsResumedAfterARestart(t *testing.T) {
	d := newFixture(t)
	running := make(chan struct{})
	d.importer.step = func(ctx context.Context, progress func(importing.Progress)) error {
		progress(importing.Progress{Done: 7, Total: 10, Title: "Harbours"})
		close(running)
		<-ctx.Done()
		return context.Cause(ctx)
	}
	started, err := d.transfer.ImportFiles([]string{"/a.json"}, "claude", "")
	if err != nil {
		t.Fatal(err)
	}
	<-running
	if err := d.core.Tasks.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	d = newFixtureWith(t, d.core, d.store, d.session)
	v := d.awaitTask(started[0].ID)
	if v.State != "interrupted" || v.Done != 7 || v.Total != 10 || !v.Resumable || v.Title.String() != "Import a.json" {
		t.Fatalf("%+v", v)
	}
	if _, err := d.work.Resume(v.ID); err != nil {
		t.Fatal(err)
	}
	if v := d.awaitTask(v.ID); v.State != "done" || !slices.Equal(d.importer.calls, []string{"/a.json claude"}) {
		t.Errorf("%+v, %q", v, d.importer.calls)
	}
}

// An export is planned before it begins; an existing file is replaced only on request.
func TestExport(t *testing.T) {
	d := newFixture(t)
	d.exporter.plan = ExportPlan{Name: "Harbours.md", Path: "/home/x/Harbours.md", Turns: 4}
	started, err := d.transfer.Export(ExportRequest{Scope: "branch", Branch: d.session.ActiveBranch}, "")
	if err != nil {
		t.Fatal(err)
	}
	v := d.awaitTask(started.ID)
	if v.State != "done" || v.Path != "/home/x/Harbours.md" || v.Title.String() != "Export Harbours.md" || v.Done != 3 || v.Total != 4 || v.Unit != "turns" {
		t.Errorf("%+v", v)
	}
	d.exporter.plan.Exists = true
	if _, err := d.transfer.Export(ExportRequest{Scope: "session", Path: "/tmp/there.md"}, ""); chat.CodeOf(err) != chat.CodeConflict || !strings.Contains(err.Error(), "/tmp/there.md") {
		t.Errorf("%v", err)
	}
	replaced, err := d.transfer.Export(ExportRequest{Scope: "session", Session: "s", Path: "/tmp/there.md", Replace: true}, "")
	if err != nil || d.awaitTask(replaced.ID).State != "done" {
		t.Errorf("%+v, %v", replaced, err)
	}
	if _, err := d.transfer.Export(ExportRequest{Path: "there.md"}, ""); chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("a path without a folder: %v", err)
	}
	if n := len(d.exporter.requests); n != 2 || d.exporter.requests[0].Path != "/home/x/Harbours.md" || !d.exporter.requests[1].Replace {
		t.Errorf("%+v", d.exporter.requests)
	}
	d.exporter.err = errors.New("no such session")
	if _, err := d.transfer.Export(ExportRequest{Scope: "session"}, ""); err == nil {
		t.Error("an export was started although it could not be planned")
	}
	// Deleting their sessions also removes both tasks.
	for _, session := range []chat.SessionID{d.session.ID, "s"} {
		if err := d.core.Tasks.Forget(t.Context(), session, chat.DeletionPreview{Session: string(session)}.NamedIn); err != nil {
			t.Fatal(err)
		}
	}
	if list, _ := d.work.Tasks(); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}

// A bundle is sealed with the passphrase that was given, and imported with it; nothing stored contains it, so that the
// import cannot be resumed. Without it, or with another one, nothing is imported.
func TestSealedBundle(t *testing.T) {
	d := newFixture(t)
	d.transfer.imports = d.core.Imports.Import
	d.transfer.exports = exporting.New(exporting.Deps{Store: d.store, Bundles: d.store, DataDir: t.TempDir(), Now: time.Now})
	request := ExportRequest{
		Scope:   exporting.ScopeSession,
		Session: d.session.ID,
		Format:  exporting.FormatBundle,
		Path:    t.TempDir(),
		Sealed:  true,
	}
	if plan, err := d.transfer.Plan(request); err != nil || !strings.HasSuffix(plan.Path, ".cinf.age") {
		t.Errorf("%+v, %v", plan, err)
	}
	if _, err := d.transfer.Export(request, " "); chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("without a passphrase: %v", err)
	}
	started, err := d.transfer.Export(request, " correct horse ")
	if err != nil {
		t.Fatal(err)
	}
	written := d.awaitTask(started.ID)
	data, err := os.ReadFile(written.Path)
	if err != nil || written.State != "done" || !strings.HasPrefix(string(data), "age-encryption.org/v1\n-> scrypt ") {
		t.Fatalf("%+v, %.40q, %v", written, data, err)
	}
	other := newFixture(t)
	other.transfer.imports = other.core.Imports.Import
	if f, err := other.transfer.Inspect([]string{written.Path}); err != nil || f[0].Kind != "bundle" || !f[0].Sealed {
		t.Errorf("%+v, %v", f, err)
	}
	for _, wrong := range []string{"", "correct house"} {
		none, err := other.transfer.ImportFiles([]string{written.Path}, "", wrong)
		if chat.CodeOf(err) != chat.CodeSealed || len(none) != 0 {
			t.Errorf("%q: %+v, %v", wrong, none, err)
		}
	}
	imports, err := other.transfer.ImportFiles([]string{written.Path}, "", "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	v := other.awaitTask(imports[0].ID)
	if v.State != "done" || v.Import == nil || v.Import.FirstSession != string(d.session.ID) || v.Resumable {
		t.Errorf("%+v", v)
	}
	if task, err := other.core.Tasks.Wait(t.Context(), v.ID); err != nil || len(task.Input) != 0 {
		t.Errorf("%s, %v", task.Input, err)
	}
	// A folder asks for the passphrase of what is in it.
	third := newFixture(t)
	third.transfer.imports = third.core.Imports.Import
	folder := filepath.Dir(written.Path)
	if f, err := third.transfer.Inspect([]string{folder, t.TempDir()}); err != nil || f[0].Kind != "folder" || !f[0].Sealed || f[1].Sealed {
		t.Errorf("%+v, %v", f, err)
	}
	if none, err := third.transfer.ImportFiles([]string{folder}, "", "correct house"); chat.CodeOf(err) != chat.CodeSealed || len(none) != 0 {
		t.Errorf("%+v, %v", none, err)
	}
	// Each file may have another passphrase: what one does not open is named, and is imported with its own.
	request.Path = filepath.Join(folder, "another.cinf.age")
	if started, err = d.transfer.Export(request, "battery staple"); err != nil {
		t.Fatal(err)
	}
	d.awaitTask(started.ID)
	for passphrase, other := range map[string]string{"correct horse": "another.cinf.age", "battery staple": filepath.Base(written.Path)} {
		if imports, err = third.transfer.ImportFiles([]string{folder}, "", passphrase); err != nil {
			t.Fatal(err)
		}
		if v := third.awaitTask(imports[0].ID); v.State != "done" || v.Import == nil || v.Import.FirstSession != string(d.session.ID) ||
			len(v.Import.Skipped) != 1 || v.Import.Skipped[0].File != other {
			t.Errorf("%+v", v)
		}
	}
}

// Documents are stored in the session, images in the draft, and anything else is refused with a reason.
func TestAttachByPath(t *testing.T) {
	d := newFixture(t)
	branch := string(d.session.ActiveBranch)
	got, err := d.transfer.Attach(branch, d.file("plan.md", "The harbour opens at seven."))
	if err != nil || got.File == nil || got.Image != nil || got.File.Name != "plan.md" || got.File.MediaType != "text/markdown" {
		t.Fatalf("%+v, %v", got, err)
	}
	if text, err := d.store.FileText(t.Context(), chat.FileID(got.File.ID)); err != nil || text != "The harbour opens at seven." {
		t.Errorf("%q, %v", text, err)
	}
	png := "\x89PNG\r\n\x1a\n...."
	got, err = d.transfer.Attach(branch, d.file("shot.dat", png))
	if err != nil || got.File != nil || got.Image == nil || got.Image.MediaType != "image/png" || got.Image.Data != base64.StdEncoding.EncodeToString([]byte(png)) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := d.transfer.Attach(branch, d.file("log.json", `[{"role":"user","content":"x"}]`)); err != nil || got.File == nil {
		t.Errorf("an export as a document: %+v, %v", got, err)
	}
	for name, c := range map[string]struct{ path, reason string }{
		"missing file": {filepath.Join(t.TempDir(), "gone"), "no such file"},
		"a folder":     {t.TempDir(), "folder"},
		"a program":    {d.file("a.bin", "\x7fELF\x00"), "not text"},
		"empty":        {d.file("a.txt", ""), "empty"},
		"large image":  {d.file("a.gif", "GIF89a"+strings.Repeat("x", filetype.MaxImageBytes)), "5 MB"},
	} {
		got, err := d.transfer.Attach(branch, c.path)
		if chat.CodeOf(err) != chat.CodeInvalid || !strings.Contains(err.Error(), c.reason) || got.File != nil || got.Image != nil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if _, err := d.transfer.Attach("no such branch", d.file("b.md", "x")); chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("%v", err)
	}
}

// The type of each file is reported separately.
func TestInspectFiles(t *testing.T) {
	d := newFixture(t)
	got, err := d.transfer.Inspect([]string{d.file("a.md", "# x\n"), "gone.txt"})
	if err != nil || len(got) != 2 || got[0].Kind != "document" || got[0].Size != 4 || got[1].Kind != "unknown" || got[1].Reason.IsZero() {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := d.transfer.Inspect(nil); err != nil || got == nil {
		t.Errorf("%v, %v", got, err)
	}
}

// Without a native window, the page lets the user type paths.
func TestWithoutAShell(t *testing.T) {
	d := newFixture(t)
	_, files := d.transfer.PickFiles()
	_, target := d.transfer.PickTarget("x.md")
	for _, err := range []error{files, target, d.transfer.Reveal("/x.md")} {
		if chat.CodeOf(err) != chat.CodeUnavailable || chat.AsError(err).Hint == "" {
			t.Errorf("%v", err)
		}
	}
	d.core.Shell = Shell{
		PickFiles: func() ([]string, error) { return []string{"/a"}, nil }, PickTarget: func(s string) (string, error) { return "/x/" + s, nil },
		Reveal: func(string) error { return nil },
	}
	picked, err := d.transfer.PickFiles()
	target2, err2 := d.transfer.PickTarget("x.md")
	if err != nil || err2 != nil || picked[0] != "/a" || target2 != "/x/x.md" || d.transfer.Reveal("/a") != nil {
		t.Errorf("%v %v %v %v", picked, err, target2, err2)
	}
}

// While the data is not open, calls that need it are refused.
func TestTransferWithoutData(t *testing.T) {
	core := &Core{Set: &services.Set{}, Hub: NewHub(), Fatal: chat.Errorf(chat.CodeCorrupt, "store.open", "The data is damaged.")}
	x := NewTransfer(core)
	_, imports := x.ImportFiles([]string{"/a"}, "", "")
	_, plan := x.Plan(ExportRequest{})
	_, export := x.Export(ExportRequest{}, "")
	_, attach := x.Attach("b", "/a")
	for i, err := range []error{imports, plan, export, attach} {
		if chat.CodeOf(err) != chat.CodeCorrupt {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// The page gets an event for each change of a task, including while it waits.
func TestTaskChangesArePublished(t *testing.T) {
	d := newFixture(t)
	var mu sync.Mutex
	var changed []string
	d.core.Hub.Listen(func(c chat.Change) {
		mu.Lock()
		defer mu.Unlock()
		if c.Kind == chat.ChangeTask {
			changed = append(changed, c.ID)
		}
	})
	release := make(chan struct{})
	d.importer.step = func(context.Context, func(importing.Progress)) error { <-release; return nil }
	started, err := d.transfer.ImportFiles([]string{"/a.json", "/b.json"}, "", "")
	if err != nil {
		t.Fatal(err)
	}
	if v := started[1]; v.State != "running" || v.Detail != waitingDetail {
		t.Errorf("%+v", v)
	}
	close(release)
	d.awaitTask(started[0].ID)
	d.awaitTask(started[1].ID)
	mu.Lock()
	defer mu.Unlock()
	if !slices.Contains(changed, started[0].ID) || !slices.Contains(changed, started[1].ID) {
		t.Errorf("%v", changed)
	}
}

// A text of the page is saved completely where the user chooses, under a plain file name.
func TestSaveText(t *testing.T) {
	d := newFixture(t)
	if _, err := d.transfer.SaveText("a.go", "x"); chat.CodeOf(err) != chat.CodeUnavailable || chat.AsError(err).Hint == "" {
		t.Errorf("without a dialog: %v", err)
	}
	dir, suggested := t.TempDir(), ""
	d.core.Shell.PickTarget = func(s string) (string, error) { suggested = s; return filepath.Join(dir, "here.go"), nil }
	for _, text := range []string{"package a\n", "package b\n"} { // the second replaces the first, because the dialog asked
		path, err := d.transfer.SaveText("../../etc/pass\u202ewd.go", text)
		got, rerr := os.ReadFile(path)
		if err != nil || rerr != nil || string(got) != text || strings.ContainsAny(suggested, "/\\\u202e") || filepath.Ext(suggested) != ".go" {
			t.Errorf("%q at %q, suggested %q, %v %v", got, path, suggested, err, rerr)
		}
	}
	if _, err := d.transfer.SaveText("a.txt", strings.Repeat("x", maxSaved+1)); chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("too much: %v", err)
	}
	d.core.Shell.PickTarget = func(string) (string, error) { return "", nil }
	if path, err := d.transfer.SaveText("a.go", "x"); path != "" || err != nil {
		t.Errorf("closed: %q, %v", path, err)
	}
}

// The printed page is an export as HTML. A page that is too large is refused.
func TestPrintable(t *testing.T) {
	d := newFixture(t)
	got, err := d.transfer.Printable(ExportRequest{Scope: "branch", Branch: "b1", Format: "md", Path: "/x"})
	if err != nil || got != "<p>html b1" {
		t.Errorf("%q, %v", got, err)
	}
	d.exporter.size = maxPrinted
	if got, err := d.transfer.Printable(ExportRequest{Scope: "branch"}); got != "" || chat.CodeOf(err) != chat.CodeInvalid || chat.AsError(err).Hint == "" {
		t.Errorf("too large: %d bytes, %v", len(got), err)
	}
}
