package transfer

import (
	"cmp"
	"encoding/json"

	"contextinfinity/backend/chat"
)

// deepSeek parses a conversation of DeepSeek: a tree of messages by id, like that of ChatGPT, with messages of its own.
func deepSeek(raw json.RawMessage) *draft {
	d := newDraft(SourceDeepSeek)
	var c struct {
		ID       str             `json:"id"`
		Title    str             `json:"title"`
		Inserted moment          `json:"inserted_at"`
		Updated  moment          `json:"updated_at"`
		Mapping  json.RawMessage `json:"mapping"`
	}
	if json.Unmarshal(raw, &c) != nil || members(c.Mapping) == nil {
		d.skip = "It has no list of messages."
		return d
	}
	d.ID, d.Title, d.CreatedAt, d.UpdatedAt = string(c.ID), string(c.Title), d.date(c.Inserted), d.date(c.Updated)
	d.Provider = "deepseek"
	for _, m := range members(c.Mapping) {
		d.add(d.deepSeekNode(m))
	}
	return d
}

func (d *draft) deepSeekNode(raw member) node {
	var entry struct {
		Parent  str             `json:"parent"`
		Message json.RawMessage `json:"message"`
	}
	var m struct {
		Role      str    `json:"role"`
		Model     str    `json:"model"`
		Inserted  moment `json:"inserted_at"`
		Content   str    `json:"content"`
		Thinking  str    `json:"thinking_content"`
		Fragments list   `json:"fragments"`
		Files     list   `json:"files"`
	}
	_ = json.Unmarshal(raw.value, &entry) // unexpected fields are left empty
	n := node{key: raw.key, parent: string(entry.Parent)}
	if isNull(entry.Message) {
		return n
	}
	if json.Unmarshal(entry.Message, &m) != nil {
		n.kind, n.blocks = kindHidden, d.hidden(entry.Message).blocks
		return n
	}
	n.kind, n.at, n.provider, n.model = kindAssistant, m.Inserted, "deepseek", string(m.Model)
	if m.Role != "" {
		n.kind = kindOf(m.Role)
	}
	if m.Thinking != "" {
		n.blocks = append(n.blocks, chat.Reasoning{Provider: string(d.Source), Summary: string(m.Thinking)})
	}
	n.blocks = append(n.blocks, texts(string(m.Content))...)
	for _, fragment := range m.Fragments {
		var f struct {
			Type    str `json:"type"`
			Content str `json:"content"`
		}
		_ = json.Unmarshal(fragment, &f) // unexpected fields are left empty
		switch {
		case f.Type == "REQUEST":
			n.kind = kindUser
			n.blocks = append(n.blocks, texts(string(f.Content))...)
		case f.Type == "THINK":
			n.blocks = append(n.blocks, chat.Reasoning{Provider: string(d.Source), Summary: string(f.Content), Raw: fragment})
		case f.Type == "RESPONSE":
			n.blocks = append(n.blocks, texts(string(f.Content))...)
		default: // searches and what comes later: their text is a result
			n.blocks = append(n.blocks, chat.ToolResult{Content: chat.Blocks{d.unknown(fragment)}})
		}
	}
	for _, file := range m.Files {
		var f struct {
			Name     str `json:"name"`
			FileName str `json:"file_name"`
			Content  str `json:"content"`
		}
		_ = json.Unmarshal(file, &f) // unexpected fields are left empty
		n.blocks = append(n.blocks, d.attached(cmp.Or(f.Name, f.FileName), "", f.Content, file))
	}
	return n
}
