package transfer

import (
	"encoding/json"
	"strings"

	"contextinfinity/backend/chat"
)

type opencodeInfo struct {
	ID        str             `json:"id"`
	Title     str             `json:"title"`
	Directory str             `json:"directory"`
	Parent    str             `json:"parentID"`
	Role      str             `json:"role"`
	Model     str             `json:"modelID"`
	Provider  str             `json:"providerID"`
	Error     json.RawMessage `json:"error"`
	Time      struct {
		Created   moment `json:"created"`
		Updated   moment `json:"updated"`
		Completed moment `json:"completed"`
	} `json:"time"`
	Tokens struct {
		Input     count `json:"input"`
		Output    count `json:"output"`
		Reasoning count `json:"reasoning"`
		Cache     struct {
			Read  count `json:"read"`
			Write count `json:"write"`
		} `json:"cache"`
	} `json:"tokens"`
}

// openCode parses a session of opencode, as `opencode export` writes it: a list of messages, each with its parts.
func openCode(raw json.RawMessage) *draft {
	d := newDraft(SourceOpenCode)
	var c struct {
		Info     opencodeInfo `json:"info"`
		Messages list         `json:"messages"`
	}
	if json.Unmarshal(raw, &c) != nil || c.Messages == nil {
		d.skip = "It has no list of messages."
		return d
	}
	d.ID, d.Title, d.Folder, d.Parent = string(c.Info.ID), string(c.Info.Title), string(c.Info.Directory), string(c.Info.Parent)
	if d.Parent != "" {
		d.agent = "Agent"
	}
	d.CreatedAt, d.UpdatedAt = d.date(c.Info.Time.Created), d.date(c.Info.Time.Updated)
	for _, raw := range c.Messages {
		var m struct {
			Info  opencodeInfo `json:"info"`
			Parts list         `json:"parts"`
		}
		if json.Unmarshal(raw, &m) != nil || m.Info.Role == "" {
			d.follow(d.hidden(raw))
			continue
		}
		d.follow(d.opencodeNode(raw, m.Info, m.Parts))
	}
	return d
}

func (d *draft) opencodeNode(raw json.RawMessage, info opencodeInfo, list list) node {
	n := node{key: string(info.ID), at: info.Time.Created, model: string(info.Model), provider: string(info.Provider)}
	for _, part := range list {
		n.blocks = append(n.blocks, d.opencodePart(part)...)
	}
	if d.speak(&n, info.Role, raw); n.kind != kindAssistant {
		return n
	}
	if t := info.Tokens; t.Input+t.Output > 0 {
		n.usage = &chat.Usage{
			InputTokens:       int(t.Input + t.Cache.Read + t.Cache.Write),
			OutputTokens:      int(t.Output + t.Reasoning),
			CachedInputTokens: int(t.Cache.Read),
			CacheWriteTokens:  int(t.Cache.Write),
			ReasoningTokens:   int(t.Reasoning),
		}
	}
	if !isNull(info.Error) {
		n.failure = unknownText(info.Error, false)
		n.failed, n.incomplete = len(n.blocks) == 0, true
		n.blocks = append(n.blocks, d.unknown(info.Error))
	}
	return n
}

func (d *draft) opencodePart(raw json.RawMessage) chat.Blocks {
	var p struct {
		Type      str   `json:"type"`
		Text      str   `json:"text"`
		Synthetic truth `json:"synthetic"`
		Tool      str   `json:"tool"`
		CallID    str   `json:"callID"`
		URL       str   `json:"url"`
		State     struct {
			Status str             `json:"status"`
			Input  json.RawMessage `json:"input"`
			Output json.RawMessage `json:"output"`
			Error  str             `json:"error"`
		} `json:"state"`
	}
	_ = json.Unmarshal(raw, &p) // unexpected fields are left empty
	switch p.Type {
	case "text":
		if p.Synthetic { // written by the program
			return chat.Blocks{d.unknown(json.RawMessage(`{"synthetic":` + string(raw) + `}`))}
		}
		return texts(string(p.Text))
	case "reasoning":
		return chat.Blocks{chat.Reasoning{Provider: string(d.Source), Summary: string(p.Text), Raw: raw}}
	case "tool":
		out := chat.Blocks{chat.ToolUse{ToolUseID: string(p.CallID), Name: string(p.Tool), Input: chat.RawJSON(p.State.Input)}}
		switch p.State.Status {
		case "completed":
			out = append(out, chat.ToolResult{ToolUseID: string(p.CallID), Content: output(d.Source, p.State.Output, 0)})
		case "error":
			out = append(out, chat.ToolResult{ToolUseID: string(p.CallID), Content: notNil(texts(string(p.State.Error))), IsError: true})
		}
		return out
	case "file":
		if image := dataImage(string(p.URL)); image != nil {
			return image
		}
	case "step-start", "step-finish", "snapshot", "patch":
		return nil
	}
	if strings.TrimSpace(string(p.Type)) == "" {
		return parts(d.Source, raw)
	}
	return chat.Blocks{d.unknown(raw)}
}
