package builtin

import (
	"fmt"
	"strings"

	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/lists"
)

// Limits of a diff: lines kept around a change, and lines of both sides that are compared one by one; beyond that,
// all old lines are removed and all new ones added.
const (
	diffContext = 3
	maxCompared = 2000
)

// lineDiff returns the difference between two texts: "-" marks removed lines, "+" added ones, a space unchanged ones.
// Lines far from a change are only counted.
func lineDiff(before, after string) string {
	a, b := diffLines(before), diffLines(after)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	if head == len(a) && head == len(b) {
		return ""
	}
	out := lists.Map(a[:head], func(l string) string { return " " + l })
	out = append(out, compareLines(a[head:len(a)-tail], b[head:len(b)-tail])...)
	for _, l := range a[len(a)-tail:] {
		out = append(out, " "+l)
	}
	return nearChanges(out)
}

// diffLines returns the lines of a text. A last line without a line end differs from one with it.
func diffLines(s string) []string {
	if s == "" {
		return nil
	}
	lines := strings.Split(s, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		return lines[:last]
	}
	lines[len(lines)-1] += " [no line end]"
	return lines
}

// compareLines returns the shortest edit from one list of lines to another.
func compareLines(a, b []string) []string {
	var out []string
	if len(a) > maxCompared || len(b) > maxCompared {
		for _, l := range a {
			out = append(out, "-"+l)
		}
		for _, l := range b {
			out = append(out, "+"+l)
		}
		return out
	}
	common := make([][]int32, len(a)+1) // lengths of the longest common subsequences of a[i:] and b[j:]
	for i := range common {
		common[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, " "+a[i])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			out = append(out, "-"+a[i])
			i++
		default:
			out = append(out, "+"+b[j])
			j++
		}
	}
	return out
}

// nearChanges replaces unchanged lines far from a change by their number.
func nearChanges(lines []string) string {
	keep := make([]bool, len(lines))
	for i, l := range lines {
		if l[0] == ' ' {
			continue
		}
		for k := max(0, i-diffContext); k <= min(len(lines)-1, i+diffContext); k++ {
			keep[k] = true
		}
	}
	var b strings.Builder
	for i := 0; i < len(lines); {
		if keep[i] {
			b.WriteString(lines[i] + "\n")
			i++
			continue
		}
		from := i
		for i < len(lines) && !keep[i] {
			i++
		}
		fmt.Fprintf(&b, "  … %s unchanged\n", display.Count(i-from, "line", "lines"))
	}
	return b.String()
}
