package render_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/transfer/render"
)

// tags are the tags that a page may contain.
var tags = strings.Fields(`html head meta title style body a header h1 h2 h3 h4 h5 h6 dl dt dd time p details summary section ul ol li main article span bdi div
	pre code img nav strong em del sub sup kbd u mark small ins b i blockquote hr br table thead tbody tr th td`)

// attributes are the allowed attributes of each tag, in addition to globalAttributes.
var attributes = map[string][]string{
	"html": {"lang"}, "meta": {"charset", "http-equiv", "content", "name"}, "a": {"href", "title", "rel"}, "img": {"src", "alt"}, "time": {"datetime"},
	"ol": {"start"}, "th": {"align"}, "td": {"align"},
}

var globalAttributes = []string{"id", "class", "dir", "role", "tabindex", "aria-label", "aria-labelledby"}

var (
	safeLink = regexp.MustCompile(`^(https?://[^/]|#|\./[^/]+$)`)
	safeData = regexp.MustCompile(`^data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+=*$`)
)

// inspect parses a page like a browser, and returns its forbidden content and its text.
func inspect(t *testing.T, src string) (faults []string, text string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(src))
	if err != nil {
		t.Fatal(err)
	}
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	ids, refs := map[string]bool{}, []string{}
	var content strings.Builder
	var visit func(n *html.Node)
	visit = func(n *html.Node) {
		switch n.Type {
		case html.CommentNode:
			fault("a comment: %.80q", n.Data)
		case html.TextNode:
			if n.Parent.Data != "style" {
				content.WriteString(n.Data)
			}
		case html.ElementNode:
			if !slices.Contains(tags, n.Data) || n.Namespace != "" {
				fault("<%s>", n.Data)
			}
			for _, a := range n.Attr {
				if !slices.Contains(globalAttributes, a.Key) && !slices.Contains(attributes[n.Data], a.Key) {
					fault("<%s %s=%.80q>", n.Data, a.Key, a.Val)
				}
				switch a.Key {
				case "id":
					if ids[a.Val] {
						fault("two have the id %s", a.Val)
					}
					ids[a.Val] = true
				case "aria-labelledby":
					refs = append(refs, a.Val)
				case "href":
					if !safeLink.MatchString(a.Val) {
						fault("a link to %.80q", a.Val)
					}
					if ref, ok := strings.CutPrefix(a.Val, "#"); ok {
						refs = append(refs, ref)
					} else if !strings.HasPrefix(a.Val, "./") && !slices.Contains(n.Attr, html.Attribute{Key: "rel", Val: "noopener noreferrer"}) {
						fault("a link without rel: %.80q", a.Val)
					}
				case "src":
					if !safeData.MatchString(a.Val) {
						fault("an image from %.80q", a.Val)
					}
				}
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			visit(c)
		}
	}
	visit(root)
	for _, ref := range refs {
		if !ids[ref] {
			fault("nothing has the id %s", ref)
		}
	}
	return faults, content.String()
}

func TestPageOfEverything(t *testing.T) {
	d := conversation(everything(), exchange(2, "And a *mast*?", "It holds [the sail](https://example.com/a?b&c) and <mast@example.com>."))
	d.Session.SystemPrompt = "Be brief.\n<b>"
	d.Pins = []chat.Pin{{Text: "The ship is <i>blue</i>."}}
	page := renderText(t, render.HTML, d)
	faults, text := inspect(t, page)
	for _, f := range faults {
		t.Error(f)
	}
	for _, want := range []string{"<b>", "The ship is <i>blue</i>.", "# What is\n\na <b>sail</b>?", "sails_1.pdf", "func sail() {}", "</details> none", "☑", "I would rather not.", "cut the answer off"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	for _, want := range []string{"<html lang=\"en\">", "<h4 dir=\"auto\">A sail</h4>", `<th align="right" dir="auto">`, "<summary>Tool call: look_up</summary>", "data:image/png;base64,", "and mast@example.com.", `href="https://example.com/a?b&amp;c"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	_, body, _ := strings.Cut(page, "</style>")
	golden(t, "everything.html", body)
}

func TestAMessageCannotAffectThePage(t *testing.T) {
	for name, message := range hostile {
		t.Run(name, func(t *testing.T) {
			turn := exchange(1, message, message)
			turn.User.Name = message[:min(len(message), 400)]
			turn.Model = turn.User.Name
			turn.Assistant.Blocks = append(turn.Assistant.Blocks, chat.Reasoning{Summary: message}, chat.ToolUse{Name: turn.Model, Input: chat.RawJSON([]byte(message))},
				chat.ToolResult{Content: chat.Blocks{chat.Text{Text: message}}}, chat.Unknown{Provider: message}, chat.Document{Name: message},
				chat.Image{MediaType: message, Source: []byte(`{"data":"AAAA"}`)}, chat.Image{MediaType: "image/svg+xml", Source: []byte(`{"data":"PHN2Zy8+"}`)},
				chat.Image{MediaType: "image/png", Source: []byte(`{"data":"\" onerror=x"}`)}, chat.Image{MediaType: "image/png", Source: []byte(`{"url":"https://example.com/x.png"}`)})
			d := conversation(turn, exchange(2, "b", "the end"))
			d.Session.Title, d.Branch.Label, d.Session.SystemPrompt, d.Pins = message[:min(len(message), 400)], message, message, []chat.Pin{{Text: message}}
			faults, text := inspect(t, renderText(t, render.HTML, d))
			for _, f := range faults {
				t.Error(f)
			}
			if !strings.HasSuffix(strings.TrimSpace(text), "the end") {
				t.Errorf("the text after it is lost: %.200q", text[max(0, len(text)-200):])
			}
		})
	}
}

func TestHostileHTMLIsShownAsText(t *testing.T) {
	for _, name := range []string{"script", "frame", "form", "svg", "comment", "details", "mutation", "deep", "table cell"} {
		_, text := inspect(t, renderText(t, render.HTML, conversation(exchange(1, "q", hostile[name]))))
		want := hostile[name]
		if name == "table cell" {
			want = "<script>alert(1)</script>"
		}
		if !strings.Contains(text, want) {
			t.Errorf("%s is not shown", name)
		}
	}
	if page := renderText(t, render.HTML, conversation(exchange(1, "q", hostile["disguise"]))); !strings.Contains(page, `<span class="host" dir="ltr">evil.example</span>`) {
		t.Error("a link in disguise does not say where it leads")
	}
}

// The policy is a second line of defence: it allows only the style with this hash.
func TestThePolicyForbidsEverythingElse(t *testing.T) {
	page := renderText(t, render.HTML, conversation(exchange(1, "a", "b")))
	_, rest, _ := strings.Cut(page, "<style>")
	style, _, _ := strings.Cut(rest, "</style>")
	sum := sha256.Sum256([]byte(style))
	want := `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'sha256-` +
		base64.StdEncoding.EncodeToString(sum[:]) + `'; base-uri 'none'; form-action 'none'">`
	if at := strings.Index(page, want); at < 0 || at > strings.Index(page, "<style>") {
		t.Errorf("no policy before the style in %.700s", page)
	}
	if strings.Contains(style, "url(") || strings.Contains(style, "@import") {
		t.Error("the style loads resources")
	}
}

// colours returns the custom properties in a block of CSS.
func colours(css string) map[string]string {
	out := map[string]string{}
	for _, m := range regexp.MustCompile(`(--color-[\w-]+):\s*([^;]+);`).FindAllStringSubmatch(css, -1) {
		out[m[1]] = m[2]
	}
	return out
}

func TestThePageHasTheColoursOfTheWindow(t *testing.T) {
	tokens, err := os.ReadFile("../../../frontend/src/styles/tokens.css")
	if err != nil {
		t.Fatal(err)
	}
	style, err := os.ReadFile("style.css")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(tokens), `[data-theme="light"] {`)
	light, rest, _ := strings.Cut(rest, `[data-theme="dark"] {`)
	dark, _, _ := strings.Cut(rest, `[data-theme="contrast"] {`)
	ours, _, _ := strings.Cut(string(style), "* {")
	ourLight, ourDark, _ := strings.Cut(ours, "@media (prefers-color-scheme: dark)")
	for _, pair := range []struct{ name, ours, theirs string }{{"light", ourLight, light}, {"dark", ourDark, dark}} {
		mine, theirs := colours(pair.ours), colours(pair.theirs)
		if len(mine) < 10 {
			t.Fatalf("%s has %d colours", pair.name, len(mine))
		}
		for name, value := range mine {
			if theirs[name] != value {
				t.Errorf("%s %s is %s, the window's is %s", pair.name, name, value, theirs[name])
			}
		}
	}
}

func TestContentsOfBranches(t *testing.T) {
	page := renderText(t, render.HTML, branched())
	if faults, _ := inspect(t, page); len(faults) > 0 {
		t.Error(faults)
	}
	for _, want := range []string{`<li class="chapter"><a href="#chapter-2"><bdi>*fork* (archived)</bdi></a></li>`, `<a href="#turn-2-2"><bdi>#2 other</bdi></a>`, "Continues after turn 1 of main."} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(renderText(t, render.HTML, conversation(exchange(1, "a", "b"))), "<nav") {
		t.Error("a short page lists its contents")
	}
}

func TestATurnWithoutAUserMessage(t *testing.T) {
	turn := exchange(1, "", "hello")
	turn.User.Blocks = chat.NoMessage().Blocks
	d := conversation(turn, exchange(2, "b", "c"), exchange(3, "d", "e"), exchange(4, "f", "g"), exchange(5, "h", "i"), exchange(6, "j", "k"))
	page := renderText(t, render.HTML, d)
	if faults, text := inspect(t, page); len(faults) > 0 || strings.Contains(text, "#1 You") || !strings.Contains(text, "hello") {
		t.Errorf("%v\n%s", faults, text)
	}
	if md := renderText(t, render.Markdown, d); strings.Contains(md, "#1 You") || strings.Contains(md, "not known") || !strings.Contains(md, "#1 test") {
		t.Errorf("%s", md)
	}
}

func TestTheListOfConversations(t *testing.T) {
	x := render.Index{Entries: []render.IndexEntry{{File: "a & b (2).html", Title: "a & [b](x) <i>", Turns: 1, CreatedAt: at, UpdatedAt: at}, {File: "c:d.html", Archived: true, CreatedAt: at, UpdatedAt: at}}}
	var page, list bytes.Buffer
	if err := errors.Join(x.HTML(&page), x.Markdown(&list)); err != nil {
		t.Fatal(err)
	}
	faults, text := inspect(t, page.String())
	if len(faults) > 0 || !strings.Contains(text, "a & [b](x) <i>, 1 turn,") || !strings.Contains(page.String(), `href="./a%20&amp;%20b%20%282%29.html"`) {
		t.Errorf("%v\n%s", faults, page.String())
	}
	if want := "- [a \\& \\[b\\](x) \\<i\\>](./a%20&%20b%20%282%29.html), 1 turn, "; !strings.Contains(list.String(), want) || !strings.Contains(list.String(), "[Untitled session (archived)](./c:d.html)") {
		t.Errorf("no %s in\n%s", want, list.String())
	}
}

// If writing fails, reading ends, and the writer's error is returned.
func TestAFullDiskEndsTheWriting(t *testing.T) {
	for name, write := range map[string]func(*full, render.Document) error{
		"md": func(w *full, d render.Document) error { return render.Markdown(w, d) }, "json": func(w *full, d render.Document) error { return render.JSON(w, d) },
		"html": func(w *full, d render.Document) error { return render.HTML(w, d) },
	} {
		read := 0
		d := conversation()
		d.Each = func(_ render.Chapter, f func(render.Turn) error) error {
			for ; read < 1000; read++ {
				if err := f(exchange(1, strings.Repeat("x", 10_000), "y")); err != nil {
					return err
				}
			}
			return nil
		}
		if err := write(&full{}, d); !errors.Is(err, errFull) || read > 100 {
			t.Errorf("%s: %v after %d turns", name, err, read)
		}
	}
}

type full struct{ bytes.Buffer }

var errFull = fmt.Errorf("full")

func (f *full) Write(p []byte) (int, error) {
	if f.Len() > 100_000 {
		return 0, errFull
	}
	return f.Buffer.Write(p)
}

func TestPageIsRenderedAsInTheWindow(t *testing.T) {
	answer := "A[^two] and [^none].\n\n[^two]: The note\n\nPress <kbd>Ctrl</kbd>, <b>open <i>x</b> <span>y</span>\n\n[here](https://www.example.com/a) [docs of example.com](https://example.com)\n\nשלום abc\n\n- مرحبا"
	page := renderText(t, render.HTML, conversation(exchange(1, "q", answer), exchange(2, "q", answer)))
	for _, want := range []string{
		`<sup id="n1-fnref:1">`, `<a href="#n1-fn:1"`, `<li id="n1-fn:1"`, `<a href="#n2-fn:1"`, "[^none]", // each text counts its own notes
		"<kbd>Ctrl</kbd>", "&lt;b&gt;open &lt;i&gt;x&lt;/b&gt;", "&lt;span&gt;y&lt;/span&gt;",
		`here</a> <span class="host" dir="ltr">example.com</span>`, "docs of example.com</a></p>",
		`<p dir="auto">שלום abc</p>`, `<li dir="auto">مرحبا</li>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if strings.Contains(page, "[^two]") {
		t.Error("a footnote is shown as its source")
	}
}
