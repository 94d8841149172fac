package api

import (
	"context"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store"
)

// addCommitted adds a committed turn to the session's active branch.
func addCommitted(t *testing.T, s *store.Store, session chat.Session, user string) {
	t.Helper()
	turn := addAnswered(t, s, session.ActiveBranch, user)
	commitTurns(t, s, session.ActiveBranch, turn.ID)
}

// A suggestion can be pinned or dismissed once, by its id, and the window gets an event.
func TestSuggestedPinsOfTheWindow(t *testing.T) {
	c, st, session := newTestChat(t)
	changes := 0
	c.c.Hub.Listen(func(ch chat.Change) {
		if ch.Kind == chat.ChangePins && ch.ID == string(session.ActiveBranch) {
			changes++
		}
	})
	addCommitted(t, st, session, "Always answer in German. Never use tables. I prefer short answers.")
	in := NewInspect(c.c)
	offered, err := in.SuggestedPins(string(session.ActiveBranch))
	if err != nil || len(offered) != 3 || offered[0].Text != "Always answer in German." || offered[0].TurnSeq != 1 || offered[0].TurnID == "" {
		t.Fatalf("%+v, %v", offered, err)
	}
	if pin, err := in.AcceptSuggestedPin(offered[0].ID, ""); err != nil || pin.Text != "Always answer in German." {
		t.Errorf("%+v, %v", pin, err)
	}
	if pin, err := in.AcceptSuggestedPin(offered[2].ID, "Be brief."); err != nil || pin.Text != "Be brief." {
		t.Errorf("%+v, %v", pin, err)
	}
	before := changes
	if err := in.DismissSuggestedPin(offered[1].ID); err != nil || changes == before {
		t.Errorf("dismissed: %v, %d changes reported", err, changes-before)
	}
	if remaining, err := in.SuggestedPins(string(session.ActiveBranch)); err != nil || len(remaining) != 0 {
		t.Errorf("still suggested: %+v, %v", remaining, err)
	}
	if _, err := in.AcceptSuggestedPin(offered[1].ID, ""); chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("accepted after it was dismissed: %v", err)
	}
	pins, err := st.Pins(context.Background(), session.ActiveBranch)
	if err != nil || len(pins) != 2 {
		t.Errorf("%d pins, %v", len(pins), err)
	}
}
