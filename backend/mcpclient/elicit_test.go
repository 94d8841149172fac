package mcpclient

import (
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"contextinfinity/backend/chat"
)

// An answer contains what its schema allows: an empty choice is an empty list if the schema allows it, is left out if
// it is optional, and is refused if it is required.
func TestAnEmptyChoiceOfMany(t *testing.T) {
	for name, c := range map[string]struct {
		field, required, want string // want empty: it is refused
		values                []string
	}{
		"empty list":                     {`{}`, ``, `{"of":[]}`, []string{}},
		"empty list instead of defaults": {`{"default":["a"]}`, ``, `{"of":[]}`, []string{}},
		"the default":                    {`{"default":["a"]}`, ``, `{"of":["a"]}`, nil},
		"no choice":                      {`{}`, ``, `{}`, nil},
		"empty although one is required": {`{"minItems":1}`, ``, `{}`, []string{}},
		"missing although required":      {`{"minItems":1}`, `"of"`, ``, []string{}},
		"required, empty list allowed":   {`{}`, `"of"`, `{"of":[]}`, []string{}},
		"too few":                        {`{"minItems":2}`, ``, ``, []string{"a"}},
		"too many":                       {`{"maxItems":1}`, ``, ``, []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			var field map[string]any
			if err := json.Unmarshal([]byte(c.field), &field); err != nil {
				t.Fatal(err)
			}
			field["type"], field["items"] = "array", map[string]any{"type": "string", "enum": []string{"a", "b"}}
			var required []string
			if err := json.Unmarshal([]byte("["+c.required+"]"), &required); err != nil {
				t.Fatal(err)
			}
			s := &server{m: &Manager{}, name: "bad"}
			q, err := s.questionOf(&mcp.ElicitParams{Message: "Which?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{"of": field}, "required": required}})
			if err != nil {
				t.Fatal(err)
			}
			a := Answer{Action: Accept, Values: map[string][]string{}}
			if c.values != nil {
				a.Values["of"] = c.values
			}
			content, err := q.contentOf(a)
			if c.want == "" {
				if chat.CodeOf(err) != chat.CodeInvalid {
					t.Errorf("%v, %v", content, err)
				}
				return
			}
			if got, merr := json.Marshal(content); err != nil || merr != nil || string(got) != c.want {
				t.Errorf("%s, %v", got, err)
			}
		})
	}
}
