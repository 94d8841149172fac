package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// replacedWords are phrases that the window and the command line no longer use. Each was unclear, or a second name
// for something that has one name everywhere.
var replacedWords = []string{
	// pending turns and states
	"part of the head", "A waiting turn is never left behind", "wait for the head", "Not pending, needs you", "Nothing waits", "Waits because", "Committed, ", "committed, head",
	"kept as it is", "Kept as it was", "Accepted, your message", "The answer is there", "Head summary", "head summary", "Summaries of their heads",
	// turns and the composer
	"Another answer", "sends it on a new branch", "What the model saw", "Drag it onto", "You need not begin", "What was said here", "this program does not know",
	"Close and stay here", "What becomes of it", "sends it as it stands", "before it. This one stays", "carries the command out", "what is to be done with",
	"out of the way and is found", ">Leave it<", "\"Leave it\"",
	// branches
	"A name is found if", "It goes on after", "made or sent by looking", "where the two part", "Change sides", "no turn of its own", "on the new branch “",
	// commands and search
	"Take back what", "nothing to take back", "To the message", "The find before", "The next find", "Previous find", "Next find", "The turn before",
	"Make the range summaries", "nothing of it is written", "Theme of the system", "Nothing holds", "No title holds", "more find", "Everything you ever said",
	"Search everything that was said", "Everything that was said", "only the beginning of one", "Clear the filter<",
	// memory, context and jobs
	"on every question", "local vectors complete", "comes about", "Made to fit", "nothing had to be shortened", "done lately", "Reconcile now", "set aside", "Set aside",
	"lost what must be kept", "what must be kept", "jobs gave up",
	// tasks, sessions and settings
	"Long work", "list of long work", "Show long work", "Put away", "under way", "All kept", "Changes it", "Choose none", "Take out of the archive", "Bring back", "Back in sight", "comes into being",
	"Soundness", "held against its hash", "goes on working", "Together<", "that hang on", "start anew", "starts anew", "begin it anew", "nswered anew", "ends in order",
	"what nobody knows", "No effect on the token budget", "was not found; check", "Nothing to do",
	// deleting permanently
	"for good", "Erase this", "Erase a", "erased for good", "is erased", "was erased for", "Erased on",
	// words in an order or with a meaning that nobody uses
	"mend ", " anew", "not there any more", " stands here", "no longer stands", "nobody signs in", "nobody who ", "nobody can be asked", "how it went",
	"hold no conversations", "is as it was", "that is no number", "leaves at once", "goes by itself", "started again by itself", "of them at most",
	"Take back", "of stretches", "What is left of", "must not hold", "a text in quotes", "a list of texts", "gives it up", "is not an effort", "it says or may",
	"who speaks", "pieces of memory",
	// one word for what the list of sessions contains, and for the computer, the program and the settings
	"New chat", "New conversation", "new conversation", "All chats", "ll conversations", "earlier chats", "Find in this conversation", "ettings of this conversation", "Keys and models", "Back to chat",
	"his machine", "this app", "The app ", "Give up…",
}

// replacedInProse are phrases that the docs, comments and names of test cases no longer use.
var replacedInProse = []string{
	" anew", "mend its", "as it stands", "as they stand", "where it stands", "stands as it was", "is told of ", "are told of ", "is told, and", "stands in [",
	"stands beside ", "stands there,", "stands around ", "for good", "be had", "nothing of it", "nothing of them", "held against",
	" hence ", " thereof", " wherefore", "of its own accord", "parted by", " in force ", " in force,", " in force.", "that is none.", "was set aside",
	"told so", "once more", "likewise", "knows no ", "know no ", "binds nobody", "bind nobody", "goes on",
}

// TestProseIsPlain reads the docs, the comments of the program, and the names of test cases.
func TestProseIsPlain(t *testing.T) {
	root := moduleRoot(t)
	lines := 0
	check := func(file, line string) {
		lines++
		for _, word := range replacedInProse {
			if strings.Contains(line, word) {
				t.Errorf("%s: %q is not plain: %s", file, word, strings.TrimSpace(line))
			}
		}
	}
	for _, dir := range []string{".", "docs", "backend", "scripts", "test", "frontend/src"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				if err == nil && (dir == "." && file != root || d.Name() == "testdata" || d.Name() == "node_modules") {
					return fs.SkipDir
				}
				return err
			}
			ext := filepath.Ext(file)
			if !strings.Contains(".go .md .ts .svelte", ext) || ext == "" || filepath.Base(file) == "words_test.go" {
				return nil
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			for line := range strings.Lines(string(text)) {
				if ext != ".md" {
					line = comment.FindString(line)
				}
				check(file, line)
			}
			if strings.HasSuffix(file, "_test.go") {
				for _, name := range caseNames(t, file) {
					check(file, name)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if lines < 100_000 {
		t.Errorf("only %d lines were read", lines)
	}
}

// caseNames returns the string keys of a test file's tables and the names that it passes to Run.
func caseNames(t *testing.T, file string) []string {
	var names []string
	add := func(e ast.Expr) {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			names = append(names, lit.Value)
		}
	}
	ast.Inspect(parsed(t, file), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			add(n.Key)
		case *ast.CallExpr:
			if fn, ok := n.Fun.(*ast.SelectorExpr); ok && fn.Sel.Name == "Run" && len(n.Args) == 2 {
				add(n.Args[0])
			}
		}
		return true
	})
	return names
}

// replacedNames are words that the names of types, functions, fields and variables no longer contain, with the name to
// use. Names are compared word by word: Desktop does not contain desk.
var replacedNames = map[string]string{
	"world": "env", "witness": "recorder", "mortal": "killable", "desk": "fixture, or what it is", "oracle": "checker", "specimen": "sample", "rig": "setup",
	"errand": "pending operation", "sieve": "filter", "summons": "window request", "heed": "handle", "tend": "maintain", "mend": "repair", "anew": "again",
	"told": "reported, or what it is", "tells": "reports", "telling": "what it is",
	"stands": "what is reported: isHeld, hasContent", "goes on": "continues", "go on": "continue",
}

// foreignNames are names of other modules.
var foreignNames = map[string]bool{"OpenWorldHint": true}

// TestNamesArePlain reads every identifier of the Go code.
func TestNamesArePlain(t *testing.T) {
	root := moduleRoot(t)
	names := 0
	for _, dir := range []string{"backend", "scripts", "test", "tools"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				if err == nil && (d.Name() == "testdata" || d.Name() == "node_modules") {
					return fs.SkipDir
				}
				return err
			}
			if filepath.Ext(file) != ".go" {
				return nil
			}
			ast.Inspect(parsed(t, file), func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				if !ok || foreignNames[id.Name] {
					return true
				}
				names++
				words := strings.ToLower(wordStart.ReplaceAllString(id.Name, " $0")) + " "
				for word, use := range replacedNames {
					if strings.Contains(" "+strings.TrimPrefix(words, " "), " "+word+" ") {
						t.Errorf("%s: %s is not plain; use %s", file, id.Name, use)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if names < 100_000 {
		t.Errorf("only %d names were read", names)
	}
}

// allowedWords are strings that contain a replaced phrase but are not shown to users.
var allowedWords = map[string]string{
	"put away delete remove": "search words of the command that archives a session",
}

var (
	pageComment = regexp.MustCompile(`(?s)/\*.*?\*/|<!--.*?-->`)
	lineComment = regexp.MustCompile(`(?m)^\s*//.*$|\s// .*$`)
	comment     = regexp.MustCompile(`(?m)^\s*(//|/?\*|<!--).*$|\s// .*$`)
	wordStart   = regexp.MustCompile(`[A-Z]`)
)

// TestReplacedWordsStayReplaced reads every string literal of the program and every line of the page that is not a
// comment.
func TestReplacedWordsStayReplaced(t *testing.T) {
	root := moduleRoot(t)
	texts := 0
	report := func(file, text string) {
		texts++
		for allowed := range allowedWords {
			text = strings.ReplaceAll(text, allowed, "")
		}
		for _, word := range replacedWords {
			if strings.Contains(text, word) {
				t.Errorf("%s: %q is a replaced phrase", file, word)
			}
		}
	}
	walk := func(dir string, read func(file string)) {
		err := filepath.WalkDir(filepath.Join(root, dir), func(file string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				read(file)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	walk("frontend/src", func(file string) {
		if ext := filepath.Ext(file); (ext == ".svelte" || ext == ".ts") && !strings.HasSuffix(file, ".test.ts") {
			for _, line := range strings.Split(pageText(t, file), "\n") {
				report(file, line)
			}
		}
	})
	sources, _ := filepath.Glob(filepath.Join(root, "*.go"))
	walk("backend", func(file string) {
		if strings.HasSuffix(file, ".go") && !strings.Contains(file, "/testdata/") {
			sources = append(sources, file)
		}
	})
	for _, file := range sources {
		if !strings.HasSuffix(file, "_test.go") {
			for _, text := range literals(t, file) {
				report(file, text)
			}
		}
	}
	if texts < 10_000 {
		t.Errorf("only %d texts were read", texts)
	}
}

func pageText(t *testing.T, file string) string {
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return lineComment.ReplaceAllString(pageComment.ReplaceAllString(string(raw), ""), "")
}

func parsed(t *testing.T, file string) *ast.File {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func literals(t *testing.T, file string) []string {
	var texts []string
	ast.Inspect(parsed(t, file), func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, text)
		}
		return true
	})
	return texts
}
