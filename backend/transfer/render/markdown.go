package render

import (
	"html"
	"io"
	"strings"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
)

// Markdown writes the document as Markdown (CommonMark with front matter). Headings of level 1 to 3 belong to the
// document: its title, its chapters, its messages; those inside messages begin at level 4. Reasoning and tool calls
// are collapsed.
func Markdown(w io.Writer, d Document) error {
	m := &markdown{writer: newWriter(w)}
	m.head(d)
	for _, c := range d.Chapters {
		if d.All {
			m.put("## ", escaped(d.chapterTitle(c)), "\n\n")
			if fork := d.fork(c); fork != "" {
				m.note(fork)
			}
			if c.Turns == 0 {
				m.note("No turns of its own.")
			}
		}
		if err := d.turnsOf(c, m.writer, func(t Turn) error { m.turn(t); return nil }); err != nil {
			return err
		}
	}
	return m.flush()
}

type markdown struct{ *writer }

func (m *markdown) head(d Document) {
	m.put("---\n")
	m.field("title", d.title())
	m.field("session", string(d.Session.ID))
	switch {
	case d.All:
		m.put("branches: ", decimal(int64(len(d.Chapters))), "\n")
	default:
		m.field("branch", branchName(d.Branch))
	}
	if d.Session.Model != "" {
		m.field("model", display.OneLine(d.Session.Model))
	}
	if d.Session.Source != "" && d.Session.Source != chat.SourceNative {
		m.field("source", display.OneLine(d.Session.Source))
	}
	m.put("created: ", chat.FormatTime(d.Session.CreatedAt), "\nupdated: ", chat.FormatTime(d.Session.UpdatedAt), "\n")
	m.put("program: ContextInfinity\n---\n\n# ", escaped(d.title()), "\n\n")
	if d.Session.SystemPrompt != "" {
		m.folded("Instructions", func() { m.fence("", d.Session.SystemPrompt) })
	}
	if len(d.Pins) == 0 {
		return
	}
	m.put("**Pinned facts**\n\n")
	for _, p := range d.Pins {
		m.put("- ", strings.Join(escapedLines(p.Text), "\\\n  "), "\n")
	}
	m.put("\n")
}

// field writes a line of the front matter: a JSON string is also a YAML string.
func (m *markdown) field(name, value string) {
	quoted, _ := chat.MarshalJSON(value) // a string always encodes
	m.put(name, ": ", string(quoted), "\n")
}

func (m *markdown) turn(t Turn) {
	if Open(t.Turn) {
		return
	}
	if t.hasUserMessage() {
		m.heading(t, userName(t.User), t.CreatedAt)
		m.blocks(t.User.Blocks)
	}
	answer, ok := t.answer()
	if ok {
		m.heading(t, t.modelName(), t.answeredAt())
		m.blocks(answer.Blocks)
	}
	if r := t.remark(); r != "" {
		m.note(r)
	}
}

func (m *markdown) heading(t Turn, who string, at time.Time) {
	m.put("### #", decimal(t.Seq), " ", escaped(who), ", ", formatTime(at), "\n\n")
}

// note writes a remark in italics; it may quote untrusted content.
func (m *markdown) note(s string) { m.put("*", escaped(display.OneLine(s)), "*\n\n") }

func (m *markdown) blocks(bs chat.Blocks) {
	for _, b := range bs {
		m.block(b)
	}
}

func (m *markdown) block(b chat.Block) {
	switch b := b.(type) {
	case chat.Text:
		m.text(b.Text)
	case chat.Refusal:
		m.text(b.Text)
	case chat.Reasoning:
		if b.Summary == "" {
			m.note("Reasoning that only its provider can read.")
			return
		}
		m.folded("Reasoning", func() { m.text(b.Summary) })
	case chat.ToolUse:
		m.folded("Tool call: "+b.Name, func() { m.fence("json", display.JSON(b.Input)) })
	case chat.ToolResult:
		m.folded(resultName(b), func() { m.result(b.Content) })
	case chat.Image:
		p := pictureOf(b, markdownImageBytes)
		if p.data != "" {
			m.put("![", escaped(p.description), "](", p.data, ")\n\n")
			return
		}
		m.note(p.description + ".")
	default:
		if text, ok := chat.InstructionsIn(b); ok {
			m.folded(importedInstructions, func() { m.fence("", text) })
			return
		}
		m.note(describeBlock(b))
	}
}

// result writes a tool's output, unchanged: it is not Markdown.
func (m *markdown) result(bs chat.Blocks) {
	for _, b := range bs {
		switch b := b.(type) {
		case chat.Text:
			m.fence("", b.Text)
		default:
			m.block(b)
		}
	}
}

func (m *markdown) text(s string) {
	if strings.TrimSpace(s) != "" {
		m.put(strings.TrimRight(isolate(s), "\n"), "\n\n")
	}
}

// folded writes a collapsed part. Its summary line is HTML, in which Markdown has no effect.
func (m *markdown) folded(name string, inside func()) {
	m.put("<details>\n<summary>", html.EscapeString(display.OneLine(name)), "</summary>\n\n")
	inside()
	m.put("</details>\n\n")
}

// fence writes text byte for byte: the fence is longer than any inside it.
func (m *markdown) fence(language, s string) { m.put(fenced(language, s), "\n\n") }

func fenced(language, s string) string {
	mark := strings.Repeat("`", max(3, longestRun(s, '`')+1))
	return mark + language + "\n" + strings.TrimSuffix(s, "\n") + "\n" + mark
}

func longestRun(s string, c byte) int {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] != c {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// importedInstructions is the label of a system text from an import.
const importedInstructions = "Instructions that came with the import"

// describeBlock describes a block that is not written out.
func describeBlock(b chat.Block) string {
	switch b := b.(type) {
	case chat.Document:
		part := "a part of it was sent"
		if b.Complete {
			part = "sent in full"
		}
		return "Document: " + display.OneLine(b.Name) + " (" + count(b.Tokens, "token") + ", " + part + ")."
	case chat.Memory:
		return "Memory attached manually: " + string(b.Chunk) + "."
	case chat.Unknown:
		return "Content of an unknown type, from " + display.OneLine(b.Provider) + ", " + amount(len(b.Raw)) + "."
	}
	return "Content of an unknown type."
}

func resultName(b chat.ToolResult) string {
	switch {
	case b.OutcomeUnknown():
		return "Tool result: outcome unknown"
	case b.IsError:
		return "Tool result: an error"
	}
	return "Tool result"
}
