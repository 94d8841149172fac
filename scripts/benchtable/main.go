// Command benchtable reads the output of go test -bench and prints a table: the time and memory of each benchmark,
// its own metrics, and, for the cases of one benchmark, the time relative to the first case. Times depend on the
// machine; ratios can be compared between machines.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"text/tabwriter"
)

// result is one benchmark with the values of its runs.
type result struct {
	pkg, name string
	runs      map[string][]float64 // by unit
	order     []string             // units, in order of appearance
}

// line matches "BenchmarkName-2   1000   1234 ns/op   56 B/op ...".
var line = regexp.MustCompile(`^(Benchmark\S*?)(-\d+)?\s+\d+\s+(.*)$`)

func main() {
	results, rest, err := parse(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchtable:", err)
		os.Exit(1)
	}
	for _, text := range rest {
		fmt.Println(text)
	}
	printTable(os.Stdout, results)
	if len(results) == 0 {
		fmt.Fprintln(os.Stderr, "benchtable: no benchmark ran")
		os.Exit(1)
	}
}

// parse returns the benchmarks in order, and other lines worth showing: the machine's name and failures.
func parse(r io.Reader) (results []*result, rest []string, err error) {
	byName := map[string]*result{}
	pkg, cpu := "", ""
	scan := bufio.NewScanner(r)
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		text := scan.Text()
		if name, found := strings.CutPrefix(text, "pkg: "); found {
			pkg = name
		}
		if name, found := strings.CutPrefix(text, "cpu: "); found && cpu == "" {
			cpu = name
			rest = append(rest, text)
		}
		if failed(text) {
			rest = append(rest, text)
		}
		m := line.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		b := byName[pkg+" "+m[1]]
		if b == nil {
			b = &result{pkg: pkg, name: strings.TrimPrefix(m[1], "Benchmark"), runs: map[string][]float64{}}
			byName[pkg+" "+m[1]] = b
			results = append(results, b)
		}
		b.add(strings.Fields(m[3]))
	}
	return results, rest, scan.Err()
}

func failed(text string) bool {
	return strings.HasPrefix(text, "FAIL") || strings.HasPrefix(text, "--- FAIL") || strings.HasPrefix(text, "panic:")
}

// add adds pairs of a number and its unit.
func (b *result) add(fields []string) {
	for i := 0; i+1 < len(fields); i += 2 {
		value, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return
		}
		unit := fields[i+1]
		if len(b.runs[unit]) == 0 {
			b.order = append(b.order, unit)
		}
		b.runs[unit] = append(b.runs[unit], value)
	}
}

func (b *result) median(unit string) float64 {
	values := append([]float64(nil), b.runs[unit]...)
	if len(values) == 0 {
		return 0
	}
	sort.Float64s(values)
	return values[len(values)/2]
}

// group returns the benchmark that a case belongs to; cases of one benchmark are compared.
func (b *result) group() string {
	name, _, _ := strings.Cut(b.name, "/")
	return b.pkg + " " + name
}

func printTable(w io.Writer, results []*result) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	pkg := ""
	first := map[string]*result{}
	for _, b := range results {
		if b.pkg != pkg {
			pkg = b.pkg
			fmt.Fprintf(table, "\n%s\ttime/op\tratio\tbytes/op\tallocs/op\treported\n", pkg)
		}
		if first[b.group()] == nil {
			first[b.group()] = b
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\t%s\t%.0f\t%s\n", b.name, duration(b.median("ns/op")), ratio(b, first[b.group()]),
			size(b.median("B/op")), b.median("allocs/op"), b.reported())
	}
	_ = table.Flush() // to the terminal
}

// ratio returns the time relative to the first case of the same benchmark, or "" without cases.
func ratio(b, first *result) string {
	base := first.median("ns/op")
	if !strings.Contains(b.name, "/") || base == 0 {
		return ""
	}
	return fmt.Sprintf("%.2fx", b.median("ns/op")/base)
}

func (b *result) reported() string {
	var words []string
	for _, unit := range b.order {
		if unit == "ns/op" || unit == "B/op" || unit == "allocs/op" {
			continue
		}
		words = append(words, strconv.FormatFloat(b.median(unit), 'g', 5, 64)+" "+unit)
	}
	return strings.Join(words, ", ")
}

func duration(ns float64) string {
	switch {
	case ns >= 1e9:
		return fmt.Sprintf("%.2f s", ns/1e9)
	case ns >= 1e6:
		return fmt.Sprintf("%.2f ms", ns/1e6)
	case ns >= 1e3:
		return fmt.Sprintf("%.2f us", ns/1e3)
	}
	return fmt.Sprintf("%.1f ns", ns)
}

func size(bytes float64) string {
	switch {
	case bytes >= 1<<20:
		return fmt.Sprintf("%.1f MB", bytes/(1<<20))
	case bytes >= 1<<10:
		return fmt.Sprintf("%.1f KB", bytes/(1<<10))
	}
	return fmt.Sprintf("%.0f B", bytes)
}
