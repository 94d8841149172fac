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

// Report is the findings of a check of a tree, and how many files it read.
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
		if n > maxFiles && !slices.Contains(largeRooms, dir) {
			r.Findings = append(r.Findings, Finding{
				Rule: "size of a room", File: dir, Line: 1, What: fmt.Sprintf("holds %d files; %d are the most", n, maxFiles),
				Reason: "what is too large to be seen whole is parted",
			})
		}
	}
}

// skipped reports directories without compiled code of this module.
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
		for _, broken := range brokenBy(s, target) {
			broken.File, broken.Line = s.file, line
			broken.What = "imports " + target
			r.Findings = append(r.Findings, broken)
		}
	}
	if !s.test {
		r.addPorts(s)
	}
	if !s.test && inside(s.dir, purePlaces) {
		r.checkClock(s)
	}
}

// brokenBy lists the rules that an import breaks.
func brokenBy(s source, target string) []Finding {
	var found []Finding
	for _, rule := range onlyRules {
		if (rule.tests || !s.test) && matches(target, rule.imports) && !inside(s.dir, rule.places) {
			found = append(found, Finding{Rule: rule.name, Reason: rule.reason})
		}
	}
	for _, rule := range neverRules {
		if (rule.tests || !s.test) && inside(s.dir, rule.in) && !inside(s.dir, rule.except) && matches(target, rule.imports) {
			found = append(found, Finding{Rule: rule.name, Reason: rule.reason})
		}
	}
	for _, rule := range withinRules {
		if !s.test && inside(s.dir, rule.in) && !inside(s.dir, rule.except) && !standard(target) && !matches(target, rule.may) {
			found = append(found, Finding{Rule: rule.name, Reason: rule.reason})
		}
	}
	if reason := upwards(s, target); reason != "" {
		found = append(found, Finding{Rule: "floors of the store", Reason: reason})
	}
	if siblings(s, target) {
		found = append(found, Finding{Rule: "adapters know no other", Reason: "adapters translate between the wire and the contract, and are replaceable one by one"})
	}
	return found
}

// upwards says why one package of the store may not import another; empty: it may.
func upwards(s source, target string) string {
	room, ok := strings.CutPrefix(s.dir, storePlace+"/")
	if !ok || s.test {
		return ""
	}
	here := slices.Index(storeFloors, room)
	if here < 0 {
		return "each room of the store has its floor in storeFloors"
	}
	if target == module+"/"+storePlace {
		return "the store is the facade of its rooms; none of them knows it"
	}
	other, ok := strings.CutPrefix(target, module+"/"+storePlace+"/")
	if ok && slices.Index(storeFloors, other) >= here {
		return "no arrow between the rooms of the store runs back up"
	}
	return ""
}

// siblings reports that one adapter imports another of its family.
func siblings(s source, target string) bool {
	for _, family := range adapterFamilies {
		mine, ok := strings.CutPrefix(s.dir, family+"/")
		if !ok {
			continue
		}
		theirs, ok := strings.CutPrefix(target, module+"/"+family+"/")
		if !ok {
			continue
		}
		if s.test && strings.HasSuffix(theirs, "test") {
			continue
		}
		mine, _, _ = strings.Cut(mine, "/")
		theirs, _, _ = strings.Cut(theirs, "/")
		return mine != theirs && theirs != "internal" // adapters of a family may share internal packages
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
				Reason: "time is injected, so that a result can be made again",
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

// checkPage allows the bridge in one file.
func (r *Report) checkPage(rel, text string) {
	if rel == "frontend/src/lib/backend/wails.ts" || strings.HasPrefix(rel, "frontend/src/lib/backend/wails.test.") {
		return
	}
	for i, line := range strings.Split(text, "\n") {
		if found := bridge.FindString(line); found != "" {
			r.Findings = append(r.Findings, Finding{
				Rule: "bridge", File: rel, Line: i + 1, What: "reaches " + strings.Trim(found, `'"`),
				Reason: "lib/backend/wails.ts is the only file that calls the bridge; everything else has the typed interface",
			})
		}
	}
}

// inside reports a directory that is one of places or below one. "." only matches itself.
func inside(dir string, places []string) bool {
	return slices.ContainsFunc(places, func(place string) bool { return dir == place || place != "." && strings.HasPrefix(dir, place+"/") })
}

// matches reports an import path that is one of paths or below one. The suffix of a major version (echo/v4) counts as
// below.
func matches(target string, paths []string) bool {
	return slices.ContainsFunc(paths, func(p string) bool { return target == p || strings.HasPrefix(target, p+"/") })
}

// standard reports the standard library: its first element has no dot and is not this module.
func standard(target string) bool {
	first, _, _ := strings.Cut(target, "/")
	return !strings.Contains(first, ".") && first != module
}
