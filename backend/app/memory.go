package app

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/embedding"
	"contextinfinity/backend/embedding/encoder"
	"contextinfinity/backend/embedding/words"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/llm/recall"
	"contextinfinity/backend/models"
	"contextinfinity/backend/reranking"
	"contextinfinity/backend/retrieval"
	"contextinfinity/backend/services"
	"contextinfinity/backend/store"
	"contextinfinity/backend/vectorindex"
)

// memoryParts is everything needed for search: complete vectors, an index over them that is rebuilt from the store
// when needed, and the search itself.
type memoryParts struct {
	vectors *embedding.Manager
	index   *vectorindex.Index
	engine  *retrieval.Engine
	// connect creates an embedder that is not (yet) configured.
	connect func(context.Context, config.Embedding) (embedding.Embedder, error)
}

// memoryDeps are the dependencies of memoryParts.
type memoryDeps struct {
	setup   services.Setup
	store   *store.Store
	redact  func(string) string
	publish func(done, total int)
}

func newMemoryParts(d memoryDeps) memoryParts {
	e := &embedders{
		config:  d.setup.Config.Config,
		keys:    d.setup.Keys,
		client:  models.NewHTTPClient(func() string { return d.setup.Config.Config().Providers.CAFile }),
		encoder: encoder.New(),
		words:   words.New(),
	}
	r := memoryParts{index: vectorindex.New(vectorindex.Options{Source: d.store, Log: d.setup.Log})}
	r.connect = func(ctx context.Context, c config.Embedding) (embedding.Embedder, error) {
		return e.make(ctx, c, c.Dimension > 0)
	}
	r.vectors = embedding.NewManager(embedding.ManagerDeps{
		Store:   d.store,
		Target:  e.Target,
		For:     e.For,
		Redact:  d.redact,
		Publish: d.publish,
		Log:     d.setup.Log,
	})
	r.engine = retrieval.New(retrieval.Deps{
		Store:    d.store,
		Vectors:  r.index,
		Embedder: r.vectors.For,
		Reranker: func() (retrieval.Reranker, error) { return d.reranker(e.client) },
		Settings: func() retrieval.Settings { return searchSettings(d.setup.Config.Config()) },
	})
	return r
}

// reranker returns the configured reranker, or nil. Texts sent to it are redacted.
func (d memoryDeps) reranker(client *http.Client) (retrieval.Reranker, error) {
	c, ok := d.setup.Config.Config().Reranker()
	if !ok {
		return nil, nil //nolint:nilnil // none is configured
	}
	if c.Fault != "" {
		return nil, chat.Errorf(chat.CodeConfig, "reranker.make", "The reranker's configuration has an error: %s.", c.Fault)
	}
	key, _ := d.setup.Keys.Key(c.KeyName, c.KeyEnv)
	r, err := reranking.New(reranking.Options{
		Client:         client,
		BaseURL:        c.BaseURL,
		Key:            key,
		AllowPlainHTTP: c.AllowPlainHTTP,
		Model:          c.Model,
	})
	if err != nil {
		return nil, err
	}
	return redactedReranker{r, d.redact}, nil
}

// redactedReranker removes secrets from texts for a reranker.
type redactedReranker struct {
	retrieval.Reranker
	redact func(string) string
}

func (r redactedReranker) Rerank(ctx context.Context, query string, passages []string) ([]float64, error) {
	if r.redact != nil {
		query = r.redact(query)
		clean := lists.Map(passages, r.redact)
		passages = clean
	}
	return r.Reranker.Rerank(ctx, query, passages)
}

// warmDelay is how long warming waits, so that it does not slow down the start of the window.
const warmDelay = time.Second

// warm prepares searches in the background, so that the first one is fast.
func (a *app) warm() {
	a.run(func(ctx context.Context) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(warmDelay):
		}
		if err := a.Memory.Warm(ctx); err != nil && ctx.Err() == nil {
			a.Log.Warn("searches could not be prepared", "err", err)
		}
	})
}

// searchSettings returns the configured search settings.
func searchSettings(c *config.Config) retrieval.Settings {
	r := c.Ranking()
	s := retrieval.Measured()
	s.SRD = r.Profile == config.ProfileSRD
	s.TopK = r.TopK
	s.Overfetch = r.OverfetchK
	s.Threshold = r.SimilarityThreshold
	s.VectorWeight = r.VectorWeight
	s.KeywordWeight = r.KeywordWeight
	s.DecisionWeight = r.DecisionWeight
	s.Recency = r.RecencyBoost
	s.MMR = r.EnableMMR
	isSet := func(key string) bool { return c.Origin("retrieval."+key) != config.OriginDefault }
	if isSet("top_k") {
		s.Bounds.Artifacts = r.TopK
	}
	if isSet("overfetch_k") {
		s.Bounds.Candidates = r.OverfetchK
	}
	if isSet("similarity_threshold") {
		s.Bounds.Similarity = r.SimilarityThreshold
	}
	return s
}

// reindexProgress returns a function that reports the progress of new vectors to the window.
func reindexProgress(publish func(chat.Change)) func(done, total int) {
	return func(done, total int) {
		publish(chat.Change{Kind: chat.ChangeReindex, ID: fmt.Sprintf("%d/%d", done, total)})
	}
}

// memory lets recall search the store once it is open.
type memory struct {
	store  *store.Store
	engine *retrieval.Engine
	// prepare makes all turns searchable, if that needs no model.
	prepare func(context.Context) error
}

// quoteTokens is the maximum size of recall's quotations in one answer.
const quoteTokens = 2000

// minSimilarity is the similarity required of a passage that shares no word with the question: no answer is better than
// an unrelated one.
const minSimilarity = 0.995

// Search implements recall.Memory.
func (m *memory) Search(ctx context.Context, q recall.Query) ([]recall.Passage, error) {
	if err := m.prepare(ctx); err != nil {
		return nil, err
	}
	found, err := m.engine.Search(ctx, retrieval.Query{
		Text: q.Text, Within: chat.Within{Scope: cmp.Or(q.Scope, chat.ScopeAll), Branch: q.Branch}, MaxTokens: quoteTokens, AllowWordsOnly: true,
		Count: func(s string) int { return counter{}.Count("", s) },
	})
	var out []recall.Passage
	asks := !retrieval.AsksNothing(retrieval.Ends(q.Text))
	for _, a := range found.Artifacts {
		if a.Keyword > 0 || a.Similarity >= minSimilarity && asks {
			out = append(out, passage(a))
		}
	}
	return out[:min(len(out), q.Limit)], err
}

func passage(a retrieval.Artifact) recall.Passage {
	p := recall.Passage{
		TurnID: a.SourceTurn, SessionID: a.SessionID, SessionTitle: a.SessionTitle, Role: a.Role, Name: a.Speaker,
		Text: artifactText(a), At: a.At, Score: a.Score, ByMeaning: a.Keyword == 0,
	}
	if a.File != nil {
		p.Document = a.File.Name
	}
	return p
}

// artifactText returns the plain text of an artifact.
func artifactText(a retrieval.Artifact) string {
	switch a.Form {
	case chat.PackedSummary:
		return a.Brief()
	case chat.PackedSlice:
		parts := lists.Map(a.Slices, func(s chat.Span) string { return strings.TrimSpace(a.Source[s.Start:s.End]) })
		return strings.Join(parts, "\n\n…\n\n")
	}
	return a.ChunkText.Text
}

// Turns implements recall.Memory: it distinguishes an empty memory from a search without results. The current turn is
// not counted.
func (m *memory) Turns(ctx context.Context) (int, error) {
	st, err := m.store.Stats(ctx)
	return max(0, st.Turns-1), err
}
