package api

import (
	"encoding/json"
	"strings"
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

// A report of an earlier version has texts only; they are shown as they are.
func TestRecoveryViewOfAnEarlierVersion(t *testing.T) {
	var r chat.RecoveryReport
	const stored = `{"items":[{"kind":"unreadable","message":"40000 records are {1} %d."},{"kind":"incomplete","bytes":7,` +
		`"message":"7 bytes were recovered.","words":{"id":"%d bytes were recovered.","args":[7]}}]}`
	if err := json.Unmarshal([]byte(stored), &r); err != nil {
		t.Fatal(err)
	}
	shown, err := json.Marshal(recoveryView(r, nil, func(chat.SessionID) string { return "" }).Items)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"message":"40000 records are {1} %d."`, `"message":{"id":"%d bytes were recovered.","args":[7]}`} {
		if !strings.Contains(string(shown), want) {
			t.Errorf("%s is not in %s", want, shown)
		}
	}
}
