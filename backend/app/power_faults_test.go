package app

import (
	"bytes"
	"testing"
)

// Loss of power right after a prompt was accepted: it is there. With the log's fsync
// taken away it is gone, so the simulation would notice; kill -9 alone takes nothing.
func TestLossOfPowerKeepsWhatWasAccepted(t *testing.T) {
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
			h := bench.fresh(t)
			h.using(breakable(t)).with("CONTEXTINFINITY_FAULT="+fault).run("send", "--session", h.session, faultQuestion).exits(137)
			h.clean()
			turns := h.show(h.session).Turns
			if turns[0].text() != firstAnswer {
				t.Errorf("the first turn is %+v", turns[0])
			}
			if got := len(turns) == 2 && turns[1].User.RenderedText() == faultQuestion; got != kept {
				t.Errorf("the prompt is there: %v, want %v", got, kept)
			}
			h.ok("send", "--session", h.session, "--json", lastQuestion)
			h.clean()
		})
	}
}

// Nothing of the fault points is in the program that is shipped.
func TestTheShippedProgramHasNoFaultPoints(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"CONTEXTINFINITY_FAULT", "internal/faults.(*plan)", "internal/disk.losePower", "backend/store.vfsWrite"} {
		if in := bytes.Contains(readFile(t, shipped(t)), []byte(part)); in {
			t.Errorf("the shipped program holds %q", part)
		}
		if in := bytes.Contains(readFile(t, breakable(t)), []byte(part)); !in {
			t.Errorf("the other one does not hold %q: the check cannot fail", part)
		}
	}
}
