package desktop

import (
	"slices"
	"testing"
)

func TestAFileOpenedFromTheFinderReachesThePage(t *testing.T) {
	said := make(chan Summons, 1)
	l := newLife(Window{Summon: func(s Summons) { said <- s }})
	l.opened("/Users/x/travelled.cinf")
	if s := <-said; s.Kind != SummonFiles || !slices.Equal(s.Paths, []string{"/Users/x/travelled.cinf"}) || s.X != -1 || s.Y != -1 {
		t.Errorf("the page was asked %+v", s)
	}
}
