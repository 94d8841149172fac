package cli

import (
	"fmt"
	"time"
)

// meter shows the progress of long work on one line of a terminal. Elsewhere it shows nothing.
type meter struct {
	o     *output
	label string
	last  time.Time
	shown bool
}

// meterEvery is the shortest interval between updates of the line.
const meterEvery = 100 * time.Millisecond

func (c *call) meter(label string) *meter { return &meter{o: c.note, label: clip(label, 40)} }

// show draws how much is done, of total (0: unknown), and additional text.
func (m *meter) show(done, total int64, more string) {
	now := time.Now()
	if !m.o.terminal || m.shown && now.Sub(m.last) < meterEvery {
		return
	}
	m.last, m.shown = now, true
	share := ""
	if total > 0 {
		share = fmt.Sprintf("%3d %%  ", min(100, done*100/total))
	}
	m.o.printf("\r\x1b[K%s  %s%s", m.label, share, clip(more, 40))
}

// clear removes the line.
func (m *meter) clear() {
	if m.shown {
		m.o.printf("\r\x1b[K")
		m.shown = false
	}
}
