package transfer

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// markdownOf converts the HTML of an answer to Markdown: paragraphs, headings, lists, emphasis, code, quotes, tables
// and links. Scripts, styles and pictures are dropped; nothing is fetched. The result is incomplete if anything else
// was dropped: a title, or the text after an unclosed element or after a token of more than limit bytes.
func markdownOf(text string, limit int) (markdown string, complete bool) {
	w := &markdownWriter{}
	z := html.NewTokenizer(strings.NewReader(text))
	z.SetMaxBuf(limit)
	complete = true
	for {
		switch z.Next() {
		case html.ErrorToken:
			complete = complete && w.hidden == "" && errors.Is(z.Err(), io.EOF) && len(z.Raw()) == 0
			return strings.TrimSpace(w.out.String()), complete
		case html.CommentToken:
			complete = complete && bytes.HasSuffix(z.Raw(), []byte(">"))
		case html.TextToken:
			complete = complete && w.hidden != "title"
			w.text(z.Token().Data)
		case html.SelfClosingTagToken:
			z.NextIsNotRawText()
			w.open(z)
			w.hidden = ""
		case html.StartTagToken:
			w.open(z)
		case html.EndTagToken:
			name, _ := z.TagName()
			w.close(string(name))
		}
	}
}

// maxListDepth limits the indentation of lists.
const maxListDepth = 12

type markdownWriter struct {
	out     strings.Builder
	ends    int    // line breaks at the end of out
	hidden  string // the current script or style, whose content is dropped
	pre     bool   // inside preformatted text
	lists   []int  // number of each list's next entry; 0: not numbered
	link    string // address of the current link
	heading bool   // the current row is a table header
	cells   int    // of the current row
}

// write adds text, and counts the line breaks at its end.
func (w *markdownWriter) write(text string) {
	w.out.WriteString(text)
	if rest := strings.TrimRight(text, "\n"); rest == "" {
		w.ends += len(text)
	} else {
		w.ends = len(text) - len(rest)
	}
}

func (w *markdownWriter) breaks(n int) {
	if w.out.Len() > 0 && w.ends < n {
		w.write(strings.Repeat("\n", n-w.ends))
	}
}

func (w *markdownWriter) text(text string) {
	if w.hidden != "" {
		return
	}
	if w.pre {
		w.write(text)
		return
	}
	words := strings.Join(strings.Fields(text), " ")
	if words == "" {
		if w.ends == 0 && w.out.Len() > 0 {
			w.write(" ")
		}
		return
	}
	if strings.TrimLeft(text, " \t\r\n") != text && w.ends == 0 && w.out.Len() > 0 {
		words = " " + words
	}
	if strings.TrimRight(text, " \t\r\n") != text {
		words += " "
	}
	w.write(words)
}

var inlineMarks = map[string]string{"strong": "**", "b": "**", "em": "*", "i": "*", "del": "~~", "s": "~~", "code": "`"}

func (w *markdownWriter) open(z *html.Tokenizer) {
	raw, more := z.TagName()
	name := string(raw)
	switch name {
	case "script", "style", "title":
		w.hidden = name
	case "br":
		w.write("\n")
	case "hr":
		w.breaks(2)
		w.write("---")
		w.breaks(2)
	case "p", "div", "blockquote", "table":
		if len(w.lists) == 0 {
			w.breaks(2)
		}
		if name == "blockquote" {
			w.write("> ")
		}
	case "h1", "h2", "h3", "h4", "h5", "h6":
		w.breaks(2)
		level, _ := strconv.Atoi(name[1:])
		w.write(strings.Repeat("#", level) + " ")
	case "pre":
		w.breaks(2)
		w.write("```\n")
		w.pre = true
	case "ul", "ol":
		w.breaks(min(2, 2-min(1, len(w.lists))))
		start := 0
		if name == "ol" {
			start = 1
		}
		w.lists = append(w.lists, start)
	case "li":
		w.entry()
	case "tr":
		w.breaks(1)
		w.cells, w.heading = 0, false
	case "td", "th":
		w.heading = w.heading || name == "th"
		w.cells++
		w.write("| ")
	case "a":
		w.link = ""
		for more {
			var key, value []byte
			key, value, more = z.TagAttr()
			if string(key) == "href" && (strings.HasPrefix(string(value), "http://") || strings.HasPrefix(string(value), "https://")) {
				w.link = string(value)
			}
		}
		if w.link != "" {
			w.write("[")
		}
	default:
		if mark := inlineMarks[name]; mark != "" && !w.pre {
			w.write(mark)
		}
	}
}

func (w *markdownWriter) entry() {
	w.breaks(1)
	mark := "- "
	if n := len(w.lists); n > 0 {
		w.write(strings.Repeat("   ", min(n, maxListDepth)-1))
		if w.lists[n-1] > 0 {
			mark = strconv.Itoa(w.lists[n-1]) + ". "
			w.lists[n-1]++
		}
	}
	w.write(mark)
}

func (w *markdownWriter) close(name string) {
	switch name {
	case "script", "style", "title":
		w.hidden = ""
	case "p", "div", "blockquote", "table", "h1", "h2", "h3", "h4", "h5", "h6":
		if len(w.lists) == 0 {
			w.breaks(2)
		}
	case "pre":
		w.breaks(1)
		w.write("```")
		w.pre = false
		w.breaks(2)
	case "ul", "ol":
		if n := len(w.lists); n > 0 {
			w.lists = w.lists[:n-1]
		}
		w.breaks(1)
	case "td", "th":
		w.write(" ")
	case "tr":
		w.write("|")
		if w.heading {
			w.write("\n" + strings.Repeat("|---", min(w.cells, 1000)) + "|")
		}
		w.breaks(1)
	case "a":
		if w.link != "" {
			w.write("](" + w.link + ")")
		}
		w.link = ""
	default:
		if mark := inlineMarks[name]; mark != "" && !w.pre {
			w.write(mark)
		}
	}
}
