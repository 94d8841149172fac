package store

import (
	"context"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/records"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// Reads that only tests need.

// files returns the documents of a session, oldest first, including those of drafts.
func (f *fixture) files(session chat.SessionID) []chat.File {
	f.Helper()
	rows, err := core.All[schema.FileRow](f.ctx, f.recordsPart, "test", `SELECT `+schema.FileColumns+` FROM files WHERE session_id = ? ORDER BY id`, session)
	f.ok(err)
	return lists.Map(rows, schema.FileRow.File)
}

// fileContent returns a document's bytes as they were attached.
func (f *fixture) fileContent(id chat.FileID) []byte {
	f.Helper()
	found, err := core.All[[]byte](f.ctx, f.recordsPart, "test", `SELECT content FROM files WHERE id = ?`, id)
	f.ok(err)
	if len(found) != 1 {
		f.Fatalf("%d documents have the id %s", len(found), id)
	}
	return found[0]
}

// retrievals returns the chunks in a turn's context, by rank.
func (f *fixture) retrievals(turn chat.TurnID) []chat.Retrieval {
	f.Helper()
	rows, err := core.All[schema.NamedRetrieval](f.ctx, f.recordsPart, "test", `SELECT r.*, c.id AS chunk_id FROM turns t JOIN retrieved r ON r.turn_n = t.n
		JOIN chunks c ON c.n = r.chunk_n WHERE t.id = ? AND r.rank > 0 ORDER BY r.rank, c.id`, turn)
	f.ok(err)
	return lists.Map(rows, schema.NamedRetrieval.Retrieval)
}

// Replay rebuilds a session's state from its ledger.
func (f *fixture) Replay(ctx context.Context, session chat.SessionID) (state *ledger.State, how records.Replayed, err error) {
	err = f.recordsPart.Read(ctx, "test", func(db *gorm.DB) (err error) {
		if _, err = schema.SessionByID(db, session); err == nil {
			state, how, err = records.ReplaySession(db, string(session))
		}
		return err
	})
	return state, how, err
}

// StepPayload returns the exact request, response and stream of a step.
func (f *fixture) StepPayload(ctx context.Context, id chat.StepID) (chat.StepPayload, error) {
	p, err := f.StepBodies(ctx, id)
	if err != nil {
		return p, err
	}
	return p, f.StepEvents(ctx, id, func(e chat.RawEvent) error {
		p.Events = append(p.Events, e)
		return nil
	})
}

// checkpoint copies the write-ahead log into the database file and empties it.
func (f *fixture) checkpoint() {
	f.Helper()
	f.ok(sqlite.MapError("test", f.core.DB.Writer.Exec(`PRAGMA wal_checkpoint(TRUNCATE)`).Error))
}
