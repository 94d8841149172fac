package store

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/sqlite"
)

// retrievedRow is a chunk that stood in a context. Scores are in ten-thousandths. Rank
// 0 is of an earlier context of the turn: its request still quotes the chunk.
type retrievedRow struct {
	TurnN        int64
	Rank         int
	ChunkN       int64
	PackedAs     int
	Tokens       int
	Similarity   int64
	VectorScore  int64
	KeywordScore int64
	Score        int64
}

func (retrievedRow) TableName() string { return "retrieved" }

// scoreUnit is what scores are counted in: no one reads more digits.
const scoreUnit = 1e4

// packedForms are the forms of a chunk by their number.
var packedForms = []chat.PackedAs{chat.PackedFull, chat.PackedSlice, chat.PackedSummary}

// namedRetrieval is a record with the id of its chunk.
type namedRetrieval struct {
	Row     retrievedRow `gorm:"embedded"`
	ChunkID string
}

func (r namedRetrieval) retrieval() chat.Retrieval {
	out := chat.Retrieval{
		Chunk: chat.ChunkID(r.ChunkID), Similarity: float64(r.Row.Similarity) / scoreUnit, Vector: float64(r.Row.VectorScore) / scoreUnit,
		Keyword: float64(r.Row.KeywordScore) / scoreUnit, Score: float64(r.Row.Score) / scoreUnit, Rank: r.Row.Rank, Tokens: r.Row.Tokens,
	}
	if r.Row.PackedAs >= 0 && r.Row.PackedAs < len(packedForms) {
		out.Packed = packedForms[r.Row.PackedAs]
	}
	return out
}

// Retrievals are the chunks that a turn's context holds, by rank.
func (s *Store) Retrievals(ctx context.Context, turn chat.TurnID) ([]chat.Retrieval, error) {
	var out []chat.Retrieval
	err := s.read(ctx, "retrieval.list", func(db *gorm.DB) error {
		rows, err := sqlite.All[namedRetrieval](db, `SELECT r.*, c.id AS chunk_id FROM turns t JOIN retrieved r ON r.turn_n = t.n
			JOIN chunks c ON c.n = r.chunk_n WHERE t.id = ? AND r.rank > 0 ORDER BY r.rank, c.id`, turn)
		out = make([]chat.Retrieval, len(rows))
		for i, r := range rows {
			out[i] = r.retrieval()
		}
		return err
	})
	return out, err
}

// Recalled tells of each of these turns how much memory its context holds and whether
// it failed; those that have neither are left out.
func (s *Store) Recalled(ctx context.Context, turns []chat.TurnID) (map[chat.TurnID]chat.Recalled, error) {
	list, err := chat.MarshalJSON(turns)
	if err != nil {
		return nil, err
	}
	var rows []struct {
		ID     string
		Pieces int
		Error  string
	}
	err = s.read(ctx, "retrieval.count", func(db *gorm.DB) error {
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
func (t *tx) putRetrievals(turn turnRow, list []chat.Retrieval) (remembered, error) {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b chat.Retrieval) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Chunk, b.Chunk))
	})
	var rows []retrievedRow
	var named []namedRetrieval
	known, err := t.chunkNumbers(list)
	if err != nil {
		return remembered{}, err
	}
	var out remembered
	for _, r := range list {
		row, err := retrievedOf(turn, r, known)
		if err != nil {
			return remembered{}, err
		}
		if slices.Contains(out.chunks, row.ChunkN) {
			return remembered{}, sqlite.Invalid("Turn %d records the chunk %s twice.", turn.TurnSeq, r.Chunk)
		}
		rows, named = append(rows, row), append(named, namedRetrieval{row, string(r.Chunk)})
		out.chunks = append(out.chunks, row.ChunkN)
	}
	if err := t.retireRetrievals(turn); err != nil || len(rows) == 0 {
		return out, err
	}
	out.sum = hashRetrieved(named)
	return out, t.DB.CreateInBatches(&rows, retrievedBatch).Error
}

// retrievedBatch bounds the parameters of one statement.
const retrievedBatch = 100

// retireRetrievals makes what a turn's earlier context held a thing of the past.
func (t *tx) retireRetrievals(turn turnRow) error {
	if _, err := t.Exec(`INSERT OR IGNORE INTO retrieved SELECT turn_n, 0, chunk_n, 0, 0, 0, 0, 0, 0 FROM retrieved
		WHERE turn_n = ? AND rank > 0`, turn.N); err != nil {
		return err
	}
	_, err := t.Exec(`DELETE FROM retrieved WHERE turn_n = ? AND rank > 0`, turn.N)
	return err
}

// chunkNumbers are the numbers of the chunks that records name, by id.
func (t *tx) chunkNumbers(list []chat.Retrieval) (map[chat.ChunkID]int64, error) {
	ids := make([]chat.ChunkID, len(list))
	for i, r := range list {
		ids[i] = r.Chunk
	}
	raw, err := chat.MarshalJSON(ids)
	if err != nil {
		return nil, err
	}
	rows, err := sqlite.All[struct {
		ID string
		N  int64
	}](t.DB, `SELECT c.id, c.n FROM json_each(?) j CROSS JOIN chunks c ON c.id = j.value`, string(raw))
	known := make(map[chat.ChunkID]int64, len(rows))
	for _, r := range rows {
		known[chat.ChunkID(r.ID)] = r.N
	}
	return known, err
}

// retrievedOf refuses what is no record of a retrieval.
func retrievedOf(turn turnRow, r chat.Retrieval, known map[chat.ChunkID]int64) (retrievedRow, error) {
	form := slices.Index(packedForms, r.Packed)
	if form < 0 || r.Rank < 1 || r.Tokens < 0 {
		return retrievedRow{}, sqlite.Invalid("Turn %d records a retrieval of rank %d, packed as %q.", turn.TurnSeq, r.Rank, r.Packed)
	}
	n, ok := known[r.Chunk]
	if !ok {
		return retrievedRow{}, sqlite.Invalid("Turn %d records a retrieval of the chunk %s, which is not there.", turn.TurnSeq, r.Chunk)
	}
	row := retrievedRow{TurnN: turn.N, Rank: r.Rank, ChunkN: n, PackedAs: form, Tokens: r.Tokens}
	for score, into := range map[*float64]*int64{&r.Similarity: &row.Similarity, &r.Vector: &row.VectorScore, &r.Keyword: &row.KeywordScore, &r.Score: &row.Score} {
		if !(math.Abs(*score) < math.MaxInt32) {
			return row, sqlite.Invalid("Turn %d records a retrieval with a score that is no number.", turn.TurnSeq)
		}
		*into = int64(math.Round(*score * scoreUnit))
	}
	return row, nil
}

// hashRetrieved is what the ledger is told of records.
func hashRetrieved(rows []namedRetrieval) string { return hexHash(retrievedText(rows)) }

// retrievedText is what the hash of records is over, in the order of their ranks.
func retrievedText(rows []namedRetrieval) []byte {
	b := []byte{}
	for _, r := range rows {
		b = append(append(b, r.ChunkID...), ' ')
		x := r.Row
		for _, n := range []int64{int64(x.Rank), int64(x.PackedAs), int64(x.Tokens), x.Similarity, x.VectorScore, x.KeywordScore, x.Score} {
			b = append(strconv.AppendInt(b, n, 10), ' ')
		}
	}
	return b
}
