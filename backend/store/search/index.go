package search

import (
	"context"
	"encoding/hex"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/queue"
	"contextinfinity/backend/store/records"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// Index is TX-C: it stores chunks and units with their text index and vectors, and moves the turn to Indexed and Done
// (SPEC 4; SRD 9.3). An existing chunk (same turn, type, hash and chunker version) is not inserted again, nor is a
// vector. Chunks of an older chunker stay but lose their units, so that nothing is found twice; so do those
// of a turn that no longer has chunks.
//
// With status none the turn is searchable by words while it and its job wait for its vectors. With status degraded it
// stays StateCommitted, marked, until a retry succeeds.
func (s *Search) Index(ctx context.Context, i chat.Indexing) error {
	return s.Write(ctx, "turn.index", func(t *core.Tx) error {
		turn, err := schema.TurnHead(t.DB, i.TurnID)
		if err != nil {
			return err
		}
		if err := checkIndexing(turn, i); err != nil {
			return err
		}
		if err := queue.CheckLease(t, i.Job); err != nil {
			return err
		}
		sources, err := checkSource(t, i)
		if err != nil {
			return err
		}
		stored, err := insertChunks(t, turn, i.Chunks, sources)
		if err != nil {
			return err
		}
		record := ledger.TurnIndexed{Status: i.Status, Chunks: stored.record}
		clear(sources)
		if record.Dropped, err = events.DeleteSuperseded(t, turn, i); err != nil {
			return err
		}
		if err := indexVectors(t, stored.units, i.Vectors); err != nil {
			return err
		}
		changed, err := setIndexed(t, &turn, i.Status)
		if err != nil {
			return err
		}
		if i.Status != chat.IndexNone {
			if err := queue.FinishJob(t, i.Job); err != nil {
				return err
			}
		}
		if !changed && !record.Dropped && len(stored.record) == 0 {
			return nil // recorded before: the ledger gets no second event
		}
		if err := records.MergeTurnMetrics(t, i.TurnID, chat.TurnMetrics{IndexMs: i.IndexMs, EmbedMs: i.EmbedMs}); err != nil {
			return err
		}
		return recordIndexed(t, chat.SessionID(turn.SessionID), turn.ID, record)
	})
}

func recordIndexed(t *core.Tx, session chat.SessionID, turn string, record ledger.TurnIndexed) error {
	words := 0
	for _, c := range record.Chunks {
		for _, u := range c.Units {
			words += len(u.Text)
		}
	}
	if codec.IsLong(words) {
		p, err := records.IndexedPayload(record)
		if err != nil {
			return err
		}
		return t.Append(session, ledger.EventTurnIndexed, turn, *p)
	}
	base, err := t.PayloadOf(session, ledger.EventTurnFinalized, turn)
	if err != nil {
		return err
	}
	return t.EventOn(base, session, ledger.EventTurnIndexed, turn, record)
}

func checkIndexing(turn schema.TurnRow, i chat.Indexing) error {
	switch chat.Phase(turn.Phase) {
	case chat.PhaseStateCommitted, chat.PhaseIndexed, chat.PhaseDone:
	default:
		return sqlite.Conflict("Turn %d is %s; only a committed turn is indexed.", turn.TurnSeq, turn.Phase)
	}
	units := 0
	for _, c := range i.Chunks {
		units += len(c.Units)
	}
	for _, list := range i.Vectors {
		if len(list) != units {
			return sqlite.Invalid("Turn %d has %d vectors for %d units.", turn.TurnSeq, len(list), units)
		}
	}
	switch i.Status {
	case chat.IndexOK, chat.IndexNone:
		return nil
	case chat.IndexDegraded, chat.IndexSkipped:
		if len(i.Chunks) > 0 {
			return sqlite.Invalid("A turn whose index is %s has no chunks.", i.Status)
		}
		return nil
	}
	return sqlite.Invalid("%q is not a valid index status.", i.Status)
}

// checkSource refuses a chunk that differs from its source at its position: retrieved text is only worth quoting if
// its provenance is right (SRD 9.2). It returns the sources.
func checkSource(t *core.Tx, i chat.Indexing) (map[events.SourceOf]events.ChunkSource, error) {
	if len(i.Chunks) == 0 {
		return nil, nil
	}
	row, err := schema.TurnByID(t.DB, i.TurnID)
	if err != nil {
		return nil, err
	}
	turn := row.Turn()
	from := map[events.SourceOf]events.ChunkSource{{Role: chat.RoleUser}: {Text: turn.User.RenderedText(), Said: events.OnlyBlock(turn.User)}}
	if turn.Assistant != nil {
		from[events.SourceOf{Role: chat.RoleAssistant}] = events.ChunkSource{Text: turn.Assistant.IndexedText(), Said: events.OnlyBlock(*turn.Assistant)}
	}
	for _, c := range i.Chunks {
		key := events.SourceOf{Role: c.Role, File: c.File}
		if _, known := from[key]; !known && c.File != "" {
			if from[key], err = events.DocumentSource(t, turn, c.File); err != nil {
				return nil, err
			}
		}
		if !schema.Spans(from[key].Text, c.Start, c.End, c.Text) {
			return nil, sqlite.Invalid("A chunk of turn %d differs from the text of its source.", turn.Seq)
		}
	}
	return from, nil
}

// setIndexed sets the turn's index state and reports whether it changed.
func setIndexed(t *core.Tx, turn *schema.TurnRow, status chat.IndexStatus) (bool, error) {
	if status == chat.IndexNone {
		return false, nil
	}
	if status == chat.IndexDegraded {
		if chat.Phase(turn.Phase) != chat.PhaseStateCommitted || turn.IndexStatus == string(status) {
			return false, nil
		}
	} else {
		if err := queue.EndJob(t, chat.JobIndexTurn, turn.ID); err != nil {
			return false, err
		}
		if chat.Phase(turn.Phase) == chat.PhaseDone && turn.IndexStatus == string(status) {
			return false, nil
		}
		if chat.Phase(turn.Phase) == chat.PhaseStateCommitted {
			if err := records.EnterPhase(t, turn, chat.PhaseIndexed); err != nil {
				return false, err
			}
		}
		if chat.Phase(turn.Phase) == chat.PhaseIndexed {
			if err := records.EnterPhase(t, turn, chat.PhaseDone); err != nil {
				return false, err
			}
		}
	}
	err := t.Run(`UPDATE turns SET index_status = ? WHERE id = ?`, status, turn.ID)
	return true, err
}

// inserted is what TX-C stored: the new chunks, for the ledger, and the row numbers of all given units, in order; 0:
// none.
type inserted struct {
	record []ledger.IndexedChunk
	units  []int64
}

// insertChunks stores the new chunks. Chunks of a chunker older than the turn's newest are skipped: their units were
// dropped.
func insertChunks(t *core.Tx, turn schema.TurnRow, chunks []chat.Chunk, from map[events.SourceOf]events.ChunkSource) (inserted, error) {
	stored := inserted{record: []ledger.IndexedChunk{}}
	newest, err := sqlite.One[int](t.DB, "turn", turn.ID, `SELECT coalesce(max(chunker_version), 0) FROM chunks WHERE source_turn = ?`, turn.ID)
	if err != nil {
		return stored, err
	}
	for _, c := range chunks {
		row, err := newChunk(t, turn, c)
		if err != nil {
			return stored, err
		}
		existing, err := sqlite.All[string](t.DB, `SELECT id FROM chunks WHERE source_turn = ? AND chunk_type = ? AND content_hash = ?
			AND chunker_version = ?`, turn.ID, row.ChunkType, row.ContentHash, row.ChunkerVersion)
		if err != nil {
			return stored, err
		}
		if len(existing) == 0 && row.ChunkerVersion >= newest {
			if err := t.DB.Create(&row).Error; err != nil {
				return stored, err
			}
			units, err := insertUnits(t, turn, row, c.Units, from[events.SourceOf{Role: c.Role, File: c.File}])
			if err != nil {
				return stored, err
			}
			stored.record = append(stored.record, row.Indexed(units))
			existing = []string{row.ID}
		}
		ns, err := unitRows(t, existing, c.Units)
		if err != nil {
			return stored, err
		}
		stored.units = append(stored.units, ns...)
	}
	return stored, nil
}

// newChunk returns a chunk's row. Its text is the bytes start to end of its source, as checkSource verified, and is
// stored only there: rendered_text stays empty.
func newChunk(t *core.Tx, turn schema.TurnRow, c chat.Chunk) (schema.ChunkRow, error) {
	sum := codec.Hash([]byte(c.Text))
	if c.ContentHash != "" && c.ContentHash != hex.EncodeToString(sum) {
		return schema.ChunkRow{}, sqlite.Invalid("A chunk of turn %d does not match its hash.", turn.TurnSeq)
	}
	n, err := sqlite.One[int64](t.DB, "chunks", "", `SELECT coalesce(max(n), 0) + 1 FROM chunks`)
	return schema.ChunkRow{
		ID: t.NewID(), N: n, SessionID: turn.SessionID, BranchID: turn.BranchID, SourceTurn: turn.ID, FileID: schema.OrNull(c.File), Ordinal: c.Ordinal,
		Role: string(c.Role), StartOffset: c.Start, EndOffset: c.End, ChunkType: string(c.Type), TokenEst: c.Tokens,
		ChunkerVersion: max(c.Version, 1), CreatedAt: t.Stamp(), ContentHash: sum, Summary: schema.Clean(c.Summary),
	}, err
}
