package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// restoreSites are the calls to the disk that a restore makes, each with some of its hits.
func restoreSites(found hits) []string {
	var sites []string
	for _, site := range slices.Sorted(maps.Keys(found)) {
		if !strings.HasPrefix(site, "io.") || site == "io.shm.write" {
			continue
		}
		n := found[site]
		for i := range min(n, mostHits) {
			sites = append(sites, fmt.Sprintf("%s:%d", site, 1+i*n/min(n, mostHits)))
		}
	}
	return sites
}

// Each call to the disk that a restore makes fails, or the power goes there: the old
// data or the new is there, whole, what was said of it is so, and the next restore works.
func TestEveryFaultOfARestore(t *testing.T) {
	t.Parallel()
	bench := newFaultBench(t)
	backup := filepath.Join(bench.dir, "copy.db")
	bench.ok("backup", backup)
	bench.ok("send", "--session", bench.session, lastQuestion)
	h := bench.fresh(t)
	trace := filepath.Join(h.dir, "trace")
	h.using(breakable(t)).with("CONTEXTINFINITY_FAULT_TRACE="+trace).ok("restore", backup, "--yes")
	sites := restoreSites(readHits(t, trace))
	if len(sites) < 60 {
		t.Fatalf("a restore reaches only %q", sites)
	}
	var specs []string
	for _, site := range sites {
		for _, action := range []string{"power", "eio", "enospc"} {
			specs = append(specs, site+":"+action)
		}
	}
	for _, spec := range sampled(specs, 9) {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			h := bench.fresh(t)
			r := h.using(breakable(t)).with("CONTEXTINFINITY_FAULT="+spec).run("restore", backup, "--yes", "--json")
			h.ok("reconcile")
			h.clean()
			turns := len(h.show(h.session).Turns)
			switch {
			case turns != 1 && turns != 2:
				t.Errorf("%d turns", turns)
			case r.code == 0 && turns != 1:
				t.Errorf("restored, and the old data is there")
			case r.code == 1:
				var doc struct{ Error *failure }
				r.document(&doc)
				if doc.Error == nil || doc.Error.Message == "" {
					t.Fatalf("no error: %s", r.stdout)
				}
				if goesOn := strings.Contains(doc.Error.Message, "goes on at the next start"); goesOn != (turns == 1) {
					t.Errorf("%d turns after %q", turns, doc.Error.Message)
				}
			}
			h.ok("restore", backup, "--yes")
			h.clean()
			if turns := len(h.show(h.session).Turns); turns != 1 {
				t.Errorf("restored again there are %d turns", turns)
			}
		})
	}
}
