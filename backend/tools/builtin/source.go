package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/tools"
)

// tool is one of the program's own tools.
type tool struct {
	definition chat.ToolDefinition
	allowed    bool // runs without approval unless the user decides otherwise
	asksEach   bool // each call needs approval
	run        func(context.Context, tools.Call) (tools.Output, error)
	preview    func(context.Context, tools.Call) (string, error)
	limit      func(tools.Call) time.Duration // nil: according to the settings
}

// Source offers the program's own tools. The offered tools may change with the configuration.
type Source struct {
	sets     []func() []tool
	problems []func() []tools.Problem
}

// New returns a source of the given parts, ignoring nil.
func New(memory *Memory, folders *Folders) *Source {
	s := &Source{}
	if memory != nil {
		s.sets = append(s.sets, memory.tools)
	}
	if folders != nil {
		s.sets = append(s.sets, folders.tools)
		s.problems = append(s.problems, folders.problems)
	}
	return s
}

// Name implements tools.Source.
func (*Source) Name() string { return chat.ToolSourceBuiltin }

func (s *Source) all() []tool {
	var out []tool
	for _, set := range s.sets {
		out = append(out, set()...)
	}
	return out
}

func (s *Source) find(name string) (tool, bool) {
	for _, t := range s.all() {
		if t.definition.Tool == name {
			return t, true
		}
	}
	return tool{}, false
}

// Definitions implements tools.Source.
func (s *Source) Definitions() []chat.ToolDefinition {
	all := s.all()
	return lists.Map(all, func(t tool) chat.ToolDefinition { return t.definition })
}

// Call implements tools.Source.
func (s *Source) Call(ctx context.Context, c tools.Call) (tools.Output, error) {
	t, ok := s.find(c.Tool)
	if !ok {
		return tools.Output{}, fmt.Errorf("%w: %s is switched off", tools.ErrNotStarted, c.Tool)
	}
	return t.run(ctx, c)
}

// AllowedByDefault implements tools.AllowedByDefault.
func (s *Source) AllowedByDefault(name string) bool {
	t, ok := s.find(name)
	return ok && t.allowed
}

// AsksEachCall implements tools.AskEachCall.
func (s *Source) AsksEachCall(name string) bool {
	t, ok := s.find(name)
	return ok && t.asksEach
}

// CallLimit implements tools.TimeLimited.
func (s *Source) CallLimit(c tools.Call) time.Duration {
	t, ok := s.find(c.Tool)
	if !ok || t.limit == nil {
		return 0
	}
	return t.limit(c)
}

// Preview implements tools.Previewer.
func (s *Source) Preview(ctx context.Context, c tools.Call) (string, error) {
	t, ok := s.find(c.Tool)
	if !ok || t.preview == nil {
		return "", nil
	}
	return t.preview(ctx, c)
}

// define creates a definition; an invalid schema is a bug.
func define(name, title, description, schema string, effects bool) chat.ToolDefinition {
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(schema)); err != nil {
		panic("builtin: the schema of " + name + " is not JSON")
	}
	return chat.ToolDefinition{
		Source: chat.ToolSourceBuiltin, Tool: name, Name: name, Title: title, Description: description, Schema: compact.Bytes(), Effects: effects,
	}
}

// arguments parses a call's arguments strictly: a model that misspells one gets an error.
func arguments(c tools.Call, target any) error {
	raw := c.Arguments
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(target); err != nil {
		return refusal("the arguments do not match the schema: %s", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return refusal("the arguments are more than one JSON object")
	}
	return nil
}

// refused is an error that tells the model why a tool did nothing.
type refused struct{ message string }

func (r refused) Error() string { return r.message }

func refusal(format string, args ...any) error { return refused{fmt.Sprintf(format, args...)} }

// text returns a text result.
func text(s string) tools.Output {
	return tools.Output{Content: chat.Blocks{chat.Text{Text: s}}}
}

// failure returns an error result: the tool ran, and its outcome is known.
func failure(format string, args ...any) tools.Output {
	out := text(fmt.Sprintf(format, args...))
	out.IsError = true
	return out
}
