package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/api"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/cli"
	"contextinfinity/backend/store"
	"contextinfinity/test/harness"
)

// While background work is paused, conversations continue, but no turn is summarized or indexed, even after a restart.
// After it was resumed, all turns are.
func TestWindowPausesBackgroundWork(t *testing.T) {
	dir := t.TempDir()
	p := openPage(t, dir)
	if err := p.settings.FinishFirstRun("recall"); err != nil {
		t.Fatal(err)
	}
	first := p.say(api.SendRequest{Text: "We decided to deploy Orders on Sunday at 05:00."})
	if b := must[api.Background](t)(p.work.Pause(true)); !b.Paused {
		t.Fatalf("%+v", b)
	}
	second := must[api.SendResult](t)(p.chat.Send(api.SendRequest{SessionID: first.SessionID, Text: "When do we deploy Orders?"}))
	final := func(p *page) bool {
		v, err := p.sessions.Turn(second.BranchID, second.TurnID)
		return err == nil && v.Phase == chat.PhaseResponseFinalized
	}
	p.eventually("the answer did not end", func() bool { return final(p) })
	p.window.Close()

	reopened := openPage(t, dir)
	if b := must[api.Background](t)(reopened.work.Background()); !b.Paused || b.Queued == 0 {
		t.Fatalf("after a restart: %+v", b)
	}
	if !final(reopened) {
		t.Error("the turn was processed while paused")
	}
	if b := must[api.Background](t)(reopened.work.Pause(false)); b.Paused {
		t.Fatalf("%+v", b)
	}
	reopened.eventually("after resuming, the turn was not processed", func() bool {
		v, err := reopened.sessions.Turn(second.BranchID, second.TurnID)
		return err == nil && v.Phase == chat.PhaseDone
	})
	if list := must[[]api.TaskView](t)(reopened.work.Tasks()); len(list) != 0 {
		t.Errorf("no task was started, but there is %+v", list)
	}
}

// awaitTaskEnd waits for a task to end and returns its view.
func (p *page) awaitTaskEnd(id string) api.TaskView {
	p.t.Helper()
	var found api.TaskView
	p.eventually("the task did not end", func() bool {
		for _, v := range must[[]api.TaskView](p.t)(p.work.Tasks()) {
			if v.ID == id {
				found = v
			}
		}
		return found.EndedAt != 0
	})
	return found
}

// imported imports a file and returns the report.
func (p *page) imported(path string) api.ImportReport {
	p.t.Helper()
	started := must[[]api.TaskView](p.t)(p.transfer.ImportFiles([]string{path}, "", ""))
	v := p.awaitTaskEnd(started[0].ID)
	if v.State != "done" || v.Import == nil {
		p.t.Fatalf("%+v, %+v", v, v.Error)
	}
	return *v.Import
}

// Another program's export is imported as sessions only once. An exported session is the same after it was imported
// elsewhere.
func TestWindowImportsAndExports(t *testing.T) {
	p, outside := openPage(t, t.TempDir()), t.TempDir()
	if err := p.settings.FinishFirstRun("recall"); err != nil {
		t.Fatal(err)
	}
	export := harness.ForeignExport(t, outside, 40)
	if inspected := must[[]api.DroppedFile](t)(p.transfer.Inspect([]string{export, outside})); inspected[0].Format != "chatgpt" || inspected[1].Kind != "folder" {
		t.Fatalf("%+v", inspected)
	}
	first := p.imported(export)
	if first.Sessions != 2 || first.SkippedCount != 0 || first.FirstSession == "" {
		t.Fatalf("%+v", first)
	}
	if repeated := p.imported(export); repeated.Sessions != 0 || repeated.Already != 2 || repeated.Turns != 0 {
		t.Fatalf("%+v", repeated)
	}
	session := must[api.SessionSnapshot](t)(p.sessions.Open(first.FirstSession, ""))
	if h := session.Header; h.HeadSeq != 2 || h.CoveredSeq != int64(len(session.Turns)) { // the number of the state is not that of a turn
		t.Errorf("head #%d covers %d turns", h.HeadSeq, h.CoveredSeq)
	}
	request := api.ExportRequest{Scope: "session", Session: chat.SessionID(first.FirstSession), Format: "bundle", Path: filepath.Join(outside, "long.cinf")}
	if plan := must[api.ExportPlan](t)(p.transfer.Plan(request)); plan.Exists || plan.Sessions != 1 || plan.Turns == 0 || plan.Name != "long.cinf" {
		t.Fatalf("%+v", plan)
	}
	v := p.awaitTaskEnd(must[api.TaskView](t)(p.transfer.Export(request, "")).ID)
	if v.State != "done" || v.Path != request.Path {
		t.Fatalf("%+v, %+v", v, v.Error)
	}
	if _, err := p.transfer.Export(request, ""); chat.CodeOf(err) != chat.CodeConflict {
		t.Errorf("an existing file was overwritten: %v", err)
	}
	drag := httptest.NewRecorder()
	p.window.Handler.ServeHTTP(drag, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/drag",
		strings.NewReader(`{"scope":"session","format":"md","sessionId":"`+first.FirstSession+`"}`)))
	var dragged api.DraggedFile
	if err := json.Unmarshal(drag.Body.Bytes(), &dragged); err != nil || drag.Code != http.StatusOK || dragged.Size == 0 {
		t.Errorf("%d %s", drag.Code, drag.Body)
	}

	other := openPage(t, t.TempDir())
	if r := other.imported(request.Path); r.Sessions != 1 || r.FirstSession != first.FirstSession || r.Copied {
		t.Fatalf("%+v", r)
	}
	imported := must[api.SessionSnapshot](t)(other.sessions.Open(first.FirstSession, ""))
	if len(imported.Turns) != len(session.Turns) || imported.Session.Title != session.Session.Title || len(imported.Branches) != len(session.Branches) {
		t.Errorf("%d turns, %d branches; were %d and %d", len(imported.Turns), len(imported.Branches), len(session.Turns), len(session.Branches))
	}
	renamed := filepath.Join(outside, "session.zip")
	if err := os.Rename(request.Path, renamed); err != nil {
		t.Fatal(err)
	}
	if r := other.imported(renamed); r.Already != 1 {
		t.Errorf("a bundle by another name: %+v", r)
	}
}

// After the program was killed, the next start lists the import as interrupted. It can be resumed, and dismissed
// permanently.
func TestWindowResumesAnImport(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(t.Context(), store.Options{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	export := harness.ForeignExport(t, t.TempDir(), 10)
	id := chat.NewID(time.Now())
	interrupted := fmt.Sprintf(`{"id":%q,"kind":"import","title":"Import conversations.json","input":{"path":%q},"state":"running","done":12,"total":99,"unit":"bytes","started_at":"2026-01-02T03:04:05Z"}`, id, export)
	if err := errors.Join(s.PutSetting(t.Context(), "task."+id, interrupted), s.Close()); err != nil {
		t.Fatal(err)
	}
	p := openPage(t, dir)
	list := must[[]api.TaskView](t)(p.work.Tasks())
	if len(list) != 1 || list[0].State != "interrupted" || !list[0].Resumable || list[0].Done != 12 || list[0].EndedAt == 0 {
		t.Fatalf("%+v", list)
	}
	if v := must[api.TaskView](t)(p.work.Resume(id)); v.State != "running" || v.ID != id {
		t.Fatalf("%+v", v)
	}
	if v := p.awaitTaskEnd(id); v.State != "done" || v.Import == nil || v.Import.Sessions != 2 {
		t.Fatalf("%+v, %+v", v, v.Error)
	}
	p.window.Close()
	reopened := openPage(t, dir)
	if list := must[[]api.TaskView](t)(reopened.work.Tasks()); len(list) != 1 || list[0].State != "done" || list[0].Import.Sessions != 2 {
		t.Fatalf("%+v", list)
	}
	if err := reopened.work.Dismiss(id); err != nil {
		t.Fatal(err)
	}
	reopened.window.Close()
	if list := must[[]api.TaskView](t)(openPage(t, dir).work.Tasks()); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}

// Deleting a session from a terminal also removes the window's tasks about it.
func TestACommandDeletesTheWindowsTasks(t *testing.T) {
	p, dir := openPage(t, t.TempDir()), t.TempDir()
	row := must[api.SessionRow](t)(p.sessions.Create("My secret plan"))
	v := p.awaitTaskEnd(must[api.TaskView](t)(p.transfer.Export(api.ExportRequest{Scope: "session", Session: chat.SessionID(row.ID), Format: "json", Path: dir + "/"}, "")).ID)
	if v.State != "done" || !strings.Contains(v.Title.String(), "My secret plan") {
		t.Fatalf("%+v, %+v", v, v.Error)
	}
	data := p.settings.Startup().DataDir
	_, served, err := handOver(t.Context(), cli.OpenOptions{DataDir: data, ConfigPath: filepath.Join(data, "config.toml")},
		cli.Handover{Args: []string{"delete", row.ID, "--hard", "--yes", "--data-dir", data}, Out: io.Discard, Err: io.Discard})
	if err != nil || !served {
		t.Fatalf("served %v, %v", served, err)
	}
	if list := must[[]api.SessionRow](t)(p.sessions.List(false, "")); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	if list := must[[]api.TaskView](t)(p.work.Tasks()); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}
