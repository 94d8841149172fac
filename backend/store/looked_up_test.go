package store

import (
	"slices"
	"testing"

	"contextinfinity/backend/chat"
)

// What a model looked up is with its turn and with what it was shown, and a session that
// is deleted for good is not named there any more.
func TestWhatAModelLookedUp(t *testing.T) {
	f := newFixture(t)
	source, there := f.session("Garden")
	shown := f.committed(there.ID, "When do I sow zebra beans?", "In May.")
	f.index(shown.ID)
	_, here := f.session("Questions")
	asking := f.accept(here.ID, "When are the beans due?")
	batch := f.proposes(asking, "I look.", `{"query":"beans"}`, `{"turn":"x"}`)
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

	_, err = f.Erase(f.ctx, chat.EraseSession, string(source.ID))
	f.ok(err)
	f.verifyClean()
	if got, err = f.LookedUp(f.ctx, asking.ID); err != nil || !slices.Equal(got, want[1:]) {
		t.Errorf("after the deletion %+v, %v", got, err)
	}
}
