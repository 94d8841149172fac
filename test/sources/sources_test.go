package sources

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A test that starts a program is cached, and runs again once a file of that program changes, even if the test does
// not import it.
func TestAChangedProgramIsTestedAgain(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-time.Hour) // files that were just written are never cached
	write := func(name, text string, at time.Time) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	source, err := os.ReadFile("sources.go")
	if err != nil {
		t.Fatal(err)
	}
	write("go.mod", "module made\n\ngo 1.24\n", old)
	write("main.go", "package main\n\nfunc main() { println(said) }\n", old)
	write("said.go", "//go:build loud\n\npackage main\n\nconst said = \"this\"\n", old)
	write("sources/sources.go", string(source), old)
	write("driver/driver_test.go", "package driver\n\nimport (\n\t\"testing\"\n\n\t\"made/sources\"\n)\n\n"+
		"func TestIt(t *testing.T) {\n\tif err := sources.Track(\"..\", \"loud\"); err != nil {\n\t\tt.Fatal(err)\n\t}\n}\n", old)
	isCached := func() bool {
		t.Helper()
		cmd := exec.Command("go", "test", "./driver")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return strings.Contains(string(out), "(cached)")
	}
	isCached()
	if !isCached() {
		t.Fatal("the test runs again although nothing changed")
	}
	write("said.go", "//go:build loud\n\npackage main\n\nconst said = \"that!\"\n", old.Add(time.Minute))
	if isCached() {
		t.Error("the program changed, but its test was not run again")
	}
}
