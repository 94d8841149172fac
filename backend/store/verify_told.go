package store

// Stored rows as the records that the ledger's reducer makes.

import (
	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
)

// sumOfOptional is the sum of a nullable text; empty for none.
func sumOfOptional(s *string) ledger.Sum {
	if s == nil {
		return ""
	}
	return ledger.SumOfText(*s)
}

// sumIfAny is the sum of bytes; empty for none.
func sumIfAny(b []byte) ledger.Sum {
	if b == nil {
		return ""
	}
	return ledger.SumOf(b)
}

func (r sessionRow) told() *ledger.Session {
	return &ledger.Session{
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, ArchivedAt: text(r.ArchivedAt), Source: r.Source, ActiveBranch: r.ActiveBranch,
		Model: r.Model, Effort: r.Effort, Temperature: r.Temperature, Pinned: r.Pinned,
		Title: ledger.SumOfText(r.Title), SystemPrompt: ledger.SumOfText(r.SystemPrompt),
		Folder: ledger.SumOfFolder(r.Folder),
	}
}

func (r branchRow) told() *ledger.Branch {
	return &ledger.Branch{
		CreatedAt: r.CreatedAt, ArchivedAt: text(r.ArchivedAt), ParentBranch: text(r.ParentBranch), ForkTurn: text(r.ForkTurn), ForkSeq: r.ForkSeq,
		BaseState: r.BaseState, BaseSeq: r.BaseSeq, HeadState: r.HeadState, HeadSeq: r.HeadSeq, Epoch: r.Epoch, Label: ledger.SumOfText(r.Label),
	}
}

func (r stateRow) told() *ledger.Checkpoint {
	return &ledger.Checkpoint{
		BranchID: r.BranchID, Seq: r.StateSeq, ParentID: text(r.ParentID), CoversSeq: r.CoversSeq, Origin: r.Origin, Model: r.Model,
		Tokens: r.TokenCountEst, CreatedAt: r.CreatedAt, Content: ledger.SumOfCheckpoint(r.Summary, r.PinnedFacts),
		Validation: ledger.SumOfRaw([]byte(text(r.ValidationJSON))),
	}
}

func (r turnRow) told(manifest []byte) *ledger.Turn {
	return &ledger.Turn{
		BranchID: r.BranchID, Seq: r.TurnSeq, StateBefore: r.StateBefore, StateAfter: text(r.StateAfter), Phase: r.Phase, Outcome: r.Outcome,
		IndexStatus: r.IndexStatus, Provider: r.PrimaryProvider, Model: r.PrimaryModel, RetryOf: text(r.RetryOf), CreatedAt: r.CreatedAt,
		UpdatedAt: r.UpdatedAt, User: ledger.SumOfText(r.UserMessageJSON), Assistant: sumOfOptional(r.FinalAssistantMessageJSON),
		Usage: sumOfOptional(r.UsageJSON), Failure: sumOfOptional(r.ErrorJSON), Manifest: sumIfAny(manifest),
	}
}

func (r pinRow) told() *ledger.Pin {
	return &ledger.Pin{BranchID: r.BranchID, AfterTurn: r.AfterTurnSeq, Replaces: text(r.Replaces), Removed: r.Removed,
		Tokens: r.Tokens, CreatedAt: r.CreatedAt, Text: ledger.SumOfText(r.Text)}
}

func (r rangeSummaryRow) told() *ledger.Summary {
	return &ledger.Summary{BranchID: r.BranchID, From: r.FromSeq, To: r.ToSeq, Tokens: r.TokenCount, OriginalTokens: r.OriginalTokens,
		GeneratedBy: r.GeneratedBy, SupersededBy: text(r.SupersededBy), CreatedAt: r.CreatedAt, Content: ledger.SumOfText(r.Content),
		Validation: ledger.SumOfRaw([]byte(text(r.ValidationJSON)))}
}

func (r chunkRow) told(said string) *ledger.Chunk {
	return &ledger.Chunk{
		TurnID: r.SourceTurn, FileID: text(r.FileID), Ordinal: r.Ordinal, Role: r.Role, Start: r.StartOffset, End: r.EndOffset,
		Type: r.ChunkType, Tokens: r.TokenEst, Version: r.ChunkerVersion, CreatedAt: r.CreatedAt,
		Content: ledger.SumOfText(said), Summary: ledger.SumOfText(r.Summary),
	}
}

// told is what a step is compared by; its request, response and raw events decoded.
func (r stepRow) told(items, request, response, events []byte) *ledger.Step {
	if r.Status == string(chat.StepRunning) { // the ledger learns the counters when the step ends
		r.StreamDisplayedBytes, r.StreamDurableBytes = 0, 0
	}
	return &ledger.Step{
		TurnID: r.TurnID, Index: r.StepIndex, Attempt: r.Attempt, Status: r.Status, Provider: r.Provider, ModelID: r.ModelID,
		StartedAt: r.StartedAt, EndedAt: text(r.EndedAt), StreamPath: r.StreamPath, DisplayedBytes: r.StreamDisplayedBytes,
		DurableBytes: r.StreamDurableBytes, Outcome: ledger.SumOfText(r.OutcomeJSON), Usage: sumOfOptional(r.UsageJSON),
		Items: ledger.SumOf(items), Request: ledger.SumOf(request), Response: sumIfAny(response), Events: sumIfAny(events),
	}
}
