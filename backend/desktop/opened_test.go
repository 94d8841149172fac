package desktop

import (
	"slices"
	"testing"
)

func TestAFileOpenedFromTheFinderReachesThePage(t *testing.T) {
	said := make(chan WindowRequest, 1)
	l := newLife(Window{Request: func(s WindowRequest) { said <- s }})
	l.opened("/Users/x/travelled.cinf")
	if s := <-said; s.Kind != RequestFiles || !slices.Equal(s.Paths, []string{"/Users/x/travelled.cinf"}) || s.X != -1 || s.Y != -1 {
		t.Errorf("the page was asked %+v", s)
	}
}
