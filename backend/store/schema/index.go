package schema

import (
	"encoding/hex"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lexical"
	"contextinfinity/backend/ledger"
)

func (r ChunkRow) ToLedgerRecord(text string) *ledger.Chunk {
	return &ledger.Chunk{
		TurnID: r.SourceTurn, FileID: Text(r.FileID), Ordinal: r.Ordinal, Role: r.Role, Start: r.StartOffset, End: r.EndOffset,
		Type: r.ChunkType, Tokens: r.TokenEst, Version: r.ChunkerVersion, CreatedAt: r.CreatedAt,
		Content: ledger.SumOfText(text), Summary: ledger.SumOfText(r.Summary),
	}
}

type ChunkRow struct {
	ID             string
	N              int64 // a short id, assigned once
	SessionID      string
	BranchID       string
	SourceTurn     string
	FileID         *string // set: the chunk is of an attached document
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
	RenderedText   string // written by the first version; empty since
}

func (ChunkRow) TableName() string { return "chunks" }

type UnitRow struct {
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
	Text        string // if Said, the text before the words of the message
	Pairs       *string
	Said        bool
}

func (UnitRow) TableName() string { return "units" }

func (r ChunkRow) Chunk(words string) chat.Chunk {
	return chat.Chunk{
		ID: chat.ChunkID(r.ID), SessionID: chat.SessionID(r.SessionID), BranchID: chat.BranchID(r.BranchID),
		SourceTurn: chat.TurnID(r.SourceTurn), File: chat.FileID(Text(r.FileID)), Ordinal: r.Ordinal, Role: chat.Role(r.Role),
		Start: r.StartOffset, End: r.EndOffset, Text: words, Summary: r.Summary, Type: chat.ChunkType(r.ChunkType), Tokens: r.TokenEst,
		ContentHash: hex.EncodeToString(r.ContentHash), Version: r.ChunkerVersion, CreatedAt: ParseTime(r.CreatedAt),
	}
}

// RetrievedRow is a chunk in a context. Scores are in ten-thousandths. Rank 0 is for an earlier context of the turn,
// whose request still quotes the chunk.
type RetrievedRow struct {
	TurnN        int64
	Rank         int
	ChunkN       int64
	PackedAs     int
	Tokens       int
	Similarity   int64
	VectorScore  int64
	KeywordScore int64
	Score        int64
}

func (RetrievedRow) TableName() string { return "retrieved" }

// ScoreUnit is the resolution of stored scores; more digits are never shown.
const ScoreUnit = 1e4

// PackedForms are the forms of a chunk by their number.
var PackedForms = []chat.PackedAs{chat.PackedFull, chat.PackedSlice, chat.PackedSummary}

// NamedRetrieval is a record with the id of its chunk.
type NamedRetrieval struct {
	Row     RetrievedRow `gorm:"embedded"`
	ChunkID string
}

func (r NamedRetrieval) Retrieval() chat.Retrieval {
	out := chat.Retrieval{
		Chunk: chat.ChunkID(r.ChunkID), Similarity: float64(r.Row.Similarity) / ScoreUnit, Vector: float64(r.Row.VectorScore) / ScoreUnit,
		Keyword: float64(r.Row.KeywordScore) / ScoreUnit, Score: float64(r.Row.Score) / ScoreUnit, Rank: r.Row.Rank, Tokens: r.Row.Tokens,
	}
	if r.Row.PackedAs >= 0 && r.Row.PackedAs < len(PackedForms) {
		out.Packed = PackedForms[r.Row.PackedAs]
	}
	return out
}

// ChunkText returns a chunk's own text, or the part of its message.
func ChunkText(message string, r ChunkRow) string {
	if r.RenderedText == "" && r.StartOffset >= 0 && r.StartOffset <= r.EndOffset && r.EndOffset <= len(message) {
		return message[r.StartOffset:r.EndOffset]
	}
	return r.RenderedText
}

// Spans reports whether part is text[start:end].
func Spans(text string, start, end int, part string) bool {
	return start >= 0 && start <= end && end <= len(text) && text[start:end] == part
}

// PairsOf returns the indexed form of a text if it differs from the text.
func PairsOf(body string) *string {
	indexed := lexical.IndexText(body)
	if indexed == body {
		return nil
	}
	return &indexed
}
