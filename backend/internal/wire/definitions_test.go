package wire

import (
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/llm/llmtest"
)

func TestSchemaIsAcceptedByProviders(t *testing.T) {
	for raw, want := range map[string]string{
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`: `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`,
		`{"$schema":"x","properties":{"a":{"type":"string"}},"type":"object"}`:    `{"properties":{"a":{"type":"string"}},"type":"object"}`,
		`{"type":"object"}`: `{"properties":{},"type":"object"}`,
		`{"type":"object","additionalProperties":false}`: `{"additionalProperties":false,"properties":{},"type":"object"}`,
		`{}`:                 `{"properties":{},"type":"object"}`,
		`null`:               `{"properties":{},"type":"object"}`,
		``:                   `{"properties":{},"type":"object"}`,
		`[1]`:                `{"properties":{},"type":"object"}`,
		`{"type":["object"]`: `{"properties":{},"type":"object"}`,
		`{"type":["object","null"],"properties":{"a":{}}}`: `{"properties":{"a":{}},"type":"object"}`,
		`{"properties":[]}`: `{"properties":{},"type":"object"}`,
		`{"type":"object","properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`:                                                    `{"properties":{"a":{},"b":{}},"type":"object"}`,
		`{"type":"object","properties":{"k":{}},"required":["k"],"oneOf":[{"properties":{"a":{},"k":{"x":1}},"required":["a"]},{"properties":{"b":{}}},7]}`: `{"properties":{"a":{},"b":{},"k":{}},"required":["k"],"type":"object"}`,
		`{"allOf":[{"properties":{"b":{}},"required":["b"]},{"properties":{"a":{}},"required":["a","b"]}],"$defs":{"d":{}}}`:                                `{"properties":{"a":{},"b":{}},"required":["a","b"],"type":"object"}`,
		`{"type":"object","properties":{"a":{"anyOf":[{}]}},"not":{}}`:                                                                                      `{"properties":{"a":{"anyOf":[{}]}},"type":"object"}`,
		// Members: lists without items, bounds and required of earlier drafts, members of a text, references, unions.
		`{"properties":{"u":{"type":"array"}}}`:                                                                 `{"properties":{"u":{"items":{"type":"string"},"type":"array"}},"type":"object"}`,
		`{"properties":{"u":{"type":"array","items":[{"type":"integer"}]}}}`:                                    `{"properties":{"u":{"items":{"type":"integer"},"type":"array"}},"type":"object"}`,
		`{"properties":{"v":{"minimum":0,"exclusiveMinimum":true}}}`:                                            `{"properties":{"v":{"exclusiveMinimum":0}},"type":"object"}`,
		`{"properties":{"v":{"maximum":9,"exclusiveMaximum":false}}}`:                                           `{"properties":{"v":{"maximum":9}},"type":"object"}`,
		`{"properties":{"v":{"type":"string","required":true}}}`:                                                `{"properties":{"v":{"type":"string"}},"required":["v"],"type":"object"}`,
		`{"properties":{"v":{"type":"string","properties":{"x":{}},"required":["x"]}}}`:                         `{"properties":{"v":{"type":"string"}},"type":"object"}`,
		`{"properties":{"a":{"$ref":"#/$defs/A","description":"d"}},"$defs":{"A":{"type":"integer"}}}`:          `{"properties":{"a":{"description":"d","type":"integer"}},"type":"object"}`,
		`{"properties":{"n":{"$ref":"#/$defs/N"}},"$defs":{"N":{"type":"array","items":{"$ref":"#/$defs/N"}}}}`: `{"properties":{"n":{"items":{},"type":"array"}},"type":"object"}`,
		`{"properties":{"a":{"$ref":"https://x.example/a"}}}`:                                                   `{"properties":{"a":{}},"type":"object"}`,
		`{"properties":{"v":{"type":["string","null"]}}}`:                                                       `{"properties":{"v":{"type":"string"}},"type":"object"}`,
		`{"properties":{"v":{"type":["array","string"],"items":{"type":"integer"}}}}`:                           `{"properties":{"v":{"anyOf":[{"items":{"type":"integer"},"type":"array"},{"type":"string"}]}},"type":"object"}`,
		`{"properties":{"v":{"oneOf":[{"const":1},{"type":"null"}]}}}`:                                          `{"properties":{"v":{"anyOf":[{"enum":[1]},{"type":"null"}]}},"type":"object"}`,
		`{"properties":{"v":true,"w":7}}`:                                                                       `{"properties":{"v":{},"w":{}},"type":"object"}`,
	} {
		if got := string(Schema(json.RawMessage(raw))); got != want {
			t.Errorf("%s becomes %s, not %s", raw, got, want)
		}
		if again := string(Schema(json.RawMessage(want))); again != want {
			t.Errorf("%s becomes %s when it is adapted again", want, again)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		raw := Schema(json.RawMessage(rapid.String().Draw(rt, "schema")))
		if once := Schema(raw); !json.Valid(raw) || string(once) != string(raw) {
			rt.Fatalf("%s becomes %s", raw, once)
		}
	})
}

func TestArgumentsAreAnObject(t *testing.T) {
	for raw, want := range map[string]string{
		`{"a":1}`:         `{"a":1}`,
		` {"a": 1}`:       `{"a": 1}`,
		``:                `{}`,
		`null`:            `{}`,
		`"{\"a\":1}"`:     `{"a":1}`,
		`"{\"a\":"`:       `{"_raw":"{\"a\":"}`,
		`"SELECT <1>"`:    `{"_raw":"SELECT <1>"}`,
		`[1,2]`:           `{"_raw":"[1,2]"}`,
		`7`:               `{"_raw":"7"}`,
		`{"a":`:           `{"_raw":"{\"a\":"}`,
		`"line\nof text"`: `{"_raw":"line\nof text"}`,
	} {
		if got := string(Arguments(json.RawMessage(raw))); got != want {
			t.Errorf("%s becomes %s, not %s", raw, got, want)
		}
	}
}

// A provider gets the tools of the request in their order, then those of the options, never two with the same name,
// and none if tools are off or the options say so.
func TestToolsOfTheRequestAndOfTheOptions(t *testing.T) {
	offered := []chat.ToolDefinition{{Name: "b"}, {Name: "a"}, {Name: "hosted"}}
	hosted := map[string]any{"type": "web_search", "name": "hosted"}
	for name, c := range map[string]struct {
		mode    llm.ToolsMode
		options map[string]any
		want    []any
		last    string
	}{
		"enabled":    {llm.ToolsEnabled, nil, []any{"b", "a", "hosted"}, "hosted"},
		"options":    {llm.ToolsEnabled, map[string]any{"tools": []any{hosted}}, []any{"b", "a", hosted}, "a"},
		"parse only": {llm.ToolsParseOnly, nil, []any{"b", "a", "hosted"}, "hosted"},
		"disabled":   {llm.ToolsDisabled, map[string]any{"tools": []any{hosted}}, []any{hosted}, ""},
		"removed":    {llm.ToolsEnabled, map[string]any{"tools": nil}, nil, ""},
	} {
		r := llm.Request{Endpoint: llm.Endpoint{ToolsMode: c.mode, Options: c.options}, Context: llmtest.Prepare(t, llmtest.Context{Tools: offered})}
		body := Merge(map[string]any{}, c.options)
		last := AddTools(body, r, func(d chat.ToolDefinition) map[string]any { return map[string]any{"name": d.Name} })
		var got []any
		sent, _ := body["tools"].([]any)
		for _, tool := range sent {
			if object, ok := tool.(map[string]any); ok && len(object) == 1 {
				got = append(got, object["name"])
			} else {
				got = append(got, tool)
			}
		}
		if !reflect.DeepEqual(got, c.want) || (last == nil) != (c.last == "") || last != nil && last["name"] != c.last {
			t.Errorf("%s: %v, last %v", name, got, last)
		}
	}
}

func TestErrorsAboutToolsAndMissingResponses(t *testing.T) {
	for _, c := range []struct {
		status             int
		words              Words
		noTools, forgotten bool
	}{
		{400, Words{Message: "registry.ollama.ai/library/gemma3:4b does not support tools", Type: "api_error"}, true, false},
		{404, Words{Message: "No endpoints found that support tool use. Try disabling \"search\".", Code: "404"}, true, false},
		{400, Words{Message: `"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set`}, true, false},
		{500, Words{Message: "tools param requires --jinja flag", Type: "server_error"}, true, false},
		{400, Words{Message: "`tool calling` is not supported with this model"}, true, false},
		{400, Words{Message: "deepseek-reasoner does not support Function Calling"}, true, false},
		{400, Words{Message: "Function calling is not enabled for models/gemma-3-27b-it"}, true, false},
		{400, Words{Message: "Unsupported parameter: 'tools' is not supported with this model.", Param: "tools"}, true, false},
		{400, Words{Message: "This model doesn't support tool use in streaming mode."}, true, false},
		{400, Words{Message: "Unsupported parameter: 'parallel_tool_calls' is not supported with this model."}, false, false},
		{400, Words{Message: "tools.9.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level"}, false, false},
		{400, Words{Message: "tool_choice 'none' is not supported"}, false, false},
		{429, Words{Message: "too many requests; this tier does not support tools"}, false, false},
		{400, Words{Code: "previous_response_not_found", Message: "Previous response with id 'resp_1' not found."}, false, true},
		{404, Words{Message: "Response with id 'resp_1' not found."}, false, true},
		{400, Words{Message: "Unsupported parameter.", Param: "previous_response_id"}, false, true},
		{501, Words{Message: "`store=True` (default) is not supported. Please set `store=False`"}, false, true},
		{404, Words{Message: "The model 'm' was not found."}, false, false},
		{500, Words{Message: "broken"}, false, false},
	} {
		e := classify(c.status, c.words)
		if e.NoTools != c.noTools || e.Forgotten != c.forgotten {
			t.Errorf("%d %+v: %+v", c.status, c.words, e)
		}
		if (c.noTools || c.forgotten) && (e.Retryable() || e.Code != chat.CodeProvider) {
			t.Errorf("%d %+v: want a permanent provider error: %+v", c.status, c.words, e)
		}
	}
}

// Every call of an answer has a unique id, which is the same each time the answer is decoded.
func TestEveryCallHasAUniqueID(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ids := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "b", "call-1", "call-2", "call-3"}), 1, 8).Draw(rt, "ids")
		named := func() []string {
			d := Draft{Provider: "test"}
			for _, id := range ids {
				d.Place(&Part{Kind: PartTool, ID: id})
				d.Place(&Part{Kind: PartText})
			}
			d.NameCalls()
			d.NameCalls()
			var out []string
			for _, b := range d.Blocks() {
				if use, ok := b.(chat.ToolUse); ok {
					out = append(out, use.ToolUseID)
				}
			}
			return out
		}
		got := named()
		seen := map[string]bool{}
		first := map[string]bool{}
		for i, id := range got {
			if id == "" || seen[id] {
				rt.Fatalf("%v became %v", ids, got)
			}
			if ids[i] != "" && !first[ids[i]] && id != ids[i] {
				rt.Fatalf("the first %q became %q", ids[i], id)
			}
			seen[id], first[ids[i]] = true, true
		}
		if again := named(); !reflect.DeepEqual(again, got) {
			rt.Fatalf("%v, then %v", got, again)
		}
	})
}
