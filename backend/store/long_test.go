package store

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// A long answer is stored in pieces. Its message, items and events have the same bytes and hashes as if they were
// stored at once, verify finds nothing, and a bundle contains it.
func TestALongAnswerIsStoredLikeAShortOne(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	s, b := f.session("long")
	words := strings.Repeat("A \"line\" of <text>\n", codec.MaxWhole/16)
	turn := f.accept(b.ID, "Tell me everything.")
	done := f.finalize(turn, words)
	if done.Assistant == nil || done.Assistant.RenderedText() != words {
		t.Error("the final turn was returned without its answer")
	}
	read, err := f.Turn(f.ctx, turn.ID)
	f.ok(err)
	if read.Assistant == nil || read.Assistant.RenderedText() != words {
		t.Error("the answer that is read differs from the stored one")
	}
	message, err := chat.MarshalJSON(chat.AssistantText(words))
	f.ok(err)
	row, err := sqlite.One[schema.TurnRow](f.core.DB.Reader, "turn", turn.ID, `SELECT * FROM turns WHERE id = ?`, turn.ID)
	f.ok(err)
	if schema.Text(row.FinalAssistantMessageJSON) != string(message) || !bytes.Equal(row.AssistantHash, codec.Hash(message)) {
		t.Error("the message is stored in another form")
	}
	want, err := ledger.Payload(ledger.TurnFinalized{
		Outcome: chat.OutcomeCompleted, Assistant: json.RawMessage(message), Usage: &chat.Usage{InputTokens: 10, OutputTokens: 5},
	})
	f.ok(err)
	rows, err := sqlite.All[schema.EventRow](f.core.DB.Reader, `SELECT * FROM events WHERE entity_id = ? AND type = ?`, turn.ID, ledger.EventTurnFinalized)
	f.ok(err)
	got, err := codec.Unpack(rows[0].Payload) // it is based on nothing
	f.ok(err)
	if !bytes.Equal(got, want) || !bytes.Equal(rows[0].PayloadHash, codec.Hash(want)) {
		t.Error("the event contains something else")
	}
	f.expectItems(turn.ID, words)
	chunks := []ledger.IndexedChunk{{ID: "a", Units: []ledger.IndexedUnit{{ID: "u", Text: words}}}, {ID: "b", Summary: "<two>"}}
	p, err := events.IndexedPayload(ledger.TurnIndexed{Status: chat.IndexOK, Chunks: chunks, Dropped: true})
	f.ok(err)
	want, err = ledger.Payload(ledger.TurnIndexed{Status: chat.IndexOK, Chunks: chunks, Dropped: true})
	f.ok(err)
	if got, err = codec.Unpack(p.Packed); err != nil || !bytes.Equal(got, want) || !bytes.Equal(p.Hash, codec.Hash(want)) {
		t.Errorf("the index event contains something else (%v)", err)
	}
	f.verifyClean()
	_, notes := f.imported(f.bundled(s.ID))
	if len(notes) > 0 {
		t.Errorf("importing its bundle notes %q", notes)
	}
}
