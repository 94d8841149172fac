package archtest

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"contextinfinity/backend/internal/lists"
)

// TestTheProjectFollowsItsRules checks the project.
func TestTheProjectFollowsItsRules(t *testing.T) {
	root := moduleRoot(t)
	report, err := Check(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, finding := range report.Findings {
		t.Error(finding)
	}
	for _, dir := range largePackages {
		if n := report.files[dir]; n <= maxFiles {
			t.Errorf("%s contains %d files and can be removed from largePackages", dir, n)
		}
	}
	// A check of the wrong directory would find no problems.
	if report.GoFiles < 20 || report.PageFiles < 5 {
		t.Errorf("read only %d Go files and %d page files below %s", report.GoFiles, report.PageFiles, root)
	}
}

// TestEachRuleFindsItsViolation checks a tree in which every file breaks one rule. Its first line names the rule:
// "// breaks: NAME".
func TestEachRuleFindsItsViolation(t *testing.T) {
	root := filepath.Join("testdata", "broken")
	report, err := Check(root)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}  // by file and rule
	proved := map[string]bool{} // by rule
	for _, finding := range report.Findings {
		found[finding.File+" "+finding.Rule] = true
		proved[finding.Rule] = true
		if finding.Line == 0 || finding.Reason == "" {
			t.Errorf("%s: a finding must have a line and a reason", finding)
		}
	}
	for file, rule := range expectations(t, root) {
		if !found[file+" "+rule] {
			t.Errorf("%s breaks %q and was not found", file, rule)
		}
	}
	for _, name := range ruleNames() {
		if !proved[name] {
			t.Errorf("no broken file proves that rule %q works", name)
		}
	}
}

// TestNearMissesAreAllowed checks a tree of near misses, none of which breaks a rule.
func TestNearMissesAreAllowed(t *testing.T) {
	report, err := Check(filepath.Join("testdata", "sound"))
	if err != nil {
		t.Fatal(err)
	}
	for _, finding := range report.Findings {
		t.Error(finding)
	}
	if report.GoFiles < 4 || report.PageFiles < 2 {
		t.Errorf("read only %d Go files and %d page files", report.GoFiles, report.PageFiles)
	}
}

// TestAPackageIsNotTooLarge counts the files in a tree created for the test.
func TestAPackageIsNotTooLarge(t *testing.T) {
	root := t.TempDir()
	fill := func(dir string, files int) {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
		for i := range files {
			for _, name := range []string{fmt.Sprintf("f%d.go", i), fmt.Sprintf("f%d_test.go", i)} {
				if err := os.WriteFile(filepath.Join(root, dir, name), []byte("package x\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	fill("backend/small", maxFiles)
	fill("backend/large", maxFiles+1)
	fill(largePackages[0], maxFiles+1)
	report, err := Check(root)
	if err != nil {
		t.Fatal(err)
	}
	found := lists.Map(report.Findings, func(f Finding) string { return f.Rule + " " + f.File })
	if want := []string{"size of a package backend/large"}; !slices.Equal(found, want) {
		t.Errorf("found %v, want %v", found, want)
	}
}

// TestAnInterfaceIsNotTooLarge counts the methods of interfaces in a tree created for the test, including embedded ones
// from other packages.
func TestAnInterfaceIsNotTooLarge(t *testing.T) {
	root := t.TempDir()
	methods := func(n int) string {
		var out strings.Builder
		for i := range n {
			fmt.Fprintf(&out, "M%d()\n", i)
		}
		return out.String()
	}
	write := func(file, text string) {
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(file)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("backend/small/a.go", "package small\ntype Small interface {\n"+methods(maxMethods)+"}\n")
	write("backend/small/a_test.go", "package small\ntype Fake interface {\n"+methods(maxMethods+1)+"}\n")
	write("backend/large/a.go", "package large\ntype Large interface {\n"+methods(maxMethods+1)+"}\n")
	write("backend/parts/a.go", "package parts\nimport \""+module+"/backend/small\"\ntype One interface { N() }\n"+
		"type Ours interface { One; small.Small }\ntype Round interface { Round; N() }\n")
	write("backend/store/a.go", "package store\ntype Store interface {\n"+methods(maxMethods+1)+"}\n")
	report, err := Check(root)
	if err != nil {
		t.Fatal(err)
	}
	found := lists.Map(report.Findings, func(f Finding) string { return fmt.Sprintf("%s %s:%d", f.Rule, f.File, f.Line) })
	slices.Sort(found)
	if want := []string{"size of an interface backend/large/a.go:2", "size of an interface backend/parts/a.go:4"}; !slices.Equal(found, want) {
		t.Errorf("found %v, want %v", found, want)
	}
}

// TestTheLinterHasTheSameRules compares the rules with .golangci.yml: each import that a rule restricts, and the reason
// of the rule, must be there too.
func TestTheLinterHasTheSameRules(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(moduleRoot(t), ".golangci.yml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range onlyRules {
		for _, target := range rule.imports {
			if !strings.Contains(string(text), target) {
				t.Errorf("rule %q restricts %s; .golangci.yml does not name it", rule.name, target)
			}
		}
		if !strings.Contains(string(text), rule.reason) {
			t.Errorf("rule %q: .golangci.yml does not give the reason %q", rule.name, rule.reason)
		}
	}
}

// TestTheLinterAllowsTheSameImports: each list of allowed imports of the linter equals that of the rule with its name.
func TestTheLinterAllowsTheSameImports(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(moduleRoot(t), ".golangci.yml"))
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, rule := range withinRules {
		list := regexp.MustCompile(`(?m)^ {8}` + strings.ReplaceAll(rule.name, " ", "-") + `:.*\n {10}list-mode: strict\n {10}files: .*\n {10}allow: \[(.*)\]$`).FindSubmatch(text)
		if list == nil {
			continue // the linter lists the forbidden imports instead
		}
		compared++
		allowed := strings.Split(string(list[1]), ", ")
		want := append([]string{"$gostd"}, rule.allowed...)
		slices.Sort(allowed)
		slices.Sort(want)
		if !slices.Equal(allowed, want) {
			t.Errorf("rule %q allows %v; .golangci.yml allows %v", rule.name, want, allowed)
		}
	}
	if compared < 7 {
		t.Errorf("only %d lists were compared", compared)
	}
}

// TestTheLinterExemptsTheCompositionRoot: the linter's exceptions for the composition root equal those of the rules
// here.
func TestTheLinterExemptsTheCompositionRoot(t *testing.T) {
	root := moduleRoot(t)
	text, err := os.ReadFile(filepath.Join(root, ".golangci.yml"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, "backend", "app", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	used := 0
	for _, rule := range onlyRules {
		allowed := inside("backend/app", rule.dirs)
		for _, target := range rule.imports {
			if slices.Contains(exempted(t, string(text), target), "backend/app") != allowed {
				t.Errorf("rule %q on %s allows backend/app: %v; .golangci.yml differs", rule.name, target, allowed)
			}
			used += len(slices.DeleteFunc(slices.Clone(files), func(file string) bool { return !allowed || !imports(t, file, target) }))
		}
	}
	if used < 5 {
		t.Errorf("the rules concern only %d imports of the composition root", used)
	}
}

// exempted returns the directories that the linter's rule for an import exempts.
func exempted(t *testing.T, config, target string) []string {
	t.Helper()
	files := ""
	for _, line := range strings.Split(config, "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "files:") {
			files = line
		}
		if _, pkg, ok := strings.Cut(line, "pkg: "); !ok || strings.TrimSuffix(strings.SplitN(pkg, ",", 2)[0], "$") != target {
			continue
		}
		return lists.Map(regexp.MustCompile(`"!\*\*/([^"*]+)/\*\*"`).FindAllStringSubmatch(files, -1), func(m []string) string { return m[1] })
	}
	t.Errorf(".golangci.yml has no rule for %s", target)
	return nil
}

func imports(t *testing.T, file, target string) bool {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range tree.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err == nil && (name == target || strings.HasPrefix(name, target+"/")) {
			return true
		}
	}
	return false
}

func ruleNames() []string {
	names := []string{"clock", "bridge", "adapters know no other", "floors of the store"}
	for _, rule := range onlyRules {
		names = append(names, rule.name)
	}
	for _, rule := range neverRules {
		names = append(names, rule.name)
	}
	for _, rule := range withinRules {
		names = append(names, rule.name)
	}
	return names
}

// expectations reads the rule that each broken file names.
func expectations(t *testing.T, root string) map[string]string {
	t.Helper()
	expected := map[string]string{}
	err := filepath.WalkDir(root, func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		first, _, _ := strings.Cut(string(text), "\n")
		rule, ok := strings.CutPrefix(first, "// breaks: ")
		if !ok {
			t.Errorf("%s does not say in its first line what it breaks", name)
			return nil
		}
		rel, err := filepath.Rel(root, name)
		expected[filepath.ToSlash(rel)] = strings.TrimSpace(rule)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return expected
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = parent
	}
}
