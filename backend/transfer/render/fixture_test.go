package render_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/transfer/render"
)

var at = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// conversation returns a document with one branch of these turns.
func conversation(turns ...render.Turn) render.Document {
	b := chat.BranchSummary{Branch: chat.Branch{ID: "01HZZZZZZZZZZZZZZZZZZZBR01", Label: "main", CreatedAt: at}, Turns: len(turns), LastSeq: int64(len(turns))}
	return render.Document{
		Session: chat.Session{ID: "01HZZZZZZZZZZZZZZZZZZZSE01", Title: "Ships & <sails>", ActiveBranch: b.ID, Model: "test", Source: "native", CreatedAt: at, UpdatedAt: at.Add(time.Hour)},
		Branch:  b, Branches: []chat.BranchSummary{b},
		Chapters: []render.Chapter{{Branch: b, Turns: len(turns)}},
		Each: func(c render.Chapter, f func(render.Turn) error) error {
			for _, t := range turns {
				if t.Seq < c.From || c.To > 0 && t.Seq > c.To || c.From > 0 && t.BranchID != c.Branch.ID {
					continue
				}
				if err := f(t); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func exchange(seq int64, ask, answer string) render.Turn {
	message := chat.AssistantText(answer)
	return render.Turn{Turn: chat.Turn{
		ID: "01HZZZZZZZZZZZZZZZZZZZTU01", BranchID: "01HZZZZZZZZZZZZZZZZZZZBR01", Seq: seq, Phase: chat.PhaseDone, Outcome: chat.OutcomeCompleted,
		User: chat.UserText(ask), Assistant: &message, Model: "test", Provider: "recall", CreatedAt: at, UpdatedAt: at,
	}}
}

func renderText(t *testing.T, write func(io.Writer, render.Document) error, d render.Document) string {
	t.Helper()
	var out bytes.Buffer
	if err := write(&out, d); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// everything is a turn with each kind of block.
func everything() render.Turn {
	image := chat.Image{MediaType: "image/png", Source: json.RawMessage(`{"data":"` + onePixel + `"}`)}
	t := exchange(1, "", "")
	t.User = chat.Message{Role: chat.RoleUser, Name: "Ada", Blocks: chat.Blocks{
		chat.Document{Name: "sails_1.pdf", MediaType: "application/pdf", Tokens: 1200, Text: "canvas"},
		image,
		chat.Image{MediaType: "image/png", Source: json.RawMessage(`{"url":"https://example.com/x.png"}`)},
		chat.Memory{Chunk: "01HZZZZZZZZZZZZZZZZZZZCH01"},
		chat.Text{Text: "# What is\n\na <b>sail</b>?"},
	}}
	t.Assistant = &chat.Message{Role: chat.RoleAssistant, Blocks: chat.Blocks{
		chat.Reasoning{Summary: "A **sail** catches `wind`."},
		chat.Reasoning{EncryptedContent: "secret"},
		chat.ToolUse{ToolUseID: "c1", Name: "look_up", Input: json.RawMessage(`{"q":"sail"}`)},
		chat.ToolResult{ToolUseID: "c1", IsError: true, Content: chat.Blocks{chat.Text{Text: "```\n</details> none"}, image}},
		chat.Text{Text: "## A sail\n\n```go\nfunc sail() {}\n```\n\n| a | b |\n|--:|---|\n| 1 | 2 |\n\n- [x] done\n"},
		chat.Refusal{Text: "I would rather not."},
		chat.Unknown{Provider: "other", Raw: []byte(`{"x":1}`)},
		chat.Unknown{Provider: "chatgpt", Raw: []byte(`{"type":"imported_instructions","text":"Talk like <b>a</b> sailor.\n# Always"}`)},
	}}
	t.Outcome = chat.OutcomeTruncated
	end := at.Add(90 * time.Second)
	t.Steps = []chat.Step{{ID: "01HZZZZZZZZZZZZZZZZZZZST01", Attempt: 1, StartedAt: at, EndedAt: &end}}
	return t
}

// hostile are texts that try to run code, to load something, or to affect the text around them.
var hostile = map[string]string{
	"script": "<script>alert(1)</script>", "handler": "<img src=x onerror=alert(1)>", "handler on a kept tag": `<b onclick="alert(1)">x</b>`,
	"javascript": "[x](javascript:alert(1))", "javascript in disguise": "[x](&#106;avascript:alert(1))", "javascript, broken": "<a href=\"java\nscript:alert(1)\">x</a>",
	"autolinked javascript": "<javascript:alert(1)>", "data link": "[x](data:text/html;base64,PHNjcmlwdD4=)", "vbscript": "[x](vbscript:msgbox)", "file": "[x](file:///etc/passwd)",
	"frame": `<iframe src="https://example.com"></iframe>`, "object": `<object data="x"></object><embed src="x">`, "style": "<style>body{display:none}</style>",
	"svg": "<svg><script>alert(1)</script></svg>", "svg picture": "![x](data:image/svg+xml;base64,PHN2Zy8+)", "form": "<form action=https://example.com><input><button>Go</button></form>",
	"remote image": "![x](https://example.com/x.png)", "remote image in a link": "[![x](https://example.com/x.png)](https://example.com)", "protocol relative": "![x](//example.com/x.png)",
	"refresh": "<meta http-equiv=refresh content=\"0;url=https://example.com\">", "base": "<base href=https://example.com>", "fence name": "```\"><img/src/onerror=alert(1)>\nx\n```",
	"link title": `[x](https://example.com "\"><img src=x onerror=alert(1)>")`, "mutation": "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
	"comment": "<!-- swallowed", "CDATA": "<![CDATA[ x", "instruction": "<?php x", "textarea": "<textarea>", "plaintext": "<plaintext>", "title": "</title><script>alert(1)</script>",
	"open fence": "```js\nlet x", "open tilde fence": "~~~~\n# x", "long open fence": "```````\nx", "headings": "# a\n\nb\n=\n\n### c", "empty heading": "#", "underline": "x\n---", "two lines underlined": "x\ny\n===\nz",
	"details": "</details></summary><details open ontoggle=alert(1)>", "reference": "[a]: javascript:alert(1)\n\n[a]", "front matter": "---\ntitle: x\n---\n\n# x", "quote": "> # x\n> ```\n> y",
	"link that pings": "<a href=https://example.com ping=https://example.com target=_blank>x</a>", "deep": strings.Repeat("> ", 2000) + "# x", "lists": strings.Repeat("1. ", 2000) + "<b>",
	"table": "|" + strings.Repeat("a|", 900) + "\n|" + strings.Repeat("-|", 900) + "\n" + strings.Repeat("|\n", 5000), "large": strings.Repeat("# x <b>\n", 20_000), "brackets": strings.Repeat("[", 60_000),
	"table cell": "|a|\n|-|\n|<script>alert(1)</script>|", "code": "`<script>`", "control": "a\x00\x1b[31m\u202eb", "carriage returns": "a\r# b\r\n```\r", "list fence": "- ```\n  x", "html in list": "- <div>\n\n# x",
	"nested html": "<div>\n# x\n</div>\n\n    <b>", "image source": "![x](data:image/png;base64,AAAA\" onerror=\"alert(1))", "disguise": "[bank.example](https://evil.example/)",
}
