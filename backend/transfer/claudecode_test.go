package transfer

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"contextinfinity/backend/chat"
)

// codeLog writes a session as Claude Code does.
type codeLog struct {
	lines   []string
	parent  string // of the next line, as JSON
	n       int
	written []string // all texts, and the ids of calls
}

func newCodeLog() *codeLog { return &codeLog{parent: "null"} }

// put writes a line with the previous line as its parent, and returns its quoted uuid.
func (l *codeLog) put(kind, rest string) string {
	l.n++
	uuid := fmt.Sprintf("%q", fmt.Sprintf("id-%d", l.n))
	l.lines = append(l.lines, fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"type":%q,"uuid":%s,"sessionId":"s","timestamp":"2026-02-01T10:%02d:%02d.000Z",%s}`,
		l.parent, kind, uuid, l.n/60%60, l.n%60, rest))
	l.parent = uuid
	return uuid
}

func (l *codeLog) text(kind string) string {
	w := fmt.Sprintf("%s%d.", kind, l.n)
	l.written = append(l.written, w)
	return w
}

func (l *codeLog) prompt() string {
	return l.put("user", fmt.Sprintf(`"message":{"role":"user","content":%q}`, l.text("prompt")))
}

func (l *codeLog) answer() {
	l.put("assistant", fmt.Sprintf(`"message":{"id":"m%d","role":"assistant","content":[{"type":"text","text":%q}]}`, l.n, l.text("text")))
}

// apiError writes what Claude Code logs in the model's name if the provider fails.
func (l *codeLog) apiError() {
	l.put("assistant", `"isApiErrorMessage":true,"message":{"id":"e","model":"<synthetic>","role":"assistant","content":[{"type":"text","text":"API Error: 529"}]}`)
}

func (l *codeLog) progress(event string) {
	l.put("progress", fmt.Sprintf(`"data":{"type":"hook_progress","hookEvent":%q}`, event))
}

// calls writes n calls of one message, one line each, and their results, each with its own call as parent; with late,
// the results of later calls come first.
func (l *codeLog) calls(n int, hooks, late bool) {
	message, first := l.n, len(l.written)
	at := make([]string, n)
	for i := range n {
		id := l.text("call")
		at[i] = l.put("assistant", fmt.Sprintf(`"message":{"id":"m%d","role":"assistant","content":[{"type":"tool_use","id":%q,"name":"Read","input":{}}]}`, message, id))
	}
	for i := range n {
		if late {
			i = n - 1 - i
		}
		l.parent = at[i]
		if hooks {
			l.progress("PreToolUse")
		}
		l.put("user", fmt.Sprintf(`"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%q}]}`, l.written[first+i], l.text("result")))
		if hooks {
			l.put("attachment", `"attachment":{"type":"hook_success"}`)
		}
	}
}

func (l *codeLog) compact(logical string) {
	l.parent = "null"
	l.put("system", `"subtype":"compact_boundary","logicalParentUuid":`+logical)
	l.put("user", `"isCompactSummary":true,"message":{"role":"user","content":"This session is being continued."}`)
}

func (l *codeLog) String() string { return strings.Join(l.lines, "\n") }

// activeBranch returns the turns from the first to the current one.
func activeBranch(c Conversation) []Turn {
	at := map[string]Turn{}
	for _, turn := range c.Turns {
		at[turn.Key] = turn
	}
	var out []Turn
	for key := c.Current; key != ""; key = at[key].Parent {
		out = append([]Turn{at[key]}, out...)
	}
	return out
}

// branchContent counts what is on the active branch: texts, ids of calls, texts of results.
func branchContent(c Conversation) map[string]int {
	out := map[string]int{}
	for _, turn := range activeBranch(c) {
		blocks := append(chat.Blocks{}, turn.User.Blocks...)
		if turn.Assistant != nil {
			blocks = append(blocks, turn.Assistant.Blocks...)
		}
		for _, b := range blocks {
			switch b := b.(type) {
			case chat.Text:
				out[b.Text]++
			case chat.ToolUse:
				out[b.ToolUseID]++
			case chat.ToolResult:
				out[b.Content.RenderedText()]++
			}
		}
	}
	return out
}

// TestClaudeCodeWithoutEditsHasOneBranch: whatever hooks, progress lines, parallel calls, compactions and provider
// errors are in the log, and whichever parents are missing, a session without edits is one branch with every prompt,
// text, call and result, and each turn has an answer.
func TestClaudeCodeWithoutEditsHasOneBranch(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := newCodeLog()
		draw := func(label string) bool { return rapid.Bool().Draw(rt, label) }
		for range rapid.IntRange(0, 2).Draw(rt, "starts") {
			l.parent = "null"
			l.progress("SessionStart")
		}
		for range rapid.IntRange(1, 5).Draw(rt, "prompts") {
			switch rapid.IntRange(0, 9).Draw(rt, "before") {
			case 0:
				l.compact(l.parent)
			case 1:
				l.compact(`"never-written"`)
			case 2:
				l.parent = fmt.Sprintf(`"lost-%d"`, l.n)
			case 3:
				if len(l.written) > 0 { // the session was resumed, and its hooks ran again
					l.parent = "null"
					l.progress("SessionStart")
				}
			}
			l.prompt()
			for range rapid.IntRange(0, 3).Draw(rt, "steps") {
				l.calls(rapid.IntRange(1, 4).Draw(rt, "calls"), draw("hooks"), draw("late"))
				if draw("lost") {
					l.parent = fmt.Sprintf(`"lost-%d"`, l.n)
				}
				if draw("queued") {
					l.put("attachment", fmt.Sprintf(`"attachment":{"type":"queued_command","commandMode":"prompt","prompt":%q}`, l.text("queued")))
				}
				if draw("answer") {
					l.answer()
				}
			}
			if draw("error before the answer") {
				l.apiError()
			}
			l.answer()
			if draw("error after the answer") {
				l.apiError()
			}
			if draw("summary") {
				l.put("system", `"subtype":"stop_hook_summary"`)
				l.put("system", `"subtype":"turn_duration"`)
			}
		}
		c := readOne(t, "session.jsonl", l.String())
		checkValid(t, c)
		if len(activeBranch(c)) != len(c.Turns) {
			rt.Fatalf("%d turns, %d of them on the active branch\n%s", len(c.Turns), len(activeBranch(c)), l)
		}
		for _, turn := range c.Turns {
			if turn.Failed {
				rt.Fatalf("a turn with an answer failed: %s\n%s", turn.Failure, l)
			}
		}
		content := branchContent(c)
		if content["API Error: 529"] > 0 {
			rt.Fatalf("an error is treated as the model's text\n%s", l)
		}
		for _, text := range l.written {
			if content[text] != 1 {
				rt.Fatalf("%q occurs %d times on the active branch\n%s", text, content[text], l)
			}
		}
	})
}

// TestClaudeCodeEditsAreBranches: two prompts with the same parent are two branches, even with other lines in
// between, and the later one is active.
func TestClaudeCodeEditsAreBranches(t *testing.T) {
	for name, write := range map[string]func(l *codeLog){
		"the first prompt": func(l *codeLog) {
			l.prompt()
			l.answer()
			l.parent = "null"
			l.prompt()
			l.answer()
		},
		"a later prompt": func(l *codeLog) {
			l.prompt()
			l.calls(2, true, false)
			l.answer()
			end := l.parent
			l.progress("Stop")
			l.prompt()
			l.answer()
			l.parent = end
			l.prompt()
			l.answer()
		},
		"a parent that was never written": func(l *codeLog) {
			l.prompt()
			l.answer()
			l.parent = `"lost"`
			l.prompt()
			l.answer()
			l.parent = `"lost"`
			l.prompt()
			l.answer()
		},
		"after a compaction": func(l *codeLog) {
			l.prompt()
			l.answer()
			l.compact(`"lost"`)
			end := l.parent
			l.prompt()
			l.answer()
			l.parent = end
			l.prompt()
			l.answer()
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newCodeLog()
			write(l)
			c := readOne(t, "session.jsonl", l.String())
			branch, content := activeBranch(c), branchContent(c)
			if len(c.Turns) != len(branch)+1 {
				t.Errorf("%d turns, %d of them on the active branch\n%s", len(c.Turns), len(branch), l)
			}
			if last := l.written[len(l.written)-1]; content[last] != 1 {
				t.Errorf("%q is not on the active branch", last)
			}
		})
	}
}

// TestClaudeCodeProgramTextIsNotAnEdit: commands and interruptions are not edits of a prompt with the same parent.
func TestClaudeCodeProgramTextIsNotAnEdit(t *testing.T) {
	for _, text := range []string{"<command-name>/model</command-name>", "<local-command-stdout>set</local-command-stdout>", "[Request interrupted by user]"} {
		l := newCodeLog()
		l.prompt()
		l.answer()
		end := l.parent
		l.put("user", fmt.Sprintf(`"message":{"role":"user","content":%q}`, text))
		l.parent = end
		l.prompt()
		l.answer()
		if c := readOne(t, "session.jsonl", l.String()); len(activeBranch(c)) != 2 || len(c.Turns) != 2 {
			t.Errorf("%s: %d turns, %d on the active branch", text, len(c.Turns), len(activeBranch(c)))
		}
	}
}

// TestClaudeCodeAgents: an agent's conversation is one branch too, even if its calls ran in parallel, and belongs to the
// session.
func TestClaudeCodeAgents(t *testing.T) {
	l := newCodeLog()
	l.prompt()
	l.calls(3, true, true)
	l.answer()
	text := strings.ReplaceAll(l.String(), `"isSidechain":false`, `"isSidechain":true,"agentId":"77"`)
	c := readOne(t, "agent-77.jsonl", text)
	if content := branchContent(c); len(c.Turns) != 1 || len(content) != len(l.written) || c.Parent != "s" || c.ID != "s/agent-77" {
		t.Errorf("%d turns of %q below %q, with %v", len(c.Turns), c.ID, c.Parent, content)
	}
}

// TestAnyClaudeCodeLog: with any parents, including cycles, later lines, the line itself and missing ones, every
// prompt, text and call is in some turn.
func TestAnyClaudeCodeLog(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := newCodeLog()
		for range rapid.IntRange(1, 20).Draw(rt, "lines") {
			if p := rapid.IntRange(-1, 24).Draw(rt, "parent"); p >= 0 {
				l.parent = fmt.Sprintf(`"id-%d"`, p)
			}
			switch rapid.IntRange(0, 4).Draw(rt, "kind") {
			case 0:
				l.prompt()
			case 1:
				l.calls(2, false, false)
			case 2:
				l.progress("Stop")
			case 3:
				l.compact(l.parent)
			default:
				l.answer()
			}
		}
		l.prompt()
		c := readOne(t, "session.jsonl", l.String())
		checkValid(t, c)
		raw, err := chat.MarshalJSON(c)
		if err != nil {
			rt.Fatal(err)
		}
		for _, text := range l.written {
			if !strings.Contains(string(raw), text) {
				rt.Fatalf("%q does not occur in %s", text, raw)
			}
		}
	})
}
