// Package delta stores requests and manifests as differences from the previous one and from the chunks that they
// quote (docs/adr/0005).
package delta

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// Most of a request, and of the manifest that describes it, also occurred in the previous one, and its memory quotes
// chunks of stored messages. Each is therefore packed against both (quotes.go). Every sixty-fourth value, or one with
// little in common, is packed without the previous one: a key frame (SPEC 14). Unpacking is exact, and damage spreads
// no further than the next key frame.
//
// A committed base never changes: requests never do (the mark of a request that was left out of a bundle may be
// replaced by the request, but is too short to be a base), and a manifest becomes a base only once its turn has ended.
// A base cannot be deleted before its dependents, which the links name.

// MaxChain is the maximum length of a chain, including its key frame.
const MaxChain = 64

// baseSearchDepth is how many turns back a base is searched for.
const baseSearchDepth = 64

// Chain says where values of a kind and their links are stored, and how the kind quotes a chunk.
type Chain struct {
	Table, Column, Links, Key string
	quote                     func(b []byte, c chat.ChunkText) []byte
}

var (
	RequestChain  = Chain{"steps", "request_json", "request_links", "step_id", QuoteArtifact}
	ManifestChain = Chain{"turns", "manifest", "manifest_links", "turn_id", QuotePart}
)

// LinkRow is one link of either table.
type LinkRow struct {
	ID     string
	Base   string // empty: it has quotes but no base
	Depth  int
	Quotes []byte
}

// Read decodes a value through its chain, starting at the nearest value that is cached.
func (c Chain) Read(db *gorm.DB, id string, cache *core.RecentValues) ([]byte, error) {
	if value, ok := cache.Get(id); ok {
		return bytes.Clone(value), nil
	}
	rows, err := sqlite.All[struct {
		ID             string
		Packed, Quotes []byte
	}](db, fmt.Sprintf(`
		WITH RECURSIVE up (id, depth) AS (
		  SELECT ?, 0 UNION ALL SELECT l.base, up.depth + 1 FROM up JOIN %[1]s l ON l.%[2]s = up.id AND l.base IS NOT NULL WHERE up.depth < ?)
		SELECT t.id, t.%[3]s AS packed, l.quotes FROM up JOIN %[4]s t ON t.id = up.id LEFT JOIN %[1]s l ON l.%[2]s = up.id
		ORDER BY up.depth DESC`, c.Links, c.Key, c.Column, c.Table), id, MaxChain)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	var value []byte
	first := 0 // of the values to decode
	for i := len(rows) - 1; i >= 0; i-- {
		if v, ok := cache.Get(rows[i].ID); ok {
			value, first = v, i+1
			break
		}
	}
	var lists [][]byte
	for _, r := range rows[first:] {
		lists = append(lists, r.Quotes)
	}
	quoted, err := ReadQuoted(db, lists...)
	if err != nil {
		return nil, err
	}
	for i, r := range rows[first:] {
		if value, err = c.Unpack(value, first+i > 0, r.Quotes, quoted, r.Packed); err != nil {
			return nil, err
		}
	}
	return value, nil
}

// Unpack decodes a value from its decoded base, if any, and the chunks it quotes.
func (c Chain) Unpack(base []byte, based bool, quotes []byte, quoted QuotedTexts, packed []byte) ([]byte, error) {
	if !based && quotes == nil {
		return codec.Unpack(packed)
	}
	dictionary, err := c.dictionary(quotes, quoted, base)
	if err != nil {
		return nil, err
	}
	return codec.UnpackAgainst(dictionary, packed)
}

// dictionary returns the bytes that a value is packed against: its quotes, then its base.
func (c Chain) dictionary(quotes []byte, quoted QuotedTexts, base []byte) ([]byte, error) {
	ns, err := DecodeQuotes(quotes)
	if err != nil || len(ns) == 0 {
		return base, err
	}
	out := make([]byte, 0, len(base)+len(ns)*512)
	for _, n := range ns {
		text, ok := quoted[n]
		if !ok {
			return nil, fmt.Errorf("chunk %d, which it quotes, is gone", n)
		}
		out = c.quote(out, text)
	}
	return append(out, base...), nil
}

// linkable reports whether a value may be packed against a base.
func (base LinkRow) linkable() bool { return base.ID != "" && base.Depth+1 < MaxChain }

// pack encodes a value against its base and the chunks it quotes, if that saves enough. The returned link, nil
// without a base, is to be stored with it. Unreadable bases are not used; verify reports them.
func (c Chain) pack(db *gorm.DB, base LinkRow, value []byte, chunks []int64, recent *core.RecentValues) ([]byte, *LinkRow, error) {
	if len(value) < codec.MinLinked {
		return codec.Pack(value), nil, nil
	}
	link := &LinkRow{}
	var before []byte
	if base.linkable() {
		var err error
		if before, err = c.Read(db, base.ID, recent); err == nil && len(before) >= codec.MinLinked {
			recent.Put(base.ID, before)
			link.Base, link.Depth = base.ID, base.Depth+1
		} else {
			before = nil
		}
	}
	quoted, quotes, err := quotable(db, chunks)
	if err != nil {
		return nil, nil, err
	}
	link.Quotes = quotes
	dictionary, err := c.dictionary(quotes, quoted, before)
	if err != nil {
		return nil, nil, err
	}
	if len(dictionary) == 0 {
		return codec.Pack(value), nil, nil
	}
	packed, err := codec.PackAgainst(dictionary, value)
	if err != nil || packed == nil {
		return codec.Pack(value), nil, nil
	}
	return packed, link, nil
}

// PackRequest encodes the request of a turn's next step. It quotes the chunks recorded for the turn.
func PackRequest(t *core.Tx, turn schema.TurnRow, request []byte) ([]byte, *LinkRow, error) {
	return PackRequestAt(t, turn, math.MaxInt, math.MaxInt, request)
}

// PackRequestAt is PackRequest for a step that others may follow: the base is before it.
func PackRequestAt(t *core.Tx, turn schema.TurnRow, step, attempt int, request []byte) ([]byte, *LinkRow, error) {
	segs, err := core.SegmentsOrFile(t.DB, chat.BranchID(turn.BranchID))
	if err != nil {
		return nil, nil, err
	}
	base, err := requestBase(t.DB, segs, turn.TurnSeq, step, attempt)
	if err != nil {
		return nil, nil, err
	}
	chunks, err := sqlite.All[int64](t.DB, `SELECT chunk_n FROM retrieved WHERE turn_n = ? AND rank > 0 ORDER BY rank, chunk_n`, turn.N)
	if err != nil {
		return nil, nil, err
	}
	return RequestChain.pack(t.DB, base, request, chunks, t.Requests)
}

// PackManifest encodes the manifest of a turn with these chunks as memory.
func PackManifest(t *core.Tx, turn schema.TurnRow, manifest []byte, chunks []int64) ([]byte, *LinkRow, error) {
	segs, err := core.SegmentsOrFile(t.DB, chat.BranchID(turn.BranchID))
	if err != nil {
		return nil, nil, err
	}
	base, err := manifestBase(t.DB, segs, turn.TurnSeq)
	if err != nil {
		return nil, nil, err
	}
	return ManifestChain.pack(t.DB, base, manifest, chunks, t.Manifests)
}

// Link stores, replaces or removes a value's link.
func (c Chain) Link(t *core.Tx, id string, l *LinkRow) error {
	if l == nil {
		return t.Run(fmt.Sprintf(`DELETE FROM %s WHERE %s = ?`, c.Links, c.Key), id)
	}
	return t.Run(fmt.Sprintf(`INSERT INTO %s (%s, base, depth, quotes) VALUES (?, ?, ?, ?)
		ON CONFLICT (%s) DO UPDATE SET base = excluded.base, depth = excluded.depth, quotes = excluded.quotes`, c.Links, c.Key, c.Key),
		id, schema.OrNull(l.Base), l.Depth, l.Quotes)
}

// requestBase returns the newest step of a lineage before the given step of a turn.
func requestBase(db *gorm.DB, segs []core.Segment, seq int64, step, attempt int) (LinkRow, error) {
	return newestBefore(segs, seq, func(g core.Segment, from, to int64) ([]LinkRow, error) {
		return sqlite.All[LinkRow](db, `SELECT s.id, coalesce(l.depth, 0) AS depth FROM turns t JOIN steps s ON s.turn_id = t.id
			LEFT JOIN request_links l ON l.step_id = s.id WHERE t.branch_id = ? AND t.turn_seq > ? AND t.turn_seq <= ?
			AND (t.turn_seq, s.step_index, s.attempt) < (?, ?, ?)
			ORDER BY t.turn_seq DESC, s.step_index DESC, s.attempt DESC LIMIT 1`, g.Branch, from, to, seq, step, attempt)
	})
}

// manifestBase returns the newest turn before a turn_seq with a manifest that no longer changes.
func manifestBase(db *gorm.DB, segs []core.Segment, seq int64) (LinkRow, error) {
	return newestBefore(segs, seq-1, func(g core.Segment, from, to int64) ([]LinkRow, error) {
		return sqlite.All[LinkRow](db, `SELECT t.id, coalesce(l.depth, 0) AS depth FROM turns t LEFT JOIN manifest_links l ON l.turn_id = t.id
			WHERE t.branch_id = ? AND t.turn_seq > ? AND t.turn_seq <= ? AND t.manifest IS NOT NULL
			AND t.phase NOT IN ('Accepted', 'ContextPrepared', 'Responding') ORDER BY t.turn_seq DESC LIMIT 1`, g.Branch, from, to)
	})
}

// newestBefore searches from a lineage's own branch towards its root within baseSearchDepth turns; the zero row: none
// found.
func newestBefore(segs []core.Segment, seq int64, query func(g core.Segment, from, to int64) ([]LinkRow, error)) (LinkRow, error) {
	for _, g := range slices.Backward(segs) {
		from, to := max(g.From, seq-baseSearchDepth), min(g.To, seq)
		if from >= to {
			continue
		}
		rows, err := query(g, from, to)
		if err != nil || len(rows) > 0 {
			return append(rows, LinkRow{})[0], err
		}
	}
	return LinkRow{}, nil
}

// Within returns a chain's condition for the values and links of one session.
func (c Chain) Within(column string) string {
	if c.Table == "steps" {
		return column + ` IN (SELECT s.id FROM turns t JOIN steps s ON s.turn_id = t.id WHERE t.session_id = ?)`
	}
	return column + ` IN (SELECT t.id FROM turns t WHERE t.session_id = ?)`
}
