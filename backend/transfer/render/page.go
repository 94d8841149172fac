package render

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html"
	"io"
	"strings"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
)

// style is the page's style sheet. Its colours are those of the window.
//
//go:embed style.css
var style string

// minContents is the number of turns from which a page has a table of contents.
const minContents = 6

// HTML writes the document as one self-contained page, light or dark like the reader's system. The page has no script
// and loads nothing, which its policy also enforces. The user's text is shown unchanged, answers are rendered from
// Markdown. The table of contents comes last, because it is known last, and is linked at the top.
func HTML(w io.Writer, d Document) error {
	p := &page{writer: newWriter(w)}
	p.head(d)
	for i, c := range d.Chapters {
		p.chapter = i
		if err := p.writeChapter(d, c); err != nil {
			return err
		}
	}
	p.put("</main>\n")
	p.contents(d)
	p.put("</body>\n</html>\n")
	return p.flush()
}

type page struct {
	*writer
	chapter int
	entries []entry
}

// entry is a line of the contents.
type entry struct {
	id, title string
	chapter   bool
}

// policy allows only the page's own style and pictures.
func policy() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; img-src data:; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'"
}

// opening writes a page up to its first visible part.
func (p *page) opening(title string) {
	p.put("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
		`<meta http-equiv="Content-Security-Policy" content="`, policy(), "\">\n",
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
		"<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"color-scheme\" content=\"light dark\">\n",
		"<meta name=\"generator\" content=\"ContextInfinity\">\n<title>", html.EscapeString(title), "</title>\n<style>", style, "</style>\n</head>\n<body>\n")
	p.put("<a class=\"skip\" href=\"#conversation\">Skip to the conversation</a>\n")
}

func (p *page) head(d Document) {
	p.opening(d.title())
	p.put("<header>\n<h1 dir=\"auto\">", html.EscapeString(d.title()), "</h1>\n<dl>\n")
	p.fact("Session", string(d.Session.ID))
	if !d.All {
		p.fact("Branch", branchName(d.Branch))
	}
	if d.Session.Model != "" {
		p.fact("Model", display.OneLine(d.Session.Model))
	}
	if d.Session.Source != "" && d.Session.Source != chat.SourceNative {
		p.fact("Imported from", display.OneLine(d.Session.Source))
	}
	p.put("<dt>Created</dt><dd>", moment(d.Session.CreatedAt), "</dd>\n<dt>Updated</dt><dd>", moment(d.Session.UpdatedAt), "</dd>\n</dl>\n")
	if hasContents(d) {
		p.put("<p class=\"jump\"><a href=\"#contents\">Contents</a></p>\n")
	}
	if d.Session.SystemPrompt != "" {
		p.folded("Instructions", func() { p.plainText(d.Session.SystemPrompt) })
	}
	if len(d.Pins) > 0 {
		p.put("<section class=\"pins\" aria-labelledby=\"pins\"><h2 id=\"pins\">Pinned facts</h2><ul>\n")
		for _, pin := range d.Pins {
			p.put("<li dir=\"auto\">", html.EscapeString(pin.Text), "</li>\n")
		}
		p.put("</ul></section>\n")
	}
	p.put("</header>\n<main id=\"conversation\" tabindex=\"-1\">\n")
}

// hasContents reports whether a document has a table of contents.
func hasContents(d Document) bool {
	turns := 0
	for _, c := range d.Chapters {
		turns += c.Turns
	}
	return turns >= minContents || d.All && len(d.Chapters) > 1
}

func (p *page) fact(name, value string) {
	p.put("<dt>", name, "</dt><dd dir=\"auto\">", html.EscapeString(value), "</dd>\n")
}

func moment(t time.Time) string {
	return `<time datetime="` + chat.FormatTime(t) + `">` + formatTime(t) + "</time>"
}

func (p *page) writeChapter(d Document, c Chapter) error {
	if d.All {
		id := "chapter-" + decimal(int64(p.chapter+1))
		title := d.chapterTitle(c)
		p.entries = append(p.entries, entry{id, title, true})
		p.put("<section aria-labelledby=\"", id, "\">\n<h2 id=\"", id, "\" dir=\"auto\">", html.EscapeString(title), "</h2>\n")
		if fork := d.fork(c); fork != "" {
			p.note(fork)
		}
		if c.Turns == 0 {
			p.note("No turns of its own.")
		}
	} else {
		p.put("<section aria-label=\"Messages\">\n<h2 class=\"unseen\">Messages</h2>\n")
	}
	err := d.turnsOf(c, p.writer, func(t Turn) error { p.turn(t); return nil })
	p.put("</section>\n")
	return err
}

func (p *page) turn(t Turn) {
	if Open(t.Turn) {
		return
	}
	id := "turn-" + decimal(int64(p.chapter+1)) + "-" + decimal(t.Seq)
	title := chat.TitleFrom(t.User.RenderedText())
	if title == "" {
		title = "Turn " + decimal(t.Seq)
	}
	answer, ok := t.answer()
	if t.hasUserMessage() || ok {
		p.entries = append(p.entries, entry{id: id, title: "#" + decimal(t.Seq) + " " + title})
	}
	answerID := id
	if t.hasUserMessage() {
		answerID += "-answer"
		p.message("ask", id, "#"+decimal(t.Seq), userName(t.User), t.CreatedAt, func() { p.userBlocks(t.User.Blocks) })
	}
	if ok {
		p.message("answer", answerID, "#"+decimal(t.Seq), t.modelName(), t.answeredAt(), func() { p.blocks(answer.Blocks) })
	}
	if r := t.remark(); r != "" {
		p.note(r)
	}
}

func (p *page) message(class, id, number, who string, at time.Time, body func()) {
	p.put(`<article class="`, class, `" aria-labelledby="`, id, "\">\n<h3 id=\"", id, `"><span class="number">`, number, `</span> <bdi>`,
		html.EscapeString(who), "</bdi> ", moment(at), "</h3>\n<div class=\"body\" dir=\"auto\">\n")
	body()
	p.put("</div>\n</article>\n")
}

func (p *page) note(s string) {
	p.put(`<p class="note" dir="auto">`, html.EscapeString(display.OneLine(s)), "</p>\n")
}

// plainText writes a text exactly as it was written.
func (p *page) plainText(s string) {
	if strings.TrimSpace(s) != "" {
		p.put(`<p class="plain" dir="auto">`, html.EscapeString(lineEnds.Replace(s)), "</p>\n")
	}
}

func (p *page) userBlocks(bs chat.Blocks) {
	for _, b := range bs {
		if text, ok := b.(chat.Text); ok {
			p.plainText(text.Text)
			continue
		}
		p.block(b)
	}
}

func (p *page) blocks(bs chat.Blocks) {
	for _, b := range bs {
		p.block(b)
	}
}

func (p *page) block(b chat.Block) {
	switch b := b.(type) {
	case chat.Text:
		answerHTML(p.writer, b.Text)
	case chat.Refusal:
		answerHTML(p.writer, b.Text)
	case chat.Reasoning:
		if b.Summary == "" {
			p.note("Reasoning that only its provider can read.")
			return
		}
		p.folded("Reasoning", func() { answerHTML(p.writer, b.Summary) })
	case chat.ToolUse:
		p.folded("Tool call: "+b.Name, func() { p.put(codeHTML("JSON", display.JSON(b.Input))) })
	case chat.ToolResult:
		p.folded(resultName(b), func() { p.result(b.Content) })
	case chat.Image:
		pic := pictureOf(b, pageImageBytes)
		if pic.data != "" {
			p.put(`<img src="`, html.EscapeString(pic.data), `" alt="`, html.EscapeString(pic.description), "\">\n")
			return
		}
		p.note(pic.description + ".")
	default:
		if text, ok := chat.InstructionsIn(b); ok {
			p.folded(importedInstructions, func() { p.plainText(text) })
			return
		}
		p.note(describeBlock(b))
	}
}

func (p *page) result(bs chat.Blocks) {
	for _, b := range bs {
		if text, ok := b.(chat.Text); ok {
			p.put(codeHTML("", text.Text))
			continue
		}
		p.block(b)
	}
}

func (p *page) folded(name string, inside func()) {
	p.put("<details><summary>", html.EscapeString(display.OneLine(name)), "</summary>\n")
	inside()
	p.put("</details>\n")
}

func (p *page) contents(d Document) {
	if !hasContents(d) {
		return
	}
	p.put("<nav id=\"contents\" aria-label=\"Contents\">\n<h2>Contents</h2>\n<ul>\n")
	for _, e := range p.entries {
		class := ""
		if e.chapter {
			class = ` class="chapter"`
		}
		p.put("<li", class, "><a href=\"#", e.id, "\"><bdi>", html.EscapeString(e.title), "</bdi></a></li>\n")
	}
	p.put("</ul>\n</nav>\n")
}
