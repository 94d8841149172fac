package events

import (
	"slices"

	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/transfer/bundle"
)

// fileEvents are the events about attached documents.
var fileEvents = map[ledger.Type]eventKind{
	ledger.EventFileAdded: kindOf((*Applier).fileAdded, func(c *Copying, d *ledger.FileAdded) { remapID(c, &d.TurnID) }),
}

// fileAdded stores a document. The bundle must contain its bytes.
func (a *Applier) fileAdded(e ledger.Event, d ledger.FileAdded) error {
	content, words := a.content(bundle.Document), a.content(bundle.Words)
	if content == nil && d.SHA256 != schema.HexHash(nil) {
		return sqlite.Invalid("The document that it describes is missing.")
	}
	return a.Run(`INSERT INTO files (id, session_id, turn_id, name, media_type, size, created_at, content_hash, tokens, content, text)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, e.Entity, a.Session, d.TurnID, d.Name, d.MediaType, d.Size, e.CreatedAt,
		codec.Hash(content), d.Tokens, schema.OrEmpty(content), schema.OrNull(string(words)))
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
