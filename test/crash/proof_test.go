package crash

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"contextinfinity/test/harness"
)

// proof removes a safeguard. The harness must then find a problem; otherwise its checks prove nothing.
type proof struct {
	what string
	// faults are tried one after the other, until a problem is found.
	faults func(counts hits) []string
}

var proofs = []proof{
	{"without the journal's fsync, power is lost", func(hits) []string {
		var out []string
		for n := range 6 { // several attempts, because what was reported before the fault depends on timing
			out = append(out, fmt.Sprintf("io.journal.sync:skip,turn.event:%d:power", 8-n%2))
		}
		return out
	}},
	{"without transactions, killed between writes", func(counts hits) []string {
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

// With a safeguard removed, the harness must find a problem; otherwise its checks prove nothing.
func TestTheHarnessFindsRemovedSafeguards(t *testing.T) {
	t.Parallel()
	r := newSetup(t, 1)
	for i, p := range proofs {
		t.Run(p.what, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(r.work, fmt.Sprintf("proof-%d", i))
			s, err := r.newStage(t.Context(), 200+i, aMessage, dir)
			if err != nil {
				t.Fatal(err)
			}
			tried, found, err := p.fails(t.Context(), s)
			if err != nil || len(found) == 0 {
				t.Fatalf("%d faults were tried and nothing was found (%v)", tried, err)
			}
			t.Logf("fault %d: %s", tried, harness.Clip(found[0]))
		})
	}
}
