package models_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/llm"
	"contextinfinity/backend/models"
)

// TestListAndOffersAgree: after Refresh the list of models has the same window, abilities and price as the server's
// offer, also for a server on this machine. Before that, a price that is not configured is unknown, not 0.
func TestListAndOffersAgree(t *testing.T) {
	now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	url, _ := startServer(t, func(string) string {
		return `{"data":[{"id":"m","context_length":32768,"architecture":{"input_modalities":["text","image"]},"supported_parameters":["tools"],"pricing":{"prompt":"0.000003","completion":"0.000015"}}]}`
	})
	c := catalogAt(t, url, "", &now, nil)
	own := func() models.Info {
		for _, in := range c.List() {
			if in.Name == "own" {
				return in
			}
		}
		t.Fatal("there is no such model")
		return models.Info{}
	}
	if before := own(); before.Priced || before.Price != (models.Price{}) || !before.Local {
		t.Errorf("%+v", before.Price)
	}
	c.Refresh(context.Background())
	in := own()
	offers, err := c.Offers(context.Background(), strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	if in.Limits.ContextLimit != 32768 || in.Source != models.SourceServer || in.Abilities.Images != llm.AbilityYes || in.Abilities.Tools != llm.AbilityYes ||
		in.Price.Input != 3 || in.Price.Output != 15 || in.Price.Source != "server" {
		t.Errorf("%+v", in)
	}
	if len(offers) != 1 || offers[0].Window != in.Limits.ContextLimit || offers[0].Price != in.Price || offers[0].Configured != "own" {
		t.Errorf("%+v", offers)
	}
}
