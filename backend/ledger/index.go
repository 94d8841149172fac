package ledger

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"contextinfinity/backend/chat"
)

// Events about a turn's index entries and documents.
const (
	EventTurnIndexed Type = "turn_indexed"
	EventFileAdded   Type = "file_added"
)

var indexKinds = map[Type]reducer{
	EventTurnIndexed: reducing((*State).indexed),
	EventFileAdded:   reducing((*State).fileAdded),
}

// Payloads.
type (
	TurnIndexed struct {
		Status  chat.IndexStatus `json:"status"` // empty: stored, vectors will follow
		Chunks  []IndexedChunk   `json:"chunks"`
		Dropped bool             `json:"dropped,omitempty"` // units of older chunkers; without chunks, all units
	}
	IndexedChunk struct {
		ID      chat.ChunkID   `json:"chunk_id"`
		File    chat.FileID    `json:"file_id,omitempty"`
		Ordinal int            `json:"ordinal"`
		Role    chat.Role      `json:"role"`
		Start   int            `json:"start"`
		End     int            `json:"end"`
		Type    chat.ChunkType `json:"chunk_type"`
		Tokens  int            `json:"token_est"`
		Version int            `json:"chunker_version"`
		SHA256  string         `json:"content_hash"`
		Summary string         `json:"summary"`
		Units   []IndexedUnit  `json:"units"`
	}
	IndexedUnit struct {
		ID     chat.UnitID `json:"unit_id"`
		Start  int         `json:"start"`
		End    int         `json:"end"`
		Tokens int         `json:"tokens"`
		Text   string      `json:"text"`                  // of a document: only the prefix before the document's own text
		SHA256 string      `json:"text_sha256,omitempty"` // of the complete text, if Text is only a part
	}
	FileAdded struct { // the bytes stay in the file
		TurnID     chat.TurnID `json:"turn_id"`
		Name       string      `json:"name"`
		MediaType  string      `json:"media_type"`
		Size       int64       `json:"size"`
		Tokens     int         `json:"tokens"`
		SHA256     string      `json:"content_hash"`
		TextSHA256 string      `json:"text_hash"`
	}
)

// Records.
type (
	File struct {
		TurnID    string `json:"turn_id"`
		MediaType string `json:"media_type"`
		Size      int64  `json:"size"`
		Tokens    int    `json:"tokens"`
		Name      Sum    `json:"name"`
		Content   Sum    `json:"content"`
		Text      Sum    `json:"text"`
	}
	Chunk struct {
		TurnID    string `json:"source_turn"`
		FileID    string `json:"file_id"`
		Ordinal   int    `json:"ordinal"`
		Role      string `json:"role"`
		Start     int    `json:"start_offset"`
		End       int    `json:"end_offset"`
		Type      string `json:"chunk_type"`
		Tokens    int    `json:"token_est"`
		Version   int    `json:"chunker_version"`
		CreatedAt string `json:"created_at"`
		Content   Sum    `json:"content"`
		Summary   Sum    `json:"summary"`
	}
	Unit struct {
		TurnID  string `json:"turn_id"`
		ChunkID string `json:"chunk_id"`
		Start   int    `json:"start_offset"`
		End     int    `json:"end_offset"`
		Tokens  int    `json:"tokens"`
		Text    Sum    `json:"text"`
	}
)

// indexed replays TX-C: added and removed chunks and units.
func (s *State) indexed(e Event, p TurnIndexed) error {
	chunks, units, err := indexedRecords(e, p)
	if err != nil {
		return err
	}
	turn, ok := s.Turns[e.Entity]
	if !ok {
		return errors.New("no earlier event created its turn")
	}
	if p.Dropped {
		version := math.MaxInt32
		for _, c := range p.Chunks {
			version = min(version, c.Version)
		}
		s.drop(e.Entity, version)
	}
	for i, c := range p.Chunks {
		s.Chunks[string(c.ID)] = chunks[i]
	}
	for id, u := range units {
		s.Units[id] = u
		s.unitsOf[e.Entity] = append(s.unitsOf[e.Entity], id)
	}
	if p.Status == chat.IndexNone {
		return nil
	}
	turn.IndexStatus = string(p.Status)
	if p.Status != chat.IndexDegraded && turn.Phase != string(chat.PhaseDone) {
		turn.Phase, turn.UpdatedAt = string(chat.PhaseDone), e.CreatedAt
	}
	return nil
}

func indexedRecords(e Event, p TurnIndexed) ([]*Chunk, map[string]*Unit, error) {
	chunks, units := make([]*Chunk, len(p.Chunks)), map[string]*Unit{}
	for i, c := range p.Chunks {
		content, err := sumOfHex(c.SHA256)
		if err != nil {
			return nil, nil, err
		}
		chunks[i] = &Chunk{
			TurnID: e.Entity, FileID: string(c.File), Ordinal: c.Ordinal, Role: string(c.Role), Start: c.Start, End: c.End, Type: string(c.Type),
			Tokens: c.Tokens, Version: c.Version, CreatedAt: e.CreatedAt, Content: content, Summary: SumOfText(c.Summary),
		}
		for _, u := range c.Units {
			text := SumOfText(u.Text)
			if u.SHA256 != "" {
				if text, err = sumOfHex(u.SHA256); err != nil {
					return nil, nil, err
				}
			}
			units[string(u.ID)] = &Unit{TurnID: e.Entity, ChunkID: string(c.ID), Start: u.Start, End: u.End, Tokens: u.Tokens, Text: text}
		}
	}
	return chunks, units, nil
}

// drop removes a turn's units of chunkers before a version.
func (s *State) drop(turn string, version int) {
	s.unitsOf[turn] = slices.DeleteFunc(s.unitsOf[turn], func(id string) bool {
		chunk := s.Chunks[s.Units[id].ChunkID]
		isOlder := chunk != nil && chunk.Version < version
		if isOlder {
			delete(s.Units, id)
		}
		return isOlder
	})
}

func (s *State) fileAdded(e Event, p FileAdded) error {
	if s.Turns[string(p.TurnID)] == nil {
		return fmt.Errorf("no earlier event created turn %s", p.TurnID)
	}
	content, err := sumOfHex(p.SHA256)
	if err != nil {
		return err
	}
	text, err := sumOfHex(p.TextSHA256)
	if err != nil {
		return err
	}
	s.Files[e.Entity] = &File{TurnID: string(p.TurnID), MediaType: p.MediaType, Size: p.Size, Tokens: p.Tokens,
		Name: SumOfText(p.Name), Content: content, Text: text}
	return nil
}
