package render_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/transfer/render"
)

// golden compares with a file; UPDATE_GOLDEN=1 writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; UPDATE_GOLDEN=1 rewrites it.\n%s", path, got)
	}
}

func TestMarkdownOfEverything(t *testing.T) {
	d := conversation(everything(), exchange(2, "And a *mast*?", "It holds\nthe sail."))
	d.Session.SystemPrompt = "Be brief.\n```"
	d.Pins = []chat.Pin{{Text: "- The ship is *blue*.\n===\nAlways."}}
	golden(t, "everything.md", renderText(t, render.Markdown, d))
}

// outline returns the top-level headings of level 1 to 3 of a document.
func outline(src string) []string {
	_, body, _ := strings.Cut(strings.TrimPrefix(src, "---\n"), "\n---\n")
	doc := goldmark.DefaultParser().Parse(text.NewReader([]byte(body)))
	var out []string
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level <= 3 {
			out = append(out, strings.Repeat("#", h.Level)+" "+string(h.Lines().Value([]byte(body))))
		}
	}
	return out
}

// leaks returns HTML in a document that the program did not write.
func leaks(src string) []string {
	_, body, _ := strings.Cut(strings.TrimPrefix(src, "---\n"), "\n---\n")
	b := []byte(body)
	var out []string
	_ = ast.Walk(goldmark.DefaultParser().Parse(text.NewReader(b)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		found := ""
		switch n := n.(type) {
		case *ast.HTMLBlock:
			found = string(n.Lines().Value(b))
		case *ast.RawHTML:
			found = string(n.Segments.Value(b))
		}
		if found != "" && found != "</details>\n" && !strings.HasPrefix(found, "<details>\n<summary>Reasoning</summary>\n") {
			out = append(out, found)
		}
		return ast.WalkContinue, nil
	})
	return out
}

func keepsItsStructure(t interface {
	Errorf(string, ...any)
	Helper()
}, message string,
) {
	t.Helper()
	turn := exchange(1, message, message)
	turn.Assistant.Blocks = append(chat.Blocks{chat.Reasoning{Summary: message}}, turn.Assistant.Blocks...)
	d := conversation(turn, exchange(2, "b", "c"))
	var out strings.Builder
	if err := render.Markdown(&out, d); err != nil {
		t.Errorf("%v", err)
	}
	want := []string{
		"# Ships \\& \\<sails\\>", "### #1 You, 2026-03-04 05:06 UTC", "### #1 test, 2026-03-04 05:06 UTC",
		"### #2 You, 2026-03-04 05:06 UTC", "### #2 test, 2026-03-04 05:06 UTC",
	}
	if strings.TrimSpace(message) == "" {
		return
	}
	if got := outline(out.String()); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the outline of %.80q is %q\n%.2000s", message, got, out.String())
	}
	if got := leaks(out.String()); len(got) > 0 {
		t.Errorf("%.80q leaks %.200q", message, got)
	}
}

func TestMarkdownOfAMessageStaysInItsPlace(t *testing.T) {
	for name, message := range hostile {
		t.Run(name, func(t *testing.T) { keepsItsStructure(t, message) })
	}
}

func TestMarkdownOfAnyTextStaysInItsPlace(t *testing.T) {
	bit := rapid.SampledFrom([]string{"# ", "## x", "```", "~~~", "````", "<div>", "<!--", "-->", "</details>", "<b", ">", "\n", "\n\n", "    ", "- ", "1. ", "> ", "===", "---", "a", " ", "\t", "`", "\\", "|", "[x]: y", "<?", "&lt;", "<script>", "\r", "*"})
	rapid.Check(t, func(t *rapid.T) {
		keepsItsStructure(t, strings.Join(rapid.SliceOfN(bit, 1, 24).Draw(t, "bits"), ""))
	})
}

func FuzzMarkdownStaysInItsPlace(f *testing.F) {
	for _, message := range hostile {
		if len(message) < 1000 {
			f.Add(message)
		}
	}
	f.Fuzz(func(t *testing.T, message string) {
		if len(message) > 10_000 {
			t.Skip("longer texts are tested with the table")
		}
		keepsItsStructure(t, strings.ToValidUTF8(message, "?"))
	})
}

func TestMarkdownIsNotChangedNeedlessly(t *testing.T) {
	for _, message := range []string{"plain *words*", "- a\n  - b\n\n1. c", "a `code` b", "    code", "> quote", "| a |\n|---|\n| b |", "x_y a\\b"} {
		if out := renderText(t, render.Markdown, conversation(exchange(1, "q", message))); !strings.Contains(out, "\n\n"+message+"\n\n") {
			t.Errorf("%q is not in\n%s", message, out)
		}
	}
}

func TestMarkdownHeadingsMoveTogether(t *testing.T) {
	for message, want := range map[string]string{
		"# a\n\ntext\n\n## b": "#### a\n\ntext\n\n##### b", "### a": "#### a", "a\nb\n===\nc": "#### a b\nc", "##### a": "##### a",
		"```\n# code\n```\n\n## a": "```\n# code\n```\n\n#### a", "```sh\nls": "```sh\nls\n```", "a <b>c</b>": `a \<b>c\</b>`,
	} {
		if out := renderText(t, render.Markdown, conversation(exchange(1, "q", message))); !strings.Contains(out, "\n\n"+want+"\n\n") {
			t.Errorf("%q does not become %q in\n%s", message, want, out)
		}
	}
}

func TestRenderingUnfinishedTurns(t *testing.T) {
	open := exchange(2, "unsent", "")
	open.Assistant, open.Phase, open.Outcome = nil, chat.PhaseAccepted, chat.OutcomeNone
	cut := exchange(3, "cut off", "")
	part := chat.AssistantText("the beginning")
	cut.Assistant, cut.Partial, cut.Phase, cut.Outcome = nil, &part, chat.PhaseResponding, chat.OutcomeIncomplete
	failed := exchange(4, "failed", "")
	failed.Assistant, failed.Phase, failed.Outcome, failed.Failure = nil, chat.PhaseFailed, chat.OutcomeFailed, &chat.Failure{Message: "No *key*."}
	d := conversation(exchange(1, "a", "b"), open, cut, failed)
	out := renderText(t, render.Markdown, d)
	for _, want := range []string{"cut off", "the beginning\n\n*Incomplete: the answer was cut off here.*", "failed\n\n*This turn failed: No \\*key\\*.*"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if strings.Contains(out, "unsent") {
		t.Errorf("an unsent message is in\n%s", out)
	}
	if page := renderText(t, render.HTML, d); strings.Contains(page, "unsent") || !strings.Contains(page, "This turn failed: No *key*.") {
		t.Errorf("the page differs:\n%s", page)
	}
	if !render.Open(open.Turn) || render.Open(cut.Turn) || render.Open(failed.Turn) {
		t.Error("Open must be true only for turns without an answer")
	}
}

// branched returns a document with all branches: the first one, and one that forks after turn 1.
func branched() render.Document {
	other := exchange(2, "other", "way")
	other.BranchID = "01HZZZZZZZZZZZZZZZZZZZBR02"
	d := conversation(exchange(1, "a", "b"), exchange(2, "c", "d"), other)
	first := d.Branch
	first.Turns = 2
	archivedAt := at
	fork := chat.BranchSummary{Branch: chat.Branch{ID: other.BranchID, Label: "*fork*", ParentBranch: first.ID, ForkTurn: "x", ArchivedAt: &archivedAt}, ForkSeq: 1, Turns: 2}
	empty := chat.BranchSummary{Branch: chat.Branch{ID: "01HZZZZZZZZZZZZZZZZZZZBR03", ParentBranch: first.ID}, ForkSeq: 0}
	d.All, d.Branches = true, []chat.BranchSummary{first, fork, empty}
	d.Chapters = []render.Chapter{{Branch: first, From: 1, Turns: 2}, {Branch: fork, From: 2, Turns: 1}, {Branch: empty, From: 1}}
	return d
}

func TestBranchesAreChaptersThatBeginAtTheirFork(t *testing.T) {
	golden(t, "branches.md", renderText(t, render.Markdown, branched()))
}
