package cli

import (
	"strconv"
	"strings"
	"time"

	"github.com/rivo/uniseg"

	"contextinfinity/backend/internal/display"
)

// table is rows of cells in aligned columns. The columns in right contain numbers and are aligned to the right.
type table struct {
	head  []string
	right map[int]bool
	rows  [][]string
}

func newTable(head ...string) *table { return &table{head: head, right: map[int]bool{}} }

// numbers right-aligns columns.
func (t *table) numbers(columns ...int) *table {
	for _, c := range columns {
		t.right[c] = true
	}
	return t
}

func (t *table) add(cells ...string) {
	for i := range cells {
		cells[i] = line(cells[i])
	}
	t.rows = append(t.rows, cells)
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
	return strconv.FormatInt(int64(n), 10)
}

// plural formats a count with its noun: "1 turn", "2 turns".
func plural(n int, word string) string { return display.Count(n, word, word+"s") }

// decimal formats a number, including zero.
func decimal[T int | int64](n T) string { return strconv.FormatInt(int64(n), 10) }

// oneDigit formats a measured number with one decimal.
func oneDigit(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }
