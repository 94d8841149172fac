package events

import (
	"bytes"
	"encoding/hex"
	"strconv"
	"strings"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/transfer/bundle"
)

// RetrievedElsewhere is the media type of a record of retrieved chunks some of which belong to sessions that do not
// exist here. They cannot be listed in the table of retrievals, whose rows refer to chunks, so the complete record is
// stored among the session's blobs, by its hash.
const RetrievedElsewhere = "application/vnd.contextinfinity.retrieved"

// RetrievedRecord returns the record of what was retrieved for a turn, in the form covered by the ledger's hash.
func RetrievedRecord(db *gorm.DB, turn, hash string) ([]byte, error) {
	rows, err := sqlite.All[schema.NamedRetrieval](db, `SELECT r.*, c.id AS chunk_id FROM turns t JOIN retrieved r ON r.turn_n = t.n
		JOIN chunks c ON c.n = r.chunk_n WHERE t.id = ? AND r.rank > 0 ORDER BY r.rank, c.id`, turn)
	if err != nil || len(rows) > 0 {
		return RetrievedText(rows), err
	}
	sum, err := hex.DecodeString(hash)
	if err != nil {
		return nil, err
	}
	return sqlite.One[[]byte](db, "record", hash, `SELECT b.content FROM turns t JOIN blobs b ON b.session_id = t.session_id
		WHERE t.id = ? AND b.hash = ? AND b.media_type = ?`, turn, sum, RetrievedElsewhere)
}

// retrieved records what memory a turn's context contained, and returns the chunks by rank.
func (a *Applier) retrieved(turn schema.TurnRow) ([]int64, error) {
	if err := retireRetrievals(a.Tx, turn); err != nil {
		return nil, err
	}
	record := a.content(bundle.Retrieved)
	if record == nil {
		return nil, nil
	}
	list, err := readRetrieved(record)
	if err != nil {
		return nil, err
	}
	known, err := ChunkNumbers(a.Tx, list)
	if err != nil {
		return nil, err
	}
	rows, chunks := make([]schema.RetrievedRow, 0, len(list)), make([]int64, 0, len(list)) // by rank
	for _, r := range list {
		row, err := RetrievedOf(turn, r, known)
		if chat.CodeOf(err) == chat.CodeInvalid && known[r.Chunk] == 0 {
			return nil, a.keepRecord(record)
		}
		if err != nil {
			return nil, err
		}
		rows, chunks = append(rows, row), append(chunks, row.ChunkN)
	}
	return chunks, a.DB.CreateInBatches(&rows, retrievedBatch).Error
}

func (a *Applier) keepRecord(record []byte) error {
	return a.Run(`INSERT OR IGNORE INTO blobs (session_id, hash, media_type, size, created_at, content) VALUES (?, ?, ?, ?, ?, ?)`,
		a.Session, codec.Hash(record), RetrievedElsewhere, len(record), a.Stamp(), record)
}

// LinkRetrievedElsewhere adds retrievals of rank 0 for those chunks of such records that exist here by now, so that
// deleting one of them finds the requests that quote it.
func LinkRetrievedElsewhere(t *core.Tx) error {
	sessions, err := sqlite.All[string](t.DB, `SELECT DISTINCT session_id FROM blobs WHERE media_type = ? ORDER BY 1`, RetrievedElsewhere)
	if err != nil {
		return err
	}
	for _, session := range sessions {
		records, err := sqlite.All[struct{ Hash, Content []byte }](t.DB, `SELECT hash, content FROM blobs WHERE session_id = ? AND media_type = ?`, session, RetrievedElsewhere)
		if err != nil {
			return err
		}
		contents := map[string][]byte{}
		for _, r := range records {
			contents[hex.EncodeToString(r.Hash)] = r.Content
		}
		prepared, err := sqlite.All[schema.EventRow](t.DB, `SELECT * FROM events WHERE session_id = ? AND type = ?`, session, ledger.EventTurnPrepared)
		if err != nil {
			return err
		}
		for _, r := range prepared {
			payload, err := core.UnpackPayload(t.DB, session, r.Payload)
			if err != nil {
				continue // verify reports it
			}
			if _, err := PayloadOf(r.Event(payload), func(e ledger.Event, d ledger.TurnPrepared) (struct{}, error) {
				return struct{}{}, linkRetrieved(t, e.Entity, contents[d.RetrievedSHA256])
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

func linkRetrieved(t *core.Tx, turn string, record []byte) error {
	if record == nil {
		return nil
	}
	list, err := readRetrieved(record)
	if err != nil {
		return err
	}
	ids := lists.Map(list, func(r chat.Retrieval) chat.ChunkID { return r.Chunk })
	raw, err := chat.MarshalJSON(ids)
	if err != nil {
		return err
	}
	return t.Run(`INSERT OR IGNORE INTO retrieved SELECT t.n, 0, c.n, 0, 0, 0, 0, 0, 0 FROM json_each(?) j
		CROSS JOIN chunks c ON c.id = j.value CROSS JOIN turns t ON t.id = ?`, string(raw), turn)
}

// readRetrieved is parseRetrieved with converted rows.
func readRetrieved(record []byte) ([]chat.Retrieval, error) {
	rows, err := parseRetrieved(record)
	return lists.Map(rows, func(r schema.NamedRetrieval) chat.Retrieval { return r.Retrieval() }), err
}

// parseRetrieved parses the output of RetrievedText.
func parseRetrieved(record []byte) ([]schema.NamedRetrieval, error) {
	bad := sqlite.Invalid("The record of retrieved memory cannot be read.")
	fields := strings.Split(string(record), " ")
	if len(fields)%8 != 1 || fields[len(fields)-1] != "" {
		return nil, bad
	}
	var rows []schema.NamedRetrieval
	for f := fields[:len(fields)-1]; len(f) > 0; f = f[8:] {
		var n [7]int64
		for i, s := range f[1:8] {
			v, err := strconv.ParseInt(s, 10, 64)
			if err != nil {
				return nil, bad
			}
			n[i] = v
		}
		rows = append(rows, schema.NamedRetrieval{ChunkID: f[0], Row: schema.RetrievedRow{
			Rank: int(n[0]), PackedAs: int(n[1]), Tokens: int(n[2]), Similarity: n[3], VectorScore: n[4], KeywordScore: n[5], Score: n[6],
		}})
	}
	if !bytes.Equal(RetrievedText(rows), record) {
		return nil, bad
	}
	return rows, nil
}

// turnIndexed stores chunks and units; triggers add these to the text index. They are found by words at once, and by
// similarity once they have vectors.
func (a *Applier) turnIndexed(e ledger.Event, d ledger.TurnIndexed) error {
	turn, err := a.turn(e.Entity)
	if err != nil {
		return err
	}
	if d.Dropped {
		if err := a.dropSuperseded(turn.ID, d.Chunks); err != nil {
			return err
		}
	}
	for _, c := range d.Chunks {
		if err := a.chunk(turn, c); err != nil {
			return err
		}
	}
	a.cached, a.sources = "", nil // long texts
	if d.Status == chat.IndexNone {
		return nil
	}
	if d.Status != chat.IndexDegraded && chat.Phase(turn.Phase) != chat.PhaseDone {
		if err := a.set(`UPDATE turns SET phase = 'Done', updated_at = ? WHERE id = ?`, e.CreatedAt, turn.ID); err != nil {
			return err
		}
	}
	return a.set(`UPDATE turns SET index_status = ? WHERE id = ?`, d.Status, turn.ID)
}

func (a *Applier) chunk(turn schema.TurnRow, c ledger.IndexedChunk) error {
	hash, err := hex.DecodeString(c.SHA256)
	if err != nil {
		return err
	}
	n, err := sqlite.One[int64](a.DB, "chunks", "", `SELECT coalesce(max(n), 0) + 1 FROM chunks`)
	if err != nil {
		return err
	}
	row := schema.ChunkRow{
		ID: string(c.ID), N: n, SessionID: a.Session, BranchID: turn.BranchID, SourceTurn: turn.ID, FileID: schema.OrNull(c.File), Ordinal: c.Ordinal,
		Role: string(c.Role), StartOffset: c.Start, EndOffset: c.End, ChunkType: string(c.Type), TokenEst: c.Tokens, ChunkerVersion: c.Version,
		CreatedAt: a.Stamp(), ContentHash: hash, Summary: c.Summary,
	}
	from, err := a.source(turn.ID, sourceOf{c.Role, c.File})
	if err != nil {
		return err
	}
	if err := a.DB.Create(&row).Error; err != nil {
		return err
	}
	for i, u := range c.Units {
		if err := a.unit(turn, row, i, u, from); err != nil {
			return err
		}
	}
	return nil
}

// unit stores a unit. Those of a document are stored with their text, because SQL would read the whole document for
// each; the event has only the hash and the text before the words, which are in the document.
func (a *Applier) unit(
	turn schema.TurnRow, chunk schema.ChunkRow, ordinal int, u ledger.IndexedUnit, from chunkSource,
) error {
	inside := u.Start >= 0 && u.Start < u.End && u.End <= len(from.Text)
	body := u.Text
	if u.SHA256 != "" && inside {
		body += from.Text[u.Start:u.End]
	}
	row := schema.UnitRow{
		ID: string(u.ID), ChunkID: chunk.ID, SessionID: a.Session, BranchID: turn.BranchID, TurnID: turn.ID, TurnSeq: turn.TurnSeq, Ordinal: ordinal,
		Message: chunk.Role, StartOffset: u.Start, EndOffset: u.End, Tokens: u.Tokens, ContentHash: codec.Hash([]byte(body)), Text: body, Pairs: schema.PairsOf(body),
	}
	if inside && from.Said != "" && strings.HasSuffix(body, from.Text[u.Start:u.End]) {
		row.Text, row.Said = strings.TrimSuffix(body, from.Text[u.Start:u.End]), true
	}
	return a.DB.Create(&row).Error
}
