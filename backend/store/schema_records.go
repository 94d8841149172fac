package store

import (
	"crypto/sha256"
	"io"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
)

// Each row that a ledger tells of has a method toLedgerRecord: the record that the ledger's reducer
// makes of the same events.

// toLedgerRecord is what a step is compared by; its request and response decoded.
func (r stepRow) toLedgerRecord(items string, request, response []byte, events ledger.Sum) *ledger.Step {
	if r.Status == string(chat.StepRunning) { // the ledger learns the counters when the step ends
		r.StreamDisplayedBytes, r.StreamDurableBytes = 0, 0
	}
	return &ledger.Step{
		TurnID: r.TurnID, Index: r.StepIndex, Attempt: r.Attempt, Status: r.Status, Provider: r.Provider, ModelID: r.ModelID,
		StartedAt: r.StartedAt, EndedAt: text(r.EndedAt), StreamPath: r.StreamPath, DisplayedBytes: r.StreamDisplayedBytes,
		DurableBytes: r.StreamDurableBytes, Outcome: ledger.SumOfText(r.OutcomeJSON), Usage: sumOfOptional(r.UsageJSON),
		Items: ledger.SumOfText(items), Request: ledger.SumOf(request), Response: sumIfAny(response), Events: events, ToolsMode: r.ToolsMode,
	}
}

func (r turnRow) toLedgerRecord(manifest []byte) *ledger.Turn {
	return &ledger.Turn{
		BranchID: r.BranchID, Seq: r.TurnSeq, StateBefore: r.StateBefore, StateAfter: text(r.StateAfter), Phase: r.Phase, Outcome: r.Outcome,
		IndexStatus: r.IndexStatus, Provider: r.PrimaryProvider, Model: r.PrimaryModel, RetryOf: text(r.RetryOf), CreatedAt: r.CreatedAt,
		UpdatedAt: r.UpdatedAt, User: ledger.SumOfText(r.UserMessageJSON), Assistant: sumOfOptional(r.FinalAssistantMessageJSON),
		Usage: sumOfOptional(r.UsageJSON), Failure: sumOfOptional(r.ErrorJSON), Manifest: sumIfAny(manifest),
	}
}

// eventsSum is the sum of what events returns, of which no more than a piece is held where
// it stands alone.
func (r stepRow) eventsSum() (ledger.Sum, error) {
	if len(r.RawEvents) == 0 || r.RawEvents[0] != codec.PackedZstd {
		whole, err := r.events()
		return sumIfAny(whole), err
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
