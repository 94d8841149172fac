package projects_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/projects"
	"contextinfinity/backend/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// watchedProject is a project with a watched folder and a real store.
type watchedProject struct {
	*projects.Service
	t       *testing.T
	db      *store.Store
	dir     string // the watched folder
	data    string
	id      chat.ProjectID
	changes int
}

func newWatchedProject(t *testing.T) *watchedProject {
	t.Helper()
	w := &watchedProject{t: t, dir: t.TempDir(), data: t.TempDir()}
	var err error
	if w.db, err = store.Open(t.Context(), store.Options{DataDir: w.data}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.db.Close() })
	w.Service = projects.New(projects.Deps{
		Store: w.db, Count: func(s string) int { return len(strings.Fields(s)) }, Changed: func() { w.changes++ },
		Protected: func() []string { return []string{w.data} },
	})
	p, err := w.CreateProject(t.Context(), chat.ProjectSettings{Name: "Garden"})
	w.ok(err)
	w.id = p.ID
	return w
}

func (w *watchedProject) ok(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// past is the modification time of files, unless a test sets another one.
var past = time.Now().Add(-time.Hour)

// write writes a file that was modified in the past.
func (w *watchedProject) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.dir, filepath.FromSlash(name))
	w.ok(os.MkdirAll(filepath.Dir(path), 0o755))
	w.ok(os.WriteFile(path, []byte(text), 0o600))
	w.ok(os.Chtimes(path, past, past))
}

func (w *watchedProject) watch() {
	w.t.Helper()
	_, err := w.Watch(w.t.Context(), w.id, w.dir)
	w.ok(err)
}

func (w *watchedProject) scan() chat.ProjectScan {
	w.t.Helper()
	s, err := w.Scan(w.t.Context(), w.id)
	w.ok(err)
	return s
}

func (w *watchedProject) paths() string {
	w.t.Helper()
	files, err := w.ProjectFiles(w.t.Context(), w.id)
	w.ok(err)
	out := lists.Map(files, func(f chat.ProjectFile) string { return f.Path })
	return strings.Join(out, " ")
}

func TestChangesInAWatchedFolderAreIndexed(t *testing.T) {
	t.Parallel()
	w := newWatchedProject(t)
	w.write("a.md", "alpha")
	w.write("sub/b.md", "beta")
	w.watch()
	if got := w.paths(); got != "a.md sub/b.md" {
		t.Fatalf("indexed: %s", got)
	}
	before := w.changes
	if s := w.scan(); s.Differs() || s.Found != 2 || w.changes != before {
		t.Errorf("nothing changed, but the scan says %+v", s)
	}
	w.write("a.md", "omega") // with the same size and time
	if s := w.scan(); s.Differs() {
		t.Errorf("a file of the same size and time was read: %+v", s)
	}
	now := time.Now().Add(-time.Minute)
	w.ok(os.Chtimes(filepath.Join(w.dir, "a.md"), now, now))
	w.ok(os.Chtimes(filepath.Join(w.dir, "sub", "b.md"), now, now)) // touched, with the same content
	if s := w.scan(); strings.Join(s.Changed, " ") != "a.md" || len(s.New)+len(s.Removed) != 0 {
		t.Errorf("one file changed, but the scan says %+v", s)
	}
	w.ok(os.Remove(filepath.Join(w.dir, "a.md")))
	w.write("c.md", "gamma")
	if s := w.scan(); strings.Join(s.Removed, " ") != "a.md" || strings.Join(s.New, " ") != "c.md" || s.Found != 2 {
		t.Errorf("one file is new and one was deleted, but the scan says %+v", s)
	}
	p, err := w.Project(t.Context(), w.id)
	w.ok(err)
	if p.Scan == nil || strings.Join(p.Scan.New, "") != "c.md" {
		t.Errorf("the result of the scan is not stored: %+v", p.Scan)
	}
	_, err = w.Watch(t.Context(), w.id, "")
	w.ok(err)
	if got := w.paths(); got != "" {
		t.Errorf("after watching ended: %s", got)
	}
}

func TestFilesThatAWatchedFolderIgnores(t *testing.T) {
	t.Parallel()
	w := newWatchedProject(t)
	outside := t.TempDir()
	w.ok(os.WriteFile(filepath.Join(outside, "outside.md"), []byte("outside"), 0o600))
	for name, text := range map[string]string{
		"kept.md": "kept", ".hidden": "x", ".git/config": "x", ".env": "KEY=1", "prod.env": "KEY=1", "server.pem": "x", "id_rsa": "x",
		"node_modules/pkg/index.js": "x", "picture.bin": "a\x00b", "empty.txt": "", "large.txt": strings.Repeat("x", projects.MaxFileBytes+1),
		".gitignore": "# a note\nbuild/\n*.log\n!keep.log\n/top.txt\ndocs/**/draft.md\n", "build/out.md": "x", "a.log": "x", "keep.log": "kept", "top.txt": "x", "sub/top.txt": "kept",
		"docs/x/y/draft.md": "x", "docs/final.md": "kept",
	} {
		w.write(name, text)
	}
	if runtime.GOOS != "windows" {
		w.ok(os.Symlink(outside, filepath.Join(w.dir, "link")))
		w.ok(os.Symlink(filepath.Join(outside, "outside.md"), filepath.Join(w.dir, "link.md")))
	}
	w.watch()
	if got := w.paths(); got != "docs/final.md keep.log kept.md sub/top.txt" {
		t.Errorf("indexed: %s", got)
	}
	s := w.scan()
	for reason, n := range map[string]int{"may contain secrets": 4, "hidden": 3, "ignored by .gitignore": 4, "installed packages": 1, "no readable text": 1, "empty": 1, "larger than 20 MB": 1} {
		if s.SkippedBy[reason] != n {
			t.Errorf("skipped, %s: %d, want %d (%v)", reason, s.SkippedBy[reason], n, s.Skipped)
		}
	}
	if runtime.GOOS != "windows" && s.SkippedBy["a link"] != 2 {
		t.Errorf("skipped: %v", s.Skipped)
	}
}

func TestAnUnreadableFolderKeepsItsFiles(t *testing.T) {
	t.Parallel()
	w := newWatchedProject(t)
	w.write("a.md", "alpha")
	w.watch()
	away := w.dir + "-away"
	w.ok(os.Rename(w.dir, away))
	t.Cleanup(func() { _ = os.RemoveAll(away) })
	if s := w.scan(); s.Error == "" || len(s.Removed) != 0 || w.paths() != "a.md" {
		t.Errorf("without the folder: %+v, %s", s, w.paths())
	}
	w.ok(os.Rename(away, w.dir))
	if s := w.scan(); s.Error != "" || s.Differs() {
		t.Errorf("the folder is back: %+v", s)
	}
}

func TestFoldersThatCannotBeWatched(t *testing.T) {
	t.Parallel()
	w := newWatchedProject(t)
	w.write("a.md", "alpha")
	for _, dir := range []string{"relative", filepath.Join(w.dir, "none"), filepath.Join(w.dir, "a.md"), w.data, filepath.Join(w.data, "backups")} {
		_ = os.Mkdir(filepath.Join(w.data, "backups"), 0o700)
		if _, err := w.Watch(t.Context(), w.id, dir); chat.CodeOf(err) != chat.CodeInvalid {
			t.Errorf("%s: %v", dir, err)
		}
	}
	_, err := w.Watch(t.Context(), w.id, filepath.Dir(w.data)) // contains the data directory
	w.ok(err)
	if s := w.scan(); s.SkippedBy["this program's own data"] != 1 {
		t.Errorf("skipped: %v", s.SkippedBy)
	}
}

func TestDocumentsOfAProject(t *testing.T) {
	t.Parallel()
	w := newWatchedProject(t)
	w.ok(w.Add(t.Context(), w.id, "plan.md", []byte("the plan")))
	w.ok(w.Add(t.Context(), w.id, "plan.md", []byte("the other plan")))
	if err := w.Add(t.Context(), w.id, "plan.bin", []byte("a\x00b")); chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("a file that is not text: %v", err)
	}
	files, err := w.ProjectFiles(t.Context(), w.id)
	w.ok(err)
	if len(files) != 1 || files[0].Kind != chat.ProjectDocument || files[0].Size != int64(len("the other plan")) {
		t.Errorf("%+v", files)
	}
	if err := w.Remove(t.Context(), w.id, []string{"plan.md", "none.md"}); chat.CodeOf(err) != chat.CodeNotFound || w.paths() != "plan.md" {
		t.Errorf("one of the two does not exist: %v", err)
	}
	w.ok(w.Remove(t.Context(), w.id, []string{"plan.md"}))
	if got := w.paths(); got != "" {
		t.Errorf("still indexed: %s", got)
	}
	findings, err := w.db.Verify(t.Context())
	w.ok(err)
	if len(findings) > 0 {
		t.Errorf("verify: %+v", findings)
	}
}

func TestTooManyFilesForAProject(t *testing.T) {
	t.Parallel()
	w := newWatchedProject(t)
	const maxFiles = 20
	w.Service = projects.New(projects.Deps{Store: w.db, Count: func(string) int { return 1 }, Changed: func() {}, MaxFiles: maxFiles})
	for i := range maxFiles + 3 {
		w.write("f/"+strings.Repeat("x", i%7)+string(rune('a'+i%26))+time.Duration(i).String()+".md", "words")
	}
	w.watch()
	if s := w.scan(); s.Found != maxFiles || s.SkippedBy["beyond the number of files of a project (2,000)"] != 3 || s.Differs() {
		t.Errorf("%d files, skipped %v", s.Found, s.SkippedBy)
	}
	if !slices.IsSorted(strings.Fields(w.paths())) {
		t.Error("the files are not listed by path")
	}
}

// TestAReplacedFolder: what stands in the place of the watched folder later is neither read nor taken for an empty
// folder, until a person chooses it.
func TestAReplacedFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a right there")
	}
	for name, replace := range map[string]func(dir, other string) error{
		"a link":         func(dir, other string) error { return os.Symlink(filepath.Join(other, "docs"), dir) },
		"another folder": func(dir, other string) error { return os.Rename(filepath.Join(other, "docs"), dir) },
		"a link above it": func(dir, other string) error {
			above := filepath.Dir(dir)
			return errors.Join(os.RemoveAll(above), os.Symlink(other, above))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWatchedProject(t)
			other := filepath.Join(w.dir, "other")
			w.write("other/docs/key.txt", "hidden treasure")
			w.write("above/docs/a.txt", "roses")
			w.dir = filepath.Join(w.dir, "above", "docs")
			w.watch()
			w.ok(os.RemoveAll(w.dir))
			w.ok(replace(w.dir, other))
			if s := w.scan(); !strings.Contains(s.Error, "it was replaced") || s.Differs() {
				t.Errorf("%+v", s)
			}
			if got := w.paths(); got != "a.txt" {
				t.Errorf("the index has %v", got)
			}
			w.watch() // a person chooses it
			if got := w.paths(); got != "key.txt" {
				t.Errorf("after it was chosen again, the index has %v", got)
			}
		})
	}
}
