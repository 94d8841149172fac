package chat_test

import (
	"encoding/json"
	"testing"

	"contextinfinity/backend/chat"
)

// Messages are stored as JSON and hashed, so a message without a name must be encoded as it was before names existed.
func TestMessageJSON(t *testing.T) {
	named := chat.UserText("Hi.")
	named.Name = "Ana"
	for want, m := range map[string]chat.Message{
		`{"role":"user","blocks":[{"type":"text","text":"Hi."}]}`:              chat.UserText("Hi."),
		`{"role":"user","name":"Ana","blocks":[{"type":"text","text":"Hi."}]}`: named,
	} {
		got, err := json.Marshal(m)
		if err != nil || string(got) != want {
			t.Errorf("a message is written as %s (%v), want %s", got, err, want)
		}
		var back chat.Message
		if err := json.Unmarshal([]byte(want), &back); err != nil || back.Name != m.Name || back.RenderedText() != "Hi." {
			t.Errorf("%s is read as %+v (%v)", want, back, err)
		}
	}
}
