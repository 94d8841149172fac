package vault

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// watched is a schedule with a fake clock, and when it exchanged.
type watched struct {
	*Schedule
	t         *testing.T
	began     time.Time
	at        []time.Duration
	automatic atomic.Bool
	answering atomic.Bool
	without   atomic.Bool
	err       error
	takes     time.Duration
}

func watch(t *testing.T, do func(w *watched)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &watched{t: t, began: time.Now()}
		w.automatic.Store(true)
		w.Schedule = NewSchedule(ScheduleDeps{
			Exchange: func(ctx context.Context) (bool, error) {
				w.at = append(w.at, time.Since(w.began))
				select {
				case <-time.After(w.takes):
				case <-ctx.Done():
					return true, ctx.Err()
				}
				return !w.without.Load(), w.err
			},
			Automatic: w.automatic.Load,
			Answering: w.answering.Load,
			Log:       slog.New(slog.DiscardHandler),
		})
		do(w)
		w.Stop(w.t.Context())
	})
}

// until lets the fake clock run up to a time since the beginning.
func (w *watched) until(d time.Duration) {
	time.Sleep(d - time.Since(w.began))
	synctest.Wait()
}

// were compares the times of all exchanges.
func (w *watched) were(want ...time.Duration) {
	w.t.Helper()
	if synctest.Wait(); !slices.Equal(w.at, want) {
		w.t.Errorf("exchanged at %v, want %v", w.at, want)
	}
}

func TestAnExchangeAtTheStartAndEachQuarterOfAnHour(t *testing.T) {
	watch(t, func(w *watched) {
		w.until(time.Hour)
		w.were()
		w.began = time.Now()
		w.Start()
		w.Start()
		w.until(31 * time.Minute)
		w.were(0, 15*time.Minute, 30*time.Minute)
	})
}

func TestAnExchangeEachMinuteWhileTheWindowIsUsed(t *testing.T) {
	watch(t, func(w *watched) {
		w.Start()
		for at := 10 * time.Second; at <= 2*time.Minute; at += 20 * time.Second {
			w.until(at)
			w.Used()
		}
		w.until(17 * time.Minute)
		w.were(0, time.Minute, 2*time.Minute, 17*time.Minute) // unused from 1:50 on, and asked again at 2:50
	})
}

func TestSeveralChangesMakeOneExchange(t *testing.T) {
	watch(t, func(w *watched) {
		w.Start()
		for at := time.Minute; at < 62*time.Second; at += 500 * time.Millisecond {
			w.until(at)
			w.Written()
		}
		w.until(10 * time.Minute)
		w.were(0, time.Minute+1500*time.Millisecond+settle)
	})
}

func TestAChangeDuringAnExchangeIsSentAfterIt(t *testing.T) {
	watch(t, func(w *watched) {
		w.takes = 20 * time.Second
		w.Start()
		w.until(time.Second)
		w.Written()
		w.until(10 * time.Minute)
		w.were(0, w.takes)
	})
}

func TestErrorsSlowExchangesDown(t *testing.T) {
	watch(t, func(w *watched) {
		w.err = errors.New("the drive is gone")
		w.Start()
		w.until(40 * time.Second)
		w.Written()
		w.until(time.Hour)
		minutes := func(all ...int) (out []time.Duration) {
			for _, m := range all {
				out = append(out, time.Duration(m)*time.Minute)
			}
			return out
		}
		tried := minutes(0, 1, 3, 7, 15, 30, 45, 60)
		w.were(tried...)
		w.err = nil
		w.until(61 * time.Minute)
		w.Now()
		w.until(62 * time.Minute)
		w.Written()
		w.until(63 * time.Minute)
		w.were(append(tried, 61*time.Minute, 62*time.Minute+settle)...)
	})
}

func TestOnlyByHand(t *testing.T) {
	watch(t, func(w *watched) {
		w.automatic.Store(false)
		w.Start()
		w.Written()
		w.Used()
		w.until(time.Hour)
		w.were()
		w.Now()
		w.were(time.Hour)
		w.until(2 * time.Hour)
		w.were(time.Hour)
		w.automatic.Store(true)
		w.Changed()
		w.were(time.Hour, 2*time.Hour)
	})
}

func TestWithoutAVaultNothingIsTriedUntilOneIsChosen(t *testing.T) {
	watch(t, func(w *watched) {
		w.without.Store(true)
		w.Start()
		w.Written()
		w.until(time.Hour)
		w.Written()
		w.until(2 * time.Hour)
		w.were(0)
		w.without.Store(false)
		w.Changed()
		w.until(2*time.Hour + time.Minute)
		w.were(0, 2*time.Hour)
	})
}

func TestAnAnswerHasPrecedenceForAWhile(t *testing.T) {
	watch(t, func(w *watched) {
		w.Start()
		w.until(time.Minute)
		w.answering.Store(true)
		w.Written()
		w.until(4 * time.Minute)
		w.were(0)
		w.answering.Store(false)
		w.until(5 * time.Minute)
		w.were(0, 4*time.Minute+settle)
		w.answering.Store(true)
		w.Written()
		w.until(time.Hour)
		w.were(0, 4*time.Minute+settle, 19*time.Minute+settle, 34*time.Minute+settle, 49*time.Minute+settle)
	})
}

func TestStoppingEndsAnExchange(t *testing.T) {
	watch(t, func(w *watched) {
		w.takes = time.Hour
		w.Start()
		w.until(time.Second)
		w.Stop(w.t.Context())
		w.Stop(w.t.Context())
		if took := time.Since(w.began); took > time.Second {
			t.Errorf("stopping took %v", took)
		}
		w.were(0)
	})
}

func TestAPanicIsAFailedExchange(t *testing.T) {
	watch(t, func(w *watched) {
		count := 0
		w.d.Exchange = func(context.Context) (bool, error) { count++; panic("a defect") }
		w.Start()
		w.until(2 * time.Minute)
		if count != 2 {
			t.Errorf("tried %d times, want 2", count)
		}
	})
}
