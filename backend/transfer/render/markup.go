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

// converter converts Markdown to HTML. The text's own HTML is escaped, except for harmless tags; links lead only to
// the web; and pictures are shown only if the text contains their data.
var converter = goldmark.New(
	goldmark.WithExtensions(
		extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
		extension.Strikethrough, extension.Linkify, extension.TaskList,
		extension.NewFootnote(extension.WithFootnoteIDPrefixFunction(notePrefix)),
	),
	goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(pageTransformer{}, 1500))), // after the footnotes' own
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(markup{}, 10))),
)

// answerHTML writes an answer's Markdown as HTML.
func answerHTML(w *writer, s string) {
	if isJSON(s) {
		w.put(codeHTML("json", strings.TrimSpace(lineEnds.Replace(s))+"\n"))
		return
	}
	for _, piece := range pieces(lineEnds.Replace(s)) {
		if strings.TrimSpace(piece) == "" {
			continue
		}
		var out bytes.Buffer
		var formulas []string
		asPlain := isPlain(piece)
		if !asPlain {
			var marked string
			marked, formulas = withoutFormulas(piece)
			asPlain = converter.Convert([]byte(marked), &out, parser.WithContext(w.notes())) != nil
		}
		if asPlain {
			w.put(`<p class="plain" dir="auto">`, html.EscapeString(strings.Trim(piece, "\n")), "</p>\n")
			continue
		}
		w.bytes(withFormulas(out.Bytes(), formulas))
	}
}

// noteKey is the key of the prefix for footnote ids in the document's metadata: each text counts its footnotes from
// one, and a page contains many texts.
const noteKey = "note"

// noteContext is the key of the same prefix in the parser's context.
var noteContext = parser.NewContextKey()

// notes returns a parser context in which the footnotes of the next text have ids of their own.
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

// pageTransformer fits a text into the page: its headings are below those of the page, its footnotes have ids of their
// own, and each block has the direction of its text.
type pageTransformer struct{}

// Transform implements parser.ASTTransformer.
func (pageTransformer) Transform(doc *ast.Document, r text.Reader, c parser.Context) {
	doc.AddMeta(noteKey, c.Get(noteContext))
	shift := headingShift(doc)
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		markHarmless(n, r.Source())
		switch n := n.(type) {
		case *ast.Heading:
			n.Level = min(6, max(minLevel, n.Level+shift))
			setDirection(n)
		case *ast.Paragraph, *ast.Blockquote, *ast.List, *ast.ListItem, *east.TableCell:
			setDirection(n)
		}
		return ast.WalkContinue, nil
	})
}

func setDirection(n ast.Node) { n.SetAttributeString("dir", []byte("auto")) }

// markup renders the nodes that would be unsafe or look wrong as goldmark renders them: HTML, links, images, code, task
// boxes and tables.
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
		nodeText := b.Lines().Value(src)
		if b.HasClosure() {
			nodeText = append(bytes.Clone(nodeText), b.ClosureLine.Value(src)...)
		}
		_, _ = w.WriteString(html.EscapeString(strings.TrimRight(string(nodeText), "\n")))
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

// harmless matches a tag without attributes that only changes how its text looks. The window shows the same tags.
var harmless = regexp.MustCompile(`^<(/?)(?i:(br|sub|sup|kbd|u|mark|small|del|ins|b|i|em|strong))\s*/?>$`)

// tagAttribute is the attribute of a node with the tag that is written for it.
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
	address, ok := linkAddress(string(util.URLEscape(n.(*ast.Link).Destination, true)))
	switch {
	case !ok:
	case entering:
		openLink(w, address)
	default:
		_, _ = w.WriteString("</a>")
		writeHost(w, address, nodeText(n, src))
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

// linked writes a text, as a link if the target may be one and the text is not in a link already.
func linked(w util.BufWriter, n ast.Node, target []byte, label string) {
	address, ok := linkAddress(string(target))
	if ok = ok && !inLink(n); ok {
		openLink(w, address)
	}
	_, _ = w.WriteString(html.EscapeString(label))
	if ok {
		_, _ = w.WriteString("</a>")
		writeHost(w, address, label)
	}
}

// image renders a picture whose data is in the text. A remote picture becomes a link, because loading it would reveal
// to its server who reads the page.
func (markup) image(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	target := string(n.(*ast.Image).Destination)
	label := nodeText(n, src)
	if embeddedImage.MatchString(target) {
		_, _ = w.WriteString(`<img src="` + html.EscapeString(target) + `" alt="` + html.EscapeString(label) + `">`)
		return ast.WalkSkipChildren, nil
	}
	linked(w, n, util.URLEscape([]byte(target), true), cmp.Or(label, "Image"))
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

// embeddedImage matches the address of a picture inside the text.
var embeddedImage = regexp.MustCompile(`^data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$`)

// linkAddress returns an address if it may become a link. As in the window, only web addresses do; a mail address
// stays text.
func linkAddress(s string) (string, bool) {
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

// addressLike matches text that looks like an address.
var addressLike = regexp.MustCompile(`(?:^|[\s/@])((?:[\pL\pN-]+\.)+\pL{2,})(?:$|[\s/:?#])`)

// writeHost writes the host of a link, unless the link's text contains it and neither of them could be misleading.
func writeHost(w util.BufWriter, address, label string) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return
	}
	bare := func(h string) string { return strings.TrimPrefix(strings.ToLower(h), "www.") }
	doubtful := u.User != nil || strings.Contains(u.Hostname(), "xn--") || strings.ContainsFunc(label, display.IsBidiControl) ||
		strings.ContainsFunc(u.Hostname(), func(r rune) bool { return r > 0x7f })
	if m := addressLike.FindStringSubmatch(strings.ToLower(label)); m != nil && bare(m[1]) != bare(u.Hostname()) {
		doubtful = true
	}
	shown := u.Hostname()
	if !doubtful {
		shown = bare(shown)
		if strings.Contains(strings.ToLower(label), shown) {
			return
		}
	}
	_, _ = w.WriteString(` <span class="host" dir="ltr">` + html.EscapeString(shown) + "</span>")
}

func inLink(n ast.Node) bool {
	for p := n.Parent(); p != nil; p = p.Parent() {
		if p.Kind() == ast.KindLink {
			_, ok := linkAddress(string(util.URLEscape(p.(*ast.Link).Destination, true)))
			return ok
		}
	}
	return false
}

// nodeText is the text in a node.
func nodeText(n ast.Node, src []byte) string {
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
