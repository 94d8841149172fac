package store

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// BenchmarkBackup measures a backup of 100 MB and the longest time that a writer waits while it runs.
func BenchmarkBackup(b *testing.B) {
	f := newFixture(b)
	_, branch := f.session("s")
	for i := range 100 {
		f.file(branch.SessionID, fmt.Sprint("d", i), fmt.Sprint(i, strings.Repeat(" these are words", 1<<16)))
	}
	f.checkpoint()
	var longest time.Duration
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
			started := time.Now()
			if err := f.PutSetting(f.ctx, "k", "v"); err != nil {
				b.Error(err)
			}
			longest = max(longest, time.Since(started))
		}
	}()
	b.ReportAllocs()
	for b.Loop() {
		made := f.backup(b.TempDir())
		b.SetBytes(made.Bytes)
	}
	close(stop)
	<-done
	b.ReportMetric(float64(longest.Milliseconds()), "ms-longest-write")
}
