package search

import (
	"context"
	"database/sql"
	"encoding/hex"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/sqlite"
)

// VectorGeneration changes when the holder of an in-memory copy of the serving vectors must reload all of them, not
// only those after its last.
func (s *Search) VectorGeneration(ctx context.Context) (int64, error) {
	return core.Query(ctx, s, "vector.generation", generationOf)
}

// VectorRows streams the vectors of a namespace, except those of texts that have none, of one session or of all, after a unit, in the order of units. A
// damaged vector is nil. The receiver may keep what is yielded; its error ends the stream.
func (s *Search) VectorRows(ctx context.Context, ns int64, within chat.SessionID, afterN int64, yield func(chat.VectorRow) error) error {
	return s.Read(ctx, "vector.rows", func(db *gorm.DB) error {
		dimension, err := dimensionOf(db, ns)
		if err != nil || dimension == 0 {
			return err
		}
		query := `SELECT e.unit_n, u.session_id, u.branch_id, u.turn_seq, e.vector
			FROM unit_embeddings e CROSS JOIN units u ON u.n = e.unit_n WHERE e.namespace_id = ? AND e.unit_n > ? AND length(e.vector) > 1 ORDER BY e.unit_n`
		args := []any{ns, afterN}
		if within != "" {
			query = `SELECT u.n, u.session_id, u.branch_id, u.turn_seq, e.vector
				FROM units u CROSS JOIN unit_embeddings e ON e.namespace_id = ? AND e.unit_n = u.n WHERE u.n > ? AND u.session_id = ? AND length(e.vector) > 1 ORDER BY u.n`
			args = append(args, within)
		}
		rows, err := db.Raw(query, args...).Rows()
		if err != nil {
			return err
		}
		defer rows.Close()
		var r chat.VectorRow
		var session, branch, vector sql.RawBytes
		for rows.Next() {
			if err := rows.Scan(&r.N, &session, &branch, &r.Seq, &vector); err != nil {
				return err
			}
			// Rows with the same id share one copy of it.
			if string(session) != string(r.Session) {
				r.Session = chat.SessionID(session)
			}
			if string(branch) != string(r.Branch) {
				r.Branch = chat.BranchID(branch)
			}
			r.Codes, _, _ = codec.CodesOf(vector, dimension) // nil means damaged
			if err := yield(r); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// dimensionOf returns a namespace's dimension; 0 if it was deleted.
func dimensionOf(db *gorm.DB, ns int64) (int, error) {
	rows, err := sqlite.All[int](db, `SELECT dimension FROM namespaces WHERE id = ?`, ns)
	return append(rows, 0)[0], err
}

// vectorBatch is how many vectors a statement reads.
const vectorBatch = 500

// VectorsOf reads the vectors of units. Units without one, or with a damaged one, are left out.
func (s *Search) VectorsOf(ctx context.Context, ns int64, units []int64) (map[int64][]float32, error) {
	out := make(map[int64][]float32, len(units))
	err := s.Read(ctx, "vector.read", func(db *gorm.DB) error {
		dimension, err := dimensionOf(db, ns)
		if err != nil || dimension == 0 {
			return err
		}
		for len(units) > 0 {
			batch := units[:min(len(units), vectorBatch)]
			units = units[len(batch):]
			if err := vectorsOf(db, ns, dimension, batch, out); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

func vectorsOf(db *gorm.DB, ns int64, dimension int, units []int64, out map[int64][]float32) error {
	list, err := chat.MarshalJSON(units)
	if err != nil {
		return err
	}
	rows, err := db.Raw(`SELECT e.unit_n, e.vector FROM json_each(?) j CROSS JOIN unit_embeddings e
		ON e.namespace_id = ? AND e.unit_n = j.value`, string(list), ns).Rows()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var n int64
		var b []byte
		if err := rows.Scan(&n, &b); err != nil {
			return err
		}
		if v, err := codec.Dequantize(b, dimension); err == nil {
			out[n] = v
		}
	}
	return rows.Err()
}

// SampleVectors reads up to n vectors spread evenly over a namespace, in the order of units: the same ones as long as
// nothing is added.
func (s *Search) SampleVectors(ctx context.Context, ns int64, n int) ([][]float32, error) {
	var units []int64
	err := s.Read(ctx, "vector.sample", func(db *gorm.DB) error {
		ends, err := sqlite.One[struct{ First, Last int64 }](db, "namespace", ns,
			`SELECT coalesce((SELECT min(unit_n) FROM unit_embeddings WHERE namespace_id = ?), 0) AS first,
			  coalesce((SELECT max(unit_n) FROM unit_embeddings WHERE namespace_id = ?), -1) AS last`, ns, ns)
		if err != nil {
			return err
		}
		list, err := chat.MarshalJSON(spread(ends.First, ends.Last, n))
		if err != nil {
			return err
		}
		units, err = sqlite.All[int64](db, `SELECT DISTINCT (SELECT min(unit_n) FROM unit_embeddings
			WHERE namespace_id = ? AND unit_n >= j.value) FROM json_each(?) j`, ns, string(list))
		return err
	})
	if err != nil || len(units) == 0 {
		return nil, err
	}
	found, err := s.VectorsOf(ctx, ns, units)
	out := make([][]float32, 0, len(units))
	for _, u := range units {
		if v, ok := found[u]; ok {
			out = append(out, v)
		}
	}
	return out, err
}

// spread returns up to n evenly spaced numbers from first to last; none if last is before first.
func spread(first, last int64, n int) []int64 {
	width := last - first + 1
	if width <= 0 || n <= 0 {
		return []int64{}
	}
	count := min(int64(n), width)
	out := make([]int64, count)
	for i := range out {
		out[i] = first + int64(i)*width/count
	}
	return out
}

// Unembedded reads up to limit units that have no vector in a namespace, in order.
func (s *Search) Unembedded(ctx context.Context, ns int64, limit int) ([]chat.UnitText, error) {
	var out []chat.UnitText
	err := s.Read(ctx, "vector.missing", func(db *gorm.DB) error {
		space, err := sqlite.All[NamespaceRow](db, `SELECT `+namespaceColumns+` FROM namespaces WHERE id = ?`, ns)
		if err != nil || len(space) == 0 || space[0].Vectors == space[0].Units {
			return err // all units have one; this case is frequent and must be cheap
		}
		units, err := unembedded(db, ns, s.embedded.upTo(ns), limit)
		if err == nil && len(units) < limit {
			units, err = unembedded(db, ns, 0, limit) // includes those that lost their vector
		}
		if err != nil || len(units) == 0 {
			return err
		}
		s.embedded.put(ns, units[0]-1)
		out, err = unitTexts(db, units)
		return err
	})
	return out, err
}

func unembedded(db *gorm.DB, ns, after int64, limit int) ([]int64, error) {
	return sqlite.All[int64](db, `SELECT u.n FROM units u WHERE u.n > ?
		AND NOT EXISTS (SELECT 1 FROM unit_embeddings e WHERE e.namespace_id = ? AND e.unit_n = u.n) ORDER BY u.n LIMIT ?`, after, ns, limit)
}

// unitTexts reads the indexed text of units.
func unitTexts(db *gorm.DB, units []int64) ([]chat.UnitText, error) {
	list, err := chat.MarshalJSON(units)
	if err != nil {
		return nil, err
	}
	return sqlite.All[chat.UnitText](db, `SELECT x.n, x.text, u.end_offset - u.start_offset AS own FROM json_each(?) j
		CROSS JOIN units u ON u.n = j.value CROSS JOIN unit_texts x ON x.n = u.n ORDER BY x.n`, string(list))
}

// VectorsByHash finds vectors of texts that were embedded before, by the SHA-256 of the text.
func (s *Search) VectorsByHash(ctx context.Context, ns int64, hashes [][32]byte) (map[[32]byte][]float32, error) {
	out := map[[32]byte][]float32{}
	if len(hashes) == 0 {
		return out, nil
	}
	names := lists.Map(hashes, func(h [32]byte) string { return hex.EncodeToString(h[:]) })
	list, err := chat.MarshalJSON(names)
	if err != nil {
		return nil, sqlite.MapError("vector.cached", err)
	}
	err = s.Read(ctx, "vector.cached", func(db *gorm.DB) error {
		dimension, err := dimensionOf(db, ns)
		if err != nil || dimension == 0 {
			return err
		}
		rows, err := sqlite.All[struct{ ContentHash, Vector []byte }](db, `
			SELECT u.content_hash, e.vector FROM json_each(?) j
			CROSS JOIN units u ON substr(u.content_hash, 1, 8) = unhex(substr(j.value, 1, 16)) AND u.content_hash = unhex(j.value)
			CROSS JOIN unit_embeddings e ON e.namespace_id = ? AND e.unit_n = u.n GROUP BY u.content_hash`, string(list), ns)
		for _, r := range rows {
			if v, err := codec.Dequantize(r.Vector, dimension); err == nil {
				out[[32]byte(r.ContentHash)] = v
			}
		}
		return err
	})
	return out, err
}

// PutVectors stores the vectors of units, replacing existing ones. If one is invalid, none is stored. Deleted units
// are skipped; if the namespace was retired meanwhile, all are.
func (s *Search) PutVectors(ctx context.Context, ns int64, vectors []chat.UnitVector) error {
	return s.Write(ctx, "vector.write", func(t *core.Tx) error {
		return putVectors(t, ns, vectors, `DO UPDATE SET vector = excluded.vector WHERE vector <> excluded.vector`)
	})
}

// putVectors stores vectors; onConflict is the SQL action if a unit has one already.
func putVectors(t *core.Tx, ns int64, vectors []chat.UnitVector, onConflict string) error {
	rows, err := sqlite.All[NamespaceRow](t.DB, `SELECT * FROM namespaces WHERE id = ?`, ns)
	if err != nil || len(rows) == 0 || !rows[0].live() {
		return err
	}
	space := rows[0]
	newest, err := sqlite.One[int64](t.DB, "namespace", ns, `SELECT coalesce(max(unit_n), 0) FROM unit_embeddings WHERE namespace_id = ?`, ns)
	if err != nil {
		return err
	}
	behind := false
	for _, v := range vectors {
		b, err := codec.Quantize(v.Vector, space.Dimension)
		if err != nil {
			return sqlite.Invalid("The embedder %s answered %v.", space.Identity, err)
		}
		n, err := t.Exec(`INSERT INTO unit_embeddings (unit_n, namespace_id, vector)
			SELECT n, ?, ? FROM units WHERE n = ?
			ON CONFLICT (namespace_id, unit_n) `+onConflict, ns, b, v.N)
		if err != nil {
			return err
		}
		behind = behind || n > 0 && v.N < newest
	}
	if behind && space.Serves() {
		return newGeneration(t)
	}
	return nil
}
