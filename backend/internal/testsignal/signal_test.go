package testsignal_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"contextinfinity/backend/internal/testsignal"
)

func TestInertUntilWatched(t *testing.T) {
	var zero testsignal.Signal[int]
	var none *testsignal.Signal[int]
	for range 5000 {
		zero.Send(1)
		none.Send(1)
	}
	if zero.C() != nil || none.C() != nil {
		t.Error("an unwatched signal has a channel")
	}
	if n := testing.AllocsPerRun(100, func() { zero.Send(1); none.Send(1) }); n != 0 {
		t.Errorf("an unwatched signal allocates %v times", n)
	}
	zero.Watch()
	select {
	case <-zero.C():
		t.Error("a signal sent before Watch arrived")
	default:
	}
}

func TestWait(t *testing.T) {
	var s testsignal.Signal[string]
	s.Watch()
	go func() { s.Send("one"); s.Send("two") }()
	if a, b := s.Wait(t), s.Wait(t); a != "one" || b != "two" {
		t.Errorf("received %q, %q", a, b)
	}
}

func TestWaitGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s testsignal.Signal[int]
		s.Watch()
		var f failure
		s.Wait(&f)
		if !strings.Contains(f.text, "did not arrive") {
			t.Errorf("Wait without a signal says %q", f.text)
		}
	})
}

type failure struct{ text string }

func (*failure) Helper()                          {}
func (f *failure) Fatalf(format string, _ ...any) { f.text = format }

func TestUnreadSignalsPanic(t *testing.T) {
	var s testsignal.Signal[int]
	s.Watch()
	defer func() {
		if recover() == nil {
			t.Error("an unread signal was dropped silently")
		}
	}()
	for i := range 1001 {
		s.Send(i)
	}
}
