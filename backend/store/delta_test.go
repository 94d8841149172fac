package store

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/store/verify"
)

// longAnswer returns a turn with a long answer in a single step.
func (f *fixture) longAnswer(b chat.Branch) (chat.Turn, chat.Step, []chat.RawEvent, string) {
	f.Helper()
	answer := newSpeaker().say(400)
	t := f.accept(b.ID, "tell me all")
	step := f.respond(t)
	end := f.ended(step, chat.StepCompleted, answer)
	events := deltas(answer)
	end.Events = chat.EventsOf(events)
	t, err := f.Finalize(f.ctx, chat.Finalization{TurnID: t.ID, Step: end, Message: chat.AssistantText(answer), Outcome: chat.OutcomeCompleted})
	f.ok(err)
	return t, step, events, answer
}

// TestStepItemsAreDeltasOfTheAnswer: items and events that repeat the answer are stored as deltas of it, and come
// back unchanged.
func TestStepItemsAreDeltasOfTheAnswer(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	turn, step, events, answer := f.longAnswer(b)
	size, err := sqlite.One[int](f.core.DB.Reader, "steps", step.ID, `SELECT length(items_z) + length(normalized_items_json) FROM steps WHERE id = ?`, step.ID)
	f.ok(err)
	if size == 0 || size > 100 {
		t.Errorf("items take %d bytes", size)
	}
	p, err := f.StepPayload(f.ctx, step.ID)
	f.ok(err)
	if len(p.Events) != len(events) {
		t.Fatalf("%d events of %d", len(p.Events), len(events))
	}
	for i, e := range events {
		if p.Events[i].Type != e.Type || !bytes.Equal(p.Events[i].Data, e.Data) {
			t.Fatalf("event %d: %s", i, p.Events[i].Data)
		}
	}
	f.expectItems(turn.ID, answer)
	f.verifyClean()
}

// expectItems expects a step's items where they are requested, and only there.
func (f *fixture) expectItems(turn chat.TurnID, answer string) {
	f.Helper()
	listed, err := f.Steps(f.ctx, turn)
	f.ok(err)
	paged, err := f.StepsOf(f.ctx, []chat.TurnID{turn})
	f.ok(err)
	alone, err := f.StepByID(f.ctx, listed[0].ID)
	f.ok(err)
	for _, st := range []chat.Step{listed[0], paged[turn][0], alone} {
		if len(st.Items) != 0 || st.Outcome.Code != "" {
			f.Errorf("a list of steps read their items, or reports them as damaged: %+v", st.Outcome)
		}
	}
	whole, err := f.StepsWithItems(f.ctx, []chat.TurnID{turn})
	f.ok(err)
	st := whole[turn][0]
	m, ok := st.Items[0].(chat.AssistantMessage)
	if !ok || (chat.Message{Role: chat.RoleAssistant, Blocks: m.Blocks}).RenderedText() != answer {
		f.Errorf("items %+v", st.Items)
	}
}

// TestVerifyReportsADamagedAnswerWithItsStep: verify reports the records that depend on a damaged one, and their
// undamaged parts can still be read.
func TestVerifyReportsADamagedAnswerWithItsStep(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	turn, step, _, _ := f.longAnswer(b)
	f.unguard()
	for name, c := range map[string]struct{ sql, table, id string }{
		"answer torn":      {`UPDATE turns SET final_assistant_message_json = substr(final_assistant_message_json, 1, 99)`, "steps", string(step.ID)},
		"answer gone":      {`UPDATE turns SET final_assistant_message_json = NULL`, "turns", string(turn.ID)},
		"items torn":       {`UPDATE steps SET items_z = substr(items_z, 1, 9)`, "steps", string(step.ID)},
		"items gone":       {`UPDATE steps SET items_z = NULL`, "steps", string(step.ID)},
		"two items":        {`UPDATE steps SET normalized_items_json = '[]'`, "steps", string(step.ID)},
		"events torn":      {`UPDATE steps SET raw_events = substr(raw_events, 1, 99)`, "steps", string(step.ID)},
		"events exchanged": {`UPDATE steps SET raw_events = items_z`, "steps", string(step.ID)},
	} {
		db := f.core.DB.Writer.Begin()
		f.ok(db.Exec(c.sql).Error)
		a := verify.NewAudit()
		f.ok(a.Tables(f.ctx, db))
		rows, err := sqlite.All[schema.StepRow](db, `SELECT `+schema.StepColumns+` FROM steps`)
		db.Rollback()
		f.ok(err)
		if !(replacer{strings.NewReplacer()}).in(a.Found, c.table, c.id) {
			t.Errorf("%s: not named among %v", name, a.Found)
		}
		if st := rows[0].Step(); st.ID != step.ID {
			t.Errorf("%s: step %+v", name, st)
		}
	}
}

// TestLongItemsArePackedAlone: the items of a very long answer are packed without a base, both when written and when
// imported. Items that an earlier version stored as text can still be read, and damage is reported.
func TestLongItemsArePackedAlone(t *testing.T) {
	f := newFixture(t)
	s, b := f.session("s")
	words := strings.Repeat("All work and no play. ", codec.MaxWhole/20)
	turn := f.say(b.ID, "tell me all", words)
	stored := func(f *fixture) (packed, text int) {
		f.Helper()
		f.ok(f.core.DB.Reader.Raw(`SELECT coalesce(length(items_z), 0), length(normalized_items_json) FROM steps`).Row().Scan(&packed, &text))
		return packed, text
	}
	if packed, text := stored(f); packed == 0 || packed > len(words)/100 || text != 0 {
		t.Errorf("items of %d bytes take %d packed and %d as text", len(words), packed, text)
	}
	f.expectItems(turn.ID, words)
	f.verifyClean()

	to := newFixture(t)
	to.imported(f.bundled(s.ID))
	if packed, text := stored(to); packed == 0 || text != 0 {
		t.Errorf("imported items take %d packed and %d as text", packed, text)
	}
	to.expectItems(turn.ID, words)
	to.verifyClean()

	items, err := chat.MarshalJSON(f.ended(chat.Step{}, chat.StepCompleted, words).Items)
	f.ok(err)
	f.unguard()
	f.ok(f.core.DB.Writer.Exec(`UPDATE steps SET normalized_items_json = ?, items_z = NULL`, string(items)).Error)
	f.expectItems(turn.ID, words)
	f.verifyClean()
	to.unguard()
	to.ok(to.core.DB.Writer.Exec(`UPDATE steps SET items_z = substr(items_z, 1, length(items_z) - 9)`).Error)
	found, err := to.Verify(to.ctx)
	if to.ok(err); !(replacer{strings.NewReplacer()}).in(found, "steps", string(to.firstStep(turn.ID))) {
		t.Errorf("damaged items are not named among %v", found)
	}
}

func (f *fixture) firstStep(turn chat.TurnID) chat.StepID {
	f.Helper()
	steps, err := f.Steps(f.ctx, turn)
	f.ok(err)
	return steps[0].ID
}

// TestChunksReferToTheirMessage: a chunk's text is stored only in the message, and search results show it.
func TestChunksReferToTheirMessage(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	f.full(b.ID, "where does the heron stand", "in the shallows, waiting")
	stored, err := sqlite.One[int](f.core.DB.Reader, "chunks", "", `SELECT sum(length(rendered_text)) FROM chunks`)
	f.ok(err)
	hits := f.find(everywhere, 20, "heron")
	if stored != 0 || len(hits) != 1 || hits[0].Text != "where does the heron stand" {
		t.Fatalf("%d bytes stored, hits %+v", stored, hits)
	}
	f.verifyClean()
	f.ok(f.core.DB.Writer.Exec(`UPDATE turns SET user_message_json = '{"role":'`).Error)
	hits = f.find(everywhere, 20, "heron")
	if len(hits) != 1 || hits[0].Text != "" {
		t.Fatalf("hits %+v", hits)
	}
	found, err := f.Verify(f.ctx)
	f.ok(err)
	named := map[string]bool{}
	for _, x := range found {
		named[x.Table] = true
	}
	if !named["turns"] || !named["chunks"] {
		t.Errorf("found %v", found)
	}
}

// TestUnitsReferToTheirMessage: for all kinds of messages, units read back as they were stored, are found, and can be
// changed and deleted with the text index following.
func TestUnitsReferToTheirMessage(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	refusal := chat.Message{Role: chat.RoleAssistant, Blocks: chat.Blocks{chat.Refusal{Text: "rather not, says the heron"}}}
	two := chat.Message{Role: chat.RoleAssistant, Blocks: chat.Blocks{chat.Text{Text: "a heron"}, chat.Text{Text: "and another"}}}
	for name, c := range map[string]struct {
		answer chat.Message
		said   bool
	}{
		"plain":   {chat.AssistantText("a heron, \"quoted\" \\ and\ttabbed\u2028 <&> 😀 naïve"), true},
		"chinese": {chat.AssistantText("我爱猫 heron 猫"), true},
		"nul":     {chat.AssistantText("a heron\x00and more"), false},
		"long":    {chat.AssistantText("heron " + strings.Repeat("stands long ", events.MaxSaid/8)), false},
		"refusal": {refusal, false},
		"two":     {two, false},
	} {
		turn := f.accept(b.ID, "about "+name)
		step := f.respond(turn)
		_, err := f.Finalize(f.ctx, chat.Finalization{TurnID: turn.ID, Step: f.ended(step, chat.StepCompleted, "x"), Message: c.answer, Outcome: chat.OutcomeCompleted})
		f.ok(err)
		f.commitAll(b.ID)
		f.index(turn.ID)
		row, err := sqlite.One[struct {
			Said bool
			Text string
		}](f.core.DB.Reader, "units", turn.ID, `SELECT said, `+verify.UnitText+` FROM units WHERE turn_id = ? AND message = 'assistant'`, turn.ID)
		f.ok(err)
		if want := schema.Clean("[2026-01-02] assistant: " + c.answer.RenderedText()); row.Said != c.said || row.Text != want {
			t.Errorf("%s: said %v, %.60q, want %.60q", name, row.Said, row.Text, want)
		}
		hits := f.find(chat.Within{Scope: chat.ScopeLineage, Branch: b.ID}, 99, "heron")
		if !slices.ContainsFunc(hits, func(h foundUnit) bool { return h.Turn == turn.ID }) {
			t.Errorf("%s: not found", name)
		}
	}
	f.verifyClean()
	f.expectIndexFollowsUnits()
}

// expectIndexFollowsUnits changes and deletes rows of units and checks that the text index follows.
func (f *fixture) expectIndexFollowsUnits() {
	f.Helper()
	for _, sql := range []string{`UPDATE units SET text = 'egret ' || text WHERE said = 1`, `UPDATE units SET start_offset = 2 WHERE said = 1`, `DELETE FROM units`} {
		f.ok(f.core.DB.Writer.Exec(sql).Error)
		a := verify.NewAudit()
		a.DB = f.core.DB.Writer
		if agrees, err := a.CompareTextIndex(f.core.DB.Writer); err != nil || !agrees {
			f.Errorf("after %s: %v %v", sql, agrees, err)
		}
	}
	if hits := f.find(everywhere, 20, "heron", "egret"); len(hits) > 0 {
		f.Errorf("hits %+v", hits)
	}
}
