package exporting_test

import (
	"encoding/json"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/exporting"
)

// addToolTurn adds a turn whose model called two tools with the same id; each call has a result.
func (d *fixture) addToolTurn(branch chat.BranchID) {
	d.Helper()
	turn, err := d.store.Accept(d.ctx, chat.Acceptance{BranchID: branch, User: chat.UserText("look twice"), Provider: "recall", Model: "recall"})
	d.ok(err)
	d.ok(d.store.Prepare(d.ctx, chat.Preparation{TurnID: turn.ID, Manifest: json.RawMessage(`{"sections":[]}`), Tokens: 12}))
	step, err := d.store.BeginStep(d.ctx, chat.StepStart{TurnID: turn.ID, Provider: "recall", ModelID: "recall", Request: []byte(`{}`)})
	d.ok(err)
	uses := chat.Blocks{chat.Text{Text: "I look."}}
	var calls []chat.ProposedCall
	for _, place := range []string{"attic", "cellar"} {
		input := json.RawMessage(`{"place":"` + place + `"}`)
		uses = append(uses, chat.ToolUse{ToolUseID: "call_0", Name: "house__look", Input: input})
		calls = append(calls, chat.ProposedCall{UseID: "call_0", Name: "house__look", Source: "house", Tool: "look", Effects: true, Arguments: input})
	}
	batch, err := d.store.ProposeCalls(d.ctx, turn.ID, chat.StepEnd{
		StepID: step.ID, Outcome: chat.StepOutcome{Status: chat.StepPaused}, Items: chat.Items{chat.AssistantMessage{Blocks: uses}},
	}, calls)
	d.ok(err)
	for i, found := range []string{"<b>dust</b>", "```wine"} {
		d.ok(d.store.DecideCall(d.ctx, chat.CallDecision{Call: batch.Calls[i].ID, Decision: chat.DecisionOnce}))
		d.ok(d.store.StartCall(d.ctx, batch.Calls[i].ID, nil))
		d.ok(d.store.EndCall(d.ctx, chat.CallEnd{Call: batch.Calls[i].ID, Result: &chat.ToolResult{Content: chat.Blocks{chat.Text{Text: found}}}}))
	}
	d.ok(d.store.CommitBatch(d.ctx, batch.ID))
	last, err := d.store.BeginStep(d.ctx, chat.StepStart{TurnID: turn.ID, Index: 1, Provider: "recall", ModelID: "recall", Request: []byte(`{"i":1}`)})
	d.ok(err)
	answer := chat.Message{Role: chat.RoleAssistant, Blocks: append(uses[:len(uses):len(uses)], chat.Text{Text: "Dust and wine."})}
	_, err = d.store.Finalize(d.ctx, chat.Finalization{
		TurnID: turn.ID, Message: answer, Outcome: chat.OutcomeCompleted,
		Step: &chat.StepEnd{StepID: last.ID, Outcome: chat.StepOutcome{Status: chat.StepCompleted}, Items: chat.Items{chat.AssistantMessage{Blocks: chat.Blocks{chat.Text{Text: "Dust and wine."}}}}},
	})
	d.ok(err)
}

// TestResultsFollowTheirCalls: the results of tool calls are stored with the calls, not in the answer. An
// exported file has them after their calls, as text and never as markup.
func TestResultsFollowTheirCalls(t *testing.T) {
	d := newFixture(t)
	session, _, err := d.store.CreateSession(d.ctx, chat.NewSession{Title: "House"})
	d.ok(err)
	d.addToolTurn(session.ActiveBranch)
	for format, want := range map[exporting.Format][]string{
		exporting.FormatMarkdown: {"attic", "<b>dust</b>", "cellar", "````\n```wine\n````", "Dust and wine."},
		exporting.FormatHTML:     {"attic", "&lt;b&gt;dust&lt;/b&gt;", "cellar", "```wine", "Dust and wine."},
		exporting.FormatJSON:     {"attic", "dust", "cellar", "wine", "Dust and wine."},
	} {
		_, text := d.write(exporting.Request{Scope: exporting.ScopeSession, Session: session.ID, Format: format})
		rest := text
		for _, part := range want {
			_, after, ok := strings.Cut(rest, part)
			if !ok {
				t.Errorf("%s: %q is missing, or not in its place:\n%s", format, part, text)
				break
			}
			rest = after
		}
	}
}
