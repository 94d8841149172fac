package store

import (
	"encoding/json"
	"testing"

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

// proposeCalls brings a turn to a batch of waiting calls, one for each of the arguments.
func (f *fixture) proposeCalls(turn chat.Turn, words string, arguments ...string) chat.ToolBatch {
	f.Helper()
	var calls []chat.ProposedCall
	for i, a := range arguments {
		calls = append(calls, toolUse("call_"+string(rune('a'+i)), a))
	}
	batch, err := f.ProposeCalls(f.ctx, turn.ID, *f.ended(f.respond(turn), chat.StepPaused, words), calls)
	f.ok(err)
	return batch
}

// runCall approves and executes a call.
func (f *fixture) runCall(call chat.ToolCallID, result string) {
	f.Helper()
	f.ok(f.DecideCall(f.ctx, chat.CallDecision{Call: call, Decision: chat.DecisionOnce, Definition: writeTool.Hash()}))
	f.ok(f.StartCall(f.ctx, call, []chat.CallRedaction{{Rule: "generic-api-key", Bytes: 20}}))
	batch, err := f.CallBatch(f.ctx, call)
	f.ok(err)
	f.ok(f.EndCall(f.ctx, chat.CallEnd{
		Call: call, Result: &chat.ToolResult{Content: chat.Blocks{chat.Text{Text: result}}}, Recalled: []chat.ShownTurn{{Session: batch.SessionID, Turn: batch.TurnID}},
	}))
}

// answerWithTools adds a completed turn whose model called a tool.
func (f *fixture) answerWithTools(branch chat.BranchID, user, arguments, result, answer string) chat.Turn {
	f.Helper()
	turn := f.accept(branch, user)
	batch := f.proposeCalls(turn, "I write it down.", arguments)
	f.runCall(batch.Calls[0].ID, result)
	f.ok(f.CommitBatch(f.ctx, batch.ID))
	step, err := f.BeginStep(f.ctx, chat.StepStart{TurnID: turn.ID, Index: 1, Provider: "recall", ModelID: "recall", Request: []byte(`{"query":"again"}`)})
	f.ok(err)
	done, err := f.Finalize(f.ctx, chat.Finalization{
		TurnID: turn.ID, Step: f.ended(step, chat.StepCompleted, answer), Message: chat.AssistantText(answer), Outcome: chat.OutcomeCompleted,
	})
	f.ok(err)
	return done
}

// addPermissions fills the tables of permissions, definitions and marks of tools.
func (f *fixture) addPermissions(s chat.SessionID) {
	f.Helper()
	f.ok(f.AcceptDefinitions(f.ctx, []chat.ToolDefinition{writeTool}))
	f.ok(f.MarkTool(f.ctx, chat.ReadOnlyMark{Source: "files", Tool: "list"}, writeTool.Hash()))
	f.ok(f.PutToolPermission(f.ctx, chat.ToolPermission{Source: "files", Tool: "write", Session: s, Decision: chat.DecisionSession, Definition: writeTool.Hash()}))
}

// Forgetting a source deletes the decisions about its tools and keeps those about others.
func TestForgettingAToolSource(t *testing.T) {
	f := newFixture(t)
	for _, source := range []string{"files", "other"} {
		d := chat.ToolDefinition{Source: source, Tool: "write", Schema: json.RawMessage(`{"type":"object"}`)}
		f.ok(f.AcceptDefinitions(f.ctx, []chat.ToolDefinition{d}))
		f.ok(f.PutToolPermission(f.ctx, chat.ToolPermission{Source: source, Tool: "write", Decision: chat.DecisionAlways, Definition: d.Hash()}))
		f.ok(f.MarkTool(f.ctx, chat.ReadOnlyMark{Source: source, Tool: "write"}, d.Hash()))
	}
	f.ok(f.ForgetToolSource(f.ctx, "files"))
	permissions, err := f.ToolPermissions(f.ctx)
	f.ok(err)
	pinned, err := f.PinnedDefinitions(f.ctx)
	f.ok(err)
	marks, err := f.ToolMarks(f.ctx)
	f.ok(err)
	if len(permissions) != 1 || permissions[0].Source != "other" || len(pinned) != 1 || pinned[0].Source != "other" || len(marks) != 1 || marks[chat.ReadOnlyMark{Source: "other", Tool: "write"}] == "" {
		t.Errorf("left: %+v, %+v, %+v", permissions, pinned, marks)
	}
}
