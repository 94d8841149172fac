package transfer

import (
	"encoding/json"
	"strconv"

	"contextinfinity/backend/chat"
)

type lmMessage struct {
	Versions list  `json:"versions"`
	Selected count `json:"currentlySelected"`
}

type lmVersion struct {
	Role    str             `json:"role"`
	Content json.RawMessage `json:"content"`
	Steps   list            `json:"steps"`
	Sender  struct {
		Name str `json:"senderName"`
	} `json:"senderInfo"`
}

type lmStep struct {
	Type    str             `json:"type"`
	Content json.RawMessage `json:"content"`
	Style   struct {
		Type str `json:"type"`
	} `json:"style"`
	Info struct {
		Model str `json:"identifier"`
		Stats struct {
			Input  count `json:"promptTokensCount"`
			Output count `json:"predictedTokensCount"`
			Stop   str   `json:"stopReason"`
		} `json:"stats"`
	} `json:"genInfo"`
}

// lmStudio parses a conversation of LM Studio: a list of messages, each with its versions, of which one is shown.
func lmStudio(raw json.RawMessage) *draft {
	d := newDraft(SourceLMStudio)
	var c struct {
		Name    str             `json:"name"`
		Pinned  truth           `json:"pinned"`
		Created json.RawMessage `json:"createdAt"`
		System  str             `json:"systemPrompt"`
		Model   struct {
			ID str `json:"identifier"`
		} `json:"lastUsedModel"`
		Messages list `json:"messages"`
	}
	if json.Unmarshal(raw, &c) != nil || c.Messages == nil {
		d.skip = "It has no list of messages."
		return d
	}
	d.Title, d.Pinned, d.SystemPrompt, d.Model = string(c.Name), bool(c.Pinned), string(c.System), string(c.Model.ID)
	d.CreatedAt = d.date(readMoment(c.Created))
	var id str
	_ = id.UnmarshalJSON(c.Created)
	d.ID = string(id) // also the name of its file; there is no other
	parent := ""
	for i, raw := range c.Messages {
		var m lmMessage
		_ = json.Unmarshal(raw, &m) // unexpected fields are left empty
		next := ""
		for v, version := range m.Versions {
			n := d.lmNode(version)
			n.key, n.parent = strconv.Itoa(i)+"."+strconv.Itoa(v), parent
			d.add(n)
			if next == "" || v == int(m.Selected) {
				next = n.key
			}
		}
		if next == "" {
			n := d.hidden(raw)
			n.key, n.parent = strconv.Itoa(i), parent
			next = d.add(n)
		}
		parent = next
	}
	d.leaf = parent
	return d
}

func (d *draft) lmNode(raw json.RawMessage) node {
	var m lmVersion
	_ = json.Unmarshal(raw, &m) // unexpected fields are left empty
	n := node{model: string(m.Sender.Name), blocks: d.lmContent(m.Content)}
	for _, raw := range m.Steps {
		var s lmStep
		_ = json.Unmarshal(raw, &s) // unexpected fields are left empty
		content := d.lmContent(s.Content)
		switch {
		case s.Style.Type == "thinking":
			n.blocks = append(n.blocks, chat.Reasoning{Provider: string(d.Source), Summary: content.RenderedText(), Raw: raw})
		case s.Type == "contentBlock":
			n.blocks = append(n.blocks, content...)
		}
		if s.Info.Model != "" {
			n.model = string(s.Info.Model)
		}
		if stats := s.Info.Stats; stats.Output > 0 {
			n.usage = &chat.Usage{InputTokens: int(stats.Input), OutputTokens: int(stats.Output)}
			n.incomplete = stats.Stop == "userStopped" || stats.Stop == "maxPredictedTokensReached"
		}
	}
	d.speak(&n, m.Role, raw)
	return n
}

// lmContent converts a list of contents, which has calls and results of its own.
func (d *draft) lmContent(raw json.RawMessage) chat.Blocks {
	var items list
	if json.Unmarshal(raw, &items) != nil || items == nil {
		return parts(d.Source, raw)
	}
	var out chat.Blocks
	for _, item := range items {
		var p struct {
			Type      str             `json:"type"`
			ID        str             `json:"toolCallRequestId"`
			CallID    str             `json:"callId"`
			Name      str             `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
			Content   json.RawMessage `json:"content"`
		}
		_ = json.Unmarshal(item, &p) // unexpected fields are left empty
		if p.ID == "" {
			p.ID = p.CallID
		}
		switch p.Type {
		case "toolCallRequest":
			out = append(out, chat.ToolUse{ToolUseID: string(p.ID), Name: string(p.Name), Input: arguments(p.Arguments)})
		case "toolCallResult":
			out = append(out, chat.ToolResult{ToolUseID: string(p.ID), Content: output(d.Source, p.Content, 0)})
		default:
			out = append(out, parts(d.Source, item)...)
		}
	}
	return out
}
