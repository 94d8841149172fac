package events

import (
	"math"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// SourceOf names what a chunk is cut from: a message of the turn, or a document.
type SourceOf struct {
	Role chat.Role
	File chat.FileID
}

// ChunkSource is a text that chunks are cut from. Said is the same text if SQL can read it from the message,
// otherwise empty.
type ChunkSource struct{ Text, Said string }

func DocumentSource(t *core.Tx, turn chat.Turn, id chat.FileID) (ChunkSource, error) {
	f, err := schema.FileByID(t.DB, id)
	if err != nil {
		return ChunkSource{}, err
	}
	if f.SessionID != string(turn.SessionID) {
		return ChunkSource{}, sqlite.Invalid("The document %q belongs to another session.", f.Name)
	}
	words, err := schema.FileText(t.DB, id)
	return ChunkSource{Text: words}, err
}

// MaxSaid limits the messages whose units are read from them by SQL: reading a unit decodes the whole message.
const MaxSaid = 64 << 10

// OnlyBlock returns the text of a message with a single block; otherwise empty. SQL would cut it at a NUL.
func OnlyBlock(m chat.Message) string {
	if len(m.Blocks) == 1 {
		if b, ok := m.Blocks[0].(chat.Text); ok && len(b.Text) <= MaxSaid && !strings.Contains(b.Text, "\x00") {
			return b.Text
		}
	}
	return ""
}

// DeleteSuperseded deletes the units, and with them the vectors, that a turn no longer has, and reports whether there
// were any. Chunks stay as the record of what was retrieved.
func DeleteSuperseded(t *core.Tx, turn schema.TurnRow, i chat.Indexing) (bool, error) {
	if i.Status == chat.IndexDegraded || i.Status == chat.IndexNone && len(i.Chunks) == 0 {
		return false, nil
	}
	version := math.MaxInt32
	for _, c := range i.Chunks {
		version = min(version, max(c.Version, 1))
	}
	const old = `SELECT u.n FROM chunks c JOIN units u ON u.chunk_id = c.id WHERE c.source_turn = ? AND c.chunker_version < ?`
	if err := t.Run(`DELETE FROM unit_embeddings WHERE unit_n IN (`+old+`)`, turn.ID, version); err != nil {
		return false, err
	}
	n, err := t.Exec(`DELETE FROM units WHERE n IN (`+old+`)`, turn.ID, version)
	return n > 0, err
}
