package search

import (
	"context"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

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
		session := events.On(t, chat.SessionID(turn.SessionID))
		if err := checkSource(session, turn, i); err != nil {
			return err
		}
		stored, added, err := newChunks(t, session, turn, i.Chunks)
		if err != nil {
			return err
		}
		changed, err := changesIndex(t, turn, i.Status)
		if err != nil {
			return err
		}
		record := ledger.TurnIndexed{Status: i.Status, Chunks: added}
		// A turn whose chunks exist already keeps its units.
		if len(added) > 0 || len(i.Chunks) == 0 && i.Status != chat.IndexDegraded && i.Status != chat.IndexNone {
			if record.Dropped, err = session.Supersedes(turn.ID, added); err != nil {
				return err
			}
		}
		if changed || record.Dropped || len(added) > 0 { // otherwise recorded before: the ledger gets no second event
			if err := recordIndexed(t, session, turn, record, i); err != nil {
				return err
			}
		}
		if err := indexVectors(t, stored, i); err != nil || i.Status == chat.IndexNone {
			return err
		}
		return queue.FinishJob(t, i.Job)
	})
}

func recordIndexed(
	t *core.Tx, session *events.Applier, turn schema.TurnRow, record ledger.TurnIndexed, i chat.Indexing,
) error {
	var packed *core.Payload
	words := 0
	for _, c := range record.Chunks {
		for _, u := range c.Units {
			words += len(u.Text)
		}
	}
	if codec.IsLong(words) {
		var err error
		if packed, err = events.IndexedPayload(record); err != nil {
			return err
		}
	}
	if err := session.Record(ledger.EventTurnIndexed, turn.ID, record, packed); err != nil {
		return err
	}
	return records.MergeTurnMetrics(t, i.TurnID, chat.TurnMetrics{IndexMs: i.IndexMs, EmbedMs: i.EmbedMs})
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
// its provenance is right (SRD 9.2).
func checkSource(session *events.Applier, turn schema.TurnRow, i chat.Indexing) error {
	for _, c := range i.Chunks {
		from, err := session.Source(turn.ID, c.Role, c.File)
		if err != nil {
			return err
		}
		if !schema.Spans(from, c.Start, c.End, c.Text) {
			return sqlite.Invalid("A chunk of turn %d differs from the text of its source.", turn.TurnSeq)
		}
	}
	return nil
}

// changesIndex reports whether a turn's index state changes. One that is degraded changes nothing that is complete.
func changesIndex(t *core.Tx, turn schema.TurnRow, status chat.IndexStatus) (bool, error) {
	switch status {
	case chat.IndexNone:
		return false, nil
	case chat.IndexDegraded:
		return chat.Phase(turn.Phase) == chat.PhaseStateCommitted && turn.IndexStatus != string(status), nil
	}
	return chat.Phase(turn.Phase) != chat.PhaseDone || turn.IndexStatus != string(status),
		queue.EndJob(t, chat.JobIndexTurn, turn.ID)
}

// newChunks returns the ids of all given chunks, empty for those that are not stored, and the records of the new ones.
// Chunks of a chunker older than the turn's newest are not stored: their units were dropped.
func newChunks(
	t *core.Tx, session *events.Applier, turn schema.TurnRow, chunks []chat.Chunk,
) (ids []string, added []ledger.IndexedChunk, err error) {
	added = []ledger.IndexedChunk{}
	newest, err := sqlite.One[int](t.DB, "turn", turn.ID, `SELECT coalesce(max(chunker_version), 0) FROM chunks WHERE source_turn = ?`, turn.ID)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range chunks {
		sum, version := codec.Hash([]byte(c.Text)), max(c.Version, 1)
		if c.ContentHash != "" && c.ContentHash != hex.EncodeToString(sum) {
			return nil, nil, sqlite.Invalid("A chunk of turn %d does not match its hash.", turn.TurnSeq)
		}
		existing, err := sqlite.All[string](t.DB, `SELECT id FROM chunks WHERE source_turn = ? AND chunk_type = ? AND content_hash = ?
			AND chunker_version = ?`, turn.ID, c.Type, sum, version)
		if err != nil {
			return nil, nil, err
		}
		if len(existing) == 0 && version >= newest {
			record, err := newChunk(t, session, turn, c)
			if err != nil {
				return nil, nil, err
			}
			added = append(added, record)
			existing = []string{string(record.ID)}
		}
		ids = append(ids, append(existing, "")[0])
	}
	return ids, added, nil
}

// newChunk returns the record of a new chunk. Its text is the bytes start to end of its source, as checkSource
// verified, and is stored only there.
func newChunk(t *core.Tx, session *events.Applier, turn schema.TurnRow, c chat.Chunk) (ledger.IndexedChunk, error) {
	record := ledger.IndexedChunk{
		ID: chat.ChunkID(t.NewID()), File: c.File, Ordinal: c.Ordinal, Role: c.Role, Start: c.Start, End: c.End, Type: c.Type,
		Tokens: c.Tokens, Version: max(c.Version, 1), SHA256: chat.HashText(c.Text), Summary: schema.Clean(c.Summary),
		Units: make([]ledger.IndexedUnit, 0, len(c.Units)),
	}
	from, err := session.Source(turn.ID, c.Role, c.File)
	if err != nil {
		return record, err
	}
	for _, u := range c.Units {
		if u.Start < 0 || u.End < u.Start {
			return record, sqlite.Invalid("A unit of turn %d has no valid place in its message.", turn.TurnSeq)
		}
		unit := ledger.IndexedUnit{
			ID: chat.UnitID(t.NewID()), Start: u.Start, End: u.End, Tokens: u.Tokens, Text: schema.Clean(u.Text),
		}
		if c.File != "" && u.Start < u.End && u.End <= len(from) && strings.HasSuffix(unit.Text, from[u.Start:u.End]) {
			unit.SHA256 = chat.HashText(unit.Text)
			unit.Text = strings.TrimSuffix(unit.Text, from[u.Start:u.End])
		}
		record.Units = append(record.Units, unit)
	}
	return record, nil
}

// indexVectors stores vectors for the units of chunks, by namespace, unless they have one.
func indexVectors(t *core.Tx, chunks []string, i chat.Indexing) error {
	if len(i.Vectors) == 0 {
		return nil
	}
	var units []int64 // their row numbers; 0: not stored
	for k, c := range i.Chunks {
		rows, err := sqlite.All[schema.UnitRow](t.DB, `SELECT n, ordinal FROM units WHERE chunk_id = ?`, chunks[k])
		if err != nil {
			return err
		}
		numbers := map[int]int64{}
		for _, r := range rows {
			numbers[r.Ordinal] = r.N
		}
		for _, u := range c.Units {
			units = append(units, numbers[u.Ordinal])
		}
	}
	for _, ns := range slices.Sorted(maps.Keys(i.Vectors)) {
		list := make([]chat.UnitVector, 0, len(units))
		for k, n := range units {
			if n != 0 {
				list = append(list, chat.UnitVector{N: n, Vector: i.Vectors[ns][k]})
			}
		}
		if err := putVectors(t, ns, list, `DO NOTHING`); err != nil {
			return err
		}
	}
	return nil
}
