package transfer

import (
	"cmp"
	"encoding/json"
	"html"
	"regexp"
	"strings"

	"contextinfinity/backend/chat"
)

type webuiEntry struct {
	ID        str             `json:"id"`
	Title     str             `json:"title"`
	Chat      json.RawMessage `json:"chat"`
	CreatedAt moment          `json:"created_at"`
	UpdatedAt moment          `json:"updated_at"`
	Archived  truth           `json:"archived"`
	Pinned    truth           `json:"pinned"`
	Folder    str             `json:"folder_id"`
}

type webuiChat struct {
	Title   str             `json:"title"`
	Models  list            `json:"models"`
	System  str             `json:"system"`
	Params  json.RawMessage `json:"params"`
	History struct {
		Current  str             `json:"currentId"`
		Messages json.RawMessage `json:"messages"`
	} `json:"history"`
	Messages list `json:"messages"`
}

type webuiMessage struct {
	ID      str             `json:"id"`
	Parent  str             `json:"parentId"`
	Role    str             `json:"role"`
	Content json.RawMessage `json:"content"`
	Model   str             `json:"model"`
	Time    moment          `json:"timestamp"`
	Done    *bool           `json:"done"`
	Output  list            `json:"output"`
	Files   list            `json:"files"`
	Error   json.RawMessage `json:"error"`
	Usage   json.RawMessage `json:"usage"`
}

// openWebUI parses a chat of Open WebUI: a tree of messages by id, or, in old versions, a list.
func openWebUI(raw json.RawMessage) *draft {
	d := newDraft(SourceOpenWebUI)
	var e webuiEntry
	var c webuiChat
	if json.Unmarshal(raw, &e) != nil {
		d.skip = "Not an Open WebUI chat."
		return d
	}
	d.ID, d.Title, d.CreatedAt, d.UpdatedAt = string(e.ID), string(e.Title), d.date(e.CreatedAt), d.date(e.UpdatedAt)
	d.Archived, d.Pinned, d.Folder = bool(e.Archived), bool(e.Pinned), string(e.Folder)
	if isNull(e.Chat) && !isNull(valueOf(raw, "history")) { // a chat without its entry in the list
		e.Chat = raw
	}
	if isNull(e.Chat) {
		d.skip = "It has no list of messages."
		return d
	}
	if json.Unmarshal(e.Chat, &c) != nil && isNull(c.History.Messages) {
		d.skip = "Its messages cannot be read."
		return d
	}
	d.Title = cmp.Or(d.Title, string(c.Title))
	if len(c.Models) > 0 {
		d.Model, _ = textOf(c.Models[0])
	}
	var params struct {
		System str `json:"system"`
	}
	_ = json.Unmarshal(c.Params, &params)
	if d.SystemPrompt = string(c.System); d.SystemPrompt == "" {
		d.SystemPrompt = string(params.System)
	}
	d.leaf = string(c.History.Current)
	if tree := members(c.History.Messages); len(tree) > 0 {
		for _, m := range tree {
			d.add(webuiNode(d, m.key, m.value))
		}
		return d
	}
	for _, m := range c.Messages {
		n := webuiNode(d, "", m)
		n.parent = ""
		d.follow(n)
	}
	return d
}

func webuiNode(d *draft, key string, raw json.RawMessage) node {
	var m webuiMessage
	if json.Unmarshal(raw, &m) != nil {
		n := d.hidden(raw)
		n.key = key
		return n
	}
	n := node{
		key:        cmp.Or(key, string(m.ID)),
		parent:     string(m.Parent),
		at:         m.Time,
		model:      string(m.Model),
		incomplete: m.Done != nil && !*m.Done,
		usage:      readUsage(m.Usage),
	}
	switch d.speak(&n, m.Role, raw); n.kind {
	case kindHidden:
		return n
	case kindAssistant:
		n.blocks = webuiAnswer(d, m)
	default:
		n.blocks = parts(d.Source, m.Content)
	}
	for _, f := range m.Files {
		n.blocks = append(n.blocks, webuiFile(d, f)...)
	}
	if !isNull(m.Error) && string(m.Error) != "false" {
		n.failed, n.failure = true, allText(m.Error)
	}
	return n
}

// webuiAnswer uses an answer's items if there are any, otherwise its text, which contains them as <details>.
func webuiAnswer(d *draft, m webuiMessage) chat.Blocks {
	if len(m.Output) > 0 {
		var out chat.Blocks
		for _, item := range m.Output {
			out = append(out, parts(d.Source, item)...)
		}
		if out.RenderedText() != "" {
			return out
		}
		text, _ := textOf(m.Content)
		return append(out, texts(details.ReplaceAllString(text, ""))...)
	}
	text, ok := textOf(m.Content)
	if !ok {
		return parts(d.Source, m.Content)
	}
	return fromDetails(d, text)
}

var (
	details   = regexp.MustCompile(`(?s)<details\s+type="(reasoning|tool_calls|code_interpreter)"([^>]*)>(.*?)</details>\s*`)
	summary   = regexp.MustCompile(`(?s)^\s*<summary>(.*?)</summary>\s*`)
	attribute = regexp.MustCompile(`([A-Za-z_]+)="([^"]*)"`)
)

// attributes returns the attributes in the tag of an element.
func attributes(tag string) map[string]string {
	values := map[string]string{}
	for _, a := range attribute.FindAllStringSubmatch(tag, -1) {
		values[a[1]] = html.UnescapeString(a[2])
	}
	return values
}

// fromDetails splits a text at its <details>, which contain reasoning and tool calls.
func fromDetails(d *draft, text string) chat.Blocks {
	var out chat.Blocks
	at := 0
	for _, m := range details.FindAllStringSubmatchIndex(text, -1) {
		out = append(out, texts(text[at:m[0]])...)
		at = m[1]
		element, kind, body := text[m[0]:m[1]], text[m[2]:m[3]], summary.ReplaceAllString(text[m[6]:m[7]], "")
		raw, _ := chat.MarshalJSON(element)
		values := attributes(text[m[4]:m[5]])
		switch {
		case kind == "reasoning":
			out = append(out, chat.Reasoning{Provider: string(d.Source), Summary: unquote(body), Raw: raw})
		case kind == "tool_calls" && values["name"] != "":
			result := values["result"]
			if result == "" {
				result = html.UnescapeString(body)
			}
			var decoded string
			if json.Unmarshal([]byte(result), &decoded) == nil {
				result = decoded
			}
			out = append(out,
				chat.ToolUse{ToolUseID: values["id"], Name: values["name"], Input: arguments(chat.RawJSON([]byte(values["arguments"])))},
				chat.ToolResult{ToolUseID: values["id"], Content: notNil(texts(result))})
		default:
			out = append(out, d.unknown(raw))
		}
	}
	return append(out, texts(text[at:])...)
}

// unquote undoes quoting as Markdown and escaping as HTML.
func unquote(body string) string {
	lines := strings.Split(strings.TrimSpace(html.UnescapeString(body)), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimPrefix(strings.TrimPrefix(l, ">"), " ")
	}
	return strings.Join(lines, "\n")
}

// webuiFile is an attached file: an image by its data, a document by its text.
func webuiFile(d *draft, raw json.RawMessage) chat.Blocks {
	var f struct {
		Type str `json:"type"`
		URL  str `json:"url"`
		Name str `json:"name"`
		File struct {
			Name str `json:"filename"`
			Data struct {
				Content str `json:"content"`
			} `json:"data"`
			Meta struct {
				Type str `json:"content_type"`
			} `json:"meta"`
		} `json:"file"`
	}
	_ = json.Unmarshal(raw, &f) // unexpected fields are left empty
	if f.Type == "image" {
		if image := dataImage(string(f.URL)); image != nil {
			return image
		}
	}
	return chat.Blocks{d.attached(cmp.Or(f.Name, f.File.Name), f.File.Meta.Type, f.File.Data.Content, raw)}
}
