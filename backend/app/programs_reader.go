package app

import (
	"context"
	"encoding/json"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/mcpserver"
	"contextinfinity/backend/tools/builtin"
)

// memoryReader lets other programs read memory with the models' tools.
type memoryReader struct {
	memory  *builtin.Memory
	prepare func(context.Context) error
}

func newMemoryReader(a *app) memoryReader {
	return memoryReader{&builtin.Memory{Store: a.Store, Search: a.Memory}, a.indexDue}
}

// memoryTools returns the tools for reading as they are offered to other programs.
func memoryTools() []mcpserver.Tool {
	tool := func(name, title, description, schema string) mcpserver.Tool {
		return mcpserver.Tool{Name: name, Title: title, Description: description, Schema: json.RawMessage(schema)}
	}
	return []mcpserver.Tool{
		tool("search_memory", "Search memory", builtin.SearchDescription, builtin.SearchSchema),
		tool("get_turn", "Read a turn", builtin.TurnDescription, builtin.TurnSchema),
		tool("list_sessions", "List sessions", builtin.SessionsDescription, builtin.SessionsSchema),
	}
}

// Read implements mcpserver.Reader.
func (r memoryReader) Read(ctx context.Context, s mcpserver.Visibility, tool string, arguments json.RawMessage) (mcpserver.ReadResult, error) {
	view := builtin.View{Scope: chat.ScopeAll}
	if !s.All {
		view.Only = s.Sessions
	}
	found, err := r.read(ctx, view, tool, arguments)
	if builtin.IsRefused(err) {
		err = chat.Errorf(chat.CodeInvalid, "mcp.read", "%s.", err)
	}
	return mcpserver.ReadResult{Text: found.Text, Shown: found.Shown}, err
}

func (r memoryReader) read(ctx context.Context, v builtin.View, tool string, arguments json.RawMessage) (builtin.MemoryResult, error) {
	switch tool {
	case "search_memory":
		var a builtin.SearchArguments
		if err := mcpserver.DecodeArguments(arguments, &a); err != nil {
			return builtin.MemoryResult{}, err
		}
		if err := r.prepare(ctx); err != nil { // makes recent turns searchable
			return builtin.MemoryResult{}, err
		}
		return r.memory.SearchMemory(ctx, v, a)
	case "get_turn":
		var a builtin.TurnArguments
		if err := mcpserver.DecodeArguments(arguments, &a); err != nil {
			return builtin.MemoryResult{}, err
		}
		return r.memory.GetTurn(ctx, v, a)
	case "list_sessions":
		var a builtin.SessionArguments
		if err := mcpserver.DecodeArguments(arguments, &a); err != nil {
			return builtin.MemoryResult{}, err
		}
		return r.memory.ListSessions(ctx, v, a)
	}
	return builtin.MemoryResult{}, chat.Errorf(chat.CodeNotFound, "mcp.read", "There is no tool %q.", tool)
}
