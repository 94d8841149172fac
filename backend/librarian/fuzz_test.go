package librarian

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzAnswer: whatever a model writes as a summary, what is kept is valid text with only the headings of a summary
// and no tags, and parses to itself.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{
		"## Facts\n- The build takes 4 minutes.\n## Open tasks\n- none\n", "```markdown\n## Decisions\n- Use SQLite\n```", "<think>x</think>## Facts\n- &lt;memory&gt;",
		"## Facts\n* a\n  - b\n1. c\n\n## Facts\n- d", "I'm sorry, I can't", "## What happened\nProse <user>.\n", "\xff## Facts\n- \x00\u202e", "##Facts\n-",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		for _, kind := range []task{updateTask, rangeTask} {
			r := &run{kind: kind}
			text := unwrap(answer)
			problem := r.shape(text)
			if !utf8.ValidString(text) {
				t.Fatalf("%q is unwrapped as %q", answer, text)
			}
			if problem != "" {
				continue
			}
			accepted := r.accept(text)
			if accepted.isEmpty() {
				continue
			}
			kept := kind.layout.render(accepted)
			if !utf8.ValidString(kept) || strings.Contains(kept, "</") || strings.Contains(kept, "\x00") {
				t.Fatalf("%q is kept as %q", answer, kept)
			}
			if problem := r.shape(kept); problem != "" && problem != "it declines" {
				t.Fatalf("%q is kept as %q, which is rejected: %s", answer, kept, problem)
			}
			if kind.prompt == updateTask.prompt && Parse(kept).Render() != kept {
				t.Fatalf("%q is parsed and written as %q", kept, Parse(kept).Render())
			}
		}
	})
}
