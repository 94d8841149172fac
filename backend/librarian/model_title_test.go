package librarian_test

import (
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/librarian"
)

// TestATitleOfAModel: if a title was requested, an answer may begin with one; the summary is the same with a title,
// without one, and with an invalid one.
func TestATitleOfAModel(t *testing.T) {
	plain := librarian.Librarian{}.Update(t.Context(), request(&script{answers: []string{goodState}}))
	for titleLine, want := range map[string]string{
		"Title: SQLite without logged keys":           "SQLite without logged keys",
		"title: \"Schlüssel nie protokollieren.\"":    "Schlüssel nie protokollieren",
		"**Title:** Keys and logs …":                  "Keys and logs",
		"# Title: SQLite\n":                           "SQLite",
		"Title：数据库选择":                                 "数据库选择",
		"Title: " + strings.Repeat("many words ", 20): "",
		"Title: about [pinned fact]":                  "",
		"Title:":                                      "",
	} {
		m := &script{answers: []string{titleLine + "\n" + goodState}}
		u := request(m)
		u.Titled = true
		got := librarian.Librarian{}.Update(t.Context(), u)
		if got.Title != want || got.Summary != plain.Summary || got.Tries != 1 {
			t.Errorf("%q: title %q, want %q, after %d tries:\n%s", titleLine, got.Title, want, got.Tries, got.Summary)
		}
		if !strings.Contains(m.requests[0], `one line "Title: "`) {
			t.Errorf("no title was requested:\n%s", m.requests[0])
		}
	}
	notRequested := &script{answers: []string{"Title: SQLite\n" + goodState}}
	if got := (librarian.Librarian{}).Update(t.Context(), request(notRequested)); got.Title != "" || strings.Contains(notRequested.requests[0], "Title:") {
		t.Errorf("a title was not requested: %q", got.Title)
	}
	rejected := &script{answers: []string{"Title: SQLite\nI'm sorry."}}
	u := request(rejected)
	u.Titled = true
	if got := (librarian.Librarian{}).Update(t.Context(), u); got.Title != "" || got.Origin != chat.StateFallback {
		t.Errorf("of a rejected answer: %q, %s", got.Title, got.Origin)
	}
}
