package store

// namespaces against each other and what they hold.
func (a *audit) namespaces() {
	serving := ""
	counted, err := all[struct {
		ID    int64
		Count int
	}](a.db, `SELECT namespace_id AS id, count(*) AS count FROM unit_embeddings GROUP BY namespace_id`)
	a.expect(err == nil, findUnreadable, "unit_embeddings", "", "Vectors cannot be counted.")
	vectors := map[int64]int{}
	for _, c := range counted {
		vectors[c.ID] = c.Count
	}
	each(a, "namespaces", "*", "id", func(r namespaceRow) {
		a.times("namespaces", itoa(r.ID), &r.CreatedAt)
		a.expect(r.Identity == r.embedder().String(), findVector, "namespaces", r.ID, "Its identity is not that of its embedder.")
		a.expect(r.Vectors == vectors[r.ID], findVector, "namespaces", r.ID, "It holds %d vectors and counts %d.", vectors[r.ID], r.Vectors)
		if r.serves() {
			a.expect(serving == "", findVector, "namespaces", r.ID, "It serves beside %s.", serving)
			serving = r.Identity
		}
	})
	generations, err := all[int64](a.db, `SELECT generation FROM vector_generation`)
	a.expect(err == nil && len(generations) == 1, findVector, "vector_generation", "", "There is no one generation of the vectors.")
}

// vectors are what their namespaces say. They are derived: one that is deleted is
// made again.
func (a *audit) vectors() {
	type row struct {
		NamespaceID, UnitN int64
		Vector             []byte
		Dimension          *int
		ID                 *string
	}
	err := stream(a.db, `SELECT e.namespace_id, e.unit_n, e.vector, s.dimension, u.id FROM unit_embeddings e
		LEFT JOIN namespaces s ON s.id = e.namespace_id LEFT JOIN units u ON u.n = e.unit_n ORDER BY e.namespace_id, e.unit_n`, func(r row) {
		id := itoa(r.NamespaceID) + "/" + itoa(r.UnitN)
		if r.Dimension == nil || r.ID == nil {
			a.add(findVector, "unit_embeddings", id, "It is the vector of a unit, or in a namespace, that is not there.")
			return
		}
		_, err := dequantize(r.Vector, *r.Dimension)
		a.expect(err == nil, findVector, "unit_embeddings", id, "It cannot be read; deleted, it is made again.")
	})
	a.expect(err == nil, findUnreadable, "unit_embeddings", "", "Vectors cannot be read; deleted, they are made again.")
}

// retrievals are what the ledger says stood in contexts, of chunks and turns that are
// there.
func (a *audit) retrievals() {
	turns := map[int64]string{}
	each(a, "turns", "id, coalesce(n, 0) AS n", "n", func(r turnRow) { turns[r.N] = r.ID })
	rows := map[string][]namedRetrieval{}
	err := stream(a.db, `SELECT r.*, c.id AS chunk_id FROM retrieved r LEFT JOIN chunks c ON c.n = r.chunk_n
		WHERE r.rank > 0 ORDER BY r.turn_n, r.rank, c.id`, func(r namedRetrieval) {
		turn := turns[r.Row.TurnN]
		rows[turn] = append(rows[turn], r)
	})
	a.expect(err == nil, findUnreadable, "retrieved", "", "What was retrieved cannot be read.")
	for turn, list := range rows {
		a.expect(hashRetrieved(list) == a.want.retrieved[turn], findReplay, "retrieved", turn, "What was retrieved for it is not what the ledger says.")
	}
	for turn, sum := range a.want.retrieved {
		a.expect(sum == "" || rows[turn] != nil, findReplay, "retrieved", turn, "The ledger tells what was retrieved for it, and that is gone.")
	}
	strays, err := all[struct{ TurnN, ChunkN int64 }](a.db, `SELECT r.turn_n, r.chunk_n FROM retrieved r LEFT JOIN chunks c ON c.n = r.chunk_n
		LEFT JOIN turns t ON t.n = r.turn_n WHERE c.n IS NULL OR t.n IS NULL ORDER BY 1, 2`)
	a.expect(err == nil, findUnreadable, "retrieved", "", "What was retrieved cannot be read.")
	for _, r := range strays {
		a.add(findForeignKey, "retrieved", itoa(r.TurnN)+"/"+itoa(r.ChunkN), "It is of a turn or a chunk that is not there.")
	}
}
