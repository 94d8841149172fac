package transfer

import (
	"bytes"
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
	Prompt struct {
		Chunks list `json:"chunks"`
	} `json:"chunkedPrompt"`
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
	if json.Unmarshal(raw, &p) != nil || isNull(valueOf(raw, "chunkedPrompt")) {
		d.skip = "Not an AI Studio chat: it has no list of messages."
		return d
	}
	d.Provider, d.Model = "google", strings.TrimPrefix(string(p.Settings.Model), "models/")
	if d.SystemPrompt = string(p.System.Text); d.SystemPrompt == "" {
		d.SystemPrompt = strings.Join(lists.Map(p.System.Parts, allText), "")
	}
	for _, c := range p.Prompt.Chunks {
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
		return d.hidden(raw)
	}
	n := node{at: c.Created, provider: "google", model: d.Model, incomplete: c.Finish == "MAX_TOKENS", blocks: texts(string(c.Text))}
	switch {
	case bool(c.Thought):
		n.blocks = chat.Blocks{chat.Reasoning{Provider: string(d.Source), Summary: string(c.Text), Raw: bytes.Clone(raw)}}
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
	d.speak(&n, c.Role, raw)
	return n
}
