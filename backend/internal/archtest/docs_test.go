package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocsNameRealTests checks that each Go test, end-to-end test and source file that durability.md, seeds.md and
// reports.md name exists in the folder they give.
func TestDocsNameRealTests(t *testing.T) {
	root := moduleRoot(t)
	tests, titles := goTests(t, root), endToEndTitles(t, root)
	for page, minTests := range map[string]int{"durability.md": 30, "seeds.md": 150, "reports.md": 20} {
		data, err := os.ReadFile(filepath.Join(root, "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		named := regexp.MustCompile(`(?:backend/)?(?:([a-z][a-z/]+): )?\b(Test[A-Z]\w+)`).FindAllStringSubmatch(string(data), -1)
		if len(named) < minTests {
			t.Errorf("%s names %d tests, expected at least %d", page, len(named), minTests)
		}
		for _, m := range named {
			folder, name := m[1], m[2]
			if folders := tests[name]; len(folders) == 0 || folder != "" && !folders["backend/"+folder] {
				t.Errorf("%s: there is no %s in %q", page, name, folder)
			}
		}
		if page == "seeds.md" {
			checkSeeds(t, root, string(data), titles)
		}
	}
}

// TestEveryReportHasARow checks that docs/reports.md has a row for every reported input beside the checkout.
func TestEveryReportHasARow(t *testing.T) {
	root := moduleRoot(t)
	shared := os.Getenv("CONTEXTINFINITY_SHARED")
	for dir := root; shared == "" && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(filepath.Dir(dir), "shared", "reports")); err == nil {
			shared = filepath.Join(filepath.Dir(dir), "shared")
		}
	}
	inputs, err := os.ReadDir(filepath.Join(shared, "reports"))
	if shared == "" || err != nil {
		t.Skip("no shared directory beside this checkout; set CONTEXTINFINITY_SHARED")
	}
	doc, err := os.ReadFile(filepath.Join(root, "docs", "reports.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, input := range inputs {
		name := strings.TrimSuffix(input.Name(), ".txt")
		if name != "README.md" && !strings.Contains(string(doc), "\n| "+name+" | ") {
			t.Errorf("reports.md has no row for %s", name)
		}
	}
}

// checkSeeds checks the end-to-end titles and source files named in docs/seeds.md.
func checkSeeds(t *testing.T, root, doc, titles string) {
	t.Helper()
	for _, m := range regexp.MustCompile(`[|,] "([^"|\n]{15,})"`).FindAllStringSubmatch(doc, -1) {
		if !strings.Contains(titles, m[1]) {
			t.Errorf("seeds.md: there is no end-to-end test %q", m[1])
		}
	}
	for _, file := range regexp.MustCompile(`[a-z/]+/[a-z_]+\.go`).FindAllString(doc, -1) {
		_, inBackend := os.Stat(filepath.Join(root, "backend", file))
		_, inRoot := os.Stat(filepath.Join(root, file))
		if inBackend != nil && inRoot != nil {
			t.Errorf("seeds.md: there is no file %s", file)
		}
	}
}

// goTests maps the name of each Go test to the folders that contain it, relative to the module.
func goTests(t *testing.T, root string) map[string]map[string]bool {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^func (Test[A-Z]\w+)\(`)
	found := map[string]map[string]bool{}
	walkFiles(t, root, "_test.go", func(path string, data []byte) {
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range declared.FindAllSubmatch(data, -1) {
			name := string(m[1])
			if found[name] == nil {
				found[name] = map[string]bool{}
			}
			found[name][filepath.ToSlash(folder)] = true
		}
	})
	return found
}

func endToEndTitles(t *testing.T, root string) string {
	t.Helper()
	var all strings.Builder
	walkFiles(t, filepath.Join(root, "frontend", "e2e"), ".spec.ts", func(_ string, data []byte) { all.Write(data) })
	return all.String()
}

// walkFiles visits the files below a folder with a suffix, and skips installed packages.
func walkFiles(t *testing.T, root, suffix string, visit func(path string, data []byte)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case !strings.HasSuffix(path, suffix):
			return nil
		}
		data, err := os.ReadFile(path)
		if err == nil {
			visit(path, data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
