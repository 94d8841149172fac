package store

import (
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/store/sqlite"
)

func (f *fixture) suggestions(b chat.BranchID) []chat.PinSuggestion {
	f.Helper()
	list, err := f.SuggestedPins(f.ctx, b)
	f.ok(err)
	return list
}

func (f *fixture) expectSuggestions(b chat.BranchID, want ...string) {
	f.Helper()
	got := lists.Map(f.suggestions(b), func(s chat.PinSuggestion) string { return s.Text })
	if !slices.Equal(got, want) {
		f.Errorf("the suggestions are %q, want %q", got, want)
	}
}

func (f *fixture) suggestion(b chat.BranchID, text string) chat.PinSuggestion {
	f.Helper()
	for _, s := range f.suggestions(b) {
		if s.Text == text {
			return s
		}
	}
	f.Fatalf("%q is not suggested", text)
	return chat.PinSuggestion{}
}

// A standing instruction of the user is suggested as a pin once its turn is committed. Sentences of the assistant,
// questions, and sentences that repeat a pin are not.
func TestSuggestedPins(t *testing.T) {
	f := newFixture(t)
	_, main := f.session("s")
	f.say(main.ID, "Hello. From now on, answer in German.", "Always glad to help. Never mind the weather.")
	f.expectSuggestions(main.ID)
	f.commitAll(main.ID)
	f.expectSuggestions(main.ID, "From now on, answer in German.")
	f.full(main.ID, "Should I always use a mutex? I prefer short answers.", "Always use one.")
	f.full(main.ID, "i prefer  short answers!", "ok") // a repeated instruction: the newest wording is suggested
	f.expectSuggestions(main.ID, "i prefer  short answers!", "From now on, answer in German.")
	_, err := f.AddPin(f.ctx, main.ID, "From now on, answer in German. And be polite.", 9)
	f.ok(err)
	f.expectSuggestions(main.ID, "i prefer  short answers!")
	f.verifyClean()
}

// A dismissed or accepted suggestion does not return, even if its instruction is repeated with other case or punctuation,
// or the pin is removed.
func TestSuggestionsAreDecidedOnce(t *testing.T) {
	f := newFixture(t)
	_, main := f.session("s")
	f.full(main.ID, "Never use tables. Always cite your sources.", "ok")
	tables, sources := f.suggestion(main.ID, "Never use tables."), f.suggestion(main.ID, "Always cite your sources.")
	f.ok(f.DismissSuggestion(f.ctx, main.ID, tables.ID))
	f.expectSuggestions(main.ID, sources.Text)
	pin, err := f.AddPin(f.ctx, main.ID, "Cite sources with page numbers.", 5)
	f.ok(err)
	f.ok(f.SuggestionPinned(f.ctx, main.ID, sources.ID, pin.ID))
	f.expectSuggestions(main.ID)
	f.ok(f.RemovePin(f.ctx, main.ID, pin.ID))
	f.full(main.ID, "never use tables", "ok")
	f.expectSuggestions(main.ID)
	f.refused(f.DismissSuggestion(f.ctx, main.ID, "01M7"), chat.CodeNotFound)
}

// A fork shares the suggestions from the turns before it with its parent, and their dismissal. If one of them is pinned
// on the parent after the fork, the fork still offers it.
func TestSuggestionsFollowTheLineage(t *testing.T) {
	f := newFixture(t)
	_, main := f.session("s")
	first := f.full(main.ID, "Always use metric units. Never round.", "ok")
	f.full(main.ID, "From now on, call me Ada.", "ok")
	child := f.fork(main.ID, first.ID)
	f.expectSuggestions(child.ID, "Always use metric units.", "Never round.")
	f.full(child.ID, "I prefer tabs.", "ok")
	f.expectSuggestions(child.ID, "I prefer tabs.", "Always use metric units.", "Never round.")
	f.expectSuggestions(main.ID, "From now on, call me Ada.", "Always use metric units.", "Never round.")
	f.ok(f.DismissSuggestion(f.ctx, child.ID, f.suggestion(child.ID, "Never round.").ID))
	units := f.suggestion(main.ID, "Always use metric units.")
	pin, err := f.AddPin(f.ctx, main.ID, "Metric units.", 2)
	f.ok(err)
	f.ok(f.SuggestionPinned(f.ctx, main.ID, units.ID, pin.ID))
	f.expectSuggestions(main.ID, "From now on, call me Ada.")
	f.expectSuggestions(child.ID, "I prefer tabs.", "Always use metric units.")
	f.refused(f.DismissSuggestion(f.ctx, main.ID, f.suggestion(child.ID, "I prefer tabs.").ID), chat.CodeNotFound)
}

// Deleting a turn or a session permanently also deletes its suggestions.
func TestDeletedTurnsLoseTheirSuggestions(t *testing.T) {
	f := newFixture(t)
	s, main := f.session("s")
	turn := f.full(main.ID, "Always sign with "+canary+".", "ok")
	f.full(main.ID, "Never shout.", "ok")
	if !strings.Contains(f.suggestions(main.ID)[1].Text, canary) {
		t.Fatal("the instruction is not suggested")
	}
	_, err := f.Delete(f.ctx, chat.DeletionTurn, string(turn.ID))
	f.ok(err)
	f.expectSuggestions(main.ID, "Never shout.")
	f.expectNoTrace(canary)
	_, err = f.Delete(f.ctx, chat.DeletionSession, string(s.ID))
	f.ok(err)
	count, err := sqlite.One[int](f.core.DB.Reader, "table", "pin_suggestions", `SELECT count(*) FROM pin_suggestions`)
	f.ok(err)
	if count != 0 {
		t.Errorf("%d suggestions remain", count)
	}
}
