package embedding

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/clock"
)

// paced is an embedder that takes some time for each text, and longer to load.
type paced struct {
	clock *clock.Fake
	sent  []string
	err   error
}

func (p *paced) Identity() chat.EmbedderID {
	return chat.EmbedderID{Name: "ollama", Model: "m", Dimension: 1}
}

func (p *paced) Embed(_ context.Context, _ Kind, texts []string) ([][]float32, error) {
	if len(p.sent) == 0 {
		p.clock.Advance(30 * time.Second)
	}
	p.sent = append(p.sent, texts...)
	p.clock.Advance(time.Duration(len(texts)) * 50 * time.Millisecond)
	out := make([][]float32, len(texts))
	for i := range out {
		out[i] = []float32{1}
	}
	return out, p.err
}

func TestPace(t *testing.T) {
	for _, bytes := range []int{0, 400, 1 << 30} {
		p := &paced{clock: clock.NewFake(time.Unix(0, 0))}
		each, err := Pace(t.Context(), p, p.clock.Now, bytes)
		if err != nil || each != 50*time.Millisecond {
			t.Errorf("%d bytes: %s, %v", bytes, each, err)
		}
		seen := map[string]bool{}
		for _, text := range p.sent {
			if seen[text] || len(text) > paceTextMax+2 || len(p.sent) > 1+paceTexts || strings.TrimSpace(text) == "" {
				t.Fatalf("%d bytes: sent %q", bytes, text)
			}
			seen[text] = true
		}
	}
	want := errors.New("away")
	if _, err := Pace(t.Context(), &paced{clock: clock.NewFake(time.Unix(0, 0)), err: want}, nil, 9); !errors.Is(err, want) {
		t.Error(err)
	}
}

func TestIsEmbeddingModel(t *testing.T) {
	for name, want := range map[string]bool{
		"nomic-embed-text:latest": true, "text-embedding-nomic-embed-text-v1.5": true, "BAAI/bge-m3": true, "all-minilm": true,
		"qwen3:8b": false, "llama3.3:70b": false, "": false, "some/Embedder-v9": true,
	} {
		if IsEmbeddingModel(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}
