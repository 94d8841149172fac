package mcpserver

import (
	"encoding/json"
)

// Snippet is what is pasted into another program so that it finds this one.
type Snippet struct {
	Program string
	File    string // where it goes, in words
	Text    string
}

// Snippets are configurations of other programs that start ours: command is its path, places
// the arguments that say where its data is, if that is not the usual place.
func Snippets(command string, places ...string) []Snippet {
	launch := func(command, client string) program {
		return program{command, append([]string{"mcp", "--client", client}, places...)}
	}
	servers := func(client string) string {
		return indented(map[string]any{"mcpServers": map[string]any{"contextinfinity": launch(command, client)}})
	}
	return []Snippet{
		{"Claude Desktop", "claude_desktop_config.json (Settings, Developer, Edit Config)", servers("Claude Desktop")},
		{"Cursor", "~/.cursor/mcp.json", servers("Cursor")},
		{"Zed", "settings.json (zed: open settings)", indented(map[string]any{"context_servers": map[string]any{"contextinfinity": launch(command, "Zed")}})},
	}
}

type program struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// RemoteSnippet is the configuration of a program that speaks HTTP.
func RemoteSnippet(url, token string) Snippet {
	type remote struct {
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers"`
	}
	return Snippet{"HTTP", "the program's list of MCP servers", indented(map[string]any{"mcpServers": map[string]any{
		"contextinfinity": remote{url, map[string]string{"Authorization": "Bearer " + token}},
	}})}
}

func indented(v any) string {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil { // maps of strings always encode
		return ""
	}
	return string(raw)
}
