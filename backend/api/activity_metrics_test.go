package api

import (
	"encoding/json"
	"testing"

	"contextinfinity/backend/chat"
)

func TestMetricsViewShowsMemoryUse(t *testing.T) {
	row := chat.TurnMetricsRow{TurnSeq: 7, Metrics: chat.TurnMetrics{
		SearchMs: 3, Candidates: 40, Selected: 5, PackedTokens: 900, SimilarityMin: 0.9, SimilarityMax: 0.99,
	}}
	raw, err := json.Marshal(metricsView(row))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{
		"turnSeq": 7, "searchMs": 3, "candidates": 40, "selected": 5, "packedTokens": 900, "similarityMin": 0.9, "similarityMax": 0.99,
	}
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s = %v, want %v", name, got[name], value)
		}
	}
}
