package crash

import (
	"bytes"
	"testing"

	"contextinfinity/test/harness"
)

// A power failure right after a prompt was accepted does not lose it. Without the fsync of the log it is lost, which
// proves that the simulation works; kill -9 alone loses nothing.
func TestPowerLossKeepsAcceptedPrompts(t *testing.T) {
	t.Parallel()
	bench := newFaultBench(t)
	for fault, kept := range map[string]bool{
		"tx.turn.accept.committed:power":                      true,
		"tx.turn.accept.committing:power":                     false,
		"io.wal.sync:skip,tx.turn.accept.committed:power":     false,
		"io.wal.sync:skip,tx.turn.accept.committed:exit":      true,
		"io.wal.sync:skip,io.wal.write:3:power":               false,
		"io.journal.sync:skip,tx.turn.accept.committed:power": true,
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			h := bench.copy(t)
			h.Using(harness.Breakable(t)).With("CONTEXTINFINITY_FAULT="+fault).Run("send", "--session", h.session, faultQuestion).Exits(137)
			h.Clean()
			turns := h.Show(h.session).Turns
			if turns[0].Text() != firstAnswer {
				t.Errorf("the first turn is %+v", turns[0])
			}
			if got := len(turns) == 2 && turns[1].User.RenderedText() == faultQuestion; got != kept {
				t.Errorf("the prompt is stored: %v, want %v", got, kept)
			}
			h.OK("send", "--session", h.session, "--json", lastQuestion)
			h.Clean()
		})
	}
}

// The shipped program contains no fault points.
func TestTheShippedProgramHasNoFaultPoints(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"CONTEXTINFINITY_FAULT", "internal/faults.(*plan)", "internal/faultfs.losePower", "backend/store/sqlite.vfsWrite"} {
		if in := bytes.Contains(harness.ReadFile(t, harness.Shipped(t)), []byte(part)); in {
			t.Errorf("the shipped program contains %q", part)
		}
		if in := bytes.Contains(harness.ReadFile(t, harness.Breakable(t)), []byte(part)); !in {
			t.Errorf("the build with fault points does not contain %q, so the check cannot fail", part)
		}
	}
}
