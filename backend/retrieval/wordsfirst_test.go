package retrieval

import (
	"math"
	"testing"

	"contextinfinity/backend/chat"
)

// TestWordsFirst: vectors with a low weight are read only for the keyword results, and searched only if the keywords
// find nothing.
func TestWordsFirst(t *testing.T) {
	for _, tt := range []struct {
		name, query string
		weight      float64
		searched    bool
	}{
		{"words find something", "roses", 0.03, false},
		{"words find nothing", "gardening", 0.03, true},
		{"vectors count", "roses", 0.5, true},
	} {
		m := chatter()
		e := m.engine(func(s *Settings) { s.localWeight = tt.weight })
		res := find(t, e, Query{Text: tt.query, Within: chat.Within{Branch: "b"}})
		if got := m.calls["vectors"] > 0; got != tt.searched || m.calls["Scope"] != m.calls["vectors"] {
			t.Errorf("%s: the index was searched: %v", tt.name, got)
		}
		if len(res.Hits) == 0 {
			t.Errorf("%s: %+v", tt.name, res.Hits)
		}
		if res.Embedder == "" {
			t.Errorf("%s: the vectors that were used are not named", tt.name)
		}
	}
}

// TestWordsFirstComparesExactly: the cosine of a keyword result is the same as in a search of the index.
func TestWordsFirstComparesExactly(t *testing.T) {
	q := Query{Text: "garden number 7 weather", Within: chat.Within{Branch: "b"}, Limit: 100}
	cosines := func(weight float64) map[chat.ChunkID]float64 {
		out := map[chat.ChunkID]float64{}
		for _, h := range find(t, chatter().engine(func(s *Settings) { s.localWeight = weight }), q).Hits {
			if h.Keyword > 0 && h.Cosine != 0 {
				out[h.ID] = h.Cosine
			}
		}
		return out
	}
	first, indexed := cosines(0.03), cosines(0.5)
	if len(first) == 0 || len(first) != len(indexed) {
		t.Fatalf("%d and %d cosines", len(first), len(indexed))
	}
	for id, c := range indexed {
		if math.Abs(first[id]-c) > 1e-6 {
			t.Errorf("%s: %v, want %v", id, first[id], c)
		}
	}
}

func TestWarm(t *testing.T) {
	m := chatter()
	for range 4 { // enough to sample noise from
		m.add(line{text: "We pay on Fridays."})
	}
	m.fail["Embedder"] = errBroken // the embedder is not called
	e := m.engine()
	if err := e.Warm(t.Context()); err != nil || m.calls["warm"] != 1 || m.calls["SampleVectors"] == 0 || m.calls["TermFrequencies"] == 0 {
		t.Errorf("%v %v", err, m.calls)
	}
	m.serving = false
	if err := e.Warm(t.Context()); err != nil || m.calls["warm"] != 1 {
		t.Errorf("without vectors: %v %v", err, m.calls)
	}
	for _, method := range []string{"TermFrequencies", "Serving", "SampleVectors", "warm"} {
		m := chatter()
		m.add(line{text: "a"}, line{text: "b"}, line{text: "c"}, line{text: "d"})
		m.fail[method] = errBroken
		if err := m.engine().Warm(t.Context()); err == nil {
			t.Errorf("%s failed, but nothing is reported", method)
		}
	}
}
