package mcpsetup

import (
	"encoding/json"
	"slices"

	"go.yaml.in/yaml/v3"
)

// fromYAML converts the servers of a librechat.yaml to JSON. ok is false if there are none, or if they contain YAML
// aliases: with those, a short text could expand to a huge one.
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
			e["type"] = "sse" // LibreChat's default
		}
		raw, err := json.Marshal(value)
		if err != nil { // a key that is not a string: not a valid server
			raw = json.RawMessage("null")
		}
		servers[name] = raw
	}
	return servers, true
}

func hasAlias(n *yaml.Node) bool {
	return n.Kind == yaml.AliasNode || slices.ContainsFunc(n.Content, hasAlias)
}
