package app

import (
	"bytes"
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/api"
	"contextinfinity/backend/cli"
	"contextinfinity/backend/llm/llmtest"
	"contextinfinity/test/harness"
)

// highPrices are prices per million tokens, and highCost is the cost of a call at these prices: 12 tokens in, 5 out.
const highPrices, highCost = "price_input = 300.0\nprice_output = 1500.0\n", (12*300 + 5*1500) / 1e6

func near(got *float64, want float64) bool { return got != nil && math.Abs(*got-want) < 1e-9 }

// A later price does not change an earlier cost: not that of the turn, nor of its session or month. An answer without a
// stored price is counted at today's price, and its view says so.
func TestALaterPriceDoesNotChangeEarlierCosts(t *testing.T) {
	t.Parallel()
	p := openWorkbench(t)
	setPrices := func(in, out float64) {
		t.Helper()
		for _, v := range p.settings.Models() {
			if v.Name == "m" {
				v.PriceInput, v.PriceOutput = in, out
				must[[]api.ModelView](t)(p.settings.SaveModel(v))
			}
		}
	}
	const high, low = highCost, (12*3 + 5*15) / 1e6

	first := p.say(api.SendRequest{Text: "before there was a price", Model: "m"})
	if v := must[api.TurnView](t)(p.sessions.Turn(first.BranchID, first.TurnID)); v.Cost != nil {
		t.Errorf("a cost without a price: %+v", v.Cost)
	}
	setPrices(300, 1500)
	second := p.say(api.SendRequest{SessionID: first.SessionID, Text: "while the price is high", Model: "m"})
	setPrices(3, 15)
	third := p.say(api.SendRequest{SessionID: first.SessionID, Text: "after the price has fallen", Model: "m"})
	for turn, want := range map[string]api.TurnCost{first.TurnID: {USD: low, Today: true}, second.TurnID: {USD: high}, third.TurnID: {USD: low}} {
		v := must[api.TurnView](t)(p.sessions.Turn(first.BranchID, turn))
		if v.Cost == nil || !near(&v.Cost.USD, want.USD) || v.Cost.Today != want.Today || v.Cost.Estimate {
			t.Errorf("%+v, want %+v", v.Cost, want)
		}
	}
	c := must[api.CostView](t)(p.settings.Costs(first.SessionID))
	if !near(c.Turn, low) || !near(c.Session, high+2*low) || !near(c.Month, high+2*low) || !c.Today || c.Estimate || c.Unpriced != 0 {
		t.Errorf("%v, %v and %v: %+v", *c.Turn, *c.Session, *c.Month, c)
	}
}

// If only the price of input is configured, and no other price is known, the model has no price. The configured price
// is shown, and kept when another field is saved.
func TestAnIncompletePriceIsKept(t *testing.T) {
	t.Parallel()
	p := openWorkbench(t)
	saveModel := func(change func(*api.ModelView)) api.ModelView {
		t.Helper()
		var v api.ModelView
		for _, listed := range p.settings.Models() {
			if listed.Name == "m" {
				v = listed
			}
		}
		change(&v)
		for _, listed := range must[[]api.ModelView](t)(p.settings.SaveModel(v)) {
			if listed.Name == "m" {
				v = listed
			}
		}
		return v
	}
	for _, change := range []func(*api.ModelView){
		func(v *api.ModelView) { v.PriceInput = 3 },
		func(v *api.ModelView) { v.Images = "yes" },
	} {
		if v := saveModel(change); v.PriceSource != "" || v.PriceInput != 0 || v.OwnPrice == nil || *v.OwnPrice != (api.OwnPrice{Input: 3}) {
			t.Errorf("%+v, %+v", v, v.OwnPrice)
		}
	}
	if v := saveModel(func(v *api.ModelView) { v.PriceInput, v.PriceOutput = 3, 15 }); v.PriceSource != "configured" || v.PriceOutput != 15 || v.PriceCached != 3 {
		t.Errorf("%+v", v)
	}
}

// The cost of summaries by a model is part of the costs of the session and the month, of the budget, of `metrics` and
// of `stats`, and is also shown separately. A later price does not change it, and it is not part of a turn's cost.
func TestBackgroundWorkIsInTheCosts(t *testing.T) {
	t.Parallel()
	w := harness.ChatWire
	r := harness.NewRelay(t, w, func(n int) llmtest.Step { return harness.Reply(w, n) }, harness.Summarizing(w))
	dir := t.TempDir()
	file := filepath.Join(dir, "config.toml")
	model := strings.TrimSpace(w.Windowed("m", r.URL, 8192)) + "\n"
	const budget = "[cost]\nmonthly_budget = 0.02\n" // more than the answer costs, less than both
	harness.WriteFile(t, file, []byte(model+highPrices+budget))
	p := openPage(t, dir)
	sent := p.say(api.SendRequest{Text: chatter(1), Model: "m"})
	summaries := highCost * float64(len(r.Asked()))
	if summaries == 0 {
		t.Fatal("no model was called for a summary, so the test proves nothing")
	}
	c := must[api.CostView](t)(p.settings.Costs(sent.SessionID))
	if !near(c.Turn, highCost) || !near(c.Session, highCost+summaries) || !near(c.SessionBackground, summaries) ||
		!near(c.Month, highCost+summaries) || !near(c.MonthBackground, summaries) || c.State != "over" || c.Today || c.Estimate || c.Unpriced != 0 {
		t.Errorf("%+v", c)
	}
	if c = must[api.CostView](t)(p.settings.Costs("01ARZ3NDEKTSV4RRFFQ69G5FAV")); c.Session != nil || c.SessionBackground != nil || !near(c.MonthBackground, summaries) {
		t.Errorf("the costs of another session: %+v", c)
	}
	p.window.Close()

	harness.WriteFile(t, file, []byte(model+"price_input = 3.0\nprice_output = 15.0\n"+budget)) // changes nothing that was stored
	run := func(args ...string) []byte {
		t.Helper()
		app := commandLine()
		var out, errs bytes.Buffer
		app.In, app.Out, app.Err = strings.NewReader(""), &out, &errs
		if code := cli.Run(t.Context(), app, append([]string{"--data-dir", dir, "--config", file}, args...)); code != 0 {
			t.Fatalf("%q: exit code %d: %s", args, code, errs.String())
		}
		return out.Bytes()
	}
	runJSON := func(doc any, args ...string) {
		t.Helper()
		if err := json.Unmarshal(run(append(args, "--json")...), doc); err != nil {
			t.Fatal(err)
		}
	}
	var metrics struct {
		Sum        struct{ Cost float64 }
		Background struct {
			Summaries int
			Usage     struct {
				InputTokens int `json:"input_tokens"`
			}
			Cost *float64
		}
	}
	runJSON(&metrics, "metrics", sent.SessionID)
	if b := metrics.Background; b.Summaries != 1 || b.Usage.InputTokens != 12*len(r.Asked()) || !near(b.Cost, summaries) || !near(&metrics.Sum.Cost, highCost) {
		t.Errorf("metrics: %+v", metrics)
	}
	if text := string(run("metrics", sent.SessionID)); !strings.Contains(text, "Background, not in the sum: 1 summary (with titles), 12 tokens in, 5 out, $0.0111.") {
		t.Errorf("metrics:\n%s", text)
	}
	var stats map[string]any
	runJSON(&stats, "stats")
	if stats["cost_this_month"] != math.Round((highCost+summaries)*1e4)/1e4 || stats["background_cost_this_month"] != math.Round(summaries*1e4)/1e4 {
		t.Errorf("stats: %v", stats)
	}
}
