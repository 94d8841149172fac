package events

import (
	"math"
	"slices"
	"strconv"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// retrievedBatch limits the parameters of one statement.
const retrievedBatch = 100

// retireRetrievals sets the retrievals of a turn's earlier context to rank 0.
func retireRetrievals(t *core.Tx, turn schema.TurnRow) error {
	if err := t.Run(`INSERT OR IGNORE INTO retrieved SELECT turn_n, 0, chunk_n, 0, 0, 0, 0, 0, 0 FROM retrieved
		WHERE turn_n = ? AND rank > 0`, turn.N); err != nil {
		return err
	}
	return t.Run(`DELETE FROM retrieved WHERE turn_n = ? AND rank > 0`, turn.N)
}

// ChunkNumbers returns the numbers of the chunks in records, by id.
func ChunkNumbers(t *core.Tx, list []chat.Retrieval) (map[chat.ChunkID]int64, error) {
	ids := lists.Map(list, func(r chat.Retrieval) chat.ChunkID { return r.Chunk })
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

// RetrievedOf converts a retrieval to its row, and refuses one with impossible values.
func RetrievedOf(turn schema.TurnRow, r chat.Retrieval, known map[chat.ChunkID]int64) (schema.RetrievedRow, error) {
	form := slices.Index(schema.PackedForms, r.Packed)
	if form < 0 || r.Rank < 1 || r.Tokens < 0 {
		return schema.RetrievedRow{}, sqlite.Invalid("Turn %d records a retrieval of rank %d, packed as %q.", turn.TurnSeq, r.Rank, r.Packed)
	}
	n, ok := known[r.Chunk]
	if !ok {
		return schema.RetrievedRow{}, sqlite.Invalid("Turn %d records a retrieval of the chunk %s, which does not exist.", turn.TurnSeq, r.Chunk)
	}
	row := schema.RetrievedRow{TurnN: turn.N, Rank: r.Rank, ChunkN: n, PackedAs: form, Tokens: r.Tokens}
	for score, into := range map[*float64]*int64{&r.Similarity: &row.Similarity, &r.Vector: &row.VectorScore, &r.Keyword: &row.KeywordScore, &r.Score: &row.Score} {
		if !(math.Abs(*score) < math.MaxInt32) {
			return row, sqlite.Invalid("Turn %d records a retrieval with a score that is not a number.", turn.TurnSeq)
		}
		*into = int64(math.Round(*score * schema.ScoreUnit))
	}
	return row, nil
}

// RetrievedText returns the text that the hash of records covers, in the order of their ranks.
func RetrievedText(rows []schema.NamedRetrieval) []byte {
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
