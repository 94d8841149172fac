package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTheArchitecturePageIsCorrect reads docs/ARCHITECTURE.md: every directory in its tree exists, every package and
// every directory of components is in the tree, and every path in the text exists.
func TestTheArchitecturePageIsCorrect(t *testing.T) {
	root := moduleRoot(t)
	data, err := os.ReadFile(filepath.Join(root, "docs", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(data), "## Layout\n")
	_, text, _ = strings.Cut(text, "```\n")
	tree, text, _ := strings.Cut(text, "```\n")

	listed := directoriesIn(tree)
	for _, dir := range listed {
		if _, err := os.Stat(filepath.Join(root, dir)); err != nil {
			t.Errorf("the tree has %s, which does not exist", dir)
		}
	}
	for _, pattern := range []string{"backend/*", "backend/store/*", "backend/llm/*", "frontend/src/lib/*"} {
		for _, dir := range directories(t, root, pattern) {
			if !slices.Contains(listed, dir) {
				t.Errorf("%s is not in the tree", dir)
			}
		}
	}
	for pattern, line := range map[string]string{"backend/internal/*": "  internal/", "frontend/src/components/*": "  components/"} {
		_, entry, _ := strings.Cut("\n"+tree, "\n"+line)
		entry = entry[:nextEntry.FindStringIndex(entry)[0]]
		for _, dir := range directories(t, root, pattern) {
			if !regexp.MustCompile(`\b` + filepath.Base(dir) + `\b`).MatchString(entry) {
				t.Errorf("%s is not in the tree, in the line %q", dir, strings.TrimSpace(line))
			}
		}
	}
	paths := pathsIn(text)
	for _, path := range paths {
		if !exists(root, path) {
			t.Errorf("the text names %s, which does not exist in backend, frontend/src or the root", path)
		}
	}
	if len(listed) < 80 || len(paths) < 25 {
		t.Errorf("only %d directories and %d paths were read", len(listed), len(paths))
	}
}

// directoriesIn returns the directories of a tree that is written with indentation. A line begins with one or more
// names.
func directoriesIn(tree string) []string {
	var out, above []string // above: the directory at each level of indentation
	for line := range strings.Lines(tree) {
		depth := (len(line) - len(strings.TrimLeft(line, " "))) / 2
		names := strings.Fields(line)
		if depth > len(above) || !strings.HasSuffix(names[0], "/") {
			continue // continues the line above, or a file
		}
		above = above[:depth]
		for _, name := range names {
			if !strings.HasSuffix(name, "/") {
				break
			}
			out = append(out, strings.Join(above, "")+strings.TrimSuffix(name, "/"))
		}
		above = append(above, names[0])
	}
	return out
}

func directories(t *testing.T, root, pattern string) []string {
	found, err := filepath.Glob(filepath.Join(root, pattern))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, path := range found {
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() || filepath.Base(path) == "testdata" {
			continue
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, filepath.ToSlash(rel))
	}
	return out
}

var (
	nextEntry   = regexp.MustCompile(`\n {0,2}[a-z]`)
	codeSpan    = regexp.MustCompile("`([^`\n]+)`")
	pathForm    = regexp.MustCompile(`^[A-Za-z0-9_.<>{},-]+/[A-Za-z0-9_./<>{},-]*$`)
	placeholder = regexp.MustCompile(`<[a-z]+>|\b[A-Z]{3,}\b|\{[^}]*\}`)
)

// pathsIn returns the paths in backquotes in a text.
func pathsIn(text string) []string {
	var out []string
	for _, span := range codeSpan.FindAllStringSubmatch(text, -1) {
		if pathForm.MatchString(span[1]) {
			out = append(out, span[1])
		}
	}
	return out
}

// exists reports whether a path exists; placeholders in it match any name.
func exists(root, path string) bool {
	pattern := placeholder.ReplaceAllString(path, "*")
	for _, dir := range []string{"backend", "frontend/src", "."} {
		if found, err := filepath.Glob(filepath.Join(root, dir, pattern)); err == nil && len(found) > 0 {
			return true
		}
	}
	return false
}
