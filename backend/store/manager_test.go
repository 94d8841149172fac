package store

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/embedding"
	"contextinfinity/backend/embedding/words"
	"contextinfinity/backend/retrieval"
	"contextinfinity/backend/vectorindex"
)

// TestDerivedDataIsRebuilt: whatever part of the vectors is deleted by hand while the program runs is computed again
// with the same result, and the index in memory follows.
func TestDerivedDataIsRebuilt(t *testing.T) {
	f := newFixture(t)
	s, b := f.session("s")
	for i := range 12 {
		f.full(b.ID, fmt.Sprintf("question %d about zebras", i), fmt.Sprintf("answer %d of lions", i))
	}
	e := words.New()
	m := embedding.NewManager(embedding.ManagerDeps{
		Store:  f.Store,
		Target: func(context.Context) (embedding.Embedder, error) { return e, nil },
		For:    func(context.Context, chat.EmbedderID) (embedding.Embedder, error) { return e, nil },
	})
	index := vectorindex.New(vectorindex.Options{Source: f.Store})
	defer index.Close()
	query, err := e.Embed(f.ctx, embedding.Query, []string{"question 7 about zebras"})
	f.ok(err)
	nearest := func() (all []chat.VectorHit) {
		t.Helper()
		for n := 0; ; n++ {
			more, err := m.Step(f.ctx)
			f.ok(err)
			if !more {
				break
			}
			if n > 100 {
				t.Fatal("it never finishes")
			}
		}
		f.verifyClean()
		ns, ok, err := f.Serving(f.ctx)
		f.ok(err)
		if !ok || ns.Done != ns.Total {
			t.Fatalf("%+v", ns)
		}
		for _, session := range []chat.SessionID{s.ID, ""} {
			scope, err := f.ScopeFilter(f.ctx, chat.Within{Scope: chat.ScopeAll, Branch: b.ID})
			f.ok(err)
			hits, err := index.Search(f.ctx, retrieval.VectorQuery{Namespace: ns, Vector: query[0], Session: session, Scope: scope, Limit: 9})
			f.ok(err)
			all = append(all, hits...)
		}
		return all
	}
	before := nearest()
	if len(before) != 18 || before[0].Cosine < 0.5 {
		t.Fatalf("%+v", before)
	}
	for name, damage := range map[string][]string{
		"all vectors":     {`DELETE FROM unit_embeddings`},
		"some vectors":    {`DELETE FROM unit_embeddings WHERE unit_n % 3 = 0`},
		"last vectors":    {`DELETE FROM unit_embeddings WHERE unit_n > 20`},
		"the namespace":   {`PRAGMA foreign_keys = OFF`, `DELETE FROM namespaces`, `PRAGMA foreign_keys = ON`},
		"both":            {`DELETE FROM unit_embeddings`, `DELETE FROM namespaces`},
		"what it is for":  {`UPDATE namespaces SET state = 'retired'`},
		"a half-made one": {`INSERT INTO namespaces (identity, name, model, dimension, version, state, created_at) VALUES ('x/y/3/v1', 'x', 'y', 3, 1, 'building', '2026-01-02T03:04:05.000Z')`},
	} {
		for _, sql := range damage {
			f.ok(f.core.DB.Writer.Exec(sql).Error)
		}
		if after := nearest(); !slices.Equal(after, before) {
			t.Errorf("without %s\n%v, before\n%v", name, after, before)
		}
	}
}
