package ledger

import (
	"bytes"
	"crypto/sha256"
	"strings"
	"testing"
)

// history is a small ledger with a hash chain.
func history(t testing.TB) []Event {
	t.Helper()
	var out []Event
	tail := Genesis()
	for _, e := range []struct {
		kind   Type
		entity string
		data   any
	}{
		{EventSessionCreated, "s", SessionCreated{Title: "a", ActiveBranch: "b"}},
		{EventBranchCreated, "b", BranchCreated{Label: "main", BaseState: "root"}},
		{EventStateCommitted, "root", StateCommitted{BranchID: "b", Origin: "root"}},
		{EventTurnAccepted, "t", TurnAccepted{BranchID: "b", Seq: 1, StateBefore: "root", User: []byte(`{"role":"user"}`)}},
	} {
		out = append(out, chained(t, tail, e.kind, e.entity, e.data))
		tail = out[len(out)-1].Tail()
	}
	return out
}

func chained(t testing.TB, tail Tail, kind Type, entity string, data any) Event {
	t.Helper()
	payload, err := Payload(data)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(payload)
	e := Event{SessionID: "s", Seq: tail.Seq + 1, Type: kind, Entity: entity, CreatedAt: "2026-01-02T03:04:05.000Z",
		PayloadHash: sum[:], PrevHash: tail.Hash, Payload: payload}
	e.Hash = e.Sum()
	return e
}

func replayed(t testing.TB, events []Event) *State {
	t.Helper()
	s, tail := NewState("s"), Genesis()
	for _, e := range events {
		if faults := e.Faults(tail); len(faults) > 0 || !e.Intact() {
			t.Fatalf("event %d: %v", e.Seq, faults)
		}
		if err := s.Apply(e); err != nil {
			t.Fatalf("event %d: %v", e.Seq, err)
		}
		tail = e.Tail()
	}
	return s
}

func encoded(t testing.TB, s *State) []byte {
	t.Helper()
	b, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestAStateRoundTrips(t *testing.T) {
	want := encoded(t, replayed(t, history(t)))
	s, err := Decode(want)
	if err != nil || !bytes.Equal(encoded(t, s), want) {
		t.Fatalf("%v: %s", err, want)
	}
	for _, bad := range []string{``, `{}`, `null`, `[]`, strings.Replace(string(want), `"turns":{`, `"turns":{"x":null,`, 1),
		strings.Replace(string(want), `"units":{}`, `"units":{"u":{"chunk_id":"gone"}}`, 1),
		strings.Replace(string(want), `"units":{}`, `"units":null`, 1),
		strings.Replace(string(want), `"units":`, `"parts":`, 1), string(want[:len(want)-2])} {
		if _, err := Decode([]byte(bad)); err == nil {
			t.Errorf("decoded as a state: %.80s", bad)
		}
	}
}

func TestAFailedEventChangesNothing(t *testing.T) {
	events := history(t)
	s := replayed(t, events)
	want := encoded(t, s)
	tail := events[len(events)-1].Tail()
	next := func(kind Type, entity string, data any) Event { return chained(t, tail, kind, entity, data) }
	gap := next(EventTurnResumed, "t", struct{}{})
	gap.Seq++
	foreign := next(EventTurnResumed, "t", struct{}{})
	foreign.SessionID = "other"
	later := next(EventTurnResumed, "t", struct{}{})
	later.Payload = []byte(`{"v":2,"data":{}}`)
	torn := next(EventTurnResumed, "t", struct{}{})
	torn.Payload = torn.Payload[:4]
	for name, e := range map[string]Event{
		"after a gap": gap, "of another session": foreign, "of a later version": later, "torn": torn,
		"of an unknown turn":            next(EventTurnFinalized, "nobody", TurnFinalized{}),
		"a state of an unknown turn":    next(EventStateCommitted, "x", StateCommitted{BranchID: "b", Turns: nil, Seq: 1, Epoch: 1, ParentID: "root"}.withTurn("nobody")),
		"a state of an unknown branch":  next(EventStateCommitted, "x", StateCommitted{BranchID: "nobody"}.withTurn("t")),
		"a step of an unknown turn":     next(EventStepStarted, "x", StepStarted{TurnID: "nobody"}),
		"chunks of an unknown turn":     next(EventTurnIndexed, "nobody", TurnIndexed{Status: "ok"}),
		"chunks with half a hash":       next(EventTurnIndexed, "t", TurnIndexed{Status: "ok", Chunks: []IndexedChunk{{ID: "c", SHA256: "ab"}}}),
		"a document of an unknown turn": next(EventFileAdded, "f", FileAdded{TurnID: "nobody"}),
	} {
		if err := s.Apply(e); err == nil {
			t.Errorf("an event %s was applied", name)
		}
		if !bytes.Equal(encoded(t, s), want) {
			t.Fatalf("an event %s changed the state", name)
		}
	}
}

func (p StateCommitted) withTurn(turn string) any {
	return map[string]any{"branch_id": p.BranchID, "turns": []string{turn}}
}

func TestFaultsNameWhatIsWrong(t *testing.T) {
	events := history(t)
	for name, change := range map[string]func(*Event){
		"missing before": func(e *Event) { e.Seq = 9 }, "does not follow": func(e *Event) { e.PrevHash = e.PayloadHash },
		"match its hash": func(e *Event) { e.CreatedAt = "2026-01-02T03:04:06.000Z" }, "not known": func(e *Event) { e.Type = "something" },
	} {
		e := events[2]
		change(&e)
		if faults := strings.Join(e.Faults(events[1].Tail()), " "); !strings.Contains(faults, name) {
			t.Errorf("%q is not among %q", name, faults)
		}
	}
	deleted := events[2]
	if deleted.Payload = nil; deleted.Intact() || len(deleted.Faults(events[1].Tail())) > 0 {
		t.Error("a deleted payload breaks the chain, or counts as a payload")
	}
}

func TestCompareNamesTableRecordAndFields(t *testing.T) {
	want, have := replayed(t, history(t)), replayed(t, history(t))
	if d := Compare(have, want); len(d) > 0 {
		t.Fatalf("equal states differ: %v", d)
	}
	have.Turns["t"].Phase, have.Turns["t"].User = "Done", "0"
	have.Branches["extra"] = &Branch{}
	delete(have.States, "root")
	d := Compare(have, want)
	if len(d) != 3 || !d[0].Unknown || d[0].ID != "extra" || !d[1].Missing || d[1].Table != "states" ||
		strings.Join(d[2].Fields, " ") != "phase user_message" || d[2].ID != "t" {
		t.Errorf("differences %+v", d)
	}
}
