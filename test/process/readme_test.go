package process

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/cli"
	"contextinfinity/test/harness"
)

// fenced matches a fenced block. Blocks marked as text are not run, because their commands would open the window.
var fenced = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```")

// examplesOf returns the command lines in the fenced blocks of a document.
func examplesOf(t *testing.T, path string) []string {
	t.Helper()
	var out []string
	for _, block := range fenced.FindAllStringSubmatch(string(harness.ReadFile(t, path)), -1) {
		if block[1] == "text" {
			continue
		}
		for line := range strings.Lines(strings.ReplaceAll(block[2], "\\\n", " ")) {
			line = strings.TrimPrefix(strings.TrimSpace(line), "$ ")
			command := strings.TrimSpace(strings.SplitN(line, " #", 2)[0])
			// Without arguments the program opens the window, which other tests cover.
			if strings.Contains(command, program+" ") {
				out = append(out, command)
			}
		}
	}
	return out
}

const program = "contextinfinity"

// guide returns the pages of the user guide and the README.
func guide(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob(harness.InModule("docs/guide/*.md"))
	if err != nil || len(pages) < 5 {
		t.Fatalf("the user guide has %d pages: %v", len(pages), err)
	}
	return append(pages, harness.InModule("README.md"))
}

// Every example of the README and the user guide works as written, in the page's order, on a machine with one
// session.
func TestEveryExampleOfTheDocs(t *testing.T) {
	t.Parallel()
	seed := harness.NewHome(t, harness.Shipped(t), "")
	seed.OK("send", "--new", "--wait", "indexed", "We decided to move the database on Friday.")
	// A second turn, so that a branch can roll back to TURN.
	seed.OK("send", "--wait", "indexed", "We move it at 05:00.")
	seed.OK("pin", seed.LastSession(), "A first fact.")
	var all []string
	for _, page := range guide(t) {
		examples := examplesOf(t, page)
		if len(examples) == 0 {
			continue
		}
		all = append(all, examples...)
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			runExamples(t, copyOf(t, seed), examples)
		})
	}
	if len(all) < 40 {
		t.Errorf("the docs have %d examples of the command line", len(all))
	}
}

func runExamples(t *testing.T, h *harness.Home, examples []string) {
	t.Helper()
	writeExampleFiles(h)
	bin := t.TempDir()
	if err := os.Symlink(harness.Breakable(t), filepath.Join(bin, program)); err != nil { // for it, passphrases are cheap
		t.Fatal(err)
	}
	shell := h.Using("/bin/sh").With("PATH=" + bin + ":" + os.Getenv("PATH"))
	values := placeholderValues(h)
	for _, example := range examples {
		command := placeholder.ReplaceAllStringFunc(example, func(name string) string { return values[name] })
		// The example's stdin is empty, so a conversation ends at once.
		r := shell.RunIn("", "-c", command)
		if strings.Contains(command, "keys set") || strings.Contains(command, "keys remove") {
			// There is no keyring here, and the command must report that.
			if r.Code == 1 && r.Stderr != "" {
				continue
			}
		}
		if r.Code != 0 {
			t.Errorf("%s\nas %s\nended with %d: %s%s", example, command, r.Code, harness.Clip(r.Stdout), harness.Clip(r.Stderr))
		}
	}
	h.Clean()
}

var placeholder = regexp.MustCompile(`\b(SESSION|TURN|STATE|BRANCH|PIN|JOB|STEP|PATH|FILE|PROVIDER)\b`)

// placeholderValues returns the values for the placeholders in the examples.
func placeholderValues(h *harness.Home) map[string]string {
	h.T.Helper()
	session := h.LastSession()
	doc := h.Show(session)
	turn := doc.Turns[0]
	var pins struct {
		Pins []struct {
			ID string `json:"pin_id"`
		}
	}
	h.OK("pins", session, "--json").Document(&pins)
	return map[string]string{
		"SESSION": session, "TURN": turn.ID, "STATE": turn.StateAfter, "BRANCH": doc.Branches[0].ID, "PIN": pins.Pins[0].ID, "JOB": "1",
		"STEP": turn.Steps[0].ID, "PATH": filepath.Join(h.Dir, "copy.db"), "FILE": filepath.Join(h.Dir, "notes.txt"), "PROVIDER": "openai",
	}
}

// writeExampleFiles creates the files that the examples name.
func writeExampleFiles(h *harness.Home) {
	h.T.Helper()
	harness.WriteFile(h.T, filepath.Join(h.Dir, "notes.txt"), []byte("Some notes to send.\n"))
	harness.WriteFile(h.T, filepath.Join(h.Dir, "secret.txt"), []byte("correct horse battery staple\n"))
	for target, source := range map[string]string{
		"conversations.json":                          "chatgpt/branches.json",
		".claude/projects/work/session.jsonl":         "claude-code/branches.jsonl",
		".codex/sessions/2025/01/rollout-tools.jsonl": "codex/rollout-tools.jsonl",
	} {
		harness.WriteFile(h.T, filepath.Join(h.Dir, target), harness.ReadFile(h.T, harness.InModule("backend", "transfer", "testdata", source)))
	}
	// The guide's example of JSON lines is the file that it imports.
	page := string(harness.ReadFile(h.T, harness.InModule("docs/guide/import.md")))
	lines := regexp.MustCompile("(?s)```json\n(.*?)```").FindStringSubmatch(page)
	if lines == nil {
		h.T.Fatal("the guide shows no JSON lines")
	}
	harness.WriteFile(h.T, filepath.Join(h.Dir, "messages.jsonl"), []byte(lines[1]))
}

// The guide's table lists exactly the program's commands.
func TestTheGuideListsEveryCommand(t *testing.T) {
	t.Parallel()
	page := string(harness.ReadFile(t, harness.InModule("docs/guide/command-line.md")))
	var named []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z]+)` \\| ").FindAllStringSubmatch(page, -1) {
		named = append(named, row[1])
	}
	verbs := cli.Verbs()
	slices.Sort(named)
	slices.Sort(verbs)
	if !slices.Equal(named, verbs) {
		t.Errorf("the guide names %v\nthere are      %v", named, verbs)
	}
}

// Every link in the docs leads to an existing file, and to an existing heading in it.
func TestLinksInTheDocsAreValid(t *testing.T) {
	t.Parallel()
	for _, page := range append(guide(t), harness.InModule("CHANGELOG.md"), harness.InModule("docs/durability.md"), harness.InModule("docs/reports.md"), harness.InModule("docs/adr/README.md")) {
		for _, link := range regexp.MustCompile(`\]\(([^)#]*)#?([^)]*)\)`).FindAllStringSubmatch(string(harness.ReadFile(t, page)), -1) {
			if strings.Contains(link[1], "://") {
				continue
			}
			target := page
			if link[1] != "" {
				target = filepath.Join(filepath.Dir(page), link[1])
			}
			text, err := os.ReadFile(target)
			if err != nil && link[2] == "" { // a link may name a directory
				_, err = os.Stat(target)
			}
			if err != nil {
				t.Errorf("%s links to %s: %v", page, link[1], err)
			} else if link[2] != "" && !slices.Contains(anchors(string(text)), link[2]) {
				t.Errorf("%s links to %s#%s, which has no such heading", page, link[1], link[2])
			}
		}
	}
}

// anchors returns the link names of the headings of a page.
func anchors(page string) []string {
	var found []string
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(page, -1) {
		plain := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		found = append(found, strings.ReplaceAll(plain, " ", "-"))
	}
	return found
}

func TestTheComparisonHasFiftyRows(t *testing.T) {
	t.Parallel()
	rows := regexp.MustCompile(`(?m)^\| (\d+) \| [^|]+ \| (yes|partly|no) \| [^|]+ \|$`).FindAllStringSubmatch(string(harness.ReadFile(t, harness.InModule("docs/guide/compare.md"))), -1)
	if len(rows) != 50 || rows[49][1] != "50" {
		t.Errorf("%d rows", len(rows))
	}
}
