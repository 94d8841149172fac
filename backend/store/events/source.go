package events

import (
	"math"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// sourceOf names what a chunk is cut from: a message of the turn, or a document.
type sourceOf struct {
	Role chat.Role
	File chat.FileID
}

// chunkSource is a text that chunks are cut from. Said is the same text if SQL can read it from the message,
// otherwise empty.
type chunkSource struct{ Text, Said string }

// Source returns the text that a chunk of a turn is cut from. They are kept until the turn is indexed, or
// another turn is asked for.
func (a *Applier) Source(turn string, role chat.Role, file chat.FileID) (string, error) {
	from, err := a.source(turn, sourceOf{role, file})
	return from.Text, err
}

func (a *Applier) source(turn string, key sourceOf) (chunkSource, error) {
	if a.cached != turn {
		row, err := schema.TurnByID(a.DB, chat.TurnID(turn))
		if err != nil {
			return chunkSource{}, err
		}
		t := row.Turn()
		a.cached, a.sources = turn, map[sourceOf]chunkSource{
			{Role: chat.RoleUser}: {t.User.RenderedText(), onlyBlock(t.User)},
		}
		if t.Assistant != nil {
			a.sources[sourceOf{Role: chat.RoleAssistant}] = chunkSource{t.Assistant.IndexedText(), onlyBlock(*t.Assistant)}
		}
	}
	from, ok := a.sources[key]
	if ok || key.File == "" {
		return from, nil
	}
	f, err := schema.FileByID(a.DB, key.File)
	if err != nil {
		return from, err
	}
	if f.SessionID != a.Session {
		return from, sqlite.Invalid("The document %q belongs to another session.", f.Name)
	}
	from.Text, err = schema.FileText(a.DB, key.File)
	a.sources[key] = from
	return from, err
}

// MaxSaid limits the messages whose units are read from them by SQL: reading a unit decodes the whole message.
const MaxSaid = 64 << 10

// onlyBlock returns the text of a message with a single block; otherwise empty. SQL would cut it at a NUL.
func onlyBlock(m chat.Message) string {
	if len(m.Blocks) == 1 {
		if b, ok := m.Blocks[0].(chat.Text); ok && len(b.Text) <= MaxSaid && !strings.Contains(b.Text, "\x00") {
			return b.Text
		}
	}
	return ""
}

// superseded selects the units of a turn from chunkers older than a version.
const superseded = `SELECT u.n FROM chunks c JOIN units u ON u.chunk_id = c.id
	WHERE c.source_turn = ? AND c.chunker_version < ?`

// oldest returns the version of the oldest chunker of some chunks; without any, all others are older.
func oldest(chunks []ledger.IndexedChunk) int {
	version := math.MaxInt32
	for _, c := range chunks {
		version = min(version, max(c.Version, 1))
	}
	return version
}

// Supersedes reports whether a turn has units from chunkers older than those of its new chunks.
func (a *Applier) Supersedes(turn string, chunks []ledger.IndexedChunk) (bool, error) {
	return sqlite.One[bool](a.DB, "turn", turn, `SELECT EXISTS (`+superseded+`)`, turn, oldest(chunks))
}

// dropSuperseded deletes those units, and with them the vectors. Chunks stay as the record of what was retrieved.
func (a *Applier) dropSuperseded(turn string, chunks []ledger.IndexedChunk) error {
	if err := a.Run(`DELETE FROM unit_embeddings WHERE unit_n IN (`+superseded+`)`, turn, oldest(chunks)); err != nil {
		return err
	}
	return a.Run(`DELETE FROM units WHERE n IN (`+superseded+`)`, turn, oldest(chunks))
}
