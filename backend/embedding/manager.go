package embedding

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"sync"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/clock"
	"contextinfinity/backend/internal/lists"
)

// Store is what the Manager needs of the database.
type Store interface {
	Namespaces(ctx context.Context) ([]chat.Namespace, error)
	// OpenNamespace returns the identity's namespace, created if necessary: building, or serving at once if there is
	// no unit yet and none serves. A retired one is building again.
	OpenNamespace(ctx context.Context, id chat.EmbedderID) (chat.Namespace, error)
	// Unembedded returns units without a vector in a namespace, in the order of n.
	Unembedded(ctx context.Context, ns int64, limit int) ([]chat.UnitText, error)
	// VectorsByHash returns the vectors that a namespace already has for texts.
	VectorsByHash(ctx context.Context, ns int64, hashes [][32]byte) (map[[32]byte][]float32, error)
	PutVectors(ctx context.Context, ns int64, vectors []chat.UnitVector) error
	// ServeNamespace makes a namespace the serving one and retires all others. It returns a conflict while vectors
	// are missing in it.
	ServeNamespace(ctx context.Context, ns int64) error
	// DeleteRetired deletes up to limit vectors of retired namespaces.
	DeleteRetired(ctx context.Context, limit int) (more bool, err error)
	// SaveVectors saves the serving vectors in a format that an index can read quickly.
	SaveVectors(ctx context.Context) error
}

// ManagerDeps are a Manager's dependencies.
type ManagerDeps struct {
	Store Store
	// Target returns the configured embedder. It may ask a server for its dimension.
	Target func(context.Context) (Embedder, error)
	// For returns the embedder with an identity, such as the one that serves while the target is being filled. It
	// contacts no server, because a search waits for it.
	For func(context.Context, chat.EmbedderID) (Embedder, error)
	// Redact removes secrets from texts for a remote embedder; nil: nothing is removed.
	Redact func(string) string
	// Publish is called with the progress of a reindex; may be nil.
	Publish func(done, total int)
	Log     *slog.Logger // nil: none
	Clock   clock.Clock  // nil: the system's
	// Wait pauses between attempts; nil: with the system's clock.
	Wait func(context.Context, time.Duration) error
}

// Local is the name of the embedder that needs no network. For any other one, texts leave the program.
const Local = "local"

const (
	fillBatch     = 64   // units per Step
	dropBatch     = 2000 // vectors of retired namespaces deleted per Step
	cachedQueries = 512  // questions with cached vectors

	// timeoutPause is how long indexing does not wait again for a server that did not respond in time: the turns are
	// searchable by words at once, and Step adds the missing vectors later.
	timeoutPause = time.Minute
)

// Manager keeps the vectors of all units up to date with the configured embedder. It has no goroutine of its own, and
// is safe for concurrent use.
//
// One namespace serves searches; another, the target, may be filling. When the target is complete it serves, and the
// others are retired and deleted. Only missing vectors are requested, so an interrupted reindex continues where it
// stopped, and a target that is changed half-way is left incomplete and eventually deleted. The same text is never
// embedded twice for a namespace.
type Manager struct {
	d     ManagerDeps
	cache *Cache

	step sync.Mutex // one Step at a time

	mu       sync.Mutex
	failures map[chat.EmbedderID]chat.Phrase // the last error of each, until it works again
	timedOut map[chat.EmbedderID]timedOut    // those that recently did not respond in time
}

// timedOut is when a server did not respond in time, and the error.
type timedOut struct {
	at  time.Time
	err error
}

// NewManager creates a Manager.
func NewManager(d ManagerDeps) *Manager {
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	return &Manager{d: d, cache: NewCache(cachedQueries), failures: map[chat.EmbedderID]chat.Phrase{}, timedOut: map[chat.EmbedderID]timedOut{}}
}

// For returns the embedder that created a namespace's vectors, with validation, batches, retries and a cache; texts for
// a remote embedder are redacted.
func (m *Manager) For(ctx context.Context, ns chat.Namespace) (Embedder, error) {
	e, err := m.d.For(ctx, ns.Embedder)
	if err != nil {
		return nil, m.failed(ctx, ns.Embedder, err)
	}
	if e.Identity() != ns.Embedder {
		return nil, chat.Errorf(chat.CodeConfig, "embedding.for", "The vectors in use were made by %s, which is not configured any more.", ns.Embedder).
			WithHint("words are still searched; the configured embedder's vectors are being made")
	}
	return m.wrap(e), nil
}

// wrap adds the features that all embedders share.
func (m *Manager) wrap(e Embedder) Embedder {
	id := e.Identity()
	e = Checked(e)
	if id.Name != Local {
		e = Redacted(Batched(Retried(e, m.d.Wait), RemoteLimits(id)), m.d.Redact)
	}
	return Cached(e, m.cache)
}

// activeNamespace is a namespace that is kept up to date: the serving one or the target, which may be the same.
type activeNamespace struct {
	chat.Namespace
	embedder Embedder // set for the target; nil: created when needed
}

func (m *Manager) active(ctx context.Context) ([]activeNamespace, error) {
	var out []activeNamespace
	var target Embedder
	targetErr := m.recentTimeout(chat.EmbedderID{})
	if targetErr == nil {
		target, targetErr = m.target(ctx)
	}
	if targetErr == nil {
		ns, err := m.d.Store.OpenNamespace(ctx, target.Identity())
		if err != nil {
			return nil, err
		}
		out = append(out, activeNamespace{ns, target})
	}
	all, err := m.d.Store.Namespaces(ctx)
	if err != nil {
		return nil, err
	}
	for _, ns := range all {
		if ns.State == chat.NamespaceServing && (len(out) == 0 || out[0].ID != ns.ID) {
			out = append(out, activeNamespace{Namespace: ns})
		}
	}
	return out, targetErr
}

func (m *Manager) target(ctx context.Context) (Embedder, error) {
	e, err := m.d.Target(ctx)
	if err != nil {
		return nil, m.failed(ctx, chat.EmbedderID{}, err)
	}
	m.succeeded(chat.EmbedderID{})
	return m.wrap(e), nil
}

// Vectors returns the vectors of units' texts for every active namespace, by id. It fails only if no vectors could be
// created at all: Step adds those that the target lacks, and units without a vector in the serving namespace are found
// by words.
func (m *Manager) Vectors(ctx context.Context, texts []chat.UnitText) (map[int64][][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	namespaces, failed := m.active(ctx)
	out := make(map[int64][][]float32, len(namespaces))
	for _, ns := range namespaces {
		err := m.recentTimeout(ns.Embedder)
		if err == nil {
			var vectors [][]float32
			if vectors, err = m.embed(ctx, ns, texts); err == nil {
				out[ns.ID] = vectors
			}
		}
		failed = errors.Join(failed, err)
	}
	if len(out) > 0 && ctx.Err() == nil {
		return out, nil
	}
	return nil, failed
}

// embed takes existing vectors from the store and requests the others from the embedder, each text once.
func (m *Manager) embed(ctx context.Context, ns activeNamespace, texts []chat.UnitText) ([][]float32, error) {
	hashes := lists.Map(texts, func(u chat.UnitText) [32]byte { return sha256.Sum256([]byte(u.Text)) })
	existing, err := m.d.Store.VectorsByHash(ctx, ns.ID, hashes)
	if err != nil {
		return nil, err
	}
	vectors := make(map[[32]byte][]float32, len(texts))
	var missing []string
	var missingHashes [][32]byte
	for i, h := range hashes {
		if v := existing[h]; len(v) == ns.Embedder.Dimension {
			vectors[h] = v
		} else if _, seen := vectors[h]; !seen {
			vectors[h] = nil
			missing, missingHashes = append(missing, texts[i].Said()), append(missingHashes, h)
		}
	}
	if err := m.request(ctx, ns, missing, missingHashes, vectors); err != nil {
		return nil, err
	}
	out := make([][]float32, len(texts))
	for i, h := range hashes {
		out[i] = vectors[h]
	}
	return out, nil
}

func (m *Manager) request(ctx context.Context, ns activeNamespace, texts []string, hashes [][32]byte, into map[[32]byte][]float32) error {
	if len(texts) == 0 {
		return nil
	}
	e := ns.embedder
	if e == nil {
		var err error
		if e, err = m.For(ctx, ns.Namespace); err != nil {
			return err
		}
	}
	vectors, err := e.Embed(ctx, Passage, texts)
	if err != nil {
		return m.failed(ctx, ns.Embedder, err)
	}
	m.succeeded(ns.Embedder)
	for i, h := range hashes {
		into[h] = vectors[i]
	}
	return nil
}

// Step adds one batch of the target namespace's missing vectors. When the target is complete, Step makes it serve, then
// deletes retired vectors, one batch per call, and finally saves the vectors for the index. more is false when nothing
// remains to be done.
func (m *Manager) Step(ctx context.Context) (more bool, err error) {
	m.step.Lock()
	defer m.step.Unlock()
	target, err := m.target(ctx)
	if err != nil {
		return false, err
	}
	ns, err := m.d.Store.OpenNamespace(ctx, target.Identity())
	if err != nil {
		return false, err
	}
	units, err := m.d.Store.Unembedded(ctx, ns.ID, fillBatch)
	if err != nil {
		return false, err
	}
	if len(units) > 0 {
		return true, m.fill(ctx, activeNamespace{ns, target}, units)
	}
	if served, err := m.promote(ctx, ns); served || err != nil {
		return true, err
	}
	if more, err := m.d.Store.DeleteRetired(ctx, dropBatch); more || err != nil {
		return more, err
	}
	if err := m.d.Store.SaveVectors(ctx); err != nil && ctx.Err() == nil {
		m.d.Log.Warn("the vectors could not be saved for quick reading; searches read them from the database", "err", err)
	}
	return false, nil
}

func (m *Manager) fill(ctx context.Context, ns activeNamespace, units []chat.UnitText) error {
	vectors, err := m.embed(ctx, ns, units)
	if err != nil {
		return err
	}
	rows := make([]chat.UnitVector, len(units))
	for i, u := range units {
		rows[i] = chat.UnitVector{N: u.N, Vector: vectors[i]}
	}
	if err := m.d.Store.PutVectors(ctx, ns.ID, rows); err != nil {
		return err
	}
	m.report(ctx, ns.ID)
	return nil
}

// promote makes a complete namespace serve, and retires all others, such as those that a changed setting left
// incomplete. served is false if nothing had to be changed.
func (m *Manager) promote(ctx context.Context, ns chat.Namespace) (served bool, err error) {
	all, err := m.d.Store.Namespaces(ctx)
	if err != nil {
		return false, err
	}
	due := false
	for _, other := range all {
		if other.ID == ns.ID {
			due = due || other.State != chat.NamespaceServing
		} else {
			due = due || other.State != chat.NamespaceRetired
		}
	}
	if !due {
		return false, nil
	}
	err = m.d.Store.ServeNamespace(ctx, ns.ID)
	if chat.CodeOf(err) == chat.CodeConflict { // a turn was indexed in between: the next Step fills it
		return true, nil
	}
	if err == nil {
		m.d.Log.Info("vectors complete", "embedder", ns.Embedder.String())
		m.report(ctx, ns.ID)
	}
	return true, err
}

func (m *Manager) report(ctx context.Context, id int64) {
	if m.d.Publish == nil {
		return
	}
	all, err := m.d.Store.Namespaces(ctx)
	if err != nil {
		return // the next batch reports progress again
	}
	for _, ns := range all {
		if ns.ID == id {
			m.d.Publish(ns.Done, ns.Total)
		}
	}
}

// Status returns the namespaces, each with its embedder's last error, if the embedder has not succeeded since. If the
// configured embedder cannot be created, the serving namespace has that error.
func (m *Manager) Status(ctx context.Context) ([]chat.Namespace, error) {
	all, err := m.d.Store.Namespaces(ctx)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range all {
		why := m.failures[all[i].Embedder]
		if why.IsZero() && all[i].State == chat.NamespaceServing {
			why = m.failures[chat.EmbedderID{}]
		}
		all[i].LastError, all[i].Words = why.Split()
	}
	return all, nil
}

func (m *Manager) failed(ctx context.Context, id chat.EmbedderID, err error) error {
	if ctx.Err() != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failures[id] = chat.AsError(err).Phrase()
	if chat.CodeOf(err) == chat.CodeTimeout {
		m.timedOut[id] = timedOut{m.d.Clock.Now(), err}
	}
	return err
}

// recentTimeout is the error of an embedder that recently did not respond in time, or nil.
func (m *Manager) recentTimeout(id chat.EmbedderID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s, ok := m.timedOut[id]; ok && m.d.Clock.Now().Sub(s.at) < timeoutPause {
		return s.err
	}
	return nil
}

func (m *Manager) succeeded(id chat.EmbedderID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.failures, id)
	delete(m.timedOut, id)
}
