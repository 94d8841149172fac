package tools

import (
	"encoding/json"
	"regexp"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/untrusted"
)

var validName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// FuzzDefinitions: for any definition of a server, the one for providers has a valid name, an object as its schema, and
// only visible text.
func FuzzDefinitions(f *testing.F) {
	f.Add("read", "Reads.", `{"type":"object"}`, `{}`)
	f.Add("bad name <b>", "\u202Ex\u200B", `{"type":"object","a":"\u200b"}`, `[`)
	f.Add("", "", `null`, ``)
	f.Add("\xff名", "x\x00y", ` { "type" : "object" } `, `1`)
	f.Fuzz(func(t *testing.T, tool, description, schema, annotations string) {
		d, reason := usableDefinition(chat.ToolDefinition{
			Source: "server", Tool: tool, Description: description, Schema: json.RawMessage(schema), Annotations: json.RawMessage(annotations),
		})
		if reason != "" {
			return
		}
		var object map[string]any
		if !validName.MatchString(d.Name) || json.Unmarshal(d.Schema, &object) != nil || object["type"] != "object" ||
			untrusted.Visible(d.Description) != d.Description || len(d.Annotations) > 0 && !json.Valid(d.Annotations) {
			t.Errorf("%q: %+v", tool, d)
		}
		again, reason := usableDefinition(d)
		if reason != "" || again.Hash() != d.Hash() {
			t.Errorf("%q changes when it is checked again: %s", tool, reason)
		}
	})
}
