package encoder

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"contextinfinity/backend/embedding"
)

func cosine(a, b []float32) float64 {
	s := 0.0
	for i := range a {
		s += float64(a[i]) * float64(b[i])
	}
	return s
}

func TestGoldenVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden []struct {
		Text   string
		Vector []float32
	}
	if err := json.Unmarshal(data, &golden); err != nil || len(golden) == 0 {
		t.Fatal(len(golden), err)
	}
	e := New()
	e.load.Do(func() { e.model = unpack(weights) })
	for _, g := range golden {
		ids := e.model.pieces.split(g.Text)
		got := e.model.vector(ids[:min(len(ids), maxPieces)])
		if c := cosine(got, g.Vector); c < 0.995 {
			t.Errorf("%q: cosine %.4f", g.Text, c)
		}
	}
}

func BenchmarkQuery(b *testing.B) {
	e := New()
	for b.Loop() {
		_, _ = e.Embed(context.Background(), embedding.Query, []string{"which phobia limits the hiking routes that we can take?"})
	}
}

// TestOnlyEnglishHasAVector: other languages and code would be noise; of a mixed text the known sentences count.
func TestOnlyEnglishHasAVector(t *testing.T) {
	e := New()
	embed := func(text string) []float32 {
		v, err := e.Embed(t.Context(), embedding.Passage, []string{text})
		if err != nil {
			t.Fatal(err)
		}
		return v[0]
	}
	for _, text := range []string{
		"", "  ", "!?", "1,340", "\xff\xfe",
		"Der Zahnarzt hat mir zwei Weisheitszähne gezogen.",
		"[2 May 2026] user: Die Rechnungsnummer lautet 4711, bitte gib sie an.",
		"好的，我们周五开会。", "База данных не работает", "البيانات", "Le dentiste m'a arraché deux dents de sagesse hier matin.",
	} {
		if embed(text) != nil {
			t.Errorf("%q has a vector", text)
		}
	}
	for _, text := range []string{"do I own a pet?", "ferns", "My knees are shot.", "[2 May 2026] user: We tie the knot on 14 June in Uppsala."} {
		if embed(text) == nil {
			t.Errorf("%q has no vector", text)
		}
	}
	english := embed("The dentist pulled two of my wisdom teeth.")
	if c := cosine(english, embed("Der Zahnarzt hat mir zwei Weisheitszähne gezogen. The dentist pulled two of my wisdom teeth.")); c < 0.999 {
		t.Errorf("the other language changes the vector: %.3f", c)
	}
}
