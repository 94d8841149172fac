package llmtest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// RuleViolation returns the first of its provider's rules that a body violates, or nil for a valid body. The rules are from
// the providers' documentation and error messages, and apply to every request.
func RuleViolation(provider string, body []byte) error {
	check, known := map[string]func(map[string]any) error{
		"anthropic": anthropicBreach, "openai": openaiBreach, "chatcompletions": completionsBreach,
	}[provider]
	var parsed map[string]any
	if err := json.Unmarshal(body, &parsed); err != nil || !known {
		return fmt.Errorf("not a body for %s: %w", provider, err)
	}
	return check(parsed)
}

var plainKey = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

var plainName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func object(v any) map[string]any { m, _ := v.(map[string]any); return m }
func array(v any) []any           { a, _ := v.([]any); return a }
func str(v any) string            { s, _ := v.(string); return s }

// isArguments reports whether a text is a JSON object.
func isArguments(text string) bool {
	var m map[string]any
	return json.Unmarshal([]byte(text), &m) == nil && m != nil
}

// schemaBreach checks what every provider requires of the schema of arguments.
func schemaBreach(schema map[string]any) error {
	for _, name := range []string{"anyOf", "oneOf", "allOf", "enum", "not"} {
		if schema[name] != nil {
			return fmt.Errorf("a schema has %s at its top", name)
		}
	}
	if schema["type"] != "object" || object(schema["properties"]) == nil {
		return fmt.Errorf("a schema is not an object with properties: %v", schema)
	}
	return nil
}

// toolNames checks the definitions of a body by name and schema.
func toolNames(tools []any, name, schema func(map[string]any) any) error {
	seen := map[string]bool{}
	for _, tool := range tools {
		t := object(tool)
		if schema(t) == nil {
			continue // a tool of the provider's own
		}
		n := str(name(t))
		if !plainName.MatchString(n) || seen[n] {
			return fmt.Errorf("a tool is named %q", n)
		}
		seen[n] = true
		if err := schemaBreach(object(schema(t))); err != nil {
			return err
		}
	}
	return nil
}

// calls follows the calls and results of a conversation.
type calls struct {
	seen map[string]bool
	open []string
	ids  *regexp.Regexp // nil: any
}

func (c *calls) call(id, name string) error {
	if id == "" || c.ids != nil && !c.ids.MatchString(id) || !plainName.MatchString(name) || c.seen[id] {
		return fmt.Errorf("a call %q of %q", id, name)
	}
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	c.seen[id] = true
	c.open = append(c.open, id)
	return nil
}

// result answers the next open call: results must be in the order of the calls.
func (c *calls) result(id string) error {
	if len(c.open) == 0 || c.open[0] != id {
		return fmt.Errorf("a result of %q where %q are open", id, c.open)
	}
	c.open = c.open[1:]
	return nil
}

// answered returns an error if a call has no result yet.
func (c *calls) answered(before string) error {
	if len(c.open) > 0 {
		return fmt.Errorf("%q have no result before %s", c.open, before)
	}
	return nil
}

func anthropicBreach(body map[string]any) error {
	c := calls{ids: plainName}
	messages := array(body["messages"])
	for i, m := range messages {
		role := []string{"user", "assistant"}[i%2]
		if object(m)["role"] != role || len(array(object(m)["content"])) == 0 {
			return fmt.Errorf("message %d is not of the %s, or has no content", i, role)
		}
		last := i == len(messages)-1
		if err := anthropicContent(&c, role, array(object(m)["content"]), last); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
	}
	if n := strings.Count(string(mustJSON(body)), `"cache_control"`); n > 4 {
		return fmt.Errorf("%d breakpoints", n)
	}
	if len(c.seen) > 0 && len(array(body["tools"])) == 0 {
		return fmt.Errorf("calls without any definition of a tool")
	}
	if body["tool_choice"] != nil && len(array(body["tools"])) == 0 {
		return fmt.Errorf("a tool choice without tools")
	}
	for _, tool := range array(body["tools"]) {
		for key := range object(object(object(tool)["input_schema"])["properties"]) {
			if !plainKey.MatchString(key) {
				return fmt.Errorf("a property is named %q", key)
			}
		}
	}
	return toolNames(array(body["tools"]), func(t map[string]any) any { return t["name"] }, func(t map[string]any) any { return t["input_schema"] })
}

// anthropicContent checks a message: the results for the previous message come first and are complete; a paused
// answer at the end is unchanged.
func anthropicContent(c *calls, role string, content []any, last bool) error {
	hasContent := false
	for _, item := range content {
		b := object(item)
		switch b["type"] {
		case "tool_result":
			if role != "user" || hasContent {
				return fmt.Errorf("a result is not first in the user's message")
			}
			if err := c.result(str(b["tool_use_id"])); err != nil {
				return err
			}
			continue
		case "tool_use":
			if role != "assistant" || object(b["input"]) == nil {
				return fmt.Errorf("a call of %s with input %v", role, b["input"])
			}
			if err := c.call(str(b["id"]), str(b["name"])); err != nil {
				return err
			}
		case "text":
			if strings.TrimSpace(str(b["text"])) == "" {
				return fmt.Errorf("an empty text")
			}
		case "thinking":
			if str(b["signature"]) == "" || b["cache_control"] != nil {
				return fmt.Errorf("thinking without a signature, or with a breakpoint")
			}
		case "image", "redacted_thinking":
		default:
			if role == "user" {
				return fmt.Errorf("a block of type %v", b["type"])
			}
		}
		if hasContent = true; role == "user" {
			if err := c.answered("the user's content"); err != nil {
				return err
			}
		}
	}
	if role == "user" || last {
		return c.answered("the end of the message")
	}
	return nil
}

// itemsWithoutID are the types of items that need no id: a server that stores nothing refuses ids.
var itemsWithoutID = []string{"message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output"}

func openaiBreach(body map[string]any) error {
	c := calls{ids: plainName}
	items := array(body["input"])
	continued := body["previous_response_id"] != nil
	kinds := map[string]string{}
	for i, item := range items {
		m := object(item)
		id, kind := str(m["call_id"]), str(m["type"])
		switch kind {
		case "function_call", "custom_tool_call":
			if kind == "function_call" && !isArguments(str(m["arguments"])) {
				return fmt.Errorf("item %d: arguments %v", i, m["arguments"])
			}
			kinds[id] = kind
			if err := c.call(id, str(m["name"])); err != nil {
				return fmt.Errorf("item %d: %w", i, err)
			}
		case "function_call_output", "custom_tool_call_output":
			if continued && len(c.seen) == 0 {
				continue // the calls are in the continued answer
			}
			if err := c.result(id); err != nil {
				return fmt.Errorf("item %d: %w", i, err)
			}
			if kinds[id]+"_output" != kind {
				return fmt.Errorf("item %d: %s for %s", i, kind, kinds[id])
			}
		case "message":
			if len(array(m["content"])) == 0 {
				return fmt.Errorf("item %d: an empty message", i)
			}
			if m["role"] == "user" {
				if err := c.answered("a message"); err != nil {
					return fmt.Errorf("item %d: %w", i, err)
				}
			}
		case "":
			return fmt.Errorf("item %d has no type", i)
		}
		if body["store"] == false && m["id"] != nil && slices.Contains(itemsWithoutID, kind) {
			return fmt.Errorf("item %d of type %s has an id that the server does not know", i, kind)
		}
	}
	if continued && body["store"] != true {
		return fmt.Errorf("an answer that is not stored is continued")
	}
	if _, explicit := body["parallel_tool_calls"].(bool); explicit != (len(array(body["tools"])) > 0) {
		return fmt.Errorf("parallel_tool_calls is %v", body["parallel_tool_calls"])
	}
	for _, tool := range array(body["tools"]) {
		if _, explicit := object(tool)["strict"].(bool); object(tool)["type"] == "function" && !explicit {
			return fmt.Errorf("a function does not say whether it is strict")
		}
	}
	if err := toolNames(array(body["tools"]), func(t map[string]any) any { return t["name"] }, func(t map[string]any) any { return t["parameters"] }); err != nil {
		return err
	}
	return c.answered("the end")
}

func completionsBreach(body map[string]any) error {
	var c calls
	previous := ""
	for i, message := range array(body["messages"]) {
		m := object(message)
		role := str(m["role"])
		if role != "tool" {
			if err := c.answered("message " + fmt.Sprint(i)); err != nil {
				return err
			}
		}
		if role == previous && role != "tool" || role == "system" && i > 0 {
			return fmt.Errorf("message %d has the role %s, like the previous one", i, role)
		}
		previous = role
		if role == "tool" {
			if _, text := m["content"].(string); !text {
				return fmt.Errorf("message %d: a result is %v", i, m["content"])
			}
			if err := c.result(str(m["tool_call_id"])); err != nil {
				return fmt.Errorf("message %d: %w", i, err)
			}
			continue
		}
		if m["content"] == nil && len(array(m["tool_calls"])) == 0 {
			return fmt.Errorf("message %d is empty", i)
		}
		for _, item := range array(m["tool_calls"]) {
			function := object(object(item)["function"])
			if object(item)["type"] != "function" || !isArguments(str(function["arguments"])) {
				return fmt.Errorf("message %d: a call %v", i, item)
			}
			if err := c.call(str(object(item)["id"]), str(function["name"])); err != nil {
				return fmt.Errorf("message %d: %w", i, err)
			}
		}
	}
	if _, explicit := body["parallel_tool_calls"].(bool); explicit != (len(array(body["tools"])) > 0) {
		return fmt.Errorf("parallel_tool_calls is %v", body["parallel_tool_calls"])
	}
	if err := c.answered("the end"); err != nil {
		return err
	}
	function := func(t map[string]any) map[string]any { return object(t["function"]) }
	return toolNames(array(body["tools"]), func(t map[string]any) any { return function(t)["name"] }, func(t map[string]any) any { return function(t)["parameters"] })
}

func mustJSON(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // it was decoded from JSON
	}
	return raw
}

// conversationOf returns the part of a body that the next step repeats and extends, without the breakpoints, which
// move.
func conversationOf(body []byte) []any {
	var parsed map[string]any
	if json.Unmarshal(body, &parsed) != nil {
		return nil
	}
	all := array(parsed["messages"])
	if all == nil {
		all = array(parsed["input"])
	}
	all = slices.Clone(all)
	for _, m := range all {
		for _, b := range array(object(m)["content"]) {
			delete(object(b), "cache_control")
		}
	}
	return all
}
