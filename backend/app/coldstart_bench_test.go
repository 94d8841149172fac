package app

import (
	"flag"
	"path/filepath"
	"testing"
	"time"

	"contextinfinity/backend/api"
	"contextinfinity/backend/cli"
	"contextinfinity/backend/secrets"
	"contextinfinity/backend/store"
)

// cold is a data directory that BenchmarkColdStartData of backend/store created.
var cold = flag.String("cold", "", "data directory for the cold start")

// BenchmarkColdStart measures how long the window takes until it can be used, with 1 000 sessions and 100 000 units: in
// total, and by part.
func BenchmarkColdStart(b *testing.B) {
	if *cold == "" {
		b.Skip("-cold DIRECTORY is not given")
	}
	o := cli.OpenOptions{DataDir: *cold, ConfigPath: filepath.Join(*cold, "config.toml")}
	b.Run("total", func(b *testing.B) {
		for b.Loop() {
			w := window(o, handover{}, nil)
			firstPaint(b, serviceIn[*api.Sessions](w))
			b.StopTimer()
			w.Close()
			b.StartTimer()
		}
	})
	b.Run("parts", func(b *testing.B) {
		parts := map[string]time.Duration{}
		since := func(part string, start time.Time) { parts[part] += time.Since(start) }
		for b.Loop() {
			start := time.Now()
			s, err := store.Open(b.Context(), store.Options{DataDir: *cold})
			fatal(b, err)
			since("open-and-migration-check", start)
			fatal(b, s.Close())
			start = time.Now()
			a, err := openApp(b.Context(), cli.OpenOptions{DataDir: o.DataDir, ConfigPath: o.ConfigPath, Publish: api.NewHub()}, secrets.New())
			fatal(b, err)
			since("open-and-recovery", start)
			start = time.Now()
			_, err = a.Reconciler.Reconcile(b.Context())
			fatal(b, err)
			since("recovery", start)
			core := &api.Core{Set: &a.Set, Hub: api.NewHub()}
			list, snapshot := firstPaint(b, api.NewSessions(core))
			parts["session-list"] += list
			parts["first-snapshot"] += snapshot
			start = time.Now()
			ns, ok, err := a.Store.Serving(b.Context())
			fatal(b, err)
			if !ok {
				b.Fatal("no vectors serve")
			}
			fatal(b, a.index.Warm(b.Context(), ns))
			since("index-warm", start)
			fatal(b, a.close())
		}
		for part, took := range parts {
			b.ReportMetric(float64(took.Microseconds())/1000/float64(b.N), part+"-ms")
		}
	})
}

// firstPaint requests the data that the window shows first, and measures both requests.
func firstPaint(b *testing.B, s *api.Sessions) (list, snapshot time.Duration) {
	b.Helper()
	start := time.Now()
	rows, err := s.List(false, "")
	fatal(b, err)
	if len(rows) < 1000 {
		b.Fatalf("%d sessions", len(rows))
	}
	list = time.Since(start)
	start = time.Now()
	snap, err := s.Open(rows[0].ID, "")
	fatal(b, err)
	if len(snap.Turns) == 0 {
		b.Fatal("no turns")
	}
	return list, time.Since(start)
}

func fatal(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
