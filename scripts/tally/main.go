// Command tally reads the output of go test -json and says what a person wants
// to know: a line a package, the words of what failed, their names once more at
// the end, and one closing line that counts. It ends with 1 if anything failed,
// or if no test ran at all.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
)

// event is a line of go test -json (go doc test2json).
type event struct {
	Action      string
	Package     string
	ImportPath  string // in place of Package in the lines of a failed build
	Test        string
	Elapsed     float64
	Output      string
	FailedBuild string
}

// run is what is known of one package, or of one build of it.
type run struct {
	passed, failed, skipped int
	output                  map[string][]string // by test; "" is the package's own
	ended                   string              // pass, fail, skip
	elapsed                 float64
}

type tally struct {
	out      io.Writer
	runs     map[string]*run
	skipped  map[string]string // full name to reason
	failed   map[string]string // full name to the first words of its error
	strayed  []string          // lines that are not events: the go command's own complaints
	packages int
}

func main() {
	t := &tally{out: os.Stdout, runs: map[string]*run{}, skipped: map[string]string{}, failed: map[string]string{}}
	if err := t.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "tally:", err)
		os.Exit(1)
	}
	if !t.close() {
		os.Exit(1)
	}
}

func (t *tally) read(r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if text := strings.TrimSpace(line); text != "" {
			var e event
			if json.Unmarshal([]byte(text), &e) == nil {
				t.take(e)
			} else {
				t.strayed = append(t.strayed, text)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (t *tally) take(e event) {
	name := e.Package
	if name == "" {
		name = e.ImportPath
	}
	p := t.runs[name]
	if p == nil {
		p = &run{output: map[string][]string{}}
		t.runs[name] = p
	}
	switch e.Action {
	case "output", "build-output":
		p.output[e.Test] = append(p.output[e.Test], e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			t.endPackage(name, p, e)
		} else {
			t.endTest(name, p, e)
		}
	case "build-fail":
		fmt.Fprintf(t.out, "FAIL  %s does not build\n%s", name, strings.Join(p.output[""], ""))
	}
}

func (t *tally) endTest(name string, p *run, e event) {
	switch e.Action {
	case "pass":
		p.passed++
	case "skip":
		p.skipped++
		t.skipped[name+" "+e.Test] = reason(p.output[e.Test])
	case "fail":
		p.failed++
		t.failed[name+" "+e.Test] = complaint(p.output[e.Test])
		return // its output is printed when the package ends
	}
	delete(p.output, e.Test)
}

func (t *tally) endPackage(name string, p *run, e event) {
	p.ended, p.elapsed = e.Action, e.Elapsed
	if e.Action == "skip" { // no test files
		return
	}
	t.packages++
	if e.Action == "pass" {
		fmt.Fprintf(t.out, "ok    %-52s %4d passed  %6.1fs\n", name, p.passed, p.elapsed)
		return
	}
	if e.FailedBuild == "" {
		for _, test := range names(p.output) {
			fmt.Fprint(t.out, strings.Join(p.output[test], ""))
		}
	}
	if p.failed == 0 {
		p.failed = 1 // it did not build, or died outside a test
		t.failed[name] = complaint(p.output[""])
		if e.FailedBuild != "" {
			t.failed[name] = "does not build: " + complaint(t.built(e.FailedBuild))
		}
	}
	fmt.Fprintf(t.out, "FAIL  %-52s %4d passed, %d failed\n", name, p.passed, p.failed)
}

// close prints the skips and the closing line, and says whether all is well.
func (t *tally) close() bool {
	for _, line := range t.strayed {
		fmt.Fprintln(t.out, line)
	}
	var sum run
	for _, p := range t.runs {
		sum.passed += p.passed
		sum.failed += p.failed
		sum.skipped += p.skipped
	}
	for _, name := range names(t.skipped) {
		fmt.Fprintf(t.out, "skip  %s: %s\n", name, t.skipped[name])
	}
	for _, name := range names(t.failed) {
		if !t.failedBelow(name) {
			fmt.Fprintf(t.out, "failed  %s: %s\n", name, t.failed[name])
		}
	}
	fmt.Fprintf(t.out, "%d passed, %d failed, %d skipped in %d packages\n", sum.passed, sum.failed, sum.skipped, t.packages)
	return sum.failed == 0 && sum.passed > 0
}

// built is what the build of a package said.
func (t *tally) built(path string) []string {
	if b := t.runs[path]; b != nil {
		return b.output[""]
	}
	return nil
}

// failedBelow reports whether a subtest of it failed, which says more.
func (t *tally) failedBelow(name string) bool {
	for other := range t.failed {
		if strings.HasPrefix(other, name+"/") {
			return true
		}
	}
	return false
}

// complaint is the line of a failed test that says why: the first that names a
// place or a panic, or else the first at all.
func complaint(output []string) string {
	first := ""
	for _, line := range output {
		text := strings.TrimSpace(line)
		if strings.Contains(text, ".go:") || strings.HasPrefix(text, "panic:") || strings.Contains(text, "DATA RACE") {
			return text
		}
		if first == "" && !strings.HasPrefix(text, "===") && !strings.HasPrefix(text, "---") && !strings.HasPrefix(text, "#") {
			first = text
		}
	}
	if first == "" {
		return "it said nothing"
	}
	return first
}

// reason is what a skipped test said last, without its file and line.
func reason(output []string) string {
	for i := len(output) - 1; i >= 0; i-- {
		text := strings.TrimSpace(output[i])
		if text == "" || strings.HasPrefix(text, "---") || strings.HasPrefix(text, "===") {
			continue
		}
		if _, said, found := strings.Cut(text, ".go:"); found {
			_, text, _ = strings.Cut(said, ": ")
		}
		return text
	}
	return "no reason given"
}

func names[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
