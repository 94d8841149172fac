package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
)

// Each row recorded in a ledger has a method ToLedgerRecord: the record that the reducer builds from the same events.

// ToLedgerRecord returns the comparable form of a step, with request and response decoded.
func (r StepRow) ToLedgerRecord(items string, request, response []byte, events ledger.Sum) *ledger.Step {
	if r.Status == string(chat.StepRunning) { // the ledger gets the counters when the step ends
		r.StreamDisplayedBytes, r.StreamDurableBytes = 0, 0
	}
	return &ledger.Step{
		TurnID: r.TurnID, Index: r.StepIndex, Attempt: r.Attempt, Status: r.Status, Provider: r.Provider, ModelID: r.ModelID,
		StartedAt: r.StartedAt, EndedAt: Text(r.EndedAt), StreamPath: r.StreamPath, DisplayedBytes: r.StreamDisplayedBytes,
		DurableBytes: r.StreamDurableBytes, Outcome: ledger.SumOfText(r.OutcomeJSON), Usage: sumOfOptional(r.UsageJSON),
		Items: ledger.SumOfText(items), Request: requestSum(request), Response: sumIfAny(response), Events: events, ToolsMode: r.ToolsMode,
	}
}

func (r TurnRow) ToLedgerRecord(manifest []byte) *ledger.Turn {
	return &ledger.Turn{
		BranchID: r.BranchID, Seq: r.TurnSeq, StateBefore: r.StateBefore, StateAfter: Text(r.StateAfter), Phase: r.Phase, Outcome: r.Outcome,
		IndexStatus: r.IndexStatus, Provider: r.PrimaryProvider, Model: r.PrimaryModel, RetryOf: Text(r.RetryOf), CreatedAt: r.CreatedAt,
		UpdatedAt: r.UpdatedAt, User: ledger.SumOfText(r.UserMessageJSON), Assistant: sumOfOptional(r.FinalAssistantMessageJSON),
		Usage: sumOfOptional(r.UsageJSON), Failure: sumOfOptional(r.ErrorJSON), Manifest: sumIfAny(manifest),
	}
}

// EventsSum returns the hash of the result of Events. Events that are packed alone are never completely in memory.
func (r StepRow) EventsSum() (ledger.Sum, error) {
	if len(r.RawEvents) == 0 || r.RawEvents[0] != codec.PackedZstd {
		events, err := r.Events()
		return sumIfAny(events), err
	}
	dec, err := codec.Unpacking(r.RawEvents)
	if err != nil {
		return "", err
	}
	defer dec.Close()
	hash := sha256.New()
	_, err = io.Copy(hash, io.LimitReader(dec, codec.UnpackMax))
	return ledger.SumOfHash(hash.Sum(nil)), err
}

// sumOfOptional returns the sum of a nullable text; empty for none.
func sumOfOptional(s *string) ledger.Sum {
	if s == nil {
		return ""
	}
	return ledger.SumOfText(*s)
}

// sumIfAny returns the sum of bytes; empty for none.
func sumIfAny(b []byte) ledger.Sum {
	if b == nil {
		return ""
	}
	return ledger.SumOf(b)
}

func (r BranchRow) ToLedgerRecord() *ledger.Branch {
	return &ledger.Branch{
		CreatedAt: r.CreatedAt, ArchivedAt: Text(r.ArchivedAt), ParentBranch: Text(r.ParentBranch), ForkTurn: Text(r.ForkTurn), ForkSeq: r.ForkSeq,
		BaseState: r.BaseState, BaseSeq: r.BaseSeq, HeadState: r.HeadState, HeadSeq: r.HeadSeq, Epoch: r.Epoch, Label: ledger.SumOfText(r.Label),
		Lane: r.Lane, Machine: ledger.SumOfName(r.Machine), Continues: r.Continues,
	}
}

func (r StateRow) ToLedgerRecord() *ledger.Checkpoint {
	return &ledger.Checkpoint{
		BranchID: r.BranchID, Seq: r.StateSeq, ParentID: Text(r.ParentID), CoversSeq: r.CoversSeq, Origin: r.Origin, Model: r.Model,
		Tokens: r.TokenCountEst, CreatedAt: r.CreatedAt, Content: ledger.SumOfCheckpoint(r.Summary, r.PinnedFacts),
		Validation: ledger.SumOfRaw([]byte(Text(r.ValidationJSON))),
	}
}

func (r SessionRow) ToLedgerRecord() *ledger.Session {
	return &ledger.Session{
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, ArchivedAt: Text(r.ArchivedAt), Source: r.Source, ActiveBranch: r.ActiveBranch,
		Model: r.Model, Effort: r.Effort, Temperature: r.Temperature, Pinned: r.Pinned,
		Title: ledger.SumOfText(r.Title), SystemPrompt: ledger.SumOfText(r.SystemPrompt),
		Folder: ledger.SumOfName(r.Folder), ToolsMode: r.ToolsMode, MemoryScope: chat.Scope(r.MemoryScope),
		Assistant: r.Assistant, AssistantName: ledger.SumOfName(r.AssistantName),
	}
}

func (r ChunkRow) Indexed(units []ledger.IndexedUnit) ledger.IndexedChunk {
	return ledger.IndexedChunk{
		ID: chat.ChunkID(r.ID), File: chat.FileID(Text(r.FileID)), Ordinal: r.Ordinal, Role: chat.Role(r.Role), Start: r.StartOffset,
		End: r.EndOffset, Type: chat.ChunkType(r.ChunkType), Tokens: r.TokenEst, Version: r.ChunkerVersion,
		SHA256: hex.EncodeToString(r.ContentHash), Summary: r.Summary, Units: units,
	}
}

func (r RangeSummaryRow) Summary() chat.RangeSummary {
	out := chat.RangeSummary{
		ID: r.ID, SessionID: chat.SessionID(r.SessionID), BranchID: chat.BranchID(r.BranchID), From: r.FromSeq, To: r.ToSeq,
		Content: r.Content, TokenCount: r.TokenCount, OriginalTokens: r.OriginalTokens, GeneratedBy: r.GeneratedBy,
		SupersededBy: Text(r.SupersededBy), CreatedAt: ParseTime(r.CreatedAt),
	}
	if r.ValidationJSON != nil && json.Valid([]byte(*r.ValidationJSON)) {
		out.Validation = json.RawMessage(*r.ValidationJSON)
	}
	return out
}

// Intact reports whether the content matches its hash.
func (r RangeSummaryRow) Intact() bool {
	return slices.Equal(r.ContentHash, codec.Hash([]byte(r.Content)))
}
