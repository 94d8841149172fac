package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every test that docs/durability.md names is there.
func TestThePromisesNameTestsThatAreThere(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile(filepath.Join(root, "docs", "durability.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`\bTest[A-Z]\w+`).FindAllString(string(doc), -1)
	if len(named) < 30 {
		t.Fatalf("the promises name %d tests", len(named))
	}
	var tests strings.Builder
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		data, err := os.ReadFile(path)
		tests.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range named {
		if !strings.Contains(tests.String(), "\nfunc "+name+"(") {
			t.Errorf("there is no %s", name)
		}
	}
}
