package store

import (
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/transfer/bundle"
)

// fileEvents are those about attached documents.
var fileEvents = map[ledger.Type]eventKind{
	ledger.EventFileAdded: kindOf((*applier).fileAdded, func(c *copying, d *ledger.FileAdded) { idOf(c, &d.TurnID) }),
}

// fileAdded stores a document. Its bytes are in the bundle, or it is none.
func (a *applier) fileAdded(e ledger.Event, d ledger.FileAdded) error {
	content, words := a.content(bundle.Document), a.content(bundle.Words)
	if content == nil && d.SHA256 != hexHash(nil) {
		return sqlite.Invalid("The document that it tells of is missing.")
	}
	_, err := a.Exec(`INSERT INTO files (id, session_id, turn_id, name, media_type, size, created_at, content_hash, tokens, content, text)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, e.Entity, a.session, d.TurnID, d.Name, d.MediaType, d.Size, e.CreatedAt,
		codec.Hash(content), d.Tokens, orEmpty(content), orNull(string(words)))
	return err
}
