package main

import (
	"fmt"
	"log/slog"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/chunking"
	"contextinfinity/backend/config"
	"contextinfinity/backend/embedding"
	"contextinfinity/backend/embedding/local"
	"contextinfinity/backend/models"
	"contextinfinity/backend/store"
	"contextinfinity/backend/vectorindex"
)

// recollection is what finds by meaning: vectors kept complete, and an index over them
// that is rebuilt from the store whenever it is needed.
type recollection struct {
	vectors *embedding.Manager
	index   *vectorindex.Index
}

// recollectionDeps are what it is made of.
type recollectionDeps struct {
	store   *store.Store
	config  func() *config.Config
	keys    models.Keyring
	redact  func(string) string
	publish func(done, total int)
	log     *slog.Logger
}

func newRecollection(d recollectionDeps) recollection {
	e := &embedders{config: d.config, keys: d.keys, client: models.NewHTTPClient(), local: local.New()}
	r := recollection{index: vectorindex.New(vectorindex.Options{Source: d.store, Log: d.log})}
	r.vectors = embedding.NewManager(embedding.ManagerDeps{
		Store: d.store, Target: e.Target, For: e.For, Redact: d.redact, Publish: d.publish, Log: d.log,
	})
	return r
}

// chunkSizes are the configured ones.
func chunkSizes(c *config.Config) chunking.Options {
	return chunking.Options{
		MinTokens: c.Retrieval.ChunkMinTokens, MaxTokens: c.Retrieval.ChunkMaxTokens, Overlap: c.Retrieval.ChunkOverlapTokens,
	}
}

// reindexing tells the window how far new vectors are.
func reindexing(publish func(chat.Change)) func(done, total int) {
	return func(done, total int) {
		publish(chat.Change{Kind: chat.ChangeReindex, ID: fmt.Sprintf("%d/%d", done, total)})
	}
}
