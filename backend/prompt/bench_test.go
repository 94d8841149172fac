package prompt

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// p95 reports the 95th percentile of the durations as a metric.
func p95(b *testing.B, durations []time.Duration) {
	slices.Sort(durations)
	b.ReportMetric(float64(durations[len(durations)*95/100].Microseconds())/1000, "p95-ms")
}

// BenchmarkAssemble measures only the assembler, with its history in memory (SPEC 14: 10 000 turns at most 1.5 times
// as long as 100).
func BenchmarkAssemble(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			in := sample()
			in.Limits.ContextLimit = 200_000
			in = in.over(long(n, 400), nil)
			var durations []time.Duration
			for b.Loop() {
				start := time.Now()
				if _, err := Assemble(in); err != nil {
					b.Fatal(err)
				}
				durations = append(durations, time.Since(start))
			}
			p95(b, durations)
		})
	}
}

// benchmarkRequire makes a benchmark usable as the require of grow.
type benchmarkRequire struct{ *testing.B }

// BenchmarkPrefix measures how much of each request repeats the beginning of the previous one, over 200 turns with
// compactions (SPEC 14: over 85 % without retrieval).
func BenchmarkPrefix(b *testing.B) {
	for b.Loop() {
		in := sample()
		in.Limits.ContextLimit = 200_000
		cs := grow(benchmarkRequire{b}, in, long(200, 400))
		share, advances := 0.0, 0
		for i := 1; i < len(cs); i++ {
			d := Compare(cs[i-1].Texts(), cs[i].Texts())
			share += float64(d.SharedBytes) / float64(d.TotalBytes)
			if cs[i].Manifest().History.Cut != cs[i-1].Manifest().History.Cut {
				advances++
			}
		}
		b.ReportMetric(100*share/float64(len(cs)-1), "%reused-prefix(target:>85)")
		b.ReportMetric(float64(advances), "advances(target:<=10)")
	}
}
