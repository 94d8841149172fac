package chat

import (
	"reflect"
	"testing"
)

// A message that is joined with a draft in which an earlier message is being rewritten does not change the new version.
func TestJoinedKeepsAnEdit(t *testing.T) {
	text := func(s string) Block { return Text{Text: s} }
	namedImage := NewImage("image/png", []byte("x"))
	namedImage.Name = "a.png"
	edit := Edit{Turn: "01TURN", Seq: 3}
	draft := Message{Role: RoleUser, Blocks: Blocks{Document{File: "f1"}, text("a thought"), edit, namedImage, text("better words")}}
	raw, err := MarshalJSON(draft)
	if err != nil {
		t.Fatal(err)
	}
	read, err := DecodeMessage(string(raw))
	if err != nil || !reflect.DeepEqual(read, draft) {
		t.Fatalf("%v, %+v", err, read)
	}
	joined := UserText("queued").Joined(read)
	before, edited, got, ok := joined.Blocks.AtEdit()
	if !ok || got != edit || before.RenderedText() != "queued\n\na thought" || len(before.Documents()) != 1 {
		t.Errorf("%v %+v, before it %+v", ok, got, before)
	}
	if !reflect.DeepEqual(edited, draft.Blocks[3:]) {
		t.Errorf("the new version became %+v", edited)
	}
	if !(Message{Blocks: Blocks{edit, text(" ")}}).IsEmpty() {
		t.Error("an empty edit is content")
	}
}
