package render

import (
	"bytes"
	"cmp"
	"html"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"contextinfinity/backend/internal/display"
)

// drawn converts Markdown to HTML. The text's own HTML is dropped, links lead only to the web or to mail, and
// pictures are shown only if the text contains their data.
var drawn = goldmark.New(
	goldmark.WithExtensions(
		extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
		extension.Strikethrough, extension.Linkify, extension.TaskList,
		extension.NewFootnote(extension.WithFootnoteIDPrefixFunction(notePrefix)),
	),
	goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(placed{}, 1500))), // after the footnotes' own
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(markup{}, 10))),
)

// answerHTML writes an answer's Markdown as HTML.
func answerHTML(w *writer, s string) {
	if wholeJSON(s) {
		w.put(codeHTML("json", strings.TrimSpace(lineEnds.Replace(s))+"\n"))
		return
	}
	for _, piece := range pieces(lineEnds.Replace(s)) {
		if strings.TrimSpace(piece) == "" {
			continue
		}
		var out bytes.Buffer
		var formulas []string
		whole := plain(piece)
		if !whole {
			var marked string
			marked, formulas = withoutFormulas(piece)
			whole = drawn.Convert([]byte(marked), &out, parser.WithContext(w.notes())) != nil
		}
		if whole {
			w.put(`<p class="plain" dir="auto">`, html.EscapeString(strings.Trim(piece, "\n")), "</p>\n")
			continue
		}
		w.bytes(withFormulas(out.Bytes(), formulas))
	}
}

// noteKey is the key for what precedes the number of a footnote in its address, in the parser's context and in the
// document's meta data: each text counts its footnotes from one, and a page contains many texts.
const noteKey = "note"

var noteContext = parser.NewContextKey()

// notes is a parser context with which the footnotes of the next text have addresses of their own.
func (w *writer) notes() parser.Context {
	w.texts++
	c := parser.NewContext()
	c.Set(noteContext, "n"+strconv.Itoa(w.texts)+"-")
	return c
}

func notePrefix(n ast.Node) []byte {
	if d := n.OwnerDocument(); d != nil {
		if prefix, ok := d.Meta()[noteKey].(string); ok {
			return []byte(prefix)
		}
	}
	return nil
}

// placed fits a text into the page: its headings are below those of the page, its footnotes have addresses of their
// own, and each block has the direction of its text.
type placed struct{}

// Transform implements parser.ASTTransformer.
func (placed) Transform(doc *ast.Document, r text.Reader, c parser.Context) {
	doc.AddMeta(noteKey, c.Get(noteContext))
	shift := headingShift(doc)
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		markHarmless(n, r.Source())
		switch n := n.(type) {
		case *ast.Heading:
			n.Level = min(6, max(lowest, n.Level+shift))
			directed(n)
		case *ast.Paragraph, *ast.Blockquote, *ast.List, *ast.ListItem, *east.TableCell:
			directed(n)
		}
		return ast.WalkContinue, nil
	})
}

func directed(n ast.Node) { n.SetAttributeString("dir", []byte("auto")) }

// markup renders the nodes that could be active or load something.
type markup struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (m markup) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindHTMLBlock, m.htmlBlock)
	reg.Register(ast.KindRawHTML, m.rawHTML)
	reg.Register(ast.KindLink, m.link)
	reg.Register(ast.KindAutoLink, m.autoLink)
	reg.Register(ast.KindImage, m.image)
	reg.Register(ast.KindCodeBlock, m.code)
	reg.Register(ast.KindFencedCodeBlock, m.code)
	reg.Register(east.KindTaskCheckBox, m.task)
	reg.Register(east.KindTable, m.table)
}

func (markup) htmlBlock(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	b := n.(*ast.HTMLBlock)
	if entering {
		_, _ = w.WriteString(`<p class="plain" dir="auto">`)
		words := b.Lines().Value(src)
		if b.HasClosure() {
			words = append(bytes.Clone(words), b.ClosureLine.Value(src)...)
		}
		_, _ = w.WriteString(html.EscapeString(strings.TrimRight(string(words), "\n")))
		_, _ = w.WriteString("</p>\n")
	}
	return ast.WalkSkipChildren, nil
}

func (markup) rawHTML(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		if tag, ok := n.AttributeString(tagAttribute); ok {
			_, _ = w.WriteString(tag.(string))
		} else {
			_, _ = w.WriteString(html.EscapeString(string(n.(*ast.RawHTML).Segments.Value(src))))
		}
	}
	return ast.WalkSkipChildren, nil
}

// harmless is a tag that only changes how its text looks, without attributes: what the window draws too.
var harmless = regexp.MustCompile(`^<(/?)(?i:(br|sub|sup|kbd|u|mark|small|del|ins|b|i|em|strong))\s*/?>$`)

// tagAttribute holds the tag as which HTML of the text is drawn.
const tagAttribute = "tag"

// markHarmless marks the harmless tags directly in a node: line breaks, and pairs, so that nothing stays open beyond it.
func markHarmless(in ast.Node, src []byte) {
	type open struct {
		name string
		node ast.Node
	}
	var stack []open
	for n := in.FirstChild(); n != nil; n = n.NextSibling() {
		raw, ok := n.(*ast.RawHTML)
		if !ok {
			continue
		}
		m := harmless.FindSubmatch(raw.Segments.Value(src))
		if m == nil {
			continue
		}
		name := strings.ToLower(string(m[2]))
		switch {
		case name == "br":
			n.SetAttributeString(tagAttribute, "<br>")
		case len(m[1]) == 0:
			stack = append(stack, open{name, n})
		case len(stack) > 0 && stack[len(stack)-1].name == name:
			stack[len(stack)-1].node.SetAttributeString(tagAttribute, "<"+name+">")
			stack = stack[:len(stack)-1]
			n.SetAttributeString(tagAttribute, "</"+name+">")
		}
	}
}

func (markup) link(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	address, ok := followed(string(util.URLEscape(n.(*ast.Link).Destination, true)))
	switch {
	case !ok:
	case entering:
		openLink(w, address)
	default:
		_, _ = w.WriteString("</a>")
		host(w, address, words(n, src))
	}
	return ast.WalkContinue, nil
}

func (markup) autoLink(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	a := n.(*ast.AutoLink)
	label := string(a.Label(src))
	linked(w, n, util.URLEscape(a.URL(src), false), label)
	return ast.WalkContinue, nil
}

// linked writes a text, as a link if the address can be followed and the text is not in a link already.
func linked(w util.BufWriter, n ast.Node, to []byte, said string) {
	address, ok := followed(string(to))
	if ok = ok && !inLink(n); ok {
		openLink(w, address)
	}
	_, _ = w.WriteString(html.EscapeString(said))
	if ok {
		_, _ = w.WriteString("</a>")
		host(w, address, said)
	}
}

// image renders a picture whose data is in the text. A remote one becomes a link, because loading it would tell its
// owner who reads the page.
func (markup) image(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	to := string(n.(*ast.Image).Destination)
	said := words(n, src)
	if carried.MatchString(to) {
		_, _ = w.WriteString(`<img src="` + html.EscapeString(to) + `" alt="` + html.EscapeString(said) + `">`)
		return ast.WalkSkipChildren, nil
	}
	linked(w, n, util.URLEscape([]byte(to), true), cmp.Or(said, "Image"))
	return ast.WalkSkipChildren, nil
}

func (markup) code(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	label := ""
	if f, ok := n.(*ast.FencedCodeBlock); ok && f.Info != nil {
		label = display.OneLine(string(f.Info.Segment.Value(src)))
	}
	_, _ = w.WriteString(codeHTML(label, string(n.Lines().Value(src))))
	return ast.WalkSkipChildren, nil
}

// codeHTML renders code with its label. Code wider than the page can be scrolled, also with the keyboard.
func codeHTML(label, code string) string {
	bar, name := "", "Code"
	if label != "" {
		bar, name = `<div class="lang">`+html.EscapeString(label)+"</div>", "Code, "+label
	}
	return `<div class="code" dir="ltr">` + bar + `<pre tabindex="0" role="group" aria-label="` + html.EscapeString(name) + `"><code>` +
		html.EscapeString(code) + "</code></pre></div>\n"
}

func (markup) task(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		sign, name := "☐", "To do"
		if n.(*east.TaskCheckBox).IsChecked {
			sign, name = "☑", "Done"
		}
		_, _ = w.WriteString(`<span role="img" aria-label="` + name + `">` + sign + `</span> `)
	}
	return ast.WalkContinue, nil
}

func (markup) table(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString("<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Table\"><table>\n")
		return ast.WalkContinue, nil
	}
	_, _ = w.WriteString("</table></div>\n")
	return ast.WalkContinue, nil
}

// carried is a picture inside the text.
var carried = regexp.MustCompile(`^data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$`)

// followed is an address that may be a link. As in the window, only addresses of the web are; a mail address stays text.
func followed(s string) (string, bool) {
	u, err := url.Parse(s)
	if err != nil {
		return "", false
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		return s, u.Host != ""
	}
	return "", false
}

func openLink(w util.BufWriter, address string) {
	at := html.EscapeString(address)
	_, _ = w.WriteString(`<a href="` + at + `" title="` + at + `" rel="noopener noreferrer">`)
}

// spoken matches text that reads as an address.
var spoken = regexp.MustCompile(`(?:^|[\s/@])((?:[\pL\pN-]+\.)+\pL{2,})(?:$|[\s/:?#])`)

// host says where a link leads, unless its text contains that and neither could be misleading.
func host(w util.BufWriter, address, said string) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return
	}
	bare := func(h string) string { return strings.TrimPrefix(strings.ToLower(h), "www.") }
	doubtful := u.User != nil || strings.Contains(u.Hostname(), "xn--") || strings.ContainsFunc(said, display.IsBidiControl) ||
		strings.ContainsFunc(u.Hostname(), func(r rune) bool { return r > 0x7f })
	if m := spoken.FindStringSubmatch(strings.ToLower(said)); m != nil && bare(m[1]) != bare(u.Hostname()) {
		doubtful = true
	}
	shown := u.Hostname()
	if !doubtful {
		shown = bare(shown)
		if strings.Contains(strings.ToLower(said), shown) {
			return
		}
	}
	_, _ = w.WriteString(` <span class="host" dir="ltr">` + html.EscapeString(shown) + "</span>")
}

func inLink(n ast.Node) bool {
	for p := n.Parent(); p != nil; p = p.Parent() {
		if p.Kind() == ast.KindLink {
			_, ok := followed(string(util.URLEscape(p.(*ast.Link).Destination, true)))
			return ok
		}
	}
	return false
}

// words is the text in a node.
func words(n ast.Node, src []byte) string {
	var out strings.Builder
	_ = ast.Walk(n, func(c ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch c := c.(type) {
		case *ast.Text:
			out.Write(c.Segment.Value(src))
		case *ast.String:
			out.Write(c.Value)
		}
		return ast.WalkContinue, nil
	})
	return out.String()
}
