package maintenance

import (
	"context"
	"math"
	"slices"
	"sync"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/sqlite"
)

// uncounted is the Tokens of a turn that was not counted yet.
const uncounted = -1

// sizeCache holds the sizes of the final beginnings of lineages: turns that are committed and counted, or failed.
// Neither ever changes, so a lineage of 10 000 turns is read once, and later only its newest turns.
type sizeCache struct {
	mu       sync.Mutex
	Lineages map[sizeKey]finalSizes
	used     int // counts uses; the least recently used lineage is evicted
}

type sizeKey struct {
	branch   chat.BranchID
	encoding string
}

// finalSizes is the measured beginning of a lineage: its finalized turns up to seq.
type finalSizes struct {
	sizes []chat.TurnSize // never changed again
	seq   int64
	used  int
}

// MaxLineages limits the cache; a lineage of 10 000 turns takes under 1 MB.
const MaxLineages = 8

func (c *sizeCache) get(k sizeKey) finalSizes {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.Lineages[k]
	if s.seq > 0 {
		c.used++
		s.used = c.used
		c.Lineages[k] = s
	}
	return s
}

func (c *sizeCache) put(k sizeKey, s finalSizes) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Lineages == nil {
		c.Lineages = map[sizeKey]finalSizes{}
	}
	if s.seq <= c.Lineages[k].seq {
		return
	}
	c.used++
	s.used = c.used
	c.Lineages[k] = s
	if len(c.Lineages) > MaxLineages {
		oldest := k
		for other, o := range c.Lineages {
			if o.used < c.Lineages[oldest].used {
				oldest = other
			}
		}
		delete(c.Lineages, oldest)
	}
}

func (c *sizeCache) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.Lineages)
}

// sizeRow is a turn of a lineage with its size.
type sizeRow struct {
	ID        string
	TurnSeq   int64
	Phase     string
	Committed bool
	Tokens    *int
}

func (r sizeRow) size() chat.TurnSize {
	s := chat.TurnSize{
		TurnID: chat.TurnID(r.ID), Seq: r.TurnSeq, Tokens: uncounted,
		Pending: chat.Phase(r.Phase).Finalized() && !r.Committed,
	}
	if r.Tokens != nil {
		s.Tokens = *r.Tokens
	}
	return s
}

// isFinal reports whether the row never changes again.
func (r sizeRow) isFinal() bool {
	return chat.Phase(r.Phase) == chat.PhaseFailed || r.Committed && r.Tokens != nil
}

// Sizes returns the finalized turns of a branch's lineage, in order, with their size in an encoding: -1 until PutSizes
// sets it (SPEC 6).
func (s *Maintenance) Sizes(ctx context.Context, branch chat.BranchID, encoding string) ([]chat.TurnSize, error) {
	key := sizeKey{branch, encoding}
	have := s.FinalSizes.get(key)
	var rows []sizeRow
	err := s.Read(ctx, "turn.sizes", func(db *gorm.DB) error {
		segs, err := core.Segments(db, branch)
		if err != nil {
			return err
		}
		rows, err = sizeRows(db, segs, have.seq, encoding)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.joinSizes(key, have, rows), nil
}

// joinSizes joins the final beginning and the rest, and extends the final part if possible.
func (s *Maintenance) joinSizes(key sizeKey, have finalSizes, rows []sizeRow) []chat.TurnSize {
	out := append(make([]chat.TurnSize, 0, len(have.sizes)+len(rows)), have.sizes...)
	fixed, seq := len(out), have.seq
	contiguous := true
	for _, r := range rows {
		if chat.Phase(r.Phase).Finalized() {
			out = append(out, r.size())
		}
		if contiguous = contiguous && r.isFinal(); contiguous {
			fixed, seq = len(out), r.TurnSeq
		}
	}
	if seq > have.seq {
		s.FinalSizes.put(key, finalSizes{sizes: slices.Clone(out[:fixed]), seq: seq})
	}
	return out
}

// sizeRows reads the turns of a lineage after a sequence.
func sizeRows(db *gorm.DB, segs []core.Segment, after int64, encoding string) ([]sizeRow, error) {
	scope, err := core.ScopeJSON(segs)
	if err != nil {
		return nil, err
	}
	rows, err := db.Raw(core.ScopeCTE+`
		SELECT t.id, t.turn_seq, t.phase, t.state_after IS NOT NULL, n.tokens
		FROM seg JOIN turns t ON t.branch_id = seg.branch AND t.turn_seq > max(seg."from", ?) AND t.turn_seq <= seg."to"
		LEFT JOIN turn_tokens n ON n.turn_id = t.id AND n.encoding = ?
		ORDER BY t.turn_seq`, scope, after, encoding).Rows()
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []sizeRow
	for rows.Next() { // scanned by hand: reflection would take most of the time for a long lineage
		var r sizeRow
		if err := rows.Scan(&r.ID, &r.TurnSeq, &r.Phase, &r.Committed, &r.Tokens); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, rows.Err()
}

// PutSizes stores the sizes of finalized turns in an encoding. Entries without a count, or of turns that are not
// final, are skipped. It is a cache: no event records it.
func (s *Maintenance) PutSizes(ctx context.Context, encoding string, sizes []chat.TurnSize) error {
	const op = "turn.sizes"
	if encoding == "" {
		return chat.Errorf(chat.CodeInvalid, op, "The sizes name no encoding.")
	}
	rows := make([][]any, 0, len(sizes))
	for _, z := range sizes {
		if z.Tokens >= 0 && z.Tokens <= math.MaxInt32 {
			rows = append(rows, []any{z.TurnID, z.Tokens})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	list, err := chat.MarshalJSON(rows)
	if err != nil {
		return sqlite.MapError(op, err)
	}
	corrected := false
	err = s.Write(ctx, op, func(t *core.Tx) (err error) {
		corrected, err = putSizes(t, encoding, string(list))
		return err
	})
	if err == nil && corrected {
		s.FinalSizes.Clear()
	}
	return err
}

// putSizes reports whether it replaced a different count: the cache is then wrong.
func putSizes(t *core.Tx, encoding, list string) (bool, error) {
	corrected, err := sqlite.One[bool](t.DB, "sizes", encoding, `SELECT EXISTS (SELECT 1 FROM json_each(?) z
		JOIN turn_tokens n ON n.turn_id = z.value ->> 0 AND n.encoding = ? WHERE n.tokens <> z.value ->> 1)`, list, encoding)
	if err != nil {
		return false, err
	}
	err = t.Run(`INSERT INTO turn_tokens (turn_id, encoding, tokens)
		SELECT z.value ->> 0, ?, z.value ->> 1 FROM json_each(?) z
		WHERE EXISTS (SELECT 1 FROM turns t WHERE t.id = z.value ->> 0
		  AND t.phase IN ('ResponseFinalized', 'StateCommitted', 'Indexed', 'Done'))
		ON CONFLICT (turn_id, encoding) DO UPDATE SET tokens = excluded.tokens`, encoding, list)
	return corrected, err
}
