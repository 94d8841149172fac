package builtin

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/tools"
)

// fixture is a source with folders.
type fixture struct {
	*testing.T
	*Source
	dir     string
	outside string
}

func newFixture(t *testing.T, commands *Commands) *fixture {
	t.Helper()
	d := &fixture{T: t, dir: t.TempDir(), outside: t.TempDir()}
	d.Source = New(nil, &Folders{
		Settings:  func() ([]string, bool) { return []string{d.dir}, commands != nil },
		Protected: func() []string { return nil }, Commands: commands,
	})
	return d
}

func (d *fixture) put(name, content string) {
	d.Helper()
	path := filepath.Join(d.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		d.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		d.Fatal(err)
	}
}

// call returns a tool's result, and whether it is an error.
func (d *fixture) call(tool string, arguments map[string]any) (string, bool) {
	d.Helper()
	out, err := d.Call(d.Context(), tools.Call{Tool: tool, Arguments: argumentsOf(d.T, arguments)})
	if err != nil {
		d.Fatalf("%s: %v", tool, err)
	}
	return out.Content.RenderedText(), out.IsError
}

func argumentsOf(t *testing.T, arguments map[string]any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func (d *fixture) answers(tool string, arguments map[string]any, want string) {
	d.Helper()
	if got, isError := d.call(tool, arguments); isError || !strings.Contains(got, want) {
		d.Errorf("%s %v: %q (error: %v), want %q", tool, arguments, got, isError, want)
	}
}

func (d *fixture) refuses(tool string, arguments map[string]any, want string) {
	d.Helper()
	if got, isError := d.call(tool, arguments); !isError || !strings.Contains(got, want) {
		d.Errorf("%s %v: %q (error: %v), want a refusal: %q", tool, arguments, got, isError, want)
	}
}

func TestFiles(t *testing.T) {
	d := newFixture(t, nil)
	d.put("notes/a.txt", "one\ntwo\nThree\n")
	d.put("b.bin", "\x00\x01")
	d.put("empty", "")
	full := filepath.Join(d.dir, "notes", "a.txt")
	d.answers("read_file", map[string]any{"path": "notes/a.txt"}, "one\ntwo\nThree\n")
	d.answers("read_file", map[string]any{"path": full, "from_line": 2, "lines": 1}, "two\n\n[lines 2 to 2 of 3; read on with from_line 3]")
	d.answers("read_file", map[string]any{"path": "empty"}, "[the file is empty]")
	d.refuses("read_file", map[string]any{"path": "b.bin"}, "not text")
	d.refuses("read_file", map[string]any{"path": "notes"}, "it is a folder")
	d.refuses("read_file", map[string]any{"path": "nowhere"}, "there is no such file")
	d.refuses("read_file", map[string]any{"file": "b.bin"}, "do not match the schema")
	d.answers("list_directory", map[string]any{}, "b.bin (2 bytes)\nempty (0 bytes)\nnotes/")
	d.answers("search_files", map[string]any{"text": "three"}, full+":3: Three")
	d.answers("search_files", map[string]any{"text": "three", "names": "*.go"}, "no file has this text")
	d.answers("write_file", map[string]any{"path": "new/c.txt", "content": "here"}, "The file was created; it has 4 bytes.")
	d.answers("write_file", map[string]any{"path": "new/d.txt", "content": "x"}, "The file was created; it has 1 byte.")
	d.answers("write_file", map[string]any{"path": "notes/a.txt", "content": "changed\n"}, "replaced")
	d.answers("read_file", map[string]any{"path": "notes/a.txt"}, "changed")
	if info, err := os.Stat(full); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode was not kept: %v, %v", info, err)
	}
	if leftovers, _ := filepath.Glob(filepath.Join(d.dir, "*", ".contextinfinity-*")); len(leftovers) > 0 {
		t.Errorf("left behind: %v", leftovers)
	}
}

// TestNoPathLeavesTheFolder: neither names nor links lead out of the folder, for reading or writing.
func TestNoPathLeavesTheFolder(t *testing.T) {
	d := newFixture(t, nil)
	secret := filepath.Join(d.outside, "secret.txt")
	if err := os.WriteFile(secret, []byte("hidden treasure"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"out": d.outside, "file": secret, "up": ".."} {
		if err := os.Symlink(target, filepath.Join(d.dir, link)); err != nil {
			t.Skipf("links cannot be created here: %v", err)
		}
	}
	for _, path := range []string{secret, "../" + filepath.Base(d.outside) + "/secret.txt", "out/secret.txt", "file", "up/x", "/etc/passwd", "a\x00b", d.dir + "/../x"} {
		for tool, a := range map[string]map[string]any{
			"read_file": {"path": path}, "list_directory": {"path": path}, "write_file": {"path": path, "content": "taken"}, "search_files": {"path": path, "text": "treasure"},
		} {
			if got, isError := d.call(tool, a); !isError || strings.Contains(got, "treasure") {
				t.Errorf("%s of %q: %q", tool, path, got)
			}
		}
	}
	d.answers("search_files", map[string]any{"text": "treasure"}, "no file has this text")
	if got, err := os.ReadFile(secret); err != nil || string(got) != "hidden treasure" {
		t.Errorf("a file outside was changed: %q, %v", got, err)
	}
	if entries, err := os.ReadDir(d.outside); err != nil || len(entries) != 1 {
		t.Errorf("the folder outside now contains %v", entries)
	}
}

func TestLongFilesAreReadInParts(t *testing.T) {
	d := newFixture(t, nil)
	d.put("long", strings.Repeat(strings.Repeat("x", 999)+"\n", 200)+strings.Repeat("y", 2*maxRead))
	got, _ := d.call("read_file", map[string]any{"path": "long"})
	if len(got) > maxRead+200 || !strings.Contains(got, "read on with from_line 66]") {
		t.Errorf("%d bytes, ends with %q", len(got), got[len(got)-80:])
	}
	got, _ = d.call("read_file", map[string]any{"path": "long", "from_line": 201})
	if len(got) > maxRead+200 || !strings.Contains(got, "the rest of this line is left out") {
		t.Errorf("%d bytes, ends with %q", len(got), got[len(got)-80:])
	}
}

func TestWriteIsPreviewed(t *testing.T) {
	d := newFixture(t, nil)
	d.put("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n")
	diff, err := d.Preview(t.Context(), tools.Call{Tool: "write_file", Arguments: argumentsOf(t, map[string]any{"path": "a.txt", "content": "1\n2\n3\n4\nfive\n6\n7\n8\n9"})})
	want := "  … 1 line unchanged\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n-9\n+9 [no line end]\n"
	if err != nil || diff != want {
		t.Errorf("%v\n%s", err, diff)
	}
	diff, err = d.Preview(t.Context(), tools.Call{Tool: "write_file", Arguments: argumentsOf(t, map[string]any{"path": "new.txt", "content": "a\nb\n"})})
	if err != nil || diff != "+a\n+b\n" {
		t.Errorf("%v\n%s", err, diff)
	}
	diff, err = d.Preview(t.Context(), tools.Call{Tool: "write_file", Arguments: argumentsOf(t, map[string]any{"path": "../out.txt", "content": "a\nb\n"})})
	if err == nil || diff != "" {
		t.Errorf("the preview for a file outside: %q", diff)
	}
}

func TestFoldersThatAreRefused(t *testing.T) {
	own, good := t.TempDir(), t.TempDir()
	inside := filepath.Join(own, "data")
	if err := os.Mkdir(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	configured := []string{filepath.VolumeName(own) + string(filepath.Separator), "relative", own, inside, filepath.Join(good, "nowhere"), good}
	s := New(nil, &Folders{Settings: func() ([]string, bool) { return configured, false }, Protected: func() []string { return []string{inside} }})
	problems := lists.Map(s.Problems(), func(p tools.Problem) string { return p.Message })
	all := strings.Join(problems, "\n")
	for _, want := range []string{"root of the file system", "not a full path", "its own data", "cannot be opened"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in:\n%s", want, all)
		}
	}
	if len(problems) != 5 {
		t.Errorf("refused:\n%s", all)
	}
	if defs := s.Definitions(); len(defs) != 4 || !strings.HasSuffix(defs[0].Description, "Only in: "+good+".") {
		t.Errorf("offered: %+v", defs)
	}
}

func TestWithoutFoldersThereAreNoTools(t *testing.T) {
	s := New(nil, &Folders{Settings: func() ([]string, bool) { return nil, true }, Protected: func() []string { return nil }, Commands: &Commands{}})
	if defs := s.Definitions(); len(defs) != 0 {
		t.Errorf("offered: %+v", defs)
	}
	if _, err := s.Call(context.Background(), tools.Call{Tool: "read_file"}); err == nil {
		t.Error("a tool that is not offered was called")
	}
}
