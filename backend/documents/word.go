package documents

import (
	"strconv"
	"strings"
)

// wordText reads a Word document: its text, then its footnotes and endnotes.
func wordText(z archive) ([]string, error) {
	levels := wordHeadings(z)
	f := &markdown{}
	if err := z.walk("word/document.xml", f, wordEvents(f, levels)); err != nil {
		return nil, err
	}
	for _, notes := range []string{"footnote", "endnote"} {
		part := "word/" + notes + "s.xml"
		if !z.has(part) {
			continue
		}
		on := wordEvents(f, levels)
		element := on.start
		on.start = func(name string, attrs attributes) bool {
			if name == notes {
				return attrs.get("type") != "" // separator lines between the text and its notes
			}
			return element(name, attrs)
		}
		if err := z.walk(part, f, on); err != nil {
			return nil, err
		}
	}
	return []string{f.text()}, nil
}

// wordHeadings returns the heading levels of styles, by style id. Styles are recognized by name, because Word
// translates ids but not names.
func wordHeadings(z archive) map[string]int {
	levels := map[string]int{}
	id := ""
	_ = z.walk("word/styles.xml", nil, events{start: func(name string, attrs attributes) bool {
		switch name {
		case "style":
			id = attrs.get("styleId")
		case "name":
			title := strings.ToLower(attrs.get("val"))
			if n, ok := strings.CutPrefix(title, "heading "); ok {
				levels[id], _ = strconv.Atoi(n)
			} else if title == "title" {
				levels[id] = 1
			}
		case "outlineLvl":
			if n, err := strconv.Atoi(attrs.get("val")); err == nil && n >= 0 && n < maxLevel && levels[id] == 0 {
				levels[id] = n + 1
			}
		}
		return false
	}})
	return levels
}

// wordEvents extracts the text of a part. Deleted and moved text and fallbacks for older programs are left out.
func wordEvents(f *markdown, levels map[string]int) events {
	inRun, inText, hidden := false, false, false
	write := func(text string) {
		if hidden {
			f.hidden(text)
			return
		}
		f.write(text)
	}
	return events{
		start: func(name string, attrs attributes) bool {
			switch name {
			case "del", "moveFrom", "Fallback", "instrText":
				return true
			case "p":
				f.begin()
			case "pStyle":
				if p := f.paragraph(); p != nil {
					p.level = levels[attrs.get("val")]
				}
			case "numPr":
				if p := f.paragraph(); p != nil {
					p.entry = true
				}
			case "r":
				inRun, hidden = true, false
			case "vanish":
				hidden = inRun && attrs.get("val") != "0" && attrs.get("val") != "false"
			case "t":
				inText = true
			case "tab":
				if inRun {
					write("\t")
				}
			case "br", "cr":
				write("\n")
			case "noBreakHyphen":
				write("-")
			case "footnoteReference", "footnoteRef", "endnoteReference", "endnoteRef":
				if id := attrs.get("id"); id != "" {
					write("[note " + id + "]")
				} else {
					write("Note: ")
				}
			case "tbl":
				f.beginTable()
			}
			return false
		},
		end: func(name string) {
			switch name {
			case "p":
				f.end()
			case "r":
				inRun, hidden = false, false
			case "t":
				inText = false
			case "tc":
				f.endCell(1)
			case "tr":
				f.endRow(1)
			case "tbl":
				f.endTable()
			}
		},
		text: func(text string) {
			if inText {
				write(text)
			}
		},
	}
}
