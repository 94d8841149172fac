package store

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
)

type retrievalRow struct {
	TurnID       string
	ChunkID      string
	Similarity   float64
	VectorScore  float64
	KeywordScore float64
	Score        float64
	Rank         int
	PackedAs     string
	Tokens       int
}

func (retrievalRow) TableName() string { return "retrievals" }

func (r retrievalRow) retrieval() chat.Retrieval {
	return chat.Retrieval{
		Chunk: chat.ChunkID(r.ChunkID), Similarity: r.Similarity, Vector: r.VectorScore, Keyword: r.KeywordScore,
		Score: r.Score, Rank: r.Rank, Packed: chat.PackedAs(r.PackedAs), Tokens: r.Tokens,
	}
}

// Retrievals are the chunks that a turn's context holds, by rank.
func (s *Store) Retrievals(ctx context.Context, turn chat.TurnID) ([]chat.Retrieval, error) {
	var out []chat.Retrieval
	err := s.read(ctx, "retrieval.list", func(db *gorm.DB) (err error) {
		out, err = retrievalsOf(db, turn)
		return err
	})
	return out, err
}

func retrievalsOf(db *gorm.DB, turn chat.TurnID) ([]chat.Retrieval, error) {
	rows, err := all[retrievalRow](db, `SELECT * FROM retrievals WHERE turn_id = ? ORDER BY rank, chunk_id`, turn)
	out := make([]chat.Retrieval, len(rows))
	for i, r := range rows {
		out[i] = r.retrieval()
	}
	return out, err
}

// putRetrievals records what memory a turn's context holds, in place of what was
// recorded before, and tells the ledger if that is another.
func (t *tx) putRetrievals(turn turnRow, list []chat.Retrieval) error {
	list = slices.Clone(list)
	named := map[chat.ChunkID]bool{}
	for i := range list {
		if err := t.checkRetrieval(turn, &list[i]); err != nil {
			return err
		}
		if named[list[i].Chunk] {
			return invalid("Turn %d records the chunk %s twice.", turn.TurnSeq, list[i].Chunk)
		}
		named[list[i].Chunk] = true
	}
	slices.SortFunc(list, byRank)
	before, err := retrievalsOf(t.db, chat.TurnID(turn.ID))
	if err != nil || slices.Equal(before, list) {
		return err
	}
	if _, err := t.exec(`DELETE FROM retrievals WHERE turn_id = ?`, turn.ID); err != nil {
		return err
	}
	for _, r := range list {
		if err := t.db.Create(&retrievalRow{
			TurnID: turn.ID, ChunkID: string(r.Chunk), Similarity: r.Similarity, VectorScore: r.Vector, KeywordScore: r.Keyword,
			Score: r.Score, Rank: r.Rank, PackedAs: string(r.Packed), Tokens: r.Tokens,
		}).Error; err != nil {
			return err
		}
	}
	if list == nil {
		list = []chat.Retrieval{}
	}
	return t.event(chat.SessionID(turn.SessionID), EventRetrievalRecorded, turn.ID, retrievalRecorded{list})
}

func byRank(a, b chat.Retrieval) int {
	return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Chunk, b.Chunk))
}

// checkRetrieval refuses what is no record of a retrieval, and rounds its scores:
// more digits say nothing, and the ledger keeps them for ever.
func (t *tx) checkRetrieval(turn turnRow, r *chat.Retrieval) error {
	if !slices.Contains([]chat.PackedAs{chat.PackedFull, chat.PackedSlice, chat.PackedSummary}, r.Packed) || r.Rank < 1 || r.Tokens < 0 {
		return invalid("Turn %d records a retrieval of rank %d, packed as %q.", turn.TurnSeq, r.Rank, r.Packed)
	}
	for _, score := range []*float64{&r.Similarity, &r.Vector, &r.Keyword, &r.Score} {
		if math.IsNaN(*score) || math.IsInf(*score, 0) {
			return invalid("Turn %d records a retrieval with a score that is no number.", turn.TurnSeq)
		}
		*score = math.Round(*score*1e6) / 1e6
	}
	there, err := all[string](t.db, `SELECT id FROM chunks WHERE id = ?`, r.Chunk)
	if err == nil && len(there) == 0 {
		err = invalid("Turn %d records a retrieval of the chunk %s, which is not there.", turn.TurnSeq, r.Chunk)
	}
	return err
}
