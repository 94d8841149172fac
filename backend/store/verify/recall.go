package verify

import (
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/search"
	"contextinfinity/backend/store/sqlite"
)

// namespaces checks namespaces against each other and their content.
func (a *Audit) namespaces() {
	serving := ""
	counted, err := sqlite.All[struct {
		ID    int64
		Count int
	}](a.DB, `SELECT namespace_id AS id, count(*) AS count FROM unit_embeddings GROUP BY namespace_id`)
	a.expect(err == nil, findUnreadable, "unit_embeddings", "", "Vectors cannot be counted.")
	vectors := map[int64]int{}
	for _, c := range counted {
		vectors[c.ID] = c.Count
	}
	each(a, "namespaces", "*", "id", func(r search.NamespaceRow) {
		a.times("namespaces", sqlite.Itoa(r.ID), &r.CreatedAt)
		a.expect(r.Identity == r.Embedder().String(), findVector, "namespaces", r.ID, "Its identity is not that of its embedder.")
		a.expect(r.Vectors == vectors[r.ID], findVector, "namespaces", r.ID, "It contains %d vectors, but its stored count is %d.", vectors[r.ID], r.Vectors)
		if r.Serves() {
			a.expect(serving == "", findVector, "namespaces", r.ID, "It is serving although %s is serving too; only one namespace may.", serving)
			serving = r.Identity
		}
	})
	generations, err := sqlite.All[int64](a.DB, `SELECT generation FROM vector_generation`)
	a.expect(err == nil && len(generations) == 1, findVector, "vector_generation", "", "The generation of the vectors is missing or ambiguous.")
}

// vectors checks vectors against their namespaces. They are derived: a deleted one is embedded again.
func (a *Audit) vectors() {
	type row struct {
		NamespaceID, UnitN int64
		Vector             []byte
		Dimension          *int
		ID                 *string
	}
	err := sqlite.Stream(a.DB, func(r row) {
		id := sqlite.Itoa(r.NamespaceID) + "/" + sqlite.Itoa(r.UnitN)
		if r.Dimension == nil || r.ID == nil {
			a.add(findVector, "unit_embeddings", id, "Its unit or its namespace does not exist.")
			return
		}
		a.expect(codec.IntactVector(r.Vector, *r.Dimension), findVector, "unit_embeddings", id, "It cannot be read; if it is deleted, it is computed again.")
	}, `SELECT e.namespace_id, e.unit_n, e.vector, s.dimension, u.id FROM unit_embeddings e
		LEFT JOIN namespaces s ON s.id = e.namespace_id LEFT JOIN units u ON u.n = e.unit_n ORDER BY e.namespace_id, e.unit_n`)
	a.expect(err == nil, findUnreadable, "unit_embeddings", "", "Vectors cannot be read; if they are deleted, they are computed again.")
}

// retrievals sets, for each turn in a.Have, the hash of its retrieved memory.
func (a *Audit) retrievals() {
	if a.mayHold("retrieved") {
		a.retrievedHere()
	}
	a.retrievedElsewhere()
}

// retrievedHere sets it for turns whose memory is recorded in rows.
func (a *Audit) retrievedHere() {
	type row struct {
		Row  schema.NamedRetrieval `gorm:"embedded"`
		Turn string
	}
	rows := map[string][]schema.NamedRetrieval{}
	err := sqlite.Stream(a.DB, func(r row) { rows[r.Turn] = append(rows[r.Turn], r.Row) }, `SELECT r.*, coalesce(c.id, '') AS chunk_id, t.id AS turn
		FROM turns t JOIN retrieved r ON r.turn_n = t.n LEFT JOIN chunks c ON c.n = r.chunk_n
		WHERE `+a.within("t.session_id", "t.id")+` AND r.rank > 0 ORDER BY r.turn_n, r.rank, c.id`, a.scope()...)
	a.expect(err == nil, findUnreadable, "retrieved", a.session, "Records of retrieved memory cannot be read.")
	for id, list := range rows {
		if t := a.Have.Turns[id]; t != nil {
			t.Retrieved = ledger.SumOf(events.RetrievedText(list))
		}
	}
}

// retrievedElsewhere sets it for turns whose memory is from sessions that do not exist here.
func (a *Audit) retrievedElsewhere() {
	type record struct{ Content []byte }
	lacking := map[ledger.Sum][]*ledger.Turn{}
	for id, t := range a.Have.Turns {
		if w := a.Want.Turns[id]; t.Retrieved == "" && w != nil && w.Retrieved != "" {
			lacking[w.Retrieved] = append(lacking[w.Retrieved], t)
		}
	}
	if len(lacking) == 0 {
		return
	}
	err := sqlite.Stream(a.DB, func(r record) {
		sum := ledger.SumOf(r.Content)
		for _, t := range lacking[sum] {
			t.Retrieved = sum
		}
	}, `SELECT content FROM blobs WHERE session_id = ? AND media_type = ?`, a.session, events.RetrievedElsewhere)
	a.expect(err == nil, findUnreadable, "blobs", a.session, "Records of retrieved memory cannot be read.")
}

// strayRetrievals finds retrievals of missing turns or chunks.
func (a *Audit) strayRetrievals() {
	strays, err := sqlite.All[struct{ TurnN, ChunkN int64 }](a.DB, `SELECT r.turn_n, r.chunk_n FROM retrieved r LEFT JOIN chunks c ON c.n = r.chunk_n
		LEFT JOIN turns t ON t.n = r.turn_n WHERE c.n IS NULL OR t.n IS NULL ORDER BY 1, 2`)
	a.expect(err == nil, findUnreadable, "retrieved", "", "Records of retrieved memory cannot be read.")
	for _, r := range strays {
		a.add(findForeignKey, "retrieved", sqlite.Itoa(r.TurnN)+"/"+sqlite.Itoa(r.ChunkN), "It belongs to a turn or a chunk that does not exist.")
	}
}
