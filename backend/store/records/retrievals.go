package records

import (
	"cmp"
	"context"
	"slices"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// Retrievals are the chunks that a turn's context holds, by rank.
func (s *Records) Retrievals(ctx context.Context, turn chat.TurnID) ([]chat.Retrieval, error) {
	var out []chat.Retrieval
	err := s.Read(ctx, "retrieval.list", func(db *gorm.DB) error {
		rows, err := sqlite.All[schema.NamedRetrieval](db, `SELECT r.*, c.id AS chunk_id FROM turns t JOIN retrieved r ON r.turn_n = t.n
			JOIN chunks c ON c.n = r.chunk_n WHERE t.id = ? AND r.rank > 0 ORDER BY r.rank, c.id`, turn)
		out = make([]chat.Retrieval, len(rows))
		for i, r := range rows {
			out[i] = r.Retrieval()
		}
		return err
	})
	return out, err
}

// Recalled tells of each of these turns how much memory its context holds and whether
// it failed; those that have neither are left out.
func (s *Records) Recalled(ctx context.Context, turns []chat.TurnID) (map[chat.TurnID]chat.Recalled, error) {
	list, err := chat.MarshalJSON(turns)
	if err != nil {
		return nil, err
	}
	var rows []struct {
		ID     string
		Pieces int
		Error  string
	}
	err = s.Read(ctx, "retrieval.count", func(db *gorm.DB) error {
		return db.Raw(`SELECT * FROM (SELECT t.id, (SELECT count(*) FROM retrieved r WHERE r.turn_n = t.n AND r.rank > 0) AS pieces,
			  coalesce((SELECT iif(json_valid(m.metrics_json), m.metrics_json ->> '$.retrieval_error', '') FROM metrics m
			    WHERE m.turn_id = t.id AND m.step_id = ''), '') AS error
			FROM json_each(?) j CROSS JOIN turns t ON t.id = j.value) WHERE pieces > 0 OR error <> ''`, string(list)).Scan(&rows).Error
	})
	out := make(map[chat.TurnID]chat.Recalled, len(rows))
	for _, r := range rows {
		out[chat.TurnID(r.ID)] = chat.Recalled{Pieces: r.Pieces, Error: r.Error}
	}
	return out, err
}

// remembered is what memory a context holds, as it was recorded.
type remembered struct {
	chunks []int64 // by rank
	sum    string  // for the ledger; empty: nothing
}

// putRetrievals records what memory a turn's context holds, in place of what was
// recorded before; of that, which chunks they were is kept. The ledger is told the
// hash, as of the manifest, which holds the same in full.
func putRetrievals(t *core.Tx, turn schema.TurnRow, list []chat.Retrieval) (remembered, error) {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b chat.Retrieval) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Chunk, b.Chunk))
	})
	var rows []schema.RetrievedRow
	var named []schema.NamedRetrieval
	known, err := events.ChunkNumbers(t, list)
	if err != nil {
		return remembered{}, err
	}
	var out remembered
	for _, r := range list {
		row, err := events.RetrievedOf(turn, r, known)
		if err != nil {
			return remembered{}, err
		}
		if slices.Contains(out.chunks, row.ChunkN) {
			return remembered{}, sqlite.Invalid("Turn %d records the chunk %s twice.", turn.TurnSeq, r.Chunk)
		}
		rows, named = append(rows, row), append(named, schema.NamedRetrieval{Row: row, ChunkID: string(r.Chunk)})
		out.chunks = append(out.chunks, row.ChunkN)
	}
	if err := events.RetireRetrievals(t, turn); err != nil || len(rows) == 0 {
		return out, err
	}
	out.sum = HashRetrieved(named)
	return out, t.DB.CreateInBatches(&rows, events.RetrievedBatch).Error
}

// HashRetrieved is what the ledger holds of records.
func HashRetrieved(rows []schema.NamedRetrieval) string {
	return schema.HexHash(events.RetrievedText(rows))
}
