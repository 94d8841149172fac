package events

import (
	"slices"

	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/transfer/bundle"
)

// fileEvents are the events about attached documents.
var fileEvents = map[ledger.Type]eventKind{
	ledger.EventFileAdded: kindOf((*Applier).fileAdded, func(c *Copying, d *ledger.FileAdded) { remapID(c, &d.TurnID) }),
}

// fileAdded binds a document that was attached to the turn's message to the turn. One that is not stored here comes
// with a bundle.
func (a *Applier) fileAdded(e ledger.Event, d ledger.FileAdded) error {
	n, err := a.Exec(`UPDATE files SET turn_id = ?, name = ? WHERE id = ? AND session_id = ? AND turn_id IS NULL`,
		d.TurnID, d.Name, e.Entity, a.Session)
	if err != nil || n > 0 {
		return err
	}
	content, words := a.content(bundle.Document), a.content(bundle.Words)
	if content == nil && d.SHA256 != schema.HexHash(nil) {
		return sqlite.Invalid("The document that it describes is missing.")
	}
	return InsertFile(a.Tx, schema.FileRow{
		ID: e.Entity, SessionID: a.Session, TurnID: schema.OrNull(d.TurnID), Name: d.Name, MediaType: d.MediaType,
		Size: d.Size, CreatedAt: e.CreatedAt, ContentHash: codec.Hash(content), Tokens: d.Tokens,
	}, content, string(words))
}

// InsertFile stores a document: its bytes, and its text unless the bytes are the text.
func InsertFile(t *core.Tx, r schema.FileRow, content []byte, words string) error {
	return t.Run(`INSERT INTO files
		(id, session_id, turn_id, name, media_type, size, created_at, content_hash, tokens, content, text)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, r.ID, r.SessionID, r.TurnID, r.Name, r.MediaType, r.Size, r.CreatedAt,
		r.ContentHash, r.Tokens, schema.OrEmpty(content), schema.OrNull(words))
}

// StreamPath returns the path of a step's journal, relative to the data directory.
func StreamPath(step string) string { return "streams/" + step + ".jsonl" }

// content returns one content of the current event; nil if missing.
func (a *Applier) content(kind bundle.Kind) []byte {
	i := slices.IndexFunc(a.contents, func(c bundle.Content) bool { return c.Kind == kind })
	if i < 0 {
		return nil
	}
	return a.contents[i].Bytes
}
