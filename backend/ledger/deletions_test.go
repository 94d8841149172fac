package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
)

// TestTheNewerReplacement: of two payloads that permanent deletions put in place of one event, the one from which more was deleted
// stands, then the one that was certified last; neither, if different things were deleted from them, or if nothing is known of one.
func TestTheNewerReplacement(t *testing.T) {
	original := sha256.Sum256([]byte("original"))
	e := Event{Type: EventStateCommitted, Seq: 5, PayloadHash: original[:]}
	known := Deletions{}
	for _, d := range []struct {
		lane    string
		number  int64
		of      string
		payload string
	}{
		{"A", 10, "one", "A without one"}, {"A", 12, "two", "A without both"},
		{"B", 11, "two", "B without two"}, {"B", 13, "one", "B without both"},
		{"C", 20, "one", "A without one"},
	} {
		sum := sha256.Sum256([]byte(d.payload))
		payload, err := Payload(ContentDeleted{Receipt: "r", Events: []DeletedEvent{{Seq: 5, SHA256: hex.EncodeToString(sum[:])}}})
		if err != nil {
			t.Fatal(err)
		}
		hash := sha256.Sum256(payload)
		known.Add(Event{Type: EventContentDeleted, Entity: d.of, Lane: d.lane, Seq: d.number, Payload: payload, PayloadHash: hash[:]})
	}
	newer := map[[2]string]bool{
		{"A without one", "original"}: true, {"B without two", "original"}: true, {"A without both", "original"}: true, {"B without both", "original"}: true,
		{"A without both", "A without one"}: true, {"A without both", "B without two"}: true,
		{"B without both", "A without one"}: true, {"B without both", "B without two"}: true,
		{"B without both", "A without both"}: true, // certified later
	}
	all := []string{"original", "A without one", "A without both", "B without two", "B without both", "of an event that is not here"}
	for _, a := range all {
		for _, b := range all {
			e.Payload = []byte(a)
			if got := known.Newer(e, []byte(b)); got != newer[[2]string{a, b}] {
				t.Errorf("%q is newer than %q: %v", a, b, got)
			}
		}
	}
}
