package app

import (
	"math"
	"testing"

	"contextinfinity/backend/api"
)

// TestAPriceCountsFromItsDay: a later price changes no earlier cost: not of the turn, its session, its month nor the
// figures. An answer without a stored price is counted at today's, and this is said.
func TestAPriceCountsFromItsDay(t *testing.T) {
	t.Parallel()
	p := openWorkbench(t)
	priced := func(in, out float64) {
		t.Helper()
		for _, v := range p.settings.Models() {
			if v.Name == "m" {
				v.PriceInput, v.PriceOutput = in, out
				must[[]api.ModelView](t)(p.settings.SaveModel(v))
			}
		}
	}
	near := func(got *float64, want float64) bool { return got != nil && math.Abs(*got-want) < 1e-9 }
	const dear, cheap = (12*300 + 5*1500) / 1e6, (12*3 + 5*15) / 1e6

	first := p.say(api.SendRequest{Text: "before there was a price", Model: "m"})
	if v := must[api.TurnView](t)(p.sessions.Turn(first.BranchID, first.TurnID)); v.Cost != nil {
		t.Errorf("a cost without a price: %+v", v.Cost)
	}
	priced(300, 1500)
	second := p.say(api.SendRequest{SessionID: first.SessionID, Text: "while it is dear", Model: "m"})
	priced(3, 15)
	third := p.say(api.SendRequest{SessionID: first.SessionID, Text: "since it is cheap", Model: "m"})
	for turn, want := range map[string]api.TurnCost{first.TurnID: {USD: cheap, Today: true}, second.TurnID: {USD: dear}, third.TurnID: {USD: cheap}} {
		v := must[api.TurnView](t)(p.sessions.Turn(first.BranchID, turn))
		if v.Cost == nil || !near(&v.Cost.USD, want.USD) || v.Cost.Today != want.Today || v.Cost.Estimate {
			t.Errorf("%+v, want %+v", v.Cost, want)
		}
	}
	c := must[api.CostView](t)(p.settings.Costs(first.SessionID))
	if !near(c.Turn, cheap) || !near(c.Session, dear+2*cheap) || !near(c.Month, dear+2*cheap) || !c.Today || c.Estimate || c.Unpriced != 0 {
		t.Errorf("%v, %v and %v: %+v", *c.Turn, *c.Session, *c.Month, c)
	}
}
