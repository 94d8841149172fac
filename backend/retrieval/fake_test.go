package retrieval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/embedding"
	hashed "contextinfinity/backend/embedding/words"
	"contextinfinity/backend/internal/lexical"
)

// memory is a store in memory with real BM25 and one session. Each line is a message of a turn, on one branch by
// default.
type memory struct {
	mu      sync.Mutex
	units   []chat.UnitRef
	texts   map[chat.ChunkID]chat.ChunkText
	vectors [][]float32 // by unit number
	serving bool
	fail    map[string]error // by method
	calls   map[string]int
	split   map[int64][]string // words by unit number

	embedder embedding.Embedder // nil: the one for words
}

func (m *memory) embedding() embedding.Embedder {
	if m.embedder != nil {
		return m.embedder
	}
	return hashed.New()
}

var start = time.Date(2026, 5, 2, 9, 0, 0, 0, time.UTC)

func newMemory() *memory {
	return &memory{texts: map[chat.ChunkID]chat.ChunkText{}, serving: true, fail: map[string]error{}, calls: map[string]int{}}
}

// line is a message with its attributes.
type line struct {
	role    chat.Role
	speaker string
	branch  chat.BranchID
	kind    chat.ChunkType
	seq     int64
	text    string
	units   []int // ends of units; empty: one unit
}

func (m *memory) add(list ...line) {
	for _, s := range list {
		s.branch = cmp.Or(s.branch, "b")
		s.role = cmp.Or(s.role, chat.RoleUser)
		if s.seq == 0 {
			s.seq = int64(len(m.texts)/2 + 1)
		}
		id := chat.ChunkID(fmt.Sprintf("chunk%04d", len(m.texts)))
		turn := chat.TurnID(fmt.Sprintf("turn-%s-%d", s.branch, s.seq))
		at := start.Add(time.Duration(s.seq) * time.Hour)
		m.texts[id] = chat.ChunkText{
			Chunk: chat.Chunk{
				ID: id, SessionID: "s", BranchID: s.branch, SourceTurn: turn, Role: s.role, Start: 0, End: len(s.text), Text: s.text,
				Summary: firstWords(s.text, 6), Type: s.kind, Tokens: len(s.text) / 4,
			},
			TurnSeq: s.seq, Speaker: s.speaker, At: at, Source: s.text,
		}
		from := 0
		for i, to := range append(s.units, len(s.text)) {
			order := 0
			if s.role == chat.RoleAssistant {
				order = 1
			}
			m.units = append(m.units, chat.UnitRef{
				N: int64(len(m.units) + 1), Chunk: id, Session: "s", Branch: s.branch, Turn: turn, Seq: s.seq, ChunkOrdinal: order, Ordinal: i,
				Role: s.role, Speaker: s.speaker, Type: s.kind, Start: from, End: to, Tokens: (to - from + 3) / 4, At: at,
			})
			v, _ := m.embedding().Embed(context.Background(), embedding.Passage, []string{s.text[from:to]})
			m.vectors = append(m.vectors, v[0])
			from = to
		}
	}
}

func firstWords(s string, n int) string {
	words := strings.Fields(s)
	return strings.Join(words[:min(n, len(words))], " ")
}

func (m *memory) record(ctx context.Context, method string) error {
	m.mu.Lock() // both halves of a search run at the same time
	defer m.mu.Unlock()
	m.calls[method]++
	return cmp.Or(m.fail[method], ctx.Err())
}

func (m *memory) words(u chat.UnitRef) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.split == nil {
		m.split = map[int64][]string{}
	}
	if m.split[u.N] == nil {
		m.split[u.N] = lexical.Words(m.texts[u.Chunk].Source[u.Start:u.End])
	}
	return m.split[u.N]
}

func (m *memory) unitsWith(term string) (n int) {
	for _, u := range m.units {
		if slices.Contains(m.words(u), term) {
			n++
		}
	}
	return n
}

func inScope(in chat.Within, u chat.UnitRef) bool {
	return (in.Branch == "" || u.Branch == in.Branch) && (in.Before == 0 || u.Seq < in.Before) && (in.Role == "" || u.Role == in.Role)
}

func (m *memory) TermFrequencies(ctx context.Context, terms []string) (map[string]int, error) {
	out := map[string]int{}
	for _, t := range terms {
		out[t] = m.unitsWith(t)
	}
	return out, m.record(ctx, "TermFrequencies")
}

// Vocabulary returns words as they are spelled.
func (m *memory) Vocabulary(ctx context.Context, term string, letters, margin int) (string, []chat.TermCount, error) {
	count := map[string]int{}
	for _, u := range m.units {
		for _, w := range m.words(u) {
			if strings.HasPrefix(w, term[:letters]) && max(len(w)-len(term), len(term)-len(w)) <= margin {
				count[w] = 0
			}
		}
	}
	var out []chat.TermCount
	for w := range count {
		out = append(out, chat.TermCount{Term: w, Units: m.unitsWith(w)})
	}
	return term, out, m.record(ctx, "Vocabulary")
}

// Apart returns nothing: no word is written as two here.
func (m *memory) Apart(ctx context.Context, _ string) ([]chat.TermCount, error) {
	return nil, m.record(ctx, "Apart")
}

func (m *memory) UnitCount(context.Context) (int, error) { return len(m.units), nil }

func (m *memory) SearchUnits(_ context.Context, terms []string, in chat.Within, limit int) ([]chat.UnitScore, error) {
	if err := m.fail["SearchUnits"]; err != nil {
		return nil, err
	}
	total := 0
	for _, u := range m.units {
		total += len(m.words(u))
	}
	counts := map[string]int{}
	for _, t := range terms {
		counts[t] = m.unitsWith(t)
	}
	var out []chat.UnitScore
	for _, u := range m.units {
		words, score := m.words(u), 0.0
		for _, t := range terms {
			tf := 0.0
			for _, w := range words {
				if w == t {
					tf++
				}
			}
			idf := max(math.Log((float64(len(m.units)-counts[t])+0.5)/(float64(counts[t])+0.5)), 1e-6)
			score += idf * tf * 2.2 / (tf + 1.2*(0.25+0.75*float64(len(words))*float64(len(m.units))/float64(total)))
		}
		if score > 0 && inScope(in, u) {
			out = append(out, chat.UnitScore{N: u.N, Score: score})
		}
	}
	slices.SortStableFunc(out, func(a, b chat.UnitScore) int { return cmp.Compare(b.Score, a.Score) })
	return out[:min(len(out), limit)], nil
}

func (m *memory) Units(ctx context.Context, in chat.Within, ns []int64) ([]chat.UnitRef, error) {
	var out []chat.UnitRef
	for _, u := range m.units {
		if slices.Contains(ns, u.N) && inScope(in, u) {
			out = append(out, u)
		}
	}
	return out, m.record(ctx, "Units")
}

func (m *memory) UnitsNear(ctx context.Context, in chat.Within, spans []chat.SeqSpan) ([]chat.UnitRef, error) {
	var out []chat.UnitRef
	for _, u := range m.units {
		near := func(s chat.SeqSpan) bool { return s.Branch == u.Branch && s.From <= u.Seq && u.Seq <= s.To }
		if slices.ContainsFunc(spans, near) && inScope(in, u) {
			out = append(out, u)
		}
	}
	return out, m.record(ctx, "UnitsNear")
}

type everything struct{}

func (everything) Span(chat.SessionID, chat.BranchID) (int64, int64, bool) {
	return 0, math.MaxInt64, true
}

func (m *memory) ScopeFilter(ctx context.Context, _ chat.Within) (chat.ScopeFilter, error) {
	return everything{}, m.record(ctx, "Scope")
}

func (m *memory) ChunkTexts(ctx context.Context, ids []chat.ChunkID) ([]chat.ChunkText, error) {
	var out []chat.ChunkText
	for _, id := range ids {
		if c, ok := m.texts[id]; ok {
			out = append(out, c)
		}
	}
	return out, m.record(ctx, "ChunkTexts")
}

func (m *memory) Serving(ctx context.Context) (chat.Namespace, bool, error) {
	return chat.Namespace{ID: 1, Embedder: m.embedding().Identity(), Total: len(m.units)}, m.serving, m.record(ctx, "Serving")
}

func (m *memory) SampleVectors(ctx context.Context, _ int64, n int) ([][]float32, error) {
	return m.vectors[:min(n, len(m.vectors))], m.record(ctx, "SampleVectors")
}

// Warm implements Vectors.
func (m *memory) Warm(ctx context.Context, _ chat.Namespace) error { return m.record(ctx, "warm") }

// Search implements Vectors. It ignores scopes, so the engine must not rely on it for them.
func (m *memory) Search(ctx context.Context, q VectorQuery) ([]chat.VectorHit, error) {
	var out []chat.VectorHit
	for i, v := range m.vectors {
		sum := 0.0
		for k := range v {
			sum += float64(v[k]) * float64(q.Vector[k])
		}
		out = append(out, chat.VectorHit{N: int64(i + 1), Cosine: sum})
	}
	slices.SortStableFunc(out, func(a, b chat.VectorHit) int { return cmp.Compare(b.Cosine, a.Cosine) })
	return out[:min(len(out), q.Limit)], m.record(ctx, "vectors")
}

func (m *memory) engine(change ...func(*Settings)) *Engine {
	s := Measured()
	for _, f := range change {
		f(&s)
	}
	return New(Deps{Store: m, Vectors: m, Settings: func() Settings { return s }, Embedder: func(context.Context, chat.Namespace) (embedding.Embedder, error) {
		return m.embedding(), m.fail["Embedder"]
	}})
}

var errBroken = errors.New("broken")
