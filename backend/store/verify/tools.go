package verify

import (
	"bytes"
	"encoding/json"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/schema"
)

// toolBatches checks the batches of the tool journal: an open one belongs to a turn that can still continue.
func (a *Audit) toolBatches() {
	each(a, "tool_batches", "*", "id", func(r events.BatchRow) {
		a.times("tool_batches", r.ID, &r.CreatedAt, r.CommittedAt)
		if t := a.Have.Turns[r.TurnID]; t != nil && chat.BatchState(r.State) == chat.BatchOpen {
			a.expect(chat.Phase(t.Phase) == chat.PhaseResponding, findPhase, "tool_batches", r.ID, "It is open in a turn that is %s.", t.Phase)
		}
		a.Have.ToolBatches[r.ID] = r.ToLedgerRecord()
	})
}

// toolCalls checks the calls and their results.
func (a *Audit) toolCalls() {
	type stored struct {
		row     events.ResultRow
		content []byte
	}
	results := map[string]stored{}
	each(a, "tool_results", "*", "tool_call_id", func(r events.ResultRow) {
		a.times("tool_results", r.ToolCallID, &r.CreatedAt)
		content, err := r.Unpacked()
		if err == nil {
			var blocks chat.Blocks
			err = json.Unmarshal(content, &blocks)
		}
		if err != nil {
			a.add(FindContent, "tool_results", r.ToolCallID, "It cannot be read.")
			a.exclude("tool_calls", r.ToolCallID)
		}
		a.expect(err != nil || bytes.Equal(r.ContentHash, codec.Hash(content)), FindContent, "tool_results", r.ToolCallID, "It does not match its hash.")
		results[r.ToolCallID] = stored{r, content}
	})
	recalled := map[string][]ledger.RecalledTurn{}
	each(a, "tool_recalled", "*", "tool_call_id, place", func(r schema.LookedUpRow) {
		recalled[r.ToolCallID] = append(recalled[r.ToolCallID], ledger.RecalledTurn{Session: chat.SessionID(r.SessionID), Turn: chat.TurnID(r.TurnID)})
	})
	each(a, "tool_calls", "*", "batch_id, ordinal", func(r events.CallRow) {
		a.times("tool_calls", r.ID, r.StartedAt, r.EndedAt, r.DecidedAt)
		a.expect(json.Valid([]byte(r.Arguments)), FindContent, "tool_calls", r.ID, "Its arguments cannot be read.")
		have, done := results[r.ID]
		delete(results, r.ID)
		a.expect(done == (chat.ToolCallState(r.State) == chat.CallDone), findPhase, "tool_calls", r.ID,
			"It is %s, which does not fit whether it has a result.", r.State)
		record := r.ToLedgerRecord(nil, nil, nil)
		if done {
			record = r.ToLedgerRecord(&have.row, have.content, recalled[r.ID])
			delete(recalled, r.ID)
		}
		a.Have.ToolCalls[r.ID] = record
	})
	for id := range recalled {
		a.add(FindReplay, "tool_recalled", id, "There is no such call, or it has no result.")
	}
	for id := range results {
		a.add(FindReplay, "tool_results", id, "There is no such call.")
	}
}
