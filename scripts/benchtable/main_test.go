package main

import (
	"bytes"
	"strings"
	"testing"
)

const output = `goos: linux
pkg: contextinfinity/backend/journal
cpu: Some Processor
BenchmarkAppend/buffered-2   	 1000000	      500.0 ns/op	 460.00 MB/s	     128 B/op	       2 allocs/op
BenchmarkAppend/write_ahead-2	  100000	      1000 ns/op	     128 B/op	       2 allocs/op
BenchmarkReplay-2            	      10	 2500000 ns/op	 2097152 B/op	      90 allocs/op
PASS
pkg: contextinfinity/backend/store
BenchmarkSessions-2   	 1	 10 ns/op
BenchmarkSessions-2   	 1	 30 ns/op
BenchmarkSessions-2   	 1	 20 ns/op
FAIL	contextinfinity/backend/turn	0.1s
`

func TestTable(t *testing.T) {
	results, rest, err := parse(strings.NewReader(output))
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != 4 {
		t.Fatalf("%d benchmarks, want 4", len(results))
	}
	if got := strings.Join(rest, "|"); got != "cpu: Some Processor|FAIL\tcontextinfinity/backend/turn\t0.1s" {
		t.Errorf("rest = %q", got)
	}
	var out bytes.Buffer
	printTable(&out, results)
	rows := map[string][]string{}
	for _, text := range strings.Split(out.String(), "\n") {
		if fields := strings.Fields(text); len(fields) > 0 {
			rows[fields[0]] = fields[1:]
		}
	}
	for name, want := range map[string]string{
		"Append/buffered":    "500.0 ns 1.00x 128 B 2 460 MB/s",
		"Append/write_ahead": "1.00 us 2.00x 128 B 2",
		"Replay":             "2.50 ms 2.0 MB 90",
		"Sessions":           "20.0 ns 0 B 0", // the median of three runs
	} {
		if got := strings.Join(rows[name], " "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestNothingRan(t *testing.T) {
	results, _, err := parse(strings.NewReader("PASS\nok  \tcontextinfinity/backend/chat\t0.01s\n"))
	if err != nil || len(results) != 0 {
		t.Errorf("parse = %v, %v; want nothing", results, err)
	}
}
