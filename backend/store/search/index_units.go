package search

import (
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// insertUnits stores a chunk's units; triggers add them to the text index. Units of a document are stored with their
// text, because SQL would read the whole document for each. The ledger gets only the hash and the text before the
// words, which are in the document.
func insertUnits(t *core.Tx, turn schema.TurnRow, chunk schema.ChunkRow, units []chat.Unit, from events.ChunkSource) ([]ledger.IndexedUnit, error) {
	recorded := make([]ledger.IndexedUnit, 0, len(units))
	for _, u := range units {
		if u.Start < 0 || u.End < u.Start {
			return nil, sqlite.Invalid("A unit of turn %d has no valid place in its message.", turn.TurnSeq)
		}
		body := schema.Clean(u.Text)
		row := schema.UnitRow{
			ID: t.NewID(), ChunkID: chunk.ID, SessionID: turn.SessionID, BranchID: turn.BranchID, TurnID: turn.ID,
			TurnSeq: turn.TurnSeq, Ordinal: u.Ordinal, Message: chunk.Role, StartOffset: u.Start, EndOffset: u.End,
			Tokens: u.Tokens, ContentHash: codec.Hash([]byte(body)), Text: body, Pairs: schema.PairsOf(body),
		}
		record := ledger.IndexedUnit{ID: chat.UnitID(row.ID), Start: u.Start, End: u.End, Tokens: u.Tokens, Text: body}
		if u.Start < u.End && u.End <= len(from.Text) && strings.HasSuffix(body, from.Text[u.Start:u.End]) {
			before := strings.TrimSuffix(body, from.Text[u.Start:u.End])
			if from.Said != "" {
				row.Text, row.Said = before, true
			}
			if chunk.FileID != nil {
				record.Text, record.SHA256 = before, hex.EncodeToString(row.ContentHash)
			}
		}
		if err := t.DB.Create(&row).Error; err != nil {
			return nil, err
		}
		recorded = append(recorded, record)
	}
	return recorded, nil
}

// unitRows returns the row numbers of a chunk's units.
func unitRows(t *core.Tx, chunk []string, units []chat.Unit) ([]int64, error) {
	out := make([]int64, len(units))
	if len(chunk) == 0 {
		return out, nil
	}
	rows, err := sqlite.All[schema.UnitRow](t.DB, `SELECT n, ordinal FROM units WHERE chunk_id = ?`, chunk[0])
	for i, u := range units {
		for _, r := range rows {
			if r.Ordinal == u.Ordinal {
				out[i] = r.N
			}
		}
	}
	return out, err
}

// indexVectors stores vectors for units without one, by namespace.
func indexVectors(t *core.Tx, units []int64, vectors map[int64][][]float32) error {
	for _, ns := range slices.Sorted(maps.Keys(vectors)) {
		list := make([]chat.UnitVector, 0, len(units))
		for k, n := range units {
			if n != 0 {
				list = append(list, chat.UnitVector{N: n, Vector: vectors[ns][k]})
			}
		}
		if err := putVectors(t, ns, list, `DO NOTHING`); err != nil {
			return err
		}
	}
	return nil
}
