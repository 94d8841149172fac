package store

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/imports"
)

// BenchmarkImport imports a conversation of 10 000 turns with a branch at every hundredth. longest-ms is the longest
// time that one part kept other writers waiting.
func BenchmarkImport(b *testing.B) {
	repeated := strings.Repeat("It was said before and is said again. ", 40)
	lines := make([]string, 0, 10_100)
	before := "-"
	for i := range 10_000 {
		lines = append(lines, fmt.Sprintf("t%d %s q%d %d %s", i, before, i, i, repeated))
		if i%100 == 99 {
			lines = append(lines, fmt.Sprintf("r%d %s q%d again %s", i, before, i, repeated))
		}
		before = fmt.Sprintf("t%d", i)
	}
	c := foreign(before, lines...)
	for b.Loop() {
		f := newFixture(b)
		m := imports.Importer{Store: f.importsPart, Ctx: f.ctx, Conversation: &c, Rules: byRule, Now: f.clock.Now()}
		f.ok(m.Load())
		f.ok(m.Sort())
		var longest time.Duration
		for last := false; !last; {
			part, err := m.Plan()
			f.ok(err)
			started := time.Now()
			f.ok(m.Write(part))
			longest, last = max(longest, time.Since(started)), part.Last
		}
		b.ReportMetric(float64(longest.Microseconds())/1000, "longest-ms")
		if im := f.imports(c); im.Outcome != chat.ImportAlready {
			b.Fatalf("%+v", im)
		}
	}
	b.ReportMetric(float64(len(c.Turns)*b.N)/b.Elapsed().Seconds(), "turns/s")
}
