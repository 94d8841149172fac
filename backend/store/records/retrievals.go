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

// Recalled returns for each of these turns how much memory its context contains and whether retrieval failed; turns
// with neither are left out.
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

// retrievedRecord returns the record of the memory of a turn's context; nil: no memory. The ledger gets its hash, as
// for the manifest, which contains the same in full.
func retrievedRecord(t *core.Tx, turn schema.TurnRow, list []chat.Retrieval) ([]byte, error) {
	if len(list) == 0 {
		return nil, nil
	}
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b chat.Retrieval) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Chunk, b.Chunk))
	})
	known, err := events.ChunkNumbers(t, list)
	if err != nil {
		return nil, err
	}
	named := make([]schema.NamedRetrieval, 0, len(list))
	for _, r := range list {
		row, err := events.RetrievedOf(turn, r, known)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(named, func(n schema.NamedRetrieval) bool { return n.Row.ChunkN == row.ChunkN }) {
			return nil, sqlite.Invalid("Turn %d records the chunk %s twice.", turn.TurnSeq, r.Chunk)
		}
		named = append(named, schema.NamedRetrieval{Row: row, ChunkID: string(r.Chunk)})
	}
	return events.RetrievedText(named), nil
}
