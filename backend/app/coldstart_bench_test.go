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

// cold is a data directory that was made by BenchmarkColdStartData of backend/store.
var cold = flag.String("cold", "", "data directory for the cold start")

// BenchmarkColdStart measures what a start of the window does before it can be used, with 1 000 sessions and 100 000
// units: all of it, and its parts.
func BenchmarkColdStart(b *testing.B) {
	if *cold == "" {
		b.Skip("-cold DIRECTORY is not given")
	}
	o := cli.OpenOptions{DataDir: *cold, ConfigPath: filepath.Join(*cold, "config.toml")}
	b.Run("whole", func(b *testing.B) {
		for b.Loop() {
			w := window(o, Page{})
			firstPaint(b, serviceIn[*api.Sessions](w))
			b.StopTimer()
			w.Close()
			b.StartTimer()
		}
	})
	b.Run("parts", func(b *testing.B) {
		parts := map[string]time.Duration{}
		since := func(part string, begun time.Time) { parts[part] += time.Since(begun) }
		for b.Loop() {
			begun := time.Now()
			s, err := store.Open(b.Context(), store.Options{DataDir: *cold})
			fatal(b, err)
			since("open-and-migration-check", begun)
			fatal(b, s.Close())
			begun = time.Now()
			a, err := openApp(b.Context(), cli.OpenOptions{DataDir: o.DataDir, ConfigPath: o.ConfigPath, Publish: api.NewHub()}, secrets.New())
			fatal(b, err)
			since("open-and-recovery", begun)
			begun = time.Now()
			_, err = a.upkeep.Reconcile(b.Context())
			fatal(b, err)
			since("recovery", begun)
			core := &api.Core{Turns: a.turns, Jobs: a.jobs, Branches: a.branches, Counter: counter{}, Hub: api.NewHub(), Log: a.log}
			a.records(core)
			list, snapshot := firstPaint(b, api.NewSessions(core))
			parts["session-list"] += list
			parts["first-snapshot"] += snapshot
			begun = time.Now()
			ns, ok, err := a.store.Serving(b.Context())
			fatal(b, err)
			if !ok {
				b.Fatal("no vectors serve")
			}
			fatal(b, a.index.Warm(b.Context(), ns))
			since("index-behind", begun)
			fatal(b, a.close())
		}
		for part, took := range parts {
			b.ReportMetric(float64(took.Microseconds())/1000/float64(b.N), part+"-ms")
		}
	})
}

// firstPaint requests what the first paint shows.
func firstPaint(b *testing.B, s *api.Sessions) (list, snapshot time.Duration) {
	b.Helper()
	begun := time.Now()
	rows, err := s.List(false, "")
	fatal(b, err)
	if len(rows) < 1000 {
		b.Fatalf("%d sessions", len(rows))
	}
	list = time.Since(begun)
	begun = time.Now()
	snap, err := s.Open(rows[0].ID, "")
	fatal(b, err)
	if len(snap.Turns) == 0 {
		b.Fatal("no turns")
	}
	return list, time.Since(begun)
}

func fatal(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
