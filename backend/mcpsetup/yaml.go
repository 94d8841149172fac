package mcpsetup

import (
	"encoding/json"
	"slices"

	"go.yaml.in/yaml/v3"
)

// fromYAML reads the servers of a librechat.yaml as the JSON that they represent. ok is false where
// there are none. References inside YAML are not followed: a short text could represent a huge one.
func fromYAML(text string) (servers map[string]json.RawMessage, ok bool) {
	var doc struct {
		Servers yaml.Node `yaml:"mcpServers"`
	}
	if yaml.Unmarshal([]byte(text), &doc) != nil || doc.Servers.Kind != yaml.MappingNode || hasAlias(&doc.Servers) {
		return nil, false
	}
	var entries map[string]any
	if doc.Servers.Decode(&entries) != nil {
		return nil, false
	}
	servers = map[string]json.RawMessage{}
	for name, value := range entries {
		if e, ok := value.(map[string]any); ok && e["type"] == nil && e["url"] != nil {
			e["type"] = "sse" // what LibreChat takes where none is named
		}
		raw, err := json.Marshal(value)
		if err != nil { // a name that is not text: nothing of it is a server
			raw = json.RawMessage("null")
		}
		servers[name] = raw
	}
	return servers, true
}

func hasAlias(n *yaml.Node) bool {
	return n.Kind == yaml.AliasNode || slices.ContainsFunc(n.Content, hasAlias)
}
