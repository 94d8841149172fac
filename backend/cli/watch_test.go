package cli

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Long work shows its progress on a terminal and removes it at the end; short work, or work without a terminal, shows
// nothing.
func TestWatch(t *testing.T) {
	jobs := func() progress { return progress{more: "7 jobs queued"} }
	half := func() progress { return progress{done: 5, total: 10, more: "5 turns"} }
	for name, c := range map[string]struct {
		terminal bool
		current  func() progress
		takes    time.Duration
		want     string
	}{
		"elapsed time":   {true, nil, 3*time.Second + 100*time.Millisecond, "backup  3s"},
		"remaining jobs": {true, jobs, time.Second, "backup  7 jobs queued"},
		"percentage":     {true, half, time.Second, "backup   50 %  5 turns"},
		"short":          {true, nil, 100 * time.Millisecond, ""},
		"not a terminal": {false, jobs, time.Minute, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var printed bytes.Buffer
				stop := (&call{note: &output{w: &printed, terminal: c.terminal}}).watch("backup", c.current)
				time.Sleep(c.takes)
				stop()
				stop()
				got := printed.String()
				if c.want == "" && got != "" || !strings.Contains(got, c.want) {
					t.Errorf("%q, want %q in it", got, c.want)
				}
				if c.want != "" && !strings.HasSuffix(got, "\r\x1b[K") {
					t.Errorf("it is left behind: %q", got)
				}
				if lines := strings.Count(got, "backup"); lines > int(c.takes/watchEvery) {
					t.Errorf("drawn %d times in %s", lines, c.takes)
				}
			})
		})
	}
}
