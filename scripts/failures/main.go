// Command failures prints a short summary of the failures in a suite's log: the name of each failed test and the
// first lines of its error, so that they are visible even if only the end of a log is kept.
//
//	failures LINES LOG...   at most this many lines in total
//	failures -flaky LOG     the tests that only passed on the second attempt
package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// errorLines is how many lines of a failure are shown at most.
const errorLines = 4

// lineWidth is where a line is cut, in bytes.
const lineWidth = 200

var (
	// heads match the first line of a failure: gotestsum's, Playwright's, Vitest's.
	heads = regexp.MustCompile(`^(=== (FAIL: |Errors)|  \d+\) \[|\s*FAIL  ?\S.* > )`)
	// noise matches lines without information: rules, attachments, the frame around a piece of source.
	noise = regexp.MustCompile(`^\s*$|^[\s─⎯]+(\[\d+/\d+\])?[\s─⎯]*$|^\s*(attachment #|results/|Error Context:|\^|Retry #)`)
	// closing matches the final counts, which end a failure.
	closing = regexp.MustCompile(`^DONE |^\s*\d+ (passed|failed|flaky|skipped)|^\s*Tests? +\d|^\s*Test Files +\d`)
	colour  = regexp.MustCompile(`\x1b\[[0-9;]*m`)
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == "-flaky" {
		show(flaky(lines(os.Args[2])))
		return
	}
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: failures LINES LOG... | failures -flaky LOG")
		os.Exit(2)
	}
	limit, err := strconv.Atoi(os.Args[1])
	if err != nil || limit < 1 {
		fmt.Fprintf(os.Stderr, "failures: %q is not a number of lines\n", os.Args[1])
		os.Exit(2)
	}
	logs := os.Args[2:]
	for _, log := range logs {
		show(digest(lines(log), max(limit/len(logs), 2)))
	}
}

func show(lines []string) {
	for _, line := range lines {
		fmt.Println(line)
	}
}

func lines(path string) []string {
	data, err := os.ReadFile(path)
	if err != nil {
		return []string{"failures: " + err.Error()}
	}
	return strings.Split(colour.ReplaceAllString(string(data), ""), "\n")
}

// digest returns each failure's first line with as many lines of its error as fit; if there is no failure, the end of
// the log.
func digest(log []string, limit int) []string {
	var found [][]string
	for i, line := range log {
		if heads.MatchString(line) {
			found = append(found, append([]string{cut(strings.TrimSpace(line))}, details(log[i+1:])...))
		}
	}
	if len(found) == 0 {
		return tail(log, min(limit, 2*errorLines))
	}
	omitted := 0
	if len(found) > limit {
		omitted = len(found) - (limit - 1)
		found = found[:limit-1]
	}
	perFailure := max(1, limit/max(1, len(found)))
	var out []string
	for _, failure := range found {
		out = append(out, failure[:min(len(failure), perFailure)]...)
	}
	if omitted > 0 {
		out = append(out, fmt.Sprintf("and %d more", omitted))
	}
	return out
}

// details returns the first informative lines, up to the next failure.
func details(log []string) []string {
	var out []string
	for _, line := range log {
		if heads.MatchString(line) || closing.MatchString(line) || len(out) == errorLines {
			break
		}
		if !noise.MatchString(line) {
			out = append(out, "    "+cut(strings.TrimSpace(line)))
		}
	}
	return out
}

func tail(log []string, limit int) []string {
	var out []string
	for _, line := range log {
		if !noise.MatchString(line) {
			out = append(out, cut(strings.TrimRight(line, " \r")))
		}
	}
	return out[max(0, len(out)-limit):]
}

// flaky returns the names below Playwright's count of flaky tests.
func flaky(log []string) []string {
	var out []string
	below := false
	for _, line := range log {
		switch {
		case strings.HasSuffix(line, " flaky"):
			below = true
		case below && strings.HasPrefix(line, "    ["):
			out = append(out, cut(strings.TrimSpace(line)))
		default:
			below = false
		}
	}
	return out
}

func cut(line string) string {
	if len(line) <= lineWidth {
		return line
	}
	return strings.ToValidUTF8(line[:lineWidth], "") + " …"
}
