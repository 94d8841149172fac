package ledger

import (
	"bytes"
	"crypto/sha256"
	"strings"
	"testing"
)

// FuzzDecode: any bytes are a complete state or an error; a state encodes to the same state, can be compared, and
// events can be applied to it.
func FuzzDecode(f *testing.F) {
	complete := encoded(f, replayed(f, history(f)))
	f.Add(complete)
	f.Add(complete[:len(complete)/2])
	f.Add(bytes.Replace(complete, []byte(`"files":{`), []byte(`"files":{"f":{"name":"n"}`), 1))
	f.Add([]byte(`{"session_id":"s","event_seq":1,"sessions":{"s":{}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Decode(b)
		if err != nil {
			return
		}
		canonical := encoded(t, s)
		second, err := Decode(canonical)
		if err != nil || !bytes.Equal(encoded(t, second), canonical) {
			t.Fatalf("%s cannot be decoded again: %v", canonical, err)
		}
		if d := Compare(s, second); len(d) > 0 {
			t.Fatalf("a state differs from itself: %+v", d)
		}
		for _, e := range history(t) {
			e.SessionID, e.Seq = s.SessionID, s.EventSeq+1
			_ = s.Apply(e) // some apply and some do not, but none panics
		}
	})
}

// FuzzDecodeSnapshot is FuzzDecode for snapshots, including the entries that are read from a summary.
func FuzzDecodeSnapshot(f *testing.F) {
	s := replayed(f, history(f))
	complete, err := Snapshot{SnapshotVersion, s, MemoryOf("## Facts\n- a\n## Open tasks\n- b\n", []string{"pin"})}.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(complete)
	f.Add(complete[:len(complete)-1])
	f.Add(bytes.Replace(complete, []byte(`"v":1`), []byte(`"v":2`), 1))
	f.Add([]byte("## Facts\n- \xff\n##  DECISIONS \n-  b\n- \n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, m := range [][]string{MemoryOf(string(b), nil).Facts, MemoryOf(string(b), nil).Decisions, MemoryOf(string(b), nil).OpenTasks} {
			for _, entry := range m {
				if entry == "" || !strings.Contains(string(b), entry) {
					t.Fatalf("the entry %q is not in %q", entry, b)
				}
			}
		}
		snap, err := DecodeSnapshot(b)
		if err != nil {
			return
		}
		if snap.Version != SnapshotVersion || snap.State == nil {
			t.Fatalf("decoded as a snapshot: %+v", snap)
		}
		canonical, err := snap.Encode()
		if err != nil {
			t.Fatal(err)
		}
		second, err := DecodeSnapshot(canonical)
		if err != nil || !bytes.Equal(encoded(t, second.State), encoded(t, snap.State)) {
			t.Fatalf("%s cannot be decoded again: %v", canonical, err)
		}
	})
}

// FuzzApply: an event of any type with any payload is applied or gives an error; an error changes nothing, and the
// new state can be encoded and decoded.
func FuzzApply(f *testing.F) {
	for _, e := range history(f) {
		f.Add(string(e.Type), e.Entity, e.Payload)
	}
	for _, kind := range []Type{
		EventTurnIndexed, EventTurnFinalized, EventTurnPrepared, EventStepStarted, EventStepEnded, EventPinAdded, EventPinsMoved, EventFileAdded,
		EventSummaryCreated, EventSummarySuperseded, EventCalibrationSet, EventSessionSettings, EventTurnFailed,
	} {
		f.Add(string(kind), "t", []byte(`{"v":1,"data":{"turn_id":"t","branch_id":"b","chunks":[{"id":"c","units":[{"id":"u"}]}],"dropped":true}}`))
	}
	events := history(f)
	f.Fuzz(func(t *testing.T, kind, entity string, payload []byte) {
		s := replayed(t, events)
		before := encoded(t, s)
		sum := sha256.Sum256(payload)
		e := Event{SessionID: "s", Seq: s.EventSeq + 1, Type: Type(kind), Entity: entity, CreatedAt: "2026-01-02T03:04:06.000Z",
			PayloadHash: sum[:], PrevHash: events[len(events)-1].Hash, Payload: payload}
		e.Hash = e.Sum()
		if !e.Intact() || len(e.Faults(events[len(events)-1].Tail())) > 0 && e.Type.Known() {
			t.Fatal("a chained event has the wrong number")
		}
		if err := s.Apply(e); err != nil {
			if after := encoded(t, s); !bytes.Equal(before, after) {
				t.Fatalf("%v, but %s became %s", err, before, after)
			}
			return
		}
		after := encoded(t, s)
		if second, err := Decode(after); err != nil || !bytes.Equal(encoded(t, second), after) {
			t.Fatalf("%s cannot be decoded again: %v", after, err)
		}
	})
}
