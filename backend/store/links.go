package store

import (
	"fmt"
	"slices"
	"sync"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
)

// Most of a request, and of the manifest that describes it, was in the one before
// it. Each is stored against that one, and every thirty-second, or one that has
// little in common, alone: a key frame (SPEC 14). The bytes that come back are
// exact, and damage spreads no further than to the next key frame.
//
// A base never changes: a request never does, and a manifest is one only once its
// turn is settled. It cannot be deleted before what depends on it, which the links
// name by base.

// maxChain is how many values a chain has, its key frame included.
const maxChain = 32

// linkMin is below what size a value always stands alone.
const linkMin = 512

// linkReach is how many turns back a base is looked for.
const linkReach = 64

// chain says where values of a kind and their links are stored.
type chain struct{ table, column, links, key string }

var (
	requestChain  = chain{"steps", "request_json", "request_links", "step_id"}
	manifestChain = chain{"turns", "manifest", "manifest_links", "turn_id"}
)

// linkRow is one link of either table.
type linkRow struct {
	ID    string
	Base  string
	Depth int
}

// read decodes a value, through the values it was made with.
func (c chain) read(db *gorm.DB, id string) ([]byte, error) {
	rows, err := all[struct{ Packed []byte }](db, fmt.Sprintf(`
		WITH RECURSIVE up (id, depth) AS (
		  SELECT ?, 0 UNION ALL SELECT l.base, up.depth + 1 FROM up JOIN %s l ON l.%s = up.id WHERE up.depth < ?)
		SELECT t.%s AS packed FROM up JOIN %s t ON t.id = up.id ORDER BY up.depth DESC`, c.links, c.key, c.column, c.table),
		id, maxChain)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	value, err := Unpack(rows[0].Packed)
	for _, r := range rows[1:] {
		if err != nil {
			break
		}
		value, err = unpackAgainst(value, r.Packed)
	}
	return value, err
}

// linkable reports that a value may be packed against a base.
func (base linkRow) linkable(value []byte) bool {
	return base.ID != "" && base.Depth+1 < maxChain && len(value) >= linkMin
}

// packLinked encodes a value against its base where that is worth it. The link,
// nil for a key frame, is to be stored with it. A base that cannot be read, with
// err, is passed by: verify names it, and nothing new depends on it.
func packLinked(base linkRow, dictionary []byte, err error, value []byte) ([]byte, *linkRow) {
	if err != nil || len(dictionary) < linkMin {
		return pack(value), nil
	}
	packed, err := packAgainst(dictionary, value)
	if err != nil || packed == nil {
		return pack(value), nil
	}
	return packed, &linkRow{Base: base.ID, Depth: base.Depth + 1}
}

// packRequest encodes the request of a turn's next step.
func (t *tx) packRequest(turn turnRow, request []byte) ([]byte, *linkRow, error) {
	segs, err := segments(t.db, chat.BranchID(turn.BranchID))
	if err != nil {
		return nil, nil, err
	}
	base, err := requestBase(t.db, segs, turn.TurnSeq)
	if err != nil || !base.linkable(request) {
		return pack(request), nil, err
	}
	dictionary, ok := t.requests.get(base.ID)
	if !ok {
		dictionary, err = requestChain.read(t.db, base.ID)
	}
	packed, link := packLinked(base, dictionary, err, request)
	return packed, link, nil
}

// packManifest encodes the manifest of a turn.
func (t *tx) packManifest(turn turnRow, manifest []byte) ([]byte, *linkRow, error) {
	segs, err := segments(t.db, chat.BranchID(turn.BranchID))
	if err != nil {
		return nil, nil, err
	}
	base, err := manifestBase(t.db, segs, turn.TurnSeq)
	if err != nil || !base.linkable(manifest) {
		return pack(manifest), nil, err
	}
	dictionary, err := manifestChain.read(t.db, base.ID)
	packed, link := packLinked(base, dictionary, err, manifest)
	return packed, link, nil
}

// link stores, replaces or removes a value's link.
func (c chain) link(t *tx, id string, l *linkRow) error {
	if l == nil {
		_, err := t.exec(fmt.Sprintf(`DELETE FROM %s WHERE %s = ?`, c.links, c.key), id)
		return err
	}
	_, err := t.exec(fmt.Sprintf(`INSERT INTO %s (%s, base, depth) VALUES (?, ?, ?)
		ON CONFLICT (%s) DO UPDATE SET base = excluded.base, depth = excluded.depth`, c.links, c.key, c.key), id, l.Base, l.Depth)
	return err
}

// requestBase is the step whose request came before a turn's next one.
func requestBase(db *gorm.DB, segs []segment, seq int64) (linkRow, error) {
	return newestBefore(segs, seq, func(g segment, from, to int64) ([]linkRow, error) {
		return all[linkRow](db, `SELECT s.id, coalesce(l.depth, 0) AS depth FROM turns t JOIN steps s ON s.turn_id = t.id
			LEFT JOIN request_links l ON l.step_id = s.id WHERE t.branch_id = ? AND t.turn_seq > ? AND t.turn_seq <= ?
			ORDER BY t.turn_seq DESC, s.step_index DESC, s.attempt DESC LIMIT 1`, g.Branch, from, to)
	})
}

// manifestBase is the newest turn before a turn_seq whose manifest is there for good.
func manifestBase(db *gorm.DB, segs []segment, seq int64) (linkRow, error) {
	return newestBefore(segs, seq-1, func(g segment, from, to int64) ([]linkRow, error) {
		return all[linkRow](db, `SELECT t.id, coalesce(l.depth, 0) AS depth FROM turns t LEFT JOIN manifest_links l ON l.turn_id = t.id
			WHERE t.branch_id = ? AND t.turn_seq > ? AND t.turn_seq <= ? AND t.manifest IS NOT NULL
			AND t.phase NOT IN ('Accepted', 'ContextPrepared', 'Responding') ORDER BY t.turn_seq DESC LIMIT 1`, g.Branch, from, to)
	})
}

// newestBefore looks from a lineage's own branch towards its root, over the
// turns within reach; the zero row is none.
func newestBefore(segs []segment, seq int64, look func(g segment, from, to int64) ([]linkRow, error)) (linkRow, error) {
	for _, g := range slices.Backward(segs) {
		from, to := max(g.From, seq-linkReach), min(g.To, seq)
		if from >= to {
			continue
		}
		rows, err := look(g, from, to)
		if err != nil || len(rows) > 0 {
			return append(rows, linkRow{})[0], err
		}
	}
	return linkRow{}, nil
}

// recentValues holds the values decoded last, for those packed against them. What
// it holds never changes in the database: what is here is what is stored.
type recentValues struct {
	mu    sync.Mutex
	order []string
	by    map[string][]byte
	bytes int
}

// maxRecent and maxRecentBytes bound what recentValues holds.
const (
	maxRecent      = 24
	maxRecentBytes = 16 << 20
)

func (r *recentValues) get(id string) ([]byte, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b, ok := r.by[id]
	return b, ok
}

func (r *recentValues) put(id string, value []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.by[id]; ok || len(value) > maxRecentBytes {
		return
	}
	if r.by == nil {
		r.by = map[string][]byte{}
	}
	r.by[id] = value
	r.order = append(r.order, id)
	r.bytes += len(value)
	for len(r.order) > maxRecent || r.bytes > maxRecentBytes {
		r.bytes -= len(r.by[r.order[0]])
		delete(r.by, r.order[0])
		r.order = r.order[1:]
	}
}
