package jobs

import (
	"sync"
	"time"

	"contextinfinity/backend/chat"
)

// firstRest and lastRest are how long a model that could not be reached is left alone: the first time, and at most.
const (
	firstRest = time.Minute
	lastRest  = time.Hour
)

// rests are the models whose chunks wait because no server could be reached. Each time that a model cannot be reached
// again, it rests twice as long. The zero rests is ready for use.
type rests struct {
	mu sync.Mutex
	of map[chat.ProviderModel]rest
}

type rest struct {
	until time.Time
	pause time.Duration
}

// begin makes a model rest, and returns how long.
func (r *rests) begin(m chat.ProviderModel, now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of = map[chat.ProviderModel]rest{}
	}
	pause := min(max(firstRest, 2*r.of[m].pause), lastRest)
	r.of[m] = rest{until: now.Add(pause), pause: pause}
	return pause
}

// left is how long a model still rests; 0: it does not. A rest is never longer than its pause: the clock may have been
// set back.
func (r *rests) left(m chat.ProviderModel, now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.of[m].left(now)
}

func (r rest) left(now time.Time) time.Duration { return min(max(0, r.until.Sub(now)), r.pause) }

// next is the time until the first rest ends; false: no model rests.
func (r *rests) next(now time.Time) (wait time.Duration, some bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.of {
		if left := one.left(now); left > 0 && (!some || left < wait) {
			wait, some = left, true
		}
	}
	return wait, some
}

// end ends the rest of a model that was reached.
func (r *rests) end(m chat.ProviderModel) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.of, m)
}

// clear ends all rests.
func (r *rests) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.of)
}
