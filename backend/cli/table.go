package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rivo/uniseg"

	"contextinfinity/backend/internal/display"
)

// table is rows of cells in aligned columns.
type table struct {
	head  []string
	right []bool // columns that are aligned to the right, because they contain numbers
	rows  [][]string
}

// newTable returns a table with these headings, separated by "|"; one that begins with ">" is aligned to the right.
func newTable(headings string) *table {
	t := &table{}
	for heading := range strings.SplitSeq(headings, "|") {
		name, right := strings.CutPrefix(heading, ">")
		t.head, t.right = append(t.head, name), append(t.right, right)
	}
	return t
}

// tableOf returns a table with a row for each element of a list.
func tableOf[T any](headings string, list []T, cells func(T) []any) *table {
	t := newTable(headings)
	for _, x := range list {
		t.add(cells(x)...)
	}
	return t
}

// add adds a row. A cell is a text, a number, a moment or a yes or no.
func (t *table) add(cells ...any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = cell(c)
	}
	t.rows = append(t.rows, row)
}

func cell(value any) string {
	switch v := value.(type) {
	case time.Time:
		return local(v)
	case *time.Time:
		if v == nil {
			return ""
		}
		return local(*v)
	case bool:
		return map[bool]string{true: "yes", false: "no"}[v]
	}
	return line(fmt.Sprint(value))
}

// printOr prints the table, or a text if it has no rows.
func (t *table) printOr(o *output, empty string) {
	if len(t.rows) == 0 {
		o.printf("%s\n", empty)
		return
	}
	t.print(o)
}

func (t *table) print(o *output) {
	width := make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, cell := range row {
			width[i] = max(width[i], uniseg.StringWidth(cell))
		}
	}
	o.printf("%s\n", o.bold(t.format(t.head, width)))
	for _, row := range t.rows {
		o.printf("%s\n", t.format(row, width))
	}
}

func (t *table) format(row []string, width []int) string {
	var b strings.Builder
	for i, cell := range row {
		if i > 0 {
			b.WriteString("  ")
		}
		pad := strings.Repeat(" ", width[i]-uniseg.StringWidth(cell))
		if t.right[i] {
			b.WriteString(pad + cell)
			continue
		}
		b.WriteString(cell + pad)
	}
	return strings.TrimRight(b.String(), " ")
}

// clip shortens a cell to n columns.
func clip(s string, n int) string {
	s = line(s)
	if uniseg.StringWidth(s) <= n {
		return s
	}
	var b strings.Builder
	used := 0
	g := uniseg.NewGraphemes(s)
	for g.Next() && used+g.Width() < n {
		b.WriteString(g.Str())
		used += g.Width()
	}
	return b.String() + "…"
}

// local formats a moment in local time.
func local(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04")
}

// count formats a number; empty for zero.
func count[T int | int64](n T) string {
	if n == 0 {
		return ""
	}
	return decimal(n)
}

// plural formats a count with its noun: "1 turn", "2 turns".
func plural(n int, word string) string { return display.Count(n, word, word+"s") }

// decimal formats a number, including zero.
func decimal[T int | int64](n T) string { return strconv.FormatInt(int64(n), 10) }

// oneDigit formats a measured number with one decimal.
func oneDigit(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }
