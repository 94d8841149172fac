package schema

import (
	"errors"

	"gorm.io/gorm"

	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/sqlite"
)

// Packed returns the state as stored: its summary is packed against its parent's if that saves enough.
func (r StateRow) Packed(db *gorm.DB) (StateRow, error) {
	if r.ParentID == nil || len(r.Summary) < codec.MinLinked {
		return r, nil
	}
	parent, err := sqlite.One[StateRow](db, "state", *r.ParentID, `SELECT * FROM states WHERE id = ?`, *r.ParentID)
	if err != nil {
		return r, err
	}
	depth, _, _ := codec.BaseOf(parent.SummaryZ)
	if err := parent.Unpack(db); err != nil {
		return r, nil // verify reports it; this state is not based on it
	}
	if z := (codec.Base{Value: []byte(parent.Summary), Depth: depth}).PackOn([]byte(r.Summary)); z != nil {
		r.Summary, r.SummaryZ = "", z
	}
	return r, nil
}

// Unpack unpacks the state's summary. If that fails, it returns an error and leaves the summary empty.
func (r *StateRow) Unpack(db *gorm.DB) error {
	if r.SummaryZ == nil {
		return nil
	}
	rows, err := sqlite.All[StateRow](db, `
		WITH RECURSIVE up (id, depth) AS (
		  SELECT ?, 0 UNION ALL SELECT s.parent_id, up.depth + 1 FROM up JOIN states s ON s.id = up.id
		  WHERE s.summary_z IS NOT NULL AND up.depth < ?)
		SELECT s.summary, s.summary_z FROM up JOIN states s ON s.id = up.id ORDER BY up.depth DESC`, r.ID, codec.MaxDepth)
	if err != nil {
		return err
	}
	value := []byte(rows[0].Summary)
	if rows[0].SummaryZ != nil {
		return sqlite.CorruptRecord("states", r.ID, errors.New("its summary is based on too many others"))
	}
	for _, up := range rows[1:] {
		if value, err = codec.UnpackOn(value, up.SummaryZ); err != nil {
			return sqlite.CorruptRecord("states", r.ID, err)
		}
	}
	r.Summary = string(value)
	return nil
}
