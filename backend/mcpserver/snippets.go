package mcpserver

import (
	"encoding/json"
)

// Snippet is a configuration to paste into another program so that it can connect to this one.
type Snippet struct {
	Program string `json:"program"`
	File    string `json:"file"` // description of where the text belongs
	Text    string `json:"text"`
}

// Snippets returns configurations with which other programs start this one. command is the path of this program;
// dataDir are the arguments that name the data directory if it is not the default one.
func Snippets(command string, dataDir ...string) []Snippet {
	launch := func(command, client string) program {
		return program{command, append([]string{"mcp", "--client", client}, dataDir...)}
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

// RemoteSnippet returns a configuration for a program that connects over HTTP.
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
