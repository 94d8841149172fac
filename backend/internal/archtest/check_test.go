package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Finding is one import or use that a rule forbids.
type Finding struct {
	Rule, File string
	Line       int
	What       string
	Reason     string
}

func (f Finding) String() string {
	return fmt.Sprintf("%s:%d: %s [%s: %s]", f.File, f.Line, f.What, f.Rule, f.Reason)
}

// Report contains the findings of a check of a tree, and how many files it read.
type Report struct {
	Findings  []Finding
	GoFiles   int
	PageFiles int

	files map[string]int  // number of Go files per directory of backend, without tests
	ports map[string]port // interfaces outside of tests
}

// source is a Go file being checked.
type source struct {
	file string // relative to the root, with slashes
	dir  string
	test bool
	tree *ast.File
	set  *token.FileSet
}

// Check reads every Go file and every file of the page below root.
func Check(root string) (Report, error) {
	report := Report{files: map[string]int{}, ports: map[string]port{}}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if entry.IsDir() {
			if rel != "." && skipped(rel) {
				return fs.SkipDir
			}
			return nil
		}
		return report.checkFile(name, rel)
	})
	report.checkSizes()
	report.checkPorts()
	return report, err
}

// checkSizes reports directories with too many files.
func (r *Report) checkSizes() {
	for dir, n := range r.files {
		if n > maxFiles && !slices.Contains(largePackages, dir) {
			r.Findings = append(r.Findings, Finding{
				Rule: "size of a package", File: dir, Line: 1, What: fmt.Sprintf("contains %d files; the maximum is %d", n, maxFiles),
				Reason: "a package that is too large to understand as one unit is split",
			})
		}
	}
}

// skipped reports whether a directory contains no compiled code of this module.
func skipped(rel string) bool {
	base := path.Base(rel)
	return base == "testdata" || base == "node_modules" || strings.HasPrefix(base, ".") ||
		rel == "frontend/dist" || rel == "build"
}

func (r *Report) checkFile(name, rel string) error {
	switch {
	case strings.HasSuffix(rel, ".go"):
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		r.GoFiles++
		if dir := path.Dir(rel); strings.HasPrefix(dir, "backend/") && !strings.HasSuffix(rel, "_test.go") {
			r.files[dir]++
		}
		r.checkGo(source{file: rel, dir: path.Dir(rel), test: strings.HasSuffix(rel, "_test.go"), tree: tree, set: set})
	case strings.HasPrefix(rel, "frontend/src/") && pageFile.MatchString(rel):
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		r.PageFiles++
		r.checkPage(rel, string(text))
	}
	return nil
}

func (r *Report) checkGo(s source) {
	for _, spec := range s.tree.Imports {
		target, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the compiler reports it
		}
		line := s.set.Position(spec.Pos()).Line
		for _, finding := range violations(s, target) {
			finding.File, finding.Line = s.file, line
			finding.What = "imports " + target
			r.Findings = append(r.Findings, finding)
		}
	}
	if !s.test {
		r.addPorts(s)
	}
	if !s.test && inside(s.dir, pureDirs) {
		r.checkClock(s)
	}
}

// violations lists the rules that an import breaks.
func violations(s source, target string) []Finding {
	var found []Finding
	for _, rule := range onlyRules {
		if (rule.tests || !s.test) && matches(target, rule.imports) && !inside(s.dir, rule.dirs) {
			found = append(found, Finding{Rule: rule.name, Reason: rule.reason})
		}
	}
	for _, rule := range neverRules {
		if (rule.tests || !s.test) && inside(s.dir, rule.in) && !inside(s.dir, rule.except) && matches(target, rule.imports) {
			found = append(found, Finding{Rule: rule.name, Reason: rule.reason})
		}
	}
	for _, rule := range withinRules {
		if !s.test && inside(s.dir, rule.in) && !inside(s.dir, rule.except) && !standard(target) && !matches(target, rule.allowed) {
			found = append(found, Finding{Rule: rule.name, Reason: rule.reason})
		}
	}
	if reason := layerViolation(s, target); reason != "" {
		found = append(found, Finding{Rule: "floors of the store", Reason: reason})
	}
	if importsSibling(s, target) {
		found = append(found, Finding{Rule: "adapters know no other", Reason: "an adapter translates between the wire and the contract, and can be replaced without changing another"})
	}
	return found
}

// layerViolation says why one package of the store may not import another; empty: it may.
func layerViolation(s source, target string) string {
	name, ok := strings.CutPrefix(s.dir, storeDir+"/")
	if !ok || s.test {
		return ""
	}
	layer := slices.Index(storeLayers, name)
	if layer < 0 {
		return "each package of the store must be listed in storeLayers"
	}
	if target == module+"/"+storeDir {
		return "the store is the facade of its packages; none of them may import it"
	}
	other, ok := strings.CutPrefix(target, module+"/"+storeDir+"/")
	if ok && slices.Index(storeLayers, other) >= layer {
		return "a package of the store may only import packages before it in storeLayers"
	}
	return ""
}

// importsSibling reports whether an adapter imports another one of its family.
func importsSibling(s source, target string) bool {
	for _, family := range adapterFamilies {
		adapter, ok := strings.CutPrefix(s.dir, family+"/")
		if !ok {
			continue
		}
		imported, ok := strings.CutPrefix(target, module+"/"+family+"/")
		if !ok {
			continue
		}
		if s.test && strings.HasSuffix(imported, "test") {
			continue
		}
		adapter, _, _ = strings.Cut(adapter, "/")
		imported, _, _ = strings.Cut(imported, "/")
		return adapter != imported && imported != "internal" // adapters of a family may share internal packages
	}
	return false
}

// checkClock finds calls of time.Now and the like, under whatever name time is imported.
func (r *Report) checkClock(s source) {
	name := timeName(s.tree)
	if name == "" {
		return
	}
	ast.Inspect(s.tree, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		from, ok := selector.X.(*ast.Ident)
		if ok && from.Name == name && clockFuncs[selector.Sel.Name] {
			r.Findings = append(r.Findings, Finding{
				Rule: "clock", File: s.file, Line: s.set.Position(node.Pos()).Line, What: "uses time." + selector.Sel.Name,
				Reason: "time is passed in, so that results are reproducible",
			})
		}
		return true
	})
}

var clockFuncs = map[string]bool{"Now": true, "Since": true, "Until": true, "Sleep": true, "After": true, "Tick": true}

func timeName(file *ast.File) string {
	for _, spec := range file.Imports {
		if spec.Path.Value != `"time"` {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return "time"
	}
	return ""
}

var (
	pageFile = regexp.MustCompile(`\.(ts|js|svelte)$`)
	// bridge matches the globals through which Wails reaches the program, and the code that it would generate for
	// them.
	bridge = regexp.MustCompile(`['"][^'"]*wailsjs[^'"]*['"]|\bwindow\s*(\[['"]|\.)(go|runtime)\b|globalThis\s*\.\s*(go|runtime)\b`)
)

// checkPage reports uses of the bridge outside of the one file that may use it.
func (r *Report) checkPage(rel, text string) {
	if rel == "frontend/src/lib/backend/wails.ts" || strings.HasPrefix(rel, "frontend/src/lib/backend/wails.test.") {
		return
	}
	for i, line := range strings.Split(text, "\n") {
		if found := bridge.FindString(line); found != "" {
			r.Findings = append(r.Findings, Finding{
				Rule: "bridge", File: rel, Line: i + 1, What: "uses " + strings.Trim(found, `'"`),
				Reason: "lib/backend/wails.ts is the only file that calls the bridge; all other files use the typed interface",
			})
		}
	}
}

// inside reports whether dir is one of parents or below one. "." only matches itself.
func inside(dir string, parents []string) bool {
	return slices.ContainsFunc(parents, func(parent string) bool { return dir == parent || parent != "." && strings.HasPrefix(dir, parent+"/") })
}

// matches reports whether an import path is one of paths or below one. The suffix of a major version (echo/v4) counts
// as below.
func matches(target string, paths []string) bool {
	return slices.ContainsFunc(paths, func(p string) bool { return target == p || strings.HasPrefix(target, p+"/") })
}

// standard reports whether a package belongs to the standard library: its first element has no dot and is not this
// module.
func standard(target string) bool {
	first, _, _ := strings.Cut(target, "/")
	return !strings.Contains(first, ".") && first != module
}
