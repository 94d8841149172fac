package store

import (
	"context"
	"encoding/hex"
	"strings"

	"contextinfinity/backend/chat"
)

type chunkRow struct {
	ID             string
	SessionID      string
	BranchID       string
	SourceTurn     string
	FileID         *string // set: it is of an attached document
	Ordinal        int
	Role           string
	StartOffset    int
	EndOffset      int
	ChunkType      string
	TokenEst       int
	ChunkerVersion int
	CreatedAt      string
	ContentHash    []byte
	Summary        string
	RenderedText   string // of the first version; since, empty
}

func (chunkRow) TableName() string { return "chunks" }

type unitRow struct {
	N           int64 `gorm:"primaryKey"`
	ID          string
	ChunkID     string
	SessionID   string
	BranchID    string
	TurnID      string
	TurnSeq     int64
	Ordinal     int
	Message     string
	StartOffset int
	EndOffset   int
	Tokens      int
	ContentHash []byte
	Text        string // where Said, what stands before the words of the message
	Pairs       *string
	Said        bool
}

func (unitRow) TableName() string { return "units" }

// Index is TX-C: chunks and units with their text index, the turn Indexed and
// Done (SPEC 4; SRD 9.3). A chunk that is there already, by turn, type, hash and
// chunker version, is not inserted again. With status degraded the turn stays
// StateCommitted, marked, until a retry succeeds.
func (s *Store) Index(ctx context.Context, i chat.Indexing) error {
	return s.write(ctx, "turn.index", func(t *tx) error {
		turn, err := turnHead(t.db, i.TurnID)
		if err != nil {
			return err
		}
		if err := checkIndexing(turn, i); err != nil {
			return err
		}
		said, err := t.checkSource(i)
		if err != nil {
			return err
		}
		made, err := t.insertChunks(turn, i.Chunks, said)
		if err != nil {
			return err
		}
		moved, err := t.setIndexed(&turn, i.Status)
		if err != nil {
			return err
		}
		if err := t.finishJob(i.JobID); err != nil {
			return err
		}
		if !moved && len(made) == 0 {
			return nil // said before: the ledger is not told twice
		}
		if err := t.mergeTurnMetrics(i.TurnID, chat.TurnMetrics{IndexMs: i.IndexMs}); err != nil {
			return err
		}
		base, err := t.payloadOf(chat.SessionID(turn.SessionID), EventTurnFinalized, turn.ID)
		if err != nil {
			return err
		}
		return t.eventOn(base, chat.SessionID(turn.SessionID), EventTurnIndexed, turn.ID, turnIndexed{Status: i.Status, Chunks: made})
	})
}

func checkIndexing(turn turnRow, i chat.Indexing) error {
	switch chat.Phase(turn.Phase) {
	case chat.PhaseStateCommitted, chat.PhaseIndexed, chat.PhaseDone:
	default:
		return conflict("Turn %d is %s; only a committed turn is indexed.", turn.TurnSeq, turn.Phase)
	}
	switch i.Status {
	case chat.IndexOK:
		return nil
	case chat.IndexDegraded, chat.IndexSkipped:
		if len(i.Chunks) > 0 {
			return invalid("A turn whose index is %s brings no chunks.", i.Status)
		}
		return nil
	}
	return invalid("%q is not a result of indexing.", i.Status)
}

// checkSource refuses a chunk that is not what its message says at that place:
// provenance is what makes retrieved text worth quoting (SRD 9.2). It answers the
// texts of those messages that are one block, which SQL can read too.
func (t *tx) checkSource(i chat.Indexing) (map[chat.Role]string, error) {
	if len(i.Chunks) == 0 {
		return nil, nil
	}
	row, err := turnByID(t.db, i.TurnID)
	if err != nil {
		return nil, err
	}
	turn := row.turn()
	bodies := map[chat.Role]string{chat.RoleUser: turn.User.RenderedText()}
	said := map[chat.Role]string{chat.RoleUser: onlyBlock(turn.User)}
	if turn.Assistant != nil {
		bodies[chat.RoleAssistant] = turn.Assistant.RenderedText()
		said[chat.RoleAssistant] = onlyBlock(*turn.Assistant)
	}
	for _, c := range i.Chunks {
		if !spans(bodies[c.Role], c.Start, c.End, c.Text) {
			return nil, invalid("A chunk of turn %d is not what its message says there.", turn.Seq)
		}
	}
	return said, nil
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

// setIndexed moves the turn on and reports whether that changed it.
func (t *tx) setIndexed(turn *turnRow, status chat.IndexStatus) (bool, error) {
	if status == chat.IndexDegraded {
		if chat.Phase(turn.Phase) != chat.PhaseStateCommitted || turn.IndexStatus == string(status) {
			return false, nil
		}
	} else {
		if err := t.settleJob(chat.JobIndexTurn, turn.ID); err != nil {
			return false, err
		}
		if chat.Phase(turn.Phase) == chat.PhaseDone {
			return false, nil
		}
		if chat.Phase(turn.Phase) == chat.PhaseStateCommitted {
			if err := t.move(turn, chat.PhaseIndexed); err != nil {
				return false, err
			}
		}
		if err := t.move(turn, chat.PhaseDone); err != nil {
			return false, err
		}
	}
	_, err := t.exec(`UPDATE turns SET index_status = ? WHERE id = ?`, status, turn.ID)
	return true, err
}

// insertChunks stores the chunks that are new and tells which.
func (t *tx) insertChunks(turn turnRow, chunks []chat.Chunk, said map[chat.Role]string) ([]indexedChunk, error) {
	made := []indexedChunk{}
	for _, c := range chunks {
		row, err := newChunk(t, turn, c)
		if err != nil {
			return nil, err
		}
		there, err := all[string](t.db, `SELECT id FROM chunks WHERE source_turn = ? AND chunk_type = ? AND content_hash = ?
			AND chunker_version = ?`, turn.ID, row.ChunkType, row.ContentHash, row.ChunkerVersion)
		if err != nil {
			return nil, err
		}
		if len(there) > 0 {
			continue
		}
		if err := t.db.Create(&row).Error; err != nil {
			return nil, err
		}
		units, err := t.insertUnits(turn, row, c.Units, said[c.Role])
		if err != nil {
			return nil, err
		}
		made = append(made, row.indexed(units))
	}
	return made, nil
}

// newChunk is a chunk's row. Its text is bytes start to end of its message, as
// checkSource saw, and is stored there alone: rendered_text stays empty.
func newChunk(t *tx, turn turnRow, c chat.Chunk) (chunkRow, error) {
	sum := hashBytes([]byte(c.Text))
	if c.ContentHash != "" && c.ContentHash != hex.EncodeToString(sum) {
		return chunkRow{}, invalid("A chunk of turn %d does not match its hash.", turn.TurnSeq)
	}
	return chunkRow{
		ID: t.newID(), SessionID: turn.SessionID, BranchID: turn.BranchID, SourceTurn: turn.ID, Ordinal: c.Ordinal,
		Role: string(c.Role), StartOffset: c.Start, EndOffset: c.End, ChunkType: string(c.Type), TokenEst: c.Tokens,
		ChunkerVersion: max(c.Version, 1), CreatedAt: t.stamp(), ContentHash: sum, Summary: clean(c.Summary),
	}, nil
}

func (r chunkRow) chunk(words string) chat.Chunk {
	return chat.Chunk{
		ID: chat.ChunkID(r.ID), SessionID: chat.SessionID(r.SessionID), BranchID: chat.BranchID(r.BranchID),
		SourceTurn: chat.TurnID(r.SourceTurn), File: chat.FileID(text(r.FileID)), Ordinal: r.Ordinal, Role: chat.Role(r.Role),
		Start: r.StartOffset, End: r.EndOffset, Text: words, Summary: r.Summary, Type: chat.ChunkType(r.ChunkType), Tokens: r.TokenEst,
		ContentHash: hex.EncodeToString(r.ContentHash), Version: r.ChunkerVersion, CreatedAt: moment(r.CreatedAt),
	}
}

func (r chunkRow) indexed(units []indexedUnit) indexedChunk {
	return indexedChunk{
		ID: chat.ChunkID(r.ID), Ordinal: r.Ordinal, Role: chat.Role(r.Role), Start: r.StartOffset, End: r.EndOffset,
		Type: chat.ChunkType(r.ChunkType), Tokens: r.TokenEst, Version: r.ChunkerVersion,
		SHA256: hex.EncodeToString(r.ContentHash), Summary: r.Summary, Units: units,
	}
}

// insertUnits stores a chunk's units; triggers put them into the text index.
func (t *tx) insertUnits(turn turnRow, chunk chunkRow, units []chat.Unit, said string) ([]indexedUnit, error) {
	made := make([]indexedUnit, 0, len(units))
	for _, u := range units {
		if u.Start < 0 || u.End < u.Start {
			return nil, invalid("A unit of turn %d has no valid place in its message.", turn.TurnSeq)
		}
		body := clean(u.Text)
		row := unitRow{
			ID: t.newID(), ChunkID: chunk.ID, SessionID: turn.SessionID, BranchID: turn.BranchID, TurnID: turn.ID,
			TurnSeq: turn.TurnSeq, Ordinal: u.Ordinal, Message: chunk.Role, StartOffset: u.Start, EndOffset: u.End,
			Tokens: u.Tokens, ContentHash: hashBytes([]byte(body)), Text: body, Pairs: pairsOf(body),
		}
		if u.Start < u.End && u.End <= len(said) && strings.HasSuffix(body, said[u.Start:u.End]) {
			row.Text, row.Said = strings.TrimSuffix(body, said[u.Start:u.End]), true
		}
		if err := t.db.Create(&row).Error; err != nil {
			return nil, err
		}
		made = append(made, indexedUnit{ID: chat.UnitID(row.ID), Start: u.Start, End: u.End, Tokens: u.Tokens, Text: body})
	}
	return made, nil
}

// pairsOf is the indexed form of a text where it is another one.
func pairsOf(body string) *string {
	indexed := IndexText(body)
	if indexed == body {
		return nil
	}
	return &indexed
}
