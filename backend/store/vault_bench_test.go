package store

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"contextinfinity/test/testtier"
)

// BenchmarkVault measures exchanges through a folder: a conversation of many turns is sent, arrives on another device, and
// then grows by a turn at a time.
func BenchmarkVault(b *testing.B) {
	for _, turns := range []int{100, 1000, 10_000} {
		b.Run(fmt.Sprintf("%d turns", turns), func(b *testing.B) {
			a := &device{fixture: newFixtureIn(b, testtier.Memory(b)), name: "A"}
			other := &device{fixture: newFixtureIn(b, testtier.Memory(b)), name: "B"}
			for _, d := range []*device{a, other} {
				d.ok(d.core.Write(d.ctx, "bench", d.core.RenewDevice)) // the fixtures are copies of one data directory
			}
			session, branch := a.session("long")
			for i := range turns {
				a.full(branch.ID, fmt.Sprint("question ", i), strings.Repeat("some words of an answer ", 20))
			}
			timed := func(m *member) time.Duration {
				began := time.Now()
				m.sync()
				return time.Since(began)
			}
			from := a.join("")
			sentAll := timed(from)
			size := 0
			for _, object := range objects(b, from.folder) {
				size += len(object)
			}
			ofBundle := float64(size) / float64(len(a.give(session.ID)))
			to := other.join(from.folder)
			receivedAll := timed(to)
			for _, d := range []*device{a, other} {
				_, _, err := d.Snapshot(d.ctx) // as maintenance does
				d.ok(err)
			}
			var sent, received time.Duration
			for b.Loop() {
				a.full(branch.ID, "one more", "said")
				sent += timed(from)
				received += timed(to)
			}
			b.ReportMetric(ofBundle, "vault/bundle-bytes")
			b.ReportMetric(float64(sentAll.Milliseconds()), "send-all-ms")
			b.ReportMetric(float64(receivedAll.Milliseconds()), "receive-all-ms")
			b.ReportMetric(float64(sent.Milliseconds())/float64(b.N), "send-one-ms")
			b.ReportMetric(float64(received.Milliseconds())/float64(b.N), "receive-one-ms")
		})
	}
}
