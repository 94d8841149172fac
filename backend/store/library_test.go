package store

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
)

func TestAssistants(t *testing.T) {
	f := newFixture(t)
	cool := 0.2
	a, err := f.PutAssistant(f.ctx, chat.Assistant{Name: "Translator", Instructions: "Translate \x00it.", Model: "haiku", Temperature: &cool, Effort: "low", ToolsMode: "disabled"})
	f.ok(err)
	if a.ID == "" || a.Instructions != "Translate \uFFFDit." || a.CreatedAt.IsZero() || *a.Temperature != 0.2 {
		t.Errorf("%+v", a)
	}
	hot, none := 2.5, math.NaN()
	for _, bad := range []chat.Assistant{
		{Name: ""},
		{Name: " x"},
		{Name: "/x"},
		{Name: "a\nb"},
		{Name: strings.Repeat("x", chat.MaxLibraryNameRunes+1)},
		{Name: "x", Temperature: &hot},
		{Name: "x", Temperature: &none},
		{Name: "x", Effort: "enormous"},
		{Name: "x", ToolsMode: "perhaps"},
	} {
		_, err := f.PutAssistant(f.ctx, bad)
		f.refused(err, chat.CodeInvalid)
	}
	_, err = f.PutAssistant(f.ctx, chat.Assistant{Name: "x", Instructions: strings.Repeat("x", chat.MaxLibraryTextBytes+1)})
	f.refused(err, chat.CodeTooLarge)
	_, err = f.PutAssistant(f.ctx, chat.Assistant{Name: "tRanslator"})
	f.refused(err, chat.CodeConflict)
	_, err = f.PutAssistant(f.ctx, chat.Assistant{ID: "nowhere", Name: "x"})
	f.refused(err, chat.CodeNotFound)
	f.clock.Advance(time.Minute)
	changed := a
	changed.Name, changed.Temperature = "translator", nil
	changed, err = f.PutAssistant(f.ctx, changed)
	f.ok(err)
	if changed.ID != a.ID || !changed.CreatedAt.Equal(a.CreatedAt) || !changed.UpdatedAt.After(a.UpdatedAt) || changed.Temperature != nil {
		t.Errorf("%+v", changed)
	}
	f.reopen()
	all, err := f.Assistants(f.ctx)
	f.ok(err)
	if len(all) != 1 || all[0].Name != "translator" {
		t.Errorf("%+v", all)
	}
	f.verifyClean()
	f.ok(f.DeleteAssistant(f.ctx, a.ID))
	f.refused(f.DeleteAssistant(f.ctx, a.ID), chat.CodeNotFound)
}

// TestAnAssistantIsCopied: a session keeps the settings that the assistant had when it was applied; later changes of
// the assistant do not affect it.
func TestAnAssistantIsCopied(t *testing.T) {
	f := newFixture(t)
	warm := 1.5
	a, err := f.PutAssistant(f.ctx, chat.Assistant{Name: "Poet", Instructions: "Rhyme.", Model: "big", Temperature: &warm, Effort: "high", ToolsMode: "enabled"})
	f.ok(err)
	created, branch, err := f.CreateSession(f.ctx, chat.NewSession{Title: "an ode", Assistant: a.ID})
	f.ok(err)
	if created.SystemPrompt != "Rhyme." || created.Model != "big" || *created.Temperature != 1.5 || created.Effort != "high" || created.ToolsMode != "enabled" || created.Assistant != a.ID || created.AssistantName != "Poet" {
		t.Errorf("%+v", created)
	}
	if a.Differs(created) {
		t.Error("nothing differs")
	}
	f.say(branch.ID, "an ode to the sea", "O sea.")

	a.Instructions, a.Model, a.Temperature = "Do not rhyme.", "", nil
	a, err = f.PutAssistant(f.ctx, a)
	f.ok(err)
	session, err := f.Session(f.ctx, created.ID)
	f.ok(err)
	if session.SystemPrompt != "Rhyme." || !a.Differs(session) {
		t.Errorf("%+v", session)
	}
	f.ok(f.ApplyAssistant(f.ctx, created.ID, a.ID))
	if session, err = f.Session(f.ctx, created.ID); err != nil || session.SystemPrompt != "Do not rhyme." || session.Temperature != nil || session.Model != "big" || a.Differs(session) {
		t.Errorf("%+v %v", session, err) // an assistant without a model keeps the model of the session
	}
	copied, err := f.Duplicate(f.ctx, branch.ID, "")
	f.ok(err)
	if copied.Session.Assistant != a.ID || copied.Session.AssistantName != "Poet" {
		t.Errorf("%+v", copied.Session)
	}
	f.ok(f.DeleteAssistant(f.ctx, a.ID))
	f.refused(f.ApplyAssistant(f.ctx, created.ID, a.ID), chat.CodeNotFound)
	_, _, err = f.CreateSession(f.ctx, chat.NewSession{Title: "another", Assistant: a.ID})
	f.refused(err, chat.CodeNotFound)
	f.verifyClean()
	if all := f.allSessions(); len(all) != 2 {
		t.Errorf("a session of an unknown assistant was created: %v", all)
	}
	other := newFixture(t)
	other.imported(f.bundled(created.ID))
	if s, err := other.Session(f.ctx, created.ID); err != nil || s.AssistantName != "Poet" || s.SystemPrompt != "Do not rhyme." {
		t.Errorf("%+v %v", s, err)
	}
	other.verifyClean()
}

func TestSavedPrompts(t *testing.T) {
	f := newFixture(t)
	created, err := f.PutSavedPrompts(f.ctx, []chat.SavedPrompt{{Name: "Zebra", Text: "about {{animal}}"}, {Name: "apple", Text: "eat"}})
	f.ok(err)
	_, err = f.PutSavedPrompts(f.ctx, []chat.SavedPrompt{{Name: "new", Text: "new"}, {Name: "APPLE", Text: "twice"}})
	f.refused(err, chat.CodeConflict)
	for _, bad := range []chat.SavedPrompt{{Name: "x", Text: " \n"}, {Name: "", Text: "x"}} {
		_, err = f.PutSavedPrompts(f.ctx, []chat.SavedPrompt{bad})
		f.refused(err, chat.CodeInvalid)
	}
	created[1].Text = "eat it"
	_, err = f.PutSavedPrompts(f.ctx, created[1:])
	f.ok(err)
	f.reopen()
	all, err := f.SavedPrompts(f.ctx)
	f.ok(err)
	if len(all) != 2 || all[0].Name != "apple" || all[0].Text != "eat it" || all[1].Name != "Zebra" {
		t.Errorf("%+v", all)
	}
	f.ok(f.DeleteSavedPrompt(f.ctx, all[0].ID))
	f.refused(f.DeleteSavedPrompt(f.ctx, all[0].ID), chat.CodeNotFound)
	many := make([]chat.SavedPrompt, chat.MaxSavedPrompts)
	for i := range many {
		many[i] = chat.SavedPrompt{Name: fmt.Sprint("n", i), Text: "x"}
	}
	_, err = f.PutSavedPrompts(f.ctx, many)
	f.refused(err, chat.CodeTooLarge)
	f.verifyClean()
}
