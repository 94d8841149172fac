package api

import (
	"testing"

	"contextinfinity/backend/chat"
)

func TestRecoveryViewOmitsOutdatedFindings(t *testing.T) {
	item := func(id chat.TurnID) chat.RecoveryItem {
		return chat.RecoveryItem{Kind: chat.RecoveredIncomplete, TurnID: id, Message: "about " + string(id)}
	}
	lookUp := func(id chat.TurnID) (chat.Turn, error) {
		if id == "open" {
			return chat.Turn{ID: id, Phase: chat.PhaseResponding, Outcome: chat.OutcomeIncomplete}, nil
		}
		return chat.Turn{}, chat.Errorf(chat.CodeNotFound, "turn.read", "There is no such turn.")
	}
	title := func(chat.SessionID) string { return "" }
	for _, c := range []struct {
		name    string
		items   []chat.RecoveryItem
		want    int
		clean   bool
		summary string
	}{
		{"one of two is gone", []chat.RecoveryItem{item("open"), item("gone")}, 1, false, "about open"},
		{"all are gone", []chat.RecoveryItem{item("gone")}, 0, false, chat.AllResolved.String()},
		{"there was nothing", nil, 0, true, "No unfinished work was found."},
	} {
		v := recoveryView(chat.RecoveryReport{Items: c.items}, lookUp, title)
		if len(v.Items) != c.want || v.Clean != c.clean || v.Summary.String() != c.summary {
			t.Errorf("%s: %+v", c.name, v)
		}
	}
}

func TestRecoveryViewGroupsCounts(t *testing.T) {
	items := []chat.RecoveryItem{{Kind: chat.RecoveredUnreadable, Message: "40000 records could not be read."}}
	v := recoveryView(chat.RecoveryReport{Items: items}, nil, func(chat.SessionID) string { return "" })
	if want := "40\u202f000 records could not be read."; v.Summary.String() != want || v.Items[0].Message.String() != want {
		t.Errorf("%q, %q", v.Summary, v.Items[0].Message)
	}
}
