package main

import (
	"context"
	"fmt"
	"path/filepath"

	"contextinfinity/test/harness"
)

// proof removes a safeguard. The harness must then find a problem; otherwise its checks prove nothing.
type proof struct {
	what string
	// faults are tried one after the other, until a problem is found.
	faults func(counts map[string]int) []string
}

var proofs = []proof{
	{"without the journal's fsync, power is lost", func(map[string]int) []string {
		var out []string
		for n := range 6 { // several attempts, because what was reported before the fault depends on timing
			out = append(out, fmt.Sprintf("io.journal.sync:skip,turn.event:%d:power", 8-n%2))
		}
		return out
	}},
	{"without transactions, killed between writes", func(counts map[string]int) []string {
		var out []string
		// From the acceptance of the message on; the start before it writes little.
		for n := 16; n <= counts["io.wal.write"]; n++ {
			out = append(out, fmt.Sprintf("store.transaction:skip,io.wal.write:%d:exit", n))
		}
		return out
	}},
}

// fails kills a stage with a safeguard removed until a problem is found, and returns the problems.
func (p proof) fails(ctx context.Context, s *stage) (tried int, found []string, err error) {
	counts, err := s.trace(ctx, s.Dir+"-trace")
	if err != nil {
		return 0, nil, err
	}
	for i, fault := range p.faults(counts) {
		found, died, err := s.die(ctx, fault, fmt.Sprintf("%s-proof-%d", s.Dir, i))
		if err != nil || died && len(found) > 0 {
			return i + 1, found, err
		}
		tried = i + 1
	}
	return tried, nil, nil
}

// runProofs reports a problem for each proof that found none.
func runProofs(ctx context.Context, r *setup) ([]outcome, error) {
	var rows []outcome
	for i, p := range proofs {
		s, err := r.newStage(ctx, 200+i, scenarios[1], filepath.Join(r.work, fmt.Sprintf("proof-%d", i)))
		if err != nil {
			return rows, err
		}
		tried, found, err := p.fails(ctx, s)
		if err != nil {
			return rows, err
		}
		out := outcome{what: "self-proof: " + p.what, tried: tried}
		if len(found) == 0 {
			out.found = []string{"THE HARNESS FOUND NOTHING, although a safeguard was removed"}
		} else {
			out.detail = "found: " + harness.Clip(found[0])[:min(100, len(harness.Clip(found[0])))]
		}
		rows = append(rows, out)
	}
	return rows, nil
}
