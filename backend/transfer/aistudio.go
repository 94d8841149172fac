package transfer

import (
	"encoding/json"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
)

// studioPrompt is a chat of Google AI Studio, as stored in Drive and downloaded. It has no id, title or date.
type studioPrompt struct {
	Settings struct {
		Model str `json:"model"`
	} `json:"runSettings"`
	System struct {
		Text  str  `json:"text"`
		Parts list `json:"parts"`
	} `json:"systemInstruction"`
	Prompt json.RawMessage `json:"chunkedPrompt"`
}

type studioChunk struct {
	Text    str    `json:"text"`
	Role    str    `json:"role"`
	Thought truth  `json:"isThought"`
	Finish  str    `json:"finishReason"`
	Created moment `json:"createTime"`
	Inline  struct {
		Type str `json:"mimeType"`
		Data str `json:"data"`
	} `json:"inlineFile"`
}

// aiStudio parses a chat of Google AI Studio: a list of chunks, several of which may form one answer.
func aiStudio(raw json.RawMessage) *draft {
	d := newDraft(SourceAIStudio)
	var p studioPrompt
	var prompt struct {
		Chunks json.RawMessage `json:"chunks"`
	}
	if json.Unmarshal(raw, &p) != nil || isNull(p.Prompt) || json.Unmarshal(p.Prompt, &prompt) != nil {
		d.skip = "Not an AI Studio chat: it has no list of messages."
		return d
	}
	d.Provider, d.Model = "google", strings.TrimPrefix(string(p.Settings.Model), "models/")
	if d.SystemPrompt = string(p.System.Text); d.SystemPrompt == "" {
		d.SystemPrompt = strings.Join(lists.Map(p.System.Parts, allText), "")
	}
	var chunks list
	_ = chunks.UnmarshalJSON(prompt.Chunks)
	for _, c := range chunks {
		n, last := studioNode(d, c), d.last()
		if n.kind == kindUser && last != nil && last.kind == kindUser { // a file and the question about it
			last.blocks = append(last.blocks, n.blocks...)
			continue
		}
		d.follow(n)
	}
	return d
}

func studioNode(d *draft, raw json.RawMessage) node {
	var c studioChunk
	if json.Unmarshal(raw, &c) != nil {
		return node{kind: kindHidden, blocks: chat.Blocks{d.unknown(raw)}}
	}
	n := node{at: c.Created, provider: "google", model: d.Model, incomplete: c.Finish == "MAX_TOKENS", blocks: texts(string(c.Text))}
	switch {
	case bool(c.Thought):
		n.blocks = chat.Blocks{chat.Reasoning{Provider: string(d.Source), Summary: string(c.Text), Raw: append(json.RawMessage(nil), raw...)}}
	case c.Inline.Data != "":
		image := imageBlock(string(c.Inline.Type), string(c.Inline.Data))
		if len(image) == 0 { // another kind of file
			image = chat.Blocks{d.unknown(raw)}
		}
		n.blocks = append(n.blocks, image...)
	}
	if len(n.blocks) == 0 && len(members(raw)) > 1 { // a file in Drive, code that was run
		n.blocks = chat.Blocks{d.unknown(raw)}
	}
	switch c.Role {
	case "user":
		n.kind, n.model, n.provider, n.incomplete = kindUser, "", "", false
	case "model":
		n.kind = kindAssistant
	default:
		n.kind, n.blocks = kindHidden, chat.Blocks{d.unknown(raw)}
	}
	return n
}
