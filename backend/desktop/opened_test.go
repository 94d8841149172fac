package desktop

import (
	"slices"
	"testing"
)

func TestAFileOpenedFromTheFinderReachesThePage(t *testing.T) {
	requests := make(chan WindowRequest, 1)
	l := newLifecycle(Window{Request: func(s WindowRequest) { requests <- s }})
	l.Opened("/Users/x/travelled.cinf")
	if s := <-requests; s.Kind != RequestFiles || !slices.Equal(s.Paths, []string{"/Users/x/travelled.cinf"}) || s.X != -1 || s.Y != -1 {
		t.Errorf("the page was asked %+v", s)
	}
}
