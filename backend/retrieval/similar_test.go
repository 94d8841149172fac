package retrieval

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/embedding"
)

// crowded is an embedder as many models are: its vectors all have high cosines with each other, and a question has a
// lower one with every passage than passages have with each other. Texts are near if they have the same subject.
type crowded map[string]int // subjects by text; any other text is about nothing in particular

const crowdedSize = 64

func (crowded) Identity() chat.EmbedderID {
	return chat.EmbedderID{Name: "model", Model: "crowded", Dimension: crowdedSize, Version: 1}
}

func (c crowded) Embed(_ context.Context, kind embedding.Kind, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		if text == "" {
			return nil, nil
		}
		h := fnv.New64()
		_, _ = h.Write([]byte(text))
		r := rand.New(rand.NewPCG(h.Sum64(), 1))
		v := make([]float32, crowdedSize)
		for k := range v {
			v[k] = float32(r.NormFloat64()) * 0.06
		}
		v[0] += 2 // what all texts have in common
		if kind == embedding.Query {
			v[1] += 2 // what passages never have
		}
		if subject, ok := c[text]; ok {
			v[2+subject] += 0.6
		}
		square := 0.0
		for _, x := range v {
			square += float64(x) * float64(x)
		}
		for k := range v {
			v[k] /= float32(math.Sqrt(square))
		}
		out[i] = v
	}
	return out, nil
}

// TestMeaningIsFoundWithAnyModel: a passage without a word of the question is found by a model whose cosines are all
// high, and packed. A question that is near to nothing finds nothing, although some passage is always the nearest.
func TestMeaningIsFoundWithAnyModel(t *testing.T) {
	const question, fact = "do I own a pet?", "My pup Rex chewed the sofa again."
	m := newMemory()
	model := crowded{question: 1, fact: 1}
	m.embedder = model
	for i := range 120 {
		text := fmt.Sprintf("The weather of day %d was mild.", i)
		if i == 40 {
			text = fact
		}
		m.add(line{seq: int64(20 * (i + 1)), text: text})
	}
	near, far := m.vectors[40], m.vectors[41]
	asked, _ := model.Embed(t.Context(), embedding.Query, []string{question})
	if between := dot(near, far); between < dot(asked[0], near) || between < 0.85 {
		t.Fatalf("this model is not crowded: %.2f between passages, %.2f with the question", between, dot(asked[0], near))
	}
	res := find(t, m.engine(), Query{Text: question, Within: chat.Within{Branch: "b"}, MaxTokens: 100})
	if len(res.Hits) == 0 || res.Hits[0].Source != fact || res.Hits[0].Similarity < 0.99 {
		t.Errorf("hits: %+v", res.Hits)
	}
	if !slices.ContainsFunc(res.Artifacts, func(a Artifact) bool { return strings.Contains(a.Text, fact) }) {
		t.Errorf("packed: %+v", res.Artifacts)
	}
	for _, nothing := range []string{"zzzz qqqq", "vvvv?"} {
		if res := find(t, m.engine(), Query{Text: nothing, Within: chat.Within{Branch: "b"}}); len(res.Hits) != 0 {
			t.Errorf("%q found %+v", nothing, res.Hits[0])
		}
	}
}

// TestAShortQuestionIsReadInTwoWays: alone, as a question about something else, and as the continuation of the message
// before it. Neither reading displaces what the other finds.
func TestAShortQuestionIsReadInTwoWays(t *testing.T) {
	const question, fact, previous = "do I own a pet?", "My pup Rex chewed the sofa again.", "What did the zeppelin at the lake cost?"
	m := newMemory()
	m.embedder = crowded{question: 1, fact: 1}
	for i := range 60 {
		text := fmt.Sprintf("The weather of day %d at the lake was mild, and that cost nothing.", i)
		switch i {
		case 20:
			text = fact
		case 40:
			text = "The zeppelin is moored for 80 a day."
		}
		m.add(line{seq: int64(20 * (i + 1)), text: text})
	}
	res := find(t, m.engine(), Query{Text: question, Previous: previous, Within: chat.Within{Branch: "b"}, MaxTokens: 100, Limit: 2})
	if len(res.Artifacts) < 2 || res.Artifacts[0].Source != fact || !strings.Contains(res.Artifacts[1].Source, "zeppelin") || m.calls["vectors"] != 2 {
		t.Errorf("%d searches, packed %+v", m.calls["vectors"], res.Artifacts)
	}
	find(t, m.engine(func(s *Settings) { s.SRD = true }), Query{Text: question, Previous: previous, Within: chat.Within{Branch: "b"}})
	if m.calls["vectors"] != 3 {
		t.Errorf("the plain ranking made %d searches", m.calls["vectors"]-2)
	}
}

// TestEverySearchAsksTheIndexOnce: words and vectors are both searched, whatever the words find and the weights are.
func TestEverySearchAsksTheIndexOnce(t *testing.T) {
	for _, weight := range []float64{0.01, 0.35, 0.7} {
		for _, query := range []string{"roses", "garden number 7"} {
			m := chatter()
			res := find(t, m.engine(func(s *Settings) { s.VectorWeight, s.KeywordWeight = weight, 1-weight }), Query{Text: query, Within: chat.Within{Branch: "b"}})
			if m.calls["vectors"] != 1 || m.calls["Scope"] != 1 || m.calls["SearchUnits"] > 3 || len(res.Hits) == 0 || res.Embedder == "" {
				t.Errorf("%s at %v: %v, %d hits", query, weight, m.calls, len(res.Hits))
			}
		}
	}
}

// TestAQuestionWithoutAVector: a question of which the embedder knows nothing is searched by its words.
func TestAQuestionWithoutAVector(t *testing.T) {
	m := chatter()
	m.embedder = unknowing{m.embedding()}
	res := find(t, m.engine(), Query{Text: "roses"})
	if len(res.Hits) == 0 || !res.Warning.IsZero() || m.calls["vectors"] != 0 {
		t.Errorf("%+v, %v", res, m.calls)
	}
}

// unknowing knows nothing.
type unknowing struct{ embedding.Embedder }

func (unknowing) Embed(_ context.Context, _ embedding.Kind, texts []string) ([][]float32, error) {
	return make([][]float32, len(texts)), nil
}

func TestWarm(t *testing.T) {
	m := chatter()
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
		m.fail[method] = errBroken
		if err := m.engine().Warm(t.Context()); err == nil {
			t.Errorf("%s failed, but nothing is reported", method)
		}
	}
}
