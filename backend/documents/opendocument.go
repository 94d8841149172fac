package documents

import (
	"strconv"
	"strings"
)

// openDocumentText reads an OpenDocument text, spreadsheet or presentation. Only presentations have pages.
func openDocumentText(z archive) ([]string, error) {
	if manifest, err := z.bytes("META-INF/manifest.xml", 1<<20); err == nil && strings.Contains(string(manifest), "encryption-data") {
		return nil, errLocked
	}
	var pages []string
	f := &markdown{}
	on := openDocumentEvents(f)
	element, ended := on.start, on.end
	depth := 0 // nesting of pages: the notes of a slide are a page inside its page
	on.start = func(name string, attrs attributes) bool {
		if name == "page" {
			depth++
		}
		return element(name, attrs)
	}
	on.end = func(name string) {
		ended(name)
		if name != "page" {
			return
		}
		if depth--; depth == 0 {
			pages = append(pages, f.text())
			*f = markdown{}
		}
	}
	if err := z.walk("content.xml", f, on); err != nil {
		return nil, err
	}
	if rest := f.text(); rest != "" || len(pages) == 0 {
		pages = append(pages, rest)
	}
	return pages, nil
}

// openDocumentEvents extracts the text. Comments and tracked deletions are left out.
func openDocumentEvents(f *markdown) events {
	columns, rows := 1, 1 // repeat counts of the open cell and row
	return events{
		start: func(name string, attrs attributes) bool {
			switch name {
			case "tracked-changes", "annotation", "note-citation", "page-number":
				return true
			case "p":
				f.begin()
			case "h":
				level, err := strconv.Atoi(attrs.get("outline-level"))
				if f.begin(); err == nil {
					f.paragraph().level = level
				}
			case "s":
				count, _ := strconv.Atoi(attrs.get("c"))
				f.write(strings.Repeat(" ", min(max(count, 1), maxRepeat)))
			case "tab":
				f.write("\t")
			case "line-break":
				f.write("\n")
			case "list-item":
				f.lists++
			case "notes":
				f.block("Notes:", 0, false)
			case "table":
				if sheet := attrs.get("name"); len(f.tables) == 0 && sheet != "" {
					f.block(sheet, 2, false)
				}
				f.beginTable()
			case "table-row":
				rows = number(attrs.get("number-rows-repeated"))
			case "table-cell", "covered-table-cell":
				columns = number(attrs.get("number-columns-repeated"))
			}
			return false
		},
		end: func(name string) {
			switch name {
			case "p", "h":
				f.end()
			case "list-item":
				f.lists = max(f.lists-1, 0)
			case "table-cell", "covered-table-cell":
				f.endCell(columns)
				columns = 1
			case "table-row":
				f.endRow(rows)
				rows = 1
			case "table":
				f.endTable()
			}
		},
		text: f.write,
	}
}

// number parses a repeat count.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 1
	}
	return n
}
