package store

import (
	"encoding/json"

	"contextinfinity/backend/chat"
)

var writeTool = chat.ToolDefinition{
	Source: "files", Tool: "write", Name: "files__write", Description: "Writes a file.", Schema: json.RawMessage(`{"type":"object"}`), Effects: true,
}

func toolUse(id, arguments string) chat.ProposedCall {
	return chat.ProposedCall{
		UseID: id, Name: writeTool.Name, Source: writeTool.Source, Tool: writeTool.Tool, Definition: writeTool.Hash(), Effects: true,
		Arguments: json.RawMessage(arguments),
	}
}

// proposes brings a turn to calls that wait, one for each arguments.
func (f *fixture) proposes(turn chat.Turn, words string, arguments ...string) chat.ToolBatch {
	f.Helper()
	var calls []chat.ProposedCall
	for i, a := range arguments {
		calls = append(calls, toolUse("call_"+string(rune('a'+i)), a))
	}
	batch, err := f.ProposeCalls(f.ctx, turn.ID, *f.ended(f.respond(turn), chat.StepPaused, words), calls)
	f.ok(err)
	return batch
}

// runs carries a call out.
func (f *fixture) runs(call chat.ToolCallID, result string) {
	f.Helper()
	f.ok(f.DecideCall(f.ctx, chat.CallDecision{Call: call, Decision: chat.DecisionOnce, Definition: writeTool.Hash()}))
	f.ok(f.StartCall(f.ctx, call, []chat.CallRedaction{{Rule: "generic-api-key", Bytes: 20}}))
	batch, err := f.CallBatch(f.ctx, call)
	f.ok(err)
	f.ok(f.EndCall(f.ctx, chat.CallEnd{
		Call: call, Result: &chat.ToolResult{Content: chat.Blocks{chat.Text{Text: result}}}, Recalled: []chat.ShownTurn{{Session: batch.SessionID, Turn: batch.TurnID}},
	}))
}

// answerWithTools is a turn that is final after its model called a tool.
func (f *fixture) answerWithTools(branch chat.BranchID, user, arguments, result, answer string) chat.Turn {
	f.Helper()
	turn := f.accept(branch, user)
	batch := f.proposes(turn, "I write it down.", arguments)
	f.runs(batch.Calls[0].ID, result)
	f.ok(f.CommitBatch(f.ctx, batch.ID))
	step, err := f.BeginStep(f.ctx, chat.StepStart{TurnID: turn.ID, Index: 1, Provider: "recall", ModelID: "recall", Request: []byte(`{"query":"again"}`)})
	f.ok(err)
	done, err := f.Finalize(f.ctx, chat.Finalization{
		TurnID: turn.ID, Step: f.ended(step, chat.StepCompleted, answer), Message: chat.AssistantText(answer), Outcome: chat.OutcomeCompleted,
	})
	f.ok(err)
	return done
}

// permits puts rows into the tables of what people decide about tools.
func (f *fixture) permits(s chat.SessionID) {
	f.Helper()
	f.ok(f.AcceptDefinitions(f.ctx, []chat.ToolDefinition{writeTool}))
	f.ok(f.MarkTool(f.ctx, chat.ReadOnlyMark{Source: "files", Tool: "list"}, writeTool.Hash()))
	f.ok(f.PutToolPermission(f.ctx, chat.ToolPermission{Source: "files", Tool: "write", Session: s, Decision: chat.DecisionSession, Definition: writeTool.Hash()}))
}
