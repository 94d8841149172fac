package turn

import (
	"testing"
	"time"

	"contextinfinity/backend/tools"
)

type limited struct {
	tools.Source
	own time.Duration
}

func (l limited) CallLimit(tools.Call) time.Duration { return l.own }

// A call that has its own time limit is not cut off before it.
func TestCallLimit(t *testing.T) {
	for _, c := range []struct{ set, own, want time.Duration }{
		{0, 0, defaultCallTimeout}, {20 * time.Second, 0, 20 * time.Second}, {time.Minute, time.Hour, time.Hour}, {time.Minute, time.Second, time.Minute},
	} {
		e := &Engine{settings: func() Settings { return Settings{CallTimeout: c.set} }}
		if got := e.callLimit(limited{own: c.own}, tools.Call{}); got != c.want {
			t.Errorf("set %s, own %s: %s", c.set, c.own, got)
		}
	}
}
