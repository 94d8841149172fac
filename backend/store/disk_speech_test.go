package store

import (
	"context"
	"math/rand/v2"
	"strings"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/chunking"
	"contextinfinity/backend/embedding"
	"contextinfinity/backend/embedding/words"
	"contextinfinity/backend/prompt"
	"contextinfinity/backend/retrieval"
	"contextinfinity/backend/vectorindex"
)

// speaker writes random text with the word frequencies of natural language, so that it compresses as well as real
// text.
type speaker struct {
	rng   *rand.Rand
	zipf  *rand.Zipf
	words []string
	facts []string // of the state summary; each turn changes a few
}

func newSpeaker() *speaker {
	rng := rand.New(rand.NewPCG(3, 14))
	words := make([]string, 20_000)
	for i := range words {
		var w strings.Builder
		for range 2 + rng.IntN(2) + i/4000 {
			w.WriteByte("bcdfghklmnprst"[rng.IntN(14)])
			w.WriteByte("aeiou"[rng.IntN(5)])
		}
		words[i] = w.String()
	}
	return &speaker{rng: rng, zipf: rand.NewZipf(rng, 1.15, 4, uint64(len(words)-1)), words: words}
}

// say returns about so many tokens of text, at four bytes a token.
func (s *speaker) say(tokens int) string {
	var b strings.Builder
	for b.Len() < 4*tokens {
		b.WriteString(s.words[s.zipf.Uint64()])
		b.WriteString([]string{" ", " ", " ", " ", " ", ", ", ". ", ".\n"}[s.rng.IntN(8)])
	}
	return strings.TrimSpace(b.String())
}

// state returns a summary of about 1 200 tokens, in which two of sixty facts are new.
func (s *speaker) state() string {
	for n := 60 - len(s.facts); n > -2; n-- {
		s.facts = append(s.facts, "- "+s.say(20))
	}
	s.facts = s.facts[len(s.facts)-60:]
	return strings.Join(s.facts, "\n")
}

func tokensOf(s string) int { return (len(s) + 3) / 4 }

// retriever indexes and retrieves as the program does: with the second chunker, the built-in embedder, and the
// retrieval engine with its measured settings.
type retriever struct {
	engine   *retrieval.Engine
	embedder *words.Embedder
	space    chat.Namespace
	found    map[string]bool // in the previous context
	stayed   int             // artifacts that the previous context also contained
	packed   int
	tokens   int
	full     int // contexts with memory
	before   prompt.PreparedContext
	reused   float64         // sum of the shares that repeat the beginning of the previous context
	stored   []time.Duration // time until a request may be sent
}

func (f *fixture) retriever() *retriever {
	f.Helper()
	r := &retriever{embedder: words.New()}
	space, err := f.OpenNamespace(f.ctx, r.embedder.Identity())
	f.ok(err)
	r.space = space
	r.engine = retrieval.New(retrieval.Deps{
		Store: f.Store, Vectors: vectorindex.New(vectorindex.Options{Source: f.Store}), Settings: retrieval.Measured,
		Embedder: func(context.Context, chat.Namespace) (embedding.Embedder, error) { return r.embedder, nil },
	})
	return r
}

// index stores a turn's chunks and the vectors of their units.
func (r *retriever) index(f *fixture, id chat.TurnID) {
	f.Helper()
	t, err := f.Turn(f.ctx, id)
	f.ok(err)
	i := chat.Indexing{TurnID: id, Chunks: chunking.Chunk(t, chunking.Options{Count: tokensOf}), Status: chat.IndexOK, IndexMs: 1, EmbedMs: 1}
	var texts []string
	for _, c := range i.Chunks {
		for _, u := range c.Units {
			texts = append(texts, u.Text)
		}
	}
	vectors, err := r.embedder.Embed(f.ctx, embedding.Passage, texts)
	f.ok(err)
	i.Vectors = map[int64][][]float32{r.space.ID: vectors}
	f.ok(f.Index(f.ctx, i))
}

// recall retrieves memory from before the cut, within the budget.
func (r *retriever) recall(f *fixture, b chat.Branch, in prompt.Input, d *prompt.Draft) []prompt.Artifact {
	f.Helper()
	if d.Cut() == 0 {
		return nil
	}
	res, err := r.engine.Search(f.ctx, retrieval.Query{
		Text: in.Current.RenderedText(), Within: chat.Within{Scope: chat.ScopeLineage, Branch: b.ID, Before: d.Cut() + 1},
		MaxTokens: d.Room(), Count: tokensOf,
	})
	f.ok(err)
	var out []prompt.Artifact
	current := map[string]bool{}
	for _, a := range res.Artifacts {
		artifact := retrieval.Passage(a.ChunkText, a.Form, a.Slices, b.SessionID)
		artifact.Score, artifact.Similarity, artifact.Vector, artifact.Keyword = a.Score, a.Similarity, a.Cosine, a.Keyword
		out = append(out, artifact)
		current[string(a.ID)] = true
		r.packed++
		if r.found[string(a.ID)] {
			r.stayed++
		}
	}
	r.found, r.full, r.tokens = current, r.full+1, r.tokens+res.Tokens
	return out
}

// compare adds how much of a context with memory repeats the beginning of the previous one.
func (r *retriever) compare(c prompt.PreparedContext) {
	if len(c.Manifest().Chunks()) > 0 {
		d := prompt.Compare(r.before.Texts(), c.Texts())
		r.reused += float64(d.SharedBytes) / float64(d.TotalBytes)
	}
	r.before = c
}

// recorded returns the retrieval records of a context.
func recorded(m prompt.Manifest) []chat.Retrieval {
	var out []chat.Retrieval
	for i, p := range m.Chunks() {
		out = append(out, chat.Retrieval{
			Chunk: chat.ChunkID(p.ID), Similarity: p.Similarity, Vector: p.Vector, Keyword: p.Keyword, Score: p.Score,
			Rank: i + 1, Packed: p.Form, Tokens: p.Tokens,
		})
	}
	return out
}
