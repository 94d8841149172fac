package documents

import "strings"

// markdown builds the Markdown of a document from its paragraphs, headings, list entries and tables.
type markdown struct {
	out    strings.Builder
	open   []*paragraph // a stack: text boxes and footnotes are paragraphs inside paragraphs
	tables []*grid      // also a stack
	lists  int          // number of open lists
	listed bool         // the last block was a list entry
	unseen strings.Builder
}

type paragraph struct {
	text  strings.Builder
	level int // heading level; 0: not a heading
	entry bool
	after []string // paragraphs inside it, written after it
}

// begin starts a paragraph.
func (f *markdown) begin() *paragraph {
	p := &paragraph{entry: f.lists > 0}
	f.open = append(f.open, p)
	return p
}

// paragraph returns the innermost open paragraph, or nil.
func (f *markdown) paragraph() *paragraph {
	if len(f.open) == 0 {
		return nil
	}
	return f.open[len(f.open)-1]
}

// write adds text to the open paragraph. Text outside of paragraphs is only white space in the file and is dropped.
func (f *markdown) write(text string) {
	if p := f.paragraph(); p != nil {
		p.text.WriteString(text)
	}
}

// end closes the open paragraph.
func (f *markdown) end() {
	p := f.paragraph()
	if p == nil {
		return
	}
	f.open = f.open[:len(f.open)-1]
	f.block(p.text.String(), p.level, p.entry)
	for _, inner := range p.after {
		f.block(inner, 0, false)
	}
}

// maxLevel is the deepest heading level in Markdown.
const maxLevel = 6

// block adds one finished block: to the open table cell, after the open paragraph, or to the output.
func (f *markdown) block(text string, level int, entry bool) {
	if text = tidy(text); strings.TrimSpace(text) == "" {
		return
	}
	switch {
	case len(f.tables) > 0:
		f.tables[len(f.tables)-1].write(text)
		return
	case len(f.open) > 0:
		p := f.paragraph()
		p.after = append(p.after, text)
		return
	case level > 0:
		text = strings.Repeat("#", min(level, maxLevel)) + " " + oneLine(text)
	case entry:
		text = "- " + strings.ReplaceAll(text, "\n", "\n  ")
	}
	switch {
	case f.out.Len() == 0:
	case entry && f.listed:
		f.out.WriteString("\n")
	default:
		f.out.WriteString("\n\n")
	}
	f.out.WriteString(text)
	f.listed = entry
}

// hidden adds text that the document does not show.
func (f *markdown) hidden(text string) { f.unseen.WriteString(text) }

// long reports whether the text is over the limit for a document.
func (f *markdown) long() bool { return f.out.Len()+f.unseen.Len() > MaxText }

// text returns the whole text. Hidden text comes last, under a heading line.
func (f *markdown) text() string {
	for len(f.open) > 0 { // only in a truncated file
		f.end()
	}
	text := f.out.String()
	if hidden := tidy(f.unseen.String()); strings.TrimSpace(hidden) != "" {
		text = strings.TrimLeft(text+"\n\n", "\n") + notVisible + hidden
	}
	return text
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// ---------------------------------------------------------------- tables

// grid is a table that is being read.
type grid struct {
	rows [][]string
	row  []string
	cell strings.Builder
}

func (f *markdown) beginTable() { f.tables = append(f.tables, &grid{}) }

// endTable adds the table. A table inside a cell becomes text of that cell.
func (f *markdown) endTable() {
	g := f.grid()
	if g == nil {
		return
	}
	f.tables = f.tables[:len(f.tables)-1]
	if len(f.tables) > 0 {
		for _, row := range g.rows {
			f.block(strings.Join(row, " "), 0, false)
		}
		return
	}
	f.block(markdownTable(g.rows), 0, false)
}

func (f *markdown) grid() *grid {
	if len(f.tables) == 0 {
		return nil
	}
	return f.tables[len(f.tables)-1]
}

func (g *grid) write(text string) {
	if g.cell.Len() > 0 {
		g.cell.WriteByte(' ')
	}
	g.cell.WriteString(text)
}

// Limits of columns and repetitions: spreadsheets repeat an empty cell to the end of the sheet.
const (
	maxColumns = 1000
	maxRepeat  = 100
)

// endCell adds the cell as many times as the file says.
func (f *markdown) endCell(times int) {
	g := f.grid()
	if g == nil {
		return
	}
	text := oneLine(g.cell.String())
	g.cell.Reset()
	for range min(max(times, 1), maxColumns-len(g.row)) {
		g.row = append(g.row, text)
	}
}

// endRow adds the row as many times as the file says. An empty row is added once, as the border between two tables of
// a sheet.
func (f *markdown) endRow(times int) {
	g := f.grid()
	if g == nil {
		return
	}
	row := trimmedRow(g.row)
	g.row = nil
	if len(row) == 0 {
		times = 1
	}
	for range min(max(times, 1), maxRepeat) {
		g.rows = append(g.rows, row)
	}
}

// trimmedRow removes the empty cells at the end of a row.
func trimmedRow(row []string) []string {
	for len(row) > 0 && row[len(row)-1] == "" {
		row = row[:len(row)-1]
	}
	return row
}

// markdownTable formats rows as Markdown. Empty rows separate tables; the first row of a table is its header. A table
// with a single column is written as lines of text.
func markdownTable(rows [][]string) string {
	var blocks []string
	for from := 0; from < len(rows); {
		to := from
		for to < len(rows) && len(rows[to]) > 0 {
			to++
		}
		if to > from {
			blocks = append(blocks, oneTable(rows[from:to]))
		}
		from = to + 1
	}
	return strings.Join(blocks, "\n\n")
}

func oneTable(rows [][]string) string {
	width := 0
	for _, row := range rows {
		width = max(width, len(row))
	}
	var b strings.Builder
	for i, row := range rows {
		if width == 1 {
			b.WriteString(row[0] + "\n")
			continue
		}
		for at := range width {
			cell := ""
			if at < len(row) {
				cell = strings.ReplaceAll(row[at], "|", `\|`)
			}
			b.WriteString("| " + cell + " ")
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString(strings.Repeat("| --- ", width) + "|\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
