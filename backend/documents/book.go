package documents

import (
	"net/url"
	"path"
	"strings"
)

// bookText reads an EPUB: its chapters in reading order, as one text.
func bookText(z archive) ([]string, error) {
	contents := ""
	err := z.walk("META-INF/container.xml", nil, events{start: func(name string, attrs attributes) bool {
		if name == "rootfile" && contents == "" {
			contents = attrs.get("full-path")
		}
		return false
	}})
	if err != nil {
		return nil, err
	}
	chapters, err := chaptersOf(z, contents)
	if err != nil {
		return nil, err
	}
	if protection, err := z.bytes("META-INF/encryption.xml", 4<<20); err == nil {
		for _, chapter := range chapters {
			if strings.Contains(string(protection), `URI="`+chapter+`"`) {
				return nil, errLocked
			}
		}
	}
	f := &markdown{}
	for _, chapter := range chapters {
		if err := z.walk(chapter, f, htmlEvents(f)); err != nil {
			return nil, err
		}
	}
	return []string{f.text()}, nil
}

// chaptersOf returns the parts that the package document lists in its spine.
func chaptersOf(z archive, contents string) ([]string, error) {
	parts := map[string]string{}
	var chapters []string
	err := z.walk(contents, nil, events{start: func(name string, attrs attributes) bool {
		switch name {
		case "item":
			if href, err := url.PathUnescape(attrs.get("href")); err == nil {
				parts[attrs.get("id")] = path.Join(path.Dir(contents), href)
			}
		case "itemref":
			if part := parts[attrs.get("idref")]; z.has(part) && len(chapters) < maxPages {
				chapters = append(chapters, part)
			}
		}
		return false
	}})
	return chapters, err
}

// htmlEvents extracts the text of an HTML page.
func htmlEvents(f *markdown) events {
	begin := func(level int) {
		for len(f.open) > 0 { // paragraphs in HTML may have no end tag
			f.end()
		}
		p := f.begin()
		p.level = level
		p.entry = f.lists > 0
	}
	raw := false // in preformatted text, which keeps its line breaks
	f.begin()
	return events{
		start: func(name string, attrs attributes) bool {
			switch name {
			case "head", "script", "style", "svg":
				return true
			case "h1", "h2", "h3", "h4", "h5", "h6":
				begin(int(name[1] - '0'))
			case "p", "div", "section", "blockquote", "dt", "dd", "figure", "figcaption", "li":
				begin(0)
			case "pre":
				raw = true
				begin(0)
			case "ul", "ol":
				begin(0)
				f.lists++
			case "br":
				f.write("\n")
			case "img":
				f.write(attrs.get("alt"))
			case "table":
				begin(0)
				f.end()
				f.beginTable()
			case "td", "th":
				f.begin()
			}
			return false
		},
		end: func(name string) {
			switch name {
			case "h1", "h2", "h3", "h4", "h5", "h6", "p", "div", "section", "blockquote", "dt", "dd", "figure", "figcaption", "li", "body":
				begin(0)
			case "pre":
				raw = false
				begin(0)
			case "ul", "ol":
				f.lists = max(f.lists-1, 0)
				begin(0)
			case "td", "th":
				for len(f.open) > 0 {
					f.end()
				}
				f.endCell(1)
			case "tr":
				f.endRow(1)
			case "table":
				f.endTable()
				begin(0)
			}
		},
		text: func(text string) {
			if !raw {
				text = collapsed(text, f.paragraph())
			}
			f.write(text)
		},
	}
}

// collapsed replaces each run of white space by one space, and by none at the beginning of the paragraph or after a
// space.
func collapsed(text string, p *paragraph) string {
	var b strings.Builder
	after := p == nil || p.text.Len() == 0 || strings.HasSuffix(p.text.String(), " ") || strings.HasSuffix(p.text.String(), "\n")
	for _, r := range text {
		space := r == ' ' || r == '\n' || r == '\r' || r == '\t'
		switch {
		case !space:
			b.WriteRune(r)
		case !after:
			b.WriteByte(' ')
		}
		after = space
	}
	return b.String()
}
