package api

import (
	"context"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/sessions"
)

// manySessions has as many sessions as requested, with titles of a megabyte.
type manySessions struct {
	sessions.Store
	n     int
	title string
}

func (s manySessions) Sessions(_ context.Context, q chat.SessionQuery) ([]chat.SessionSummary, error) {
	n := s.n
	if q.Limit > 0 {
		n = min(n, q.Limit)
	}
	out := make([]chat.SessionSummary, n)
	for i := range out {
		out[i].Title, out[i].Folder = s.title, s.title
	}
	return out, nil
}

// The number of listed sessions and the length of their titles are limited.
func TestTheListIsBounded(t *testing.T) {
	many := manySessions{n: 100_000, title: strings.Repeat("x", 1<<20)}
	c, _, _ := newTestChat(t)
	c.c.Sessions = sessions.New(sessions.Deps{Store: many})
	rows, err := NewSessions(c.c).List(false, "")
	if err != nil || len(rows) != maxListed {
		t.Fatalf("%d sessions are listed, %v", len(rows), err)
	}
	if row := rows[0]; len(row.Title) > 2*chat.MaxTitleRunes || len(row.Folder) > 2*chat.MaxTitleRunes {
		t.Errorf("the title has %d bytes, the folder name %d", len(row.Title), len(row.Folder))
	}
}
