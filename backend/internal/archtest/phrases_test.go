package archtest

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite generated files")

// englishOnly are directories whose texts the page never shows: they are for the command line, a program that asks
// over MCP, a model, or the log.
var englishOnly = []string{
	"backend/cli", "backend/ipc", "backend/evaluation", "backend/mcpserver", "backend/tools/builtin", "backend/llm/llmtest",
	"backend/internal", "backend/store/verify",
}

// formatAt is the position of the format among the arguments of the functions that create texts for people.
var formatAt = map[string][]int{
	"Say": {0}, "Errorf": {2}, "WrapError": {3}, "WithHint": {0}, "Conflict": {0}, "Invalid": {0}, "tooLong": {0},
	"refusedBundle": {0}, "notStarted": {1}, "hostile": {0}, "invalidBundle": {0}, "counted": {1, 2}, "listed": {0, 1},
}

// shownFields are fields whose literal texts are shown as they are.
var shownFields = []string{"Message", "Hint", "Reason", "skip", "reason"}

// TestPhrasesAreTranslated: every text that the page may show has a translation in each language, or stands in
// testdata/english.txt, which lists what is shown in English on purpose; and no translation is of a text that no longer
// exists.
func TestPhrasesAreTranslated(t *testing.T) {
	phrases, literals := phrasesOf(t)
	const list = "testdata/english.txt"
	raw, err := os.ReadFile(list)
	if err != nil && !*update {
		t.Fatal(err)
	}
	english := slices.DeleteFunc(strings.Split(string(raw), "\n"), func(line string) bool { return line == "" || strings.HasPrefix(line, "#") })
	catalogues := map[string]map[string]bool{}
	for _, language := range []string{"de", "zh-CN"} {
		catalogues[language] = catalogue(t, language)
	}
	if *update {
		english = slices.DeleteFunc(slices.Sorted(maps.Keys(phrases)), func(p string) bool { return catalogues["de"][p] })
		text := "# Texts that the page shows in English in every language. Written by go test -update.\n" + strings.Join(english, "\n") + "\n"
		if err := os.WriteFile(list, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for language, keys := range catalogues {
		for phrase, place := range phrases {
			if !keys[phrase] && !slices.Contains(english, phrase) {
				t.Errorf("%s: %q has no translation in %s/program.ts and is not in %s", place, phrase, language, list)
			}
		}
		for key := range keys {
			if !literals[key] {
				t.Errorf("%s/program.ts translates %q, which is not in Go's sources", language, key)
			}
		}
	}
	for _, phrase := range english {
		if _, exists := phrases[phrase]; !exists || catalogues["de"][phrase] {
			t.Errorf("%s: %q no longer exists, or is translated", list, phrase)
		}
	}
}

// phrasesOf returns the texts for people in Go's sources with their places, and all string literals.
func phrasesOf(t *testing.T) (phrases map[string]string, literals map[string]bool) {
	t.Helper()
	phrases, literals = map[string]string{}, map[string]bool{}
	root := filepath.Join("..", "..", "..")
	files := token.NewFileSet()
	err := filepath.WalkDir(filepath.Join(root, "backend"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == "testdata" {
			return cmpErr(err, fs.SkipDir)
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		shown := !slices.ContainsFunc(englishOnly, func(dir string) bool { return strings.HasPrefix(name, dir+"/") })
		ast.Inspect(f, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok {
				if text, ok := textOf(e); ok {
					literals[text] = true
				}
			}
			for _, e := range textsIn(n) {
				if text, ok := textOf(e); ok && shown && strings.Contains(text, " ") {
					phrases[text] = name + ":" + strconv.Itoa(files.Position(e.Pos()).Line)
				}
			}
			return true
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return phrases, literals
}

func cmpErr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// textsIn returns the expressions of a node that are texts for people.
func textsIn(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.CallExpr:
		name := ""
		switch fn := n.Fun.(type) {
		case *ast.Ident:
			name = fn.Name
		case *ast.SelectorExpr:
			if x, ok := fn.X.(*ast.Ident); ok && x.Name == "fmt" {
				return nil
			}
			name = fn.Sel.Name
		}
		var out []ast.Expr
		for _, at := range formatAt[name] {
			if at < len(n.Args) {
				out = append(out, n.Args[at])
			}
		}
		return out
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && slices.Contains(shownFields, key.Name) {
			return []ast.Expr{n.Value}
		}
	case *ast.AssignStmt:
		var out []ast.Expr
		for i, left := range n.Lhs {
			if field, ok := left.(*ast.SelectorExpr); ok && len(n.Lhs) == len(n.Rhs) && slices.Contains(shownFields, field.Sel.Name) {
				out = append(out, n.Rhs[i])
			}
		}
		return out
	}
	return nil
}

// textOf returns the value of a string literal, or of several joined with +. A constant of the package is unknown.
func textOf(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, err := strconv.Unquote(e.Value)
			return text, err == nil
		}
	case *ast.ParenExpr:
		return textOf(e.X)
	case *ast.BinaryExpr:
		left, known := textOf(e.X)
		right, alsoKnown := textOf(e.Y)
		return left + right, known && alsoKnown && e.Op == token.ADD
	}
	return "", false
}

// entry matches the key of a translation: 'quoted', "quoted" or a word.
var entry = regexp.MustCompile(`(?m)^    (?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(\w+)):`)

// catalogue returns the phrases that a language translates.
func catalogue(t *testing.T, language string) map[string]bool {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "..", "frontend", "src", "lib", "i18n", language, "program.ts"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	start := strings.Index(text, "\n  phrases: {")
	end := strings.Index(text[start+1:], "\n  },")
	keys := map[string]bool{}
	for _, found := range entry.FindAllStringSubmatch(text[start:start+1+end], -1) {
		keys[strings.NewReplacer(`\'`, `'`, `\"`, `"`, `\\`, `\`).Replace(found[1]+found[2]+found[3])] = true
	}
	if len(keys) < 100 {
		t.Fatalf("%s/program.ts has %d phrases", language, len(keys))
	}
	return keys
}
