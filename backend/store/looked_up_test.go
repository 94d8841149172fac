package store

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

// What a model looked up is stored with its turn, together with the turns it was shown. A permanently deleted session
// is no longer listed there.
func TestWhatAModelLookedUp(t *testing.T) {
	f := newFixture(t)
	source, sourceBranch := f.session("Garden")
	shown := f.committed(sourceBranch.ID, "When do I sow zebra beans?", "In May.")
	f.index(shown.ID)
	_, here := f.session("Questions")
	asking := f.accept(here.ID, "When are the beans due?")
	batch := f.proposeCalls(asking, "I look.", `{"query":"beans"}`, `{"turn":"x"}`)
	recalled := []chat.ShownTurn{{Session: source.ID, Turn: shown.ID}, {Session: "gone", Turn: "gone"}}
	for _, c := range batch.Calls {
		f.ok(f.DecideCall(f.ctx, chat.CallDecision{Call: c.ID, Decision: chat.DecisionOnce, Definition: writeTool.Hash()}))
		f.ok(f.StartCall(f.ctx, c.ID, nil))
		f.ok(f.EndCall(f.ctx, chat.CallEnd{Call: c.ID, Result: &chat.ToolResult{Content: chat.Blocks{chat.Text{Text: "In May."}}}, Recalled: recalled}))
	}
	f.ok(f.CommitBatch(f.ctx, batch.ID))
	f.verifyClean()

	got, err := f.LookedUp(f.ctx, asking.ID)
	f.ok(err)
	want := []chat.LookedUp{
		{Call: batch.Calls[0].ID, Tool: "write", Session: source.ID, Title: "Garden", Turn: shown.ID, TurnSeq: shown.Seq},
		{Call: batch.Calls[0].ID, Tool: "write", Session: "gone", Turn: "gone"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("looked up %+v", got)
	}
	chunks, _, err := f.Chunks(f.ctx, chat.ChunkQuery{Within: chat.Within{Scope: chat.ScopeAll}})
	f.ok(err)
	for _, c := range chunks {
		uses, err := f.ChunkUses(f.ctx, c.ID)
		f.ok(err)
		if len(uses) != 1 || uses[0].Turn != asking.ID || uses[0].Session != asking.SessionID || uses[0].Tool != "write" || uses[0].Rank != 0 {
			t.Errorf("uses of %s: %+v", c.ID, uses)
		}
	}
	if len(chunks) == 0 {
		t.Error("nothing was indexed")
	}

	f.core.SetRunning(asking.ID, false) // it waits for approval
	_, err = f.Delete(f.ctx, chat.DeletionSession, string(source.ID))
	f.ok(err)
	f.verifyClean()
	if got, err = f.LookedUp(f.ctx, asking.ID); err != nil || !slices.Equal(got, want[1:]) {
		t.Errorf("after the deletion %+v, %v", got, err)
	}
}

// lookups is a conversation whose model looked up a secret, in two steps whose calls have the same provider id, and
// continued with it in its context.
type lookups struct {
	source, other chat.Session
	secret, own   chat.Turn // own: the model of the source session looked up the secret too
	asking        chat.Turn
	calls         []chat.ToolCallID
	kept          chat.Turn // its context did not contain the secret
}

func (f *fixture) sessionWithLookups() lookups {
	f.Helper()
	var l lookups
	var b, ob chat.Branch
	l.source, b = f.session("about " + canary)
	l.secret = f.committed(b.ID, "my password is "+canary, "I keep it.")
	f.index(l.secret.ID)
	l.other, ob = f.session("Questions")
	l.asking = f.addLookups(ob.ID, l.secret, &l)
	f.addTurnAfter(ob.ID, "turn", l.asking.ID, canary)
	l.kept = f.addTurnAfter(ob.ID, "pin", "none", "nothing of it")
	var unused lookups
	l.own = f.addLookups(b.ID, l.secret, &unused)
	f.verifyClean()
	return l
}

// addLookups adds a turn whose model looks up another turn, lists sessions, and reads a file.
func (f *fixture) addLookups(branch chat.BranchID, source chat.Turn, l *lookups) chat.Turn {
	f.Helper()
	turn := f.accept(branch, "what was it?")
	f.ok(f.Prepare(f.ctx, chat.Preparation{TurnID: turn.ID, Manifest: []byte(`{"sections":[{"items":[{"source":"step","bytes":9,"sha256":"ab"}]}]}`)}))
	answer := chat.Message{Role: chat.RoleAssistant, Blocks: chat.Blocks{chat.Text{Text: "I look."}}}
	for i, c := range []struct {
		tool, result string
		recalled     []chat.ShownTurn
	}{
		{"search_memory", "1. my password is " + canary, []chat.ShownTurn{{Session: source.SessionID, Turn: source.ID}}},
		{"list_sessions", "about " + canary, []chat.ShownTurn{{Session: source.SessionID}}},
		{"read_file", "zebra", nil},
	} {
		use := chat.ProposedCall{UseID: "call_0", Name: c.tool, Source: chat.ToolSourceBuiltin, Tool: c.tool, Definition: "d", Arguments: []byte(`{}`)}
		step, err := f.BeginStep(f.ctx, chat.StepStart{TurnID: turn.ID, Index: i, Provider: "p", ModelID: "m", Request: []byte(`{"say":"` + c.result + ` before"}`)})
		f.ok(err)
		batch, err := f.ProposeCalls(f.ctx, turn.ID, *f.ended(step, chat.StepPaused, "I look."), []chat.ProposedCall{use})
		f.ok(err)
		id := batch.Calls[0].ID
		result := chat.ToolResult{Content: chat.Blocks{chat.Text{Text: c.result}}}
		f.ok(f.DecideCall(f.ctx, chat.CallDecision{Call: id, Decision: chat.DecisionOnce, Definition: "d"}))
		f.ok(f.StartCall(f.ctx, id, nil))
		f.ok(f.EndCall(f.ctx, chat.CallEnd{Call: id, Result: &result, Recalled: c.recalled}))
		f.ok(f.CommitBatch(f.ctx, batch.ID))
		result.ToolUseID = "call_0"
		answer.Blocks = append(answer.Blocks, chat.ToolUse{ToolUseID: "call_0", Name: c.tool, Input: []byte(`{}`)}, result)
		l.calls = append(l.calls, id)
	}
	answer.Blocks = append(answer.Blocks, chat.Text{Text: "I know it now."})
	step, err := f.BeginStep(f.ctx, chat.StepStart{TurnID: turn.ID, Index: 3, Provider: "p", ModelID: "m", Request: []byte(`{"say":"` + canary + `"}`)})
	f.ok(err)
	done, err := f.Finalize(f.ctx, chat.Finalization{
		TurnID: turn.ID, Step: f.ended(step, chat.StepCompleted, "I know it now."), Message: answer, Outcome: chat.OutcomeCompleted,
	})
	f.ok(err)
	f.commitAll(branch)
	return done
}

// addTurnAfter adds a turn whose context contained an item.
func (f *fixture) addTurnAfter(branch chat.BranchID, source string, id chat.TurnID, text string) chat.Turn {
	f.Helper()
	turn := f.accept(branch, "and then?")
	manifest := fmt.Sprintf(`{"sections":[{"name":"originals","items":[{"source":%q,"id":%q,"tokens":3,"bytes":9,"sha256":"%s"}]}],"inputs":{"head_state":"x"}}`,
		source, id, strings.Repeat("ab", 32))
	f.ok(f.Prepare(f.ctx, chat.Preparation{TurnID: turn.ID, Manifest: []byte(manifest), Tokens: 12}))
	step, err := f.BeginStep(f.ctx, chat.StepStart{TurnID: turn.ID, Provider: "p", ModelID: "m", Request: []byte(`{"say":"` + text + `"}`)})
	f.ok(err)
	done, err := f.Finalize(f.ctx, chat.Finalization{
		TurnID: turn.ID, Step: f.ended(step, chat.StepCompleted, "so"), Message: chat.AssistantText("so"), Outcome: chat.OutcomeCompleted,
	})
	f.ok(err)
	f.commitAll(branch)
	return done
}

// A permanent deletion removes the content from the results in which models were shown it, and from the requests that
// contained those results. Everything else in these conversations stays.
func TestADeletionReachesWhatModelsLookedUp(t *testing.T) {
	for _, kind := range []string{chat.DeletionSession, chat.DeletionTurn} {
		t.Run(kind, func(t *testing.T) {
			f := newFixture(t)
			l := f.sessionWithLookups()
			kept, err := f.StepPayload(f.ctx, f.stepsOf(l.kept.ID)[0].ID)
			f.ok(err)
			id := string(l.source.ID)
			if kind == chat.DeletionTurn {
				id = string(l.secret.ID)
			}
			preview, err := f.PreviewDeletion(f.ctx, kind, id)
			f.ok(err)
			receipt, err := f.Delete(f.ctx, kind, id)
			f.ok(err)
			if !slices.Equal(preview.Deleted, receipt.Deleted) || !slices.Equal(preview.Sessions, []string{"Questions"}) {
				t.Errorf("the preview said %+v, the receipt %+v", preview, receipt.Deleted)
			}
			f.expectNoTrace(canary)
			f.verifyClean()
			turn, err := f.Turn(f.ctx, l.asking.ID)
			f.ok(err)
			var results []string
			for _, b := range turn.Assistant.Blocks {
				if r, ok := b.(chat.ToolResult); ok {
					results = append(results, r.Content.RenderedText())
				}
			}
			want := []string{chat.DeletedMark, chat.DeletedMark, "zebra"}
			if !slices.Equal(results, want) || turn.Assistant.RenderedText() != "I look.\n\nI know it now." {
				t.Errorf("the turn that asked has %q: %q", results, turn.Assistant.RenderedText())
			}
			for i, id := range l.calls {
				batch, err := f.CallBatch(f.ctx, id)
				f.ok(err)
				if got := batch.Calls[0].Result.Content.RenderedText(); got != want[i] {
					t.Errorf("call %d has the result %q", i, got)
				}
			}
			if after, err := f.StepPayload(f.ctx, f.stepsOf(l.kept.ID)[0].ID); err != nil || !bytes.Equal(after.Request, kept.Request) {
				t.Errorf("a request without any of it is %s, %v", after.Request, err)
			}
		})
	}
}

// Nothing can be deleted while an answer runs whose model was shown the content, or while a memory tool runs.
func TestARunningLookupPreventsDeletion(t *testing.T) {
	f := newFixture(t)
	source, sourceBranch := f.session("Garden")
	shown := f.committed(sourceBranch.ID, "When do I sow?", "In May.")
	_, here := f.session("Questions")
	asking := f.accept(here.ID, "When?")
	step := f.respond(asking)
	call := chat.ProposedCall{UseID: "a", Name: "get_turn", Source: chat.ToolSourceBuiltin, Tool: "get_turn", Definition: "d", Arguments: []byte(`{}`)}
	batch, err := f.ProposeCalls(f.ctx, asking.ID, *f.ended(step, chat.StepPaused, "I look."), []chat.ProposedCall{call})
	f.ok(err)
	id := batch.Calls[0].ID
	f.ok(f.DecideCall(f.ctx, chat.CallDecision{Call: id, Decision: chat.DecisionOnce, Definition: "d"}))
	refused := func(when string) {
		t.Helper()
		if _, err := f.Delete(f.ctx, chat.DeletionSession, string(source.ID)); chat.CodeOf(err) != chat.CodeConflict {
			t.Errorf("%s: %v", when, err)
		}
	}
	f.ok(f.StartCall(f.ctx, id, nil))
	refused("the call runs")
	f.ok(f.EndCall(f.ctx, chat.CallEnd{
		Call: id, Result: &chat.ToolResult{Content: chat.Blocks{chat.Text{Text: "In May."}}}, Recalled: []chat.ShownTurn{{Session: source.ID, Turn: shown.ID}},
	}))
	refused("its result goes to the model")
	f.core.SetRunning(asking.ID, false)
	_, err = f.Delete(f.ctx, chat.DeletionSession, string(source.ID))
	f.ok(err)
	f.verifyClean()
}
