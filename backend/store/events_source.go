package store

import (
	"math"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// sourceOf names what a chunk is cut from: a message of the turn, or a document.
type sourceOf struct {
	role chat.Role
	file chat.FileID
}

// chunkSource is a text that chunks are cut from. said is the same text where SQL
// can read it out of the message, else empty.
type chunkSource struct{ text, said string }

func documentSource(t *core.Tx, turn chat.Turn, id chat.FileID) (chunkSource, error) {
	f, err := schema.FileByID(t.DB, id)
	if err != nil {
		return chunkSource{}, err
	}
	if f.SessionID != string(turn.SessionID) {
		return chunkSource{}, sqlite.Invalid("The document %q is of another session.", f.Name)
	}
	words, err := schema.FileText(t.DB, id)
	return chunkSource{text: words}, err
}

// maxSaid bounds the messages whose units are read from them: each of the units
// decodes all of its message.
const maxSaid = 64 << 10

// onlyBlock is the text of a message that is one block of it; else empty. SQL
// would cut it at a NUL.
func onlyBlock(m chat.Message) string {
	if len(m.Blocks) == 1 {
		if b, ok := m.Blocks[0].(chat.Text); ok && len(b.Text) <= maxSaid && !strings.Contains(b.Text, "\x00") {
			return b.Text
		}
	}
	return ""
}

// dropSuperseded deletes the units, and with them the vectors, that a turn no
// longer brings, and reports whether there were any. Chunks stay: they are what was
// retrieved once.
func dropSuperseded(t *core.Tx, turn schema.TurnRow, i chat.Indexing) (bool, error) {
	if i.Status == chat.IndexDegraded || i.Status == chat.IndexNone && len(i.Chunks) == 0 {
		return false, nil
	}
	version := math.MaxInt32
	for _, c := range i.Chunks {
		version = min(version, max(c.Version, 1))
	}
	const old = `SELECT u.n FROM chunks c JOIN units u ON u.chunk_id = c.id WHERE c.source_turn = ? AND c.chunker_version < ?`
	if _, err := t.Exec(`DELETE FROM unit_embeddings WHERE unit_n IN (`+old+`)`, turn.ID, version); err != nil {
		return false, err
	}
	n, err := t.Exec(`DELETE FROM units WHERE n IN (`+old+`)`, turn.ID, version)
	return n > 0, err
}
