package documents

import (
	"errors"
	"strconv"
	"strings"
)

// workbook is the data that the cells of a spreadsheet refer to.
type workbook struct {
	strings  []string
	formats  []cellFormat // by index of the cell's style
	from1904 bool         // day numbers start at 1904-01-01
}

// sheetText reads an Excel spreadsheet: a heading and tables for each sheet. A formula is represented by its stored
// value.
func sheetText(z archive) ([]string, error) {
	const book = "xl/workbook.xml"
	parts := z.related(book)
	w := &workbook{}
	type sheet struct{ title, part string }
	var sheets []sheet
	err := z.walk(book, nil, events{start: func(name string, attrs attributes) bool {
		switch name {
		case "workbookPr":
			w.from1904 = isTrue(attrs.get("date1904"))
		case "sheet":
			title := attrs.get("name")
			if state := attrs.get("state"); state == "hidden" || state == "veryHidden" {
				title += " (hidden sheet)"
			}
			if part := parts[relationID(attrs)]; z.has(part) {
				sheets = append(sheets, sheet{title, part})
			}
		}
		return false
	}})
	if err != nil {
		return nil, err
	}
	if len(sheets) == 0 {
		return nil, errors.New("the workbook names no sheet")
	}
	if err := w.readStrings(z); err != nil {
		return nil, err
	}
	if err := w.readFormats(z); err != nil {
		return nil, err
	}
	f := &markdown{}
	for _, s := range sheets {
		g := &grid{}
		if err := z.walk(s.part, nil, w.cells(g)); err != nil {
			return nil, err
		}
		if table := markdownTable(g.rows); table != "" {
			f.block(s.title, 2, false)
			f.block(table, 0, false)
		}
		if f.long() {
			return nil, errLong
		}
	}
	return []string{f.text()}, nil
}

func isTrue(s string) bool { return s == "1" || s == "true" }

// readStrings reads the shared strings. Phonetic guides (rPh) are left out.
func (w *workbook) readStrings(z archive) error {
	const part = "xl/sharedStrings.xml"
	if !z.has(part) {
		return nil
	}
	var text strings.Builder
	inText := false
	return z.walk(part, nil, events{
		start: func(name string, _ attributes) bool {
			inText = name == "t"
			return name == "rPh"
		},
		end: func(name string) {
			if inText = false; name == "si" {
				w.strings = append(w.strings, text.String())
				text.Reset()
			}
		},
		text: func(s string) {
			if inText {
				text.WriteString(s)
			}
		},
	})
}

// readFormats reads the number formats of the cell styles.
func (w *workbook) readFormats(z archive) error {
	const part = "xl/styles.xml"
	if !z.has(part) {
		return nil
	}
	codes, inCells := map[string]string{}, false
	return z.walk(part, nil, events{
		start: func(name string, attrs attributes) bool {
			switch name {
			case "numFmt":
				codes[attrs.get("numFmtId")] = attrs.get("formatCode")
			case "cellXfs":
				inCells = true
			case "xf":
				if inCells {
					w.formats = append(w.formats, formatOf(attrs.get("numFmtId"), codes))
				}
			}
			return false
		},
		end: func(name string) { inCells = inCells && name != "cellXfs" },
	})
}

// cells fills a grid with the rows of a sheet. Rows missing from the file are empty; a gap of any size becomes one
// empty row.
func (w *workbook) cells(g *grid) events {
	var value strings.Builder
	row, column, kind, style, inValue, size := 0, 0, "", "", false, 0
	return events{
		start: func(name string, attrs attributes) bool {
			switch name {
			case "row":
				if n, err := strconv.Atoi(attrs.get("r")); err == nil && n > row+1 && len(g.rows) > 0 {
					g.rows = append(g.rows, nil)
					row = n
				} else {
					row++
				}
			case "c":
				kind, style = attrs.get("t"), attrs.get("s")
				if n := columnOf(attrs.get("r")); n > 0 {
					column = n
				} else {
					column++
				}
				value.Reset()
			case "v", "t":
				inValue = true
			case "rPh", "f":
				return true
			}
			return size > MaxText // beyond the limit of a document, the rest is skipped
		},
		end: func(name string) {
			switch name {
			case "v", "t":
				inValue = false
			case "c":
				text := oneLine(w.shown(kind, style, value.String()))
				if text != "" && column <= maxColumns {
					for len(g.row) < column-1 {
						g.row = append(g.row, "")
					}
					g.row = append(g.row[:column-1], text)
					size += len(text) + 3
				}
			case "row":
				g.rows = append(g.rows, trimmedRow(g.row))
				g.row, column = nil, 0
			}
		},
		text: func(s string) {
			if inValue {
				value.WriteString(s)
			}
		},
	}
}

// columnOf returns the column number of a reference such as B4, starting with 1; 0 if it has none.
func columnOf(reference string) int {
	n := 0
	for i := 0; i < len(reference) && i < 4 && reference[i] >= 'A' && reference[i] <= 'Z'; i++ {
		n = n*26 + int(reference[i]-'A') + 1
	}
	return n
}

// shown returns the value of a cell as it is displayed.
func (w *workbook) shown(kind, style, value string) string {
	switch kind {
	case "s":
		if i, err := strconv.Atoi(value); err == nil && i >= 0 && i < len(w.strings) {
			return w.strings[i]
		}
		return ""
	case "b":
		if isTrue(value) {
			return "TRUE"
		}
		return "FALSE"
	case "", "n":
		number, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return value
		}
		if i, err := strconv.Atoi(style); err == nil && i >= 0 && i < len(w.formats) {
			return w.formats[i].shown(number, w.from1904)
		}
		return plainNumber(number)
	}
	return value
}
