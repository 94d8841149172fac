package bundles

import (
	"encoding/json"
	"slices"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/transfer/bundle"
)

// importKey is a row of import_keys as it travels in a vault, with the last event that records an import.
type importKey struct {
	Source string `json:"source"`
	Key    string `json:"key"`
	Entity string `json:"entity"`
	At     string `json:"at"`
}

// importKeys returns what identifies the imported parts of a session, so that other devices do not import them again.
func importKeys(db *gorm.DB, r schema.EventRow) ([]bundle.Content, error) {
	if r.Type != string(ledger.EventSessionImported) {
		return nil, nil
	}
	keys, err := sqlite.All[importKey](db, `SELECT source, key, entity_id AS entity, imported_at AS at FROM import_keys k WHERE session_id = ?
		AND NOT EXISTS (SELECT 1 FROM events e WHERE e.session_id = k.session_id AND e.type = ? AND e.event_seq > ?) ORDER BY rowid`,
		r.SessionID, r.Type, r.EventSeq)
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	b, err := chat.MarshalJSON(keys)
	return []bundle.Content{{Kind: bundle.ImportKeys, Bytes: b}}, err
}

// withoutImportKeys separates the keys of imports from parcels.
func withoutImportKeys(parcels []bundle.Parcel) (rest []bundle.Parcel, keys []importKey, err error) {
	rest = slices.Clone(parcels)
	for i, p := range rest {
		if p.Event.Type != ledger.EventSessionImported {
			continue
		}
		for _, c := range p.Contents {
			var some []importKey
			if c.Kind != bundle.ImportKeys || c.Bytes != nil && json.Unmarshal(c.Bytes, &some) != nil {
				return nil, nil, invalidBundle("one of its records is invalid, or has the id of a record of another session here")
			}
			keys = append(keys, some...)
		}
		rest[i].Contents = nil
	}
	return rest, keys, nil
}

// putImportKeys stores the keys of what a session has. A key that is known here stays: the same was imported here too.
func putImportKeys(t *core.Tx, session chat.SessionID, keys []importKey) error {
	list, err := chat.MarshalJSON(keys)
	if err != nil {
		return err
	}
	return t.Run(`INSERT OR IGNORE INTO import_keys (source, key, session_id, entity_id, imported_at)
		SELECT value ->> '$.source', value ->> '$.key', ?, value ->> '$.entity', value ->> '$.at' FROM json_each(?) WHERE value ->> '$.entity' IN
			(SELECT id FROM sessions WHERE id = ? UNION ALL SELECT id FROM branches WHERE session_id = ? UNION ALL SELECT id FROM turns WHERE session_id = ?)
		ORDER BY json_each.key`, session, string(list), session, session, session)
}
