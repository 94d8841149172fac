package search

import (
	"context"
	"slices"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// Namespaces of vectors: one per embedder. At most one serves and at most one is being built; the vectors of retired
// ones are deleted in small steps. Namespaces are derived data: no ledger records them, and lost vectors are embedded
// again.

type NamespaceRow struct {
	ID        int64
	Identity  string
	Name      string
	Model     string
	Dimension int
	Version   int
	State     string
	CreatedAt string
	Vectors   int
	Units     int `gorm:"->"`
}

func (NamespaceRow) TableName() string { return "namespaces" }

func (r NamespaceRow) Embedder() chat.EmbedderID {
	return chat.EmbedderID{Name: r.Name, Model: r.Model, Dimension: r.Dimension, Version: r.Version}
}

func (r NamespaceRow) namespace() chat.Namespace {
	return chat.Namespace{
		ID: r.ID, Embedder: r.Embedder(), State: chat.NamespaceState(r.State),
		Done: r.Vectors, Total: r.Units, CreatedAt: schema.ParseTime(r.CreatedAt),
	}
}

// live reports whether the namespace still receives vectors.
func (r NamespaceRow) live() bool { return r.State != string(chat.NamespaceRetired) }

func (r NamespaceRow) Serves() bool { return r.State == string(chat.NamespaceServing) }

// namespaceColumns are a namespace's columns and its number of units.
const namespaceColumns = `*, (SELECT count(*) FROM units) AS units`

// MaxDimension is the largest dimension of a namespace.
const MaxDimension = 1 << 16

// Namespaces lists all current and former namespaces, oldest first.
func (s *Search) Namespaces(ctx context.Context) ([]chat.Namespace, error) {
	rows, err := core.All[NamespaceRow](ctx, s, "namespace.list", `SELECT `+namespaceColumns+` FROM namespaces ORDER BY id`)
	return lists.Map(rows, NamespaceRow.namespace), err
}

// Serving returns the namespace that searches use; false while none is complete.
func (s *Search) Serving(ctx context.Context) (chat.Namespace, bool, error) {
	rows, err := core.All[NamespaceRow](ctx, s, "namespace.serving", `SELECT `+namespaceColumns+` FROM namespaces WHERE state = 'serving' ORDER BY id LIMIT 1`)
	if err != nil || len(rows) == 0 {
		return chat.Namespace{}, false, err
	}
	return rows[0].namespace(), true, nil
}

// OpenNamespace returns the namespace of the embedder that is to serve, creating it if necessary. It serves at once
// if there is nothing to embed yet and none serves. Another namespace that was being built is retired; the serving
// one continues until ServeNamespace.
func (s *Search) OpenNamespace(ctx context.Context, id chat.EmbedderID) (chat.Namespace, error) {
	const op = "namespace.open"
	if id.Name == "" || id.Dimension < 1 || id.Dimension > MaxDimension {
		return chat.Namespace{}, chat.Errorf(chat.CodeInvalid, op, "%s is not the identity of an embedder.", id)
	}
	open, found, err := s.opened(ctx, id)
	if err != nil || found {
		return open, err
	}
	var row NamespaceRow
	err = s.Write(ctx, op, func(t *core.Tx) (err error) {
		row, err = openNamespace(t, id)
		return err
	})
	return row.namespace(), err
}

// opened returns the namespace if OpenNamespace need not change anything: it is called often, and writes are
// serialized.
func (s *Search) opened(ctx context.Context, id chat.EmbedderID) (chat.Namespace, bool, error) {
	list, err := s.Namespaces(ctx)
	if err != nil {
		return chat.Namespace{}, false, err
	}
	at := slices.IndexFunc(list, func(n chat.Namespace) bool { return n.Embedder == id })
	if at < 0 || list[at].State == chat.NamespaceRetired {
		return chat.Namespace{}, false, nil
	}
	for i, n := range list {
		if i != at && n.State == chat.NamespaceBuilding {
			return chat.Namespace{}, false, nil
		}
	}
	if list[at].State == chat.NamespaceBuilding && list[at].Total == 0 {
		return chat.Namespace{}, false, nil
	}
	return list[at], true, nil
}

func openNamespace(t *core.Tx, id chat.EmbedderID) (NamespaceRow, error) {
	row, err := namespaceOf(t, id)
	if err != nil {
		return row, err
	}
	if err := t.Run(`UPDATE namespaces SET state = 'retired' WHERE state = 'building' AND id <> ?`, row.ID); err != nil {
		return row, err
	}
	if row.Serves() {
		return row, nil
	}
	state := chat.NamespaceBuilding
	if row.Units == 0 {
		serving, err := sqlite.All[int64](t.DB, `SELECT id FROM namespaces WHERE state = 'serving'`)
		if err != nil {
			return row, err
		}
		if len(serving) == 0 {
			state = chat.NamespaceServing
		}
	}
	return setNamespace(t, row, state)
}

// namespaceOf returns the row of an embedder's namespace, created if missing. Vectors left by a row that was deleted by
// hand are not reused.
func namespaceOf(t *core.Tx, id chat.EmbedderID) (NamespaceRow, error) {
	const query = `SELECT ` + namespaceColumns + ` FROM namespaces WHERE identity = ?`
	rows, err := sqlite.All[NamespaceRow](t.DB, query, id.String())
	if err != nil || len(rows) > 0 {
		return append(rows, NamespaceRow{})[0], err
	}
	if err := t.Run(`INSERT INTO namespaces (identity, name, model, dimension, version, state, created_at)
		VALUES (?, ?, ?, ?, ?, 'building', ?)`, id.String(), id.Name, id.Model, id.Dimension, id.Version, t.Stamp()); err != nil {
		return NamespaceRow{}, err
	}
	row, err := sqlite.One[NamespaceRow](t.DB, "namespace", id, query, id.String())
	if err != nil {
		return row, err
	}
	if err := t.Run(`DELETE FROM unit_embeddings WHERE namespace_id = ?`, row.ID); err != nil {
		return row, err
	}
	err = t.Run(`UPDATE namespaces SET vectors = 0 WHERE id = ?`, row.ID)
	return row, err
}

// setNamespace sets a namespace's state; one that starts to serve begins a new generation.
func setNamespace(t *core.Tx, row NamespaceRow, state chat.NamespaceState) (NamespaceRow, error) {
	if row.State == string(state) {
		return row, nil
	}
	row.State = string(state)
	if err := t.Run(`UPDATE namespaces SET state = ? WHERE id = ?`, row.State, row.ID); err != nil {
		return row, err
	}
	if state == chat.NamespaceServing {
		return row, newGeneration(t)
	}
	return row, nil
}

func newGeneration(t *core.Tx) error {
	return t.Run(`UPDATE vector_generation SET generation = generation + 1`)
}

// ServeNamespace makes a complete namespace the serving one, and retires the others. While vectors are missing it
// returns CodeConflict.
func (s *Search) ServeNamespace(ctx context.Context, id int64) error {
	return s.Write(ctx, "namespace.serve", func(t *core.Tx) error {
		row, err := sqlite.One[NamespaceRow](t.DB, "namespace", id, `SELECT `+namespaceColumns+` FROM namespaces WHERE id = ?`, id)
		if err != nil {
			return err
		}
		if row.Serves() {
			return retireOthers(t, id)
		}
		if !row.live() {
			return sqlite.Conflict("The vectors of %s were discarded in the meantime.", row.Identity)
		}
		missing, err := unembedded(t.DB, id, 0, 1)
		if err != nil {
			return err
		}
		if len(missing) > 0 {
			return sqlite.Conflict("Of %d texts %d have a vector of %s.", row.Units, row.Vectors, row.Identity)
		}
		if err := retireOthers(t, id); err != nil {
			return err
		}
		_, err = setNamespace(t, row, chat.NamespaceServing)
		return err
	})
}

func retireOthers(t *core.Tx, id int64) error {
	return t.Run(`UPDATE namespaces SET state = 'retired' WHERE id <> ? AND state <> 'retired'`, id)
}

// DeleteRetired deletes up to limit vectors of retired or deleted namespaces, and reports whether there may be more.
// Their rows stay, so that an id is never reused for another embedder.
func (s *Search) DeleteRetired(ctx context.Context, limit int) (more bool, err error) {
	const op = "namespace.drop"
	var unused []int64
	err = s.Read(ctx, op, func(db *gorm.DB) (err error) {
		unused, err = sqlite.All[int64](db, unusedNamespaces)
		return err
	})
	if err != nil || len(unused) == 0 || limit <= 0 {
		return len(unused) > 0, err
	}
	var n int64
	err = s.Write(ctx, op, func(t *core.Tx) (err error) {
		n, err = t.Exec(`DELETE FROM unit_embeddings WHERE rowid IN (SELECT e.rowid FROM unit_embeddings e
			WHERE e.namespace_id = ? AND NOT EXISTS (SELECT 1 FROM namespaces WHERE id = e.namespace_id AND state <> 'retired') LIMIT ?)`, unused[0], limit)
		return err
	})
	return err == nil && (len(unused) > 1 || n == int64(limit)), err
}

// unusedNamespaces selects the ids of namespaces that have stored vectors but are not live. It reads one vector of
// each.
const unusedNamespaces = `
	WITH RECURSIVE held (id) AS (
	  SELECT min(namespace_id) FROM unit_embeddings
	  UNION ALL SELECT (SELECT min(namespace_id) FROM unit_embeddings WHERE namespace_id > held.id) FROM held WHERE held.id IS NOT NULL
	)
	SELECT held.id FROM held WHERE held.id IS NOT NULL
	  AND NOT EXISTS (SELECT 1 FROM namespaces n WHERE n.id = held.id AND n.state <> 'retired') ORDER BY held.id`
