package api

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/filetype"
)

func TestDragHandler(t *testing.T) {
	d := newFixture(t)
	drag := func(r ExportRequest) (DraggedFile, error) {
		return DraggedFile{Path: "/drags/" + string(r.Session)}, d.exporter.err
	}
	request := func(method, path, body string) (int, string) {
		w := httptest.NewRecorder()
		DragHandler(drag).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body)))
		return w.Code, w.Body.String()
	}
	code, body := request("POST", "/drag", `{"scope":"session","sessionId":"s1"}`)
	var file DraggedFile
	if err := json.Unmarshal([]byte(body), &file); code != 200 || err != nil || file.Path != "/drags/s1" {
		t.Errorf("%d %s", code, body)
	}
	for name, c := range map[string]struct {
		method, path, body string
		code               int
	}{
		"an image of the page": {"GET", "/drag", "", 404},
		"another path":         {"POST", "/dragged", "{}", 404},
		"no request":           {"POST", "/drag", "scope", 400},
		"too long":             {"POST", "/drag", `{"scope":"` + strings.Repeat("x", maxDragRequest) + `"}`, 400},
	} {
		if code, body := request(c.method, c.path, c.body); code != c.code {
			t.Errorf("%s: %d %s", name, code, body)
		}
	}
	d.exporter.err = chat.Errorf(chat.CodeNoSpace, "x", "The disk is full.")
	if code, body := request("POST", "/drag", `{}`); code != 409 || !strings.Contains(body, "The disk is full.") {
		t.Errorf("%d %s", code, body)
	}
	drag = d.core.DragFile
	d.core.Fatal = chat.Errorf(chat.CodeCorrupt, "x", "It is damaged.")
	if code, body := request("POST", "/drag", `{}`); code != 409 || !strings.Contains(body, "It is damaged.") {
		t.Errorf("%d %s", code, body)
	}
}

func TestPastedPicture(t *testing.T) {
	d := newFixture(t)
	if p, err := d.transfer.PastedPicture(); err != nil || p.Data != "" {
		t.Errorf("without a window: %+v, %v", p, err)
	}
	png := []byte("\x89PNG\r\n\x1a\n....")
	d.core.Shell.Picture = func() ([]byte, error) { return png, nil }
	if p, err := d.transfer.PastedPicture(); err != nil || p.MediaType != "image/png" || p.Data != "iVBORw0KGgouLi4u" || p.Name == "" {
		t.Errorf("%+v, %v", p, err)
	}
	png = []byte("file:///home/ada/a%20plan.md\r\n")
	if p, err := d.transfer.PastedPicture(); err != nil || p != (ImageUpload{}) {
		t.Errorf("text offered as a picture: %+v, %v", p, err)
	}
	png = []byte("\x89PNG\r\n\x1a\n....")
	png = append(png, make([]byte, 5<<20)...)
	if p, err := d.transfer.PastedPicture(); chat.CodeOf(err) != chat.CodeInvalid || p.Data != "" {
		t.Errorf("too large: %+v, %v", p.MediaType, err)
	}
}

func TestPastedFiles(t *testing.T) {
	d := newFixture(t)
	if files, err := d.transfer.PastedFiles(); err != nil || len(files) != 0 {
		t.Errorf("without a window: %+v, %v", files, err)
	}
	folder := t.TempDir()
	note := filepath.Join(folder, "note.md")
	if err := os.WriteFile(note, []byte("# Note\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	copied := []string{note, folder, filepath.Join(folder, "gone.md")}
	d.core.Shell.Copied = func() ([]string, error) { return copied, nil }
	files, err := d.transfer.PastedFiles()
	if err != nil || len(files) != 3 || files[0].Kind != filetype.Document || files[1].Kind != filetype.Folder || files[2].Reason.IsZero() {
		t.Errorf("%+v, %v", files, err)
	}
	copied = make([]string, filetype.MaxAtOnce+1)
	if _, err := d.transfer.PastedFiles(); chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("too many: %v", err)
	}
}
