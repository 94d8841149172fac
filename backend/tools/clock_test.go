package tools

import (
	"testing"
	"testing/synctest"
	"time"
)

// endsAfter returns when a clock of ten seconds, which may be paused for up to a minute, ends a call.
func endsAfter(t *testing.T, do func(*Clock)) (after time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		began, n := time.Now(), 0
		c := StartClock(10*time.Second, time.Minute, func() { after = time.Since(began); n++ })
		do(c)
		time.Sleep(time.Hour)
		synctest.Wait()
		if n > 1 {
			t.Errorf("it ended %d times", n)
		}
		c.Stop()
	})
	return after
}

func TestClock(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(*Clock)
		want time.Duration
	}{
		"no question":                {func(*Clock) {}, 10 * time.Second},
		"it is stopped":              {func(c *Clock) { time.Sleep(9 * time.Second); c.Stop() }, 0},
		"stopped while it is paused": {func(c *Clock) { release := c.Hold(); c.Stop(); release() }, 0},
		"one question": {func(c *Clock) {
			time.Sleep(9 * time.Second)
			release := c.Hold()
			time.Sleep(40 * time.Second)
			release()
			release()
		}, 50 * time.Second},
		"two questions at once": {func(c *Clock) {
			first := c.Hold()
			time.Sleep(10 * time.Second)
			second := c.Hold()
			first()
			time.Sleep(20 * time.Second)
			second()
		}, 40 * time.Second},
		"a question without an answer": {func(c *Clock) { c.Hold() }, 70 * time.Second},
		"questions again and again": {func(c *Clock) {
			for range 100 {
				release := c.Hold()
				time.Sleep(5 * time.Second)
				release()
			}
		}, 70 * time.Second},
		"a question when the time is over": {func(c *Clock) { time.Sleep(20 * time.Second); c.Hold()() }, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			if got := endsAfter(t, c.do); got != c.want {
				t.Errorf("it ended after %s, want %s", got, c.want)
			}
		})
	}
}
