package exporting_test

import (
	"io"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"contextinfinity/backend/atrest"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/exporting"
)

// BenchmarkExport exports a session of 10 000 turns with 2 KB of Markdown each, and reports the peak of additional
// memory.
func BenchmarkExport(b *testing.B) {
	d := longFixture(b)
	for _, format := range []exporting.Format{exporting.FormatMarkdown, exporting.FormatJSON, exporting.FormatHTML, exporting.FormatBundle} {
		b.Run(string(format), func(b *testing.B) {
			r := exporting.Request{Scope: exporting.ScopeSession, Session: d.session.ID, Format: format}
			var before, now runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			peak := before.HeapInuse
			for b.Loop() {
				res, err := d.WriteTo(d.ctx, r, io.Discard, func(int64, int64) {
					runtime.ReadMemStats(&now)
					peak = max(peak, now.HeapInuse)
				})
				if err != nil || res.Turns != longTurns {
					b.Fatal(res, err)
				}
				b.SetBytes(res.Bytes)
			}
			b.ReportMetric(float64(peak-before.HeapInuse)/1e6, "MB-peak")
		})
	}
}

// BenchmarkDrag measures how long a drag waits for its file, with and without an existing one.
func BenchmarkDrag(b *testing.B) {
	d := longFixture(b)
	r := exporting.Request{Scope: exporting.ScopeSession, Session: d.session.ID, Format: exporting.FormatMarkdown}
	_, err := d.DragFile(d.ctx, r)
	d.ok(err)
	b.Run("unchanged", func(b *testing.B) {
		for b.Loop() {
			if _, err := d.DragFile(d.ctx, r); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			atrest.SweepStart(d.dir)
			if _, err := d.DragFile(d.ctx, r); err != nil {
				b.Fatal(err)
			}
		}
	})
}

const longTurns = 10_000

func longFixture(b *testing.B) *fixture {
	b.Helper()
	d := newFixture(b)
	text := "## A heading\n\nSome *prose* of a sail that holds, `code` and [a link](https://example.com).\n\n```go\nfunc sail() {}\n```\n\n" + strings.Repeat("Words that go on and on about ships. ", 45)
	turns := make([]string, longTurns)
	for i := range turns {
		turns[i] = strconv.Itoa(i+1) + " " + strconv.Itoa(i)
	}
	turns[0] = "1"
	d.session = d.importsAs("long", "A long journey", chat.AssistantText(text), turns...)
	return d
}
