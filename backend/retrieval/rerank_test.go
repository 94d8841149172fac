package retrieval

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
)

// fakeReranker prefers passages with a word.
type fakeReranker struct {
	word     string
	err      error
	few      bool
	bound    time.Duration // time until the deadline of the call
	passages []string
	called   int
}

func (j *fakeReranker) Rerank(ctx context.Context, _ string, passages []string) ([]float64, error) {
	j.called++
	j.passages = passages
	if deadline, ok := ctx.Deadline(); ok {
		j.bound = time.Until(deadline)
	}
	scores := make([]float64, len(passages))
	for i, p := range passages {
		if strings.Contains(p, j.word) {
			scores[i] = 1
		}
	}
	if j.few {
		scores = scores[1:]
	}
	return scores, j.err
}

func rerankMemory() *memory {
	m := newMemory()
	m.add(line{text: "The harbour crane lifts harbour crane loads."}, line{text: "The harbour crane was sold in spring."}, line{text: "A crane nests near the harbour."})
	return m
}

func withReranker(m *memory, j *fakeReranker) *Engine {
	e := m.engine()
	e.Reranker = func() (Reranker, error) { return j, nil }
	return e
}

func texts(r Result) []string {
	return lists.Map(r.Hits, func(h Hit) string { return h.Text })
}

// TestRerank: the best candidates get the reranker's order and the scores of their ranks, so that scores still
// decrease.
func TestRerank(t *testing.T) {
	m := rerankMemory()
	q := Query{Text: "harbour crane", Limit: 3, MaxTokens: 500}
	plain := find(t, m.engine(), q)
	last := plain.Hits[len(plain.Hits)-1]
	j := &fakeReranker{word: last.Text}
	got := find(t, withReranker(m, j), q)
	if got.Hits[0].Text != last.Text || !got.Warning.IsZero() || len(j.passages) != 3 || len(got.Hits) != len(plain.Hits) {
		t.Fatalf("%q, %q, requested from %q", texts(got), got.Warning, j.passages)
	}
	for i, h := range got.Hits {
		if h.Score != plain.Hits[i].Score || h.Rank != i+1 {
			t.Errorf("rank %d has the score %v, the plain one %v", h.Rank, h.Score, plain.Hits[i].Score)
		}
	}
	if j.bound <= 0 || j.bound > rerankTime {
		t.Errorf("the reranker may take %s", j.bound)
	}
	if got.Artifacts[0].Text != find(t, withReranker(m, j), q).Artifacts[0].Text || !strings.Contains(got.Artifacts[0].Text, last.Text) {
		t.Errorf("packed %+v", got.Artifacts)
	}
}

// TestRerankFails: on any failure the plain order is returned, with the reason.
func TestRerankFails(t *testing.T) {
	m := rerankMemory()
	q := Query{Text: "harbour crane", Limit: 3}
	plain := texts(find(t, m.engine(), q))
	broken := m.engine()
	broken.Reranker = func() (Reranker, error) { return nil, chat.Errorf(chat.CodeConfig, "x", "The address is wrong.") }
	for name, c := range map[string]struct {
		engine *Engine
		want   string
	}{
		"an error":        {withReranker(m, &fakeReranker{err: chat.Errorf(chat.CodeProvider, "x", "The server cannot be reached.")}), "Not reranked: The server cannot be reached."},
		"too few scores":  {withReranker(m, &fakeReranker{few: true}), "Not reranked: The reranker scored 2 of 3 passages."},
		"a wrong setting": {broken, "Not reranked: The address is wrong."},
	} {
		got := find(t, c.engine, q)
		if !slices.Equal(texts(got), plain) || got.Warning.String() != c.want {
			t.Errorf("%s: %q, %q", name, texts(got), got.Warning)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := withReranker(m, &fakeReranker{}).Search(ctx, q); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled search: %v", err)
	}
}

// TestRerankIsLeftOut: without a reranker nothing is called, and a configured one is not called with the profile of the
// specification, or if there is nothing to order.
func TestRerankIsLeftOut(t *testing.T) {
	m := rerankMemory()
	none := m.engine()
	none.Reranker = func() (Reranker, error) { return nil, nil }
	if got := find(t, none, Query{Text: "harbour crane"}); !got.Warning.IsZero() || len(got.Hits) == 0 {
		t.Errorf("%+v", got)
	}
	j := &fakeReranker{}
	plain := m.engine(func(s *Settings) { s.SRD = true })
	plain.Reranker = func() (Reranker, error) { return j, nil }
	find(t, plain, Query{Text: "harbour crane"})
	find(t, withReranker(m, j), Query{Text: "zygomorphic"})
	if j.called != 0 {
		t.Errorf("called %d times", j.called)
	}
}

func TestRerankingIsBounded(t *testing.T) {
	many, long := newMemory(), newMemory()
	for range 2 * maxReranked {
		many.add(line{text: "crane"})
	}
	long.add(line{text: "crane " + strings.Repeat("ö漢 ", 1000)}, line{text: "crane"})
	j := &fakeReranker{}
	find(t, withReranker(many, j), Query{Text: "crane"})
	if len(j.passages) != maxReranked {
		t.Errorf("%d passages were sent", len(j.passages))
	}
	find(t, withReranker(long, j), Query{Text: "crane"})
	for _, p := range j.passages {
		if len(p) > maxPassage || !utf8.ValidString(p) || len(p) > len("crane") && len(p) < maxPassage-utf8.UTFMax {
			t.Errorf("%d bytes, valid %v", len(p), utf8.ValidString(p))
		}
	}
}
