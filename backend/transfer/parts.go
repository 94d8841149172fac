package transfer

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"contextinfinity/backend/chat"
)

// str accepts any JSON where a string is expected: a number or literal as written, anything else as no text. A field
// of an unexpected type never costs a message.
type str string

// UnmarshalJSON never fails.
func (s *str) UnmarshalJSON(data []byte) error {
	var text string
	switch {
	case len(data) == 0 || data[0] == '{' || data[0] == '[' || string(data) == "null":
	case json.Unmarshal(data, &text) == nil:
		*s = str(text)
	default:
		*s = str(data)
	}
	return nil
}

// truth is true only for the JSON literal true.
type truth bool

// UnmarshalJSON never fails.
func (f *truth) UnmarshalJSON(data []byte) error {
	*f = string(data) == "true"
	return nil
}

// count is a positive number, such as a number of tokens; anything else is zero.
type count int

// UnmarshalJSON never fails.
func (c *count) UnmarshalJSON(data []byte) error {
	if n, err := strconv.ParseFloat(string(data), 64); err == nil && n > 0 && n < 1e12 {
		*c = count(n)
	}
	return nil
}

// list is the values of an array; anything else is empty.
type list []json.RawMessage

// UnmarshalJSON never fails.
func (l *list) UnmarshalJSON(data []byte) error {
	var raws []json.RawMessage
	if len(data) > 0 && data[0] == '[' && json.Unmarshal(data, &raws) == nil {
		*l = raws
	}
	return nil
}

func isNull(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || string(raw) == "null"
}

// part is a piece of a message's content, in the forms of all sources.
type part struct {
	Type        str             `json:"type"`
	Text        json.RawMessage `json:"text"` // a string, or {"value"}
	Annotations list            `json:"annotations"`
	Citations   list            `json:"citations"`
	Thinking    str             `json:"thinking"`
	Think       str             `json:"think"`
	Data        str             `json:"data"`
	Encrypted   str             `json:"encrypted_content"`
	Summary     json.RawMessage `json:"summary"`
	Content     json.RawMessage `json:"content"`
	ID          str             `json:"id"`
	CallID      str             `json:"call_id"`
	ToolUseID   str             `json:"tool_use_id"`
	Name        str             `json:"name"`
	Input       json.RawMessage `json:"input"`
	Arguments   json.RawMessage `json:"arguments"`
	Action      json.RawMessage `json:"action"`
	Output      json.RawMessage `json:"output"`
	IsError     truth           `json:"is_error"`
	Source      json.RawMessage `json:"source"`
	ImageURL    json.RawMessage `json:"image_url"`
	Title       str             `json:"title"`
	Refusal     str             `json:"refusal"`
	ToolCall    json.RawMessage `json:"tool_call"`
}

// parts converts a content to blocks: a text, a piece, or a list of both.
func parts(source Source, raw json.RawMessage) chat.Blocks { return partsAt(source, raw, 0) }

// maxNested limits contents inside contents; deeper ones are kept raw, because each level is parsed again.
const maxNested = 6

func partsAt(source Source, raw json.RawMessage, level int) chat.Blocks {
	raw = bytes.TrimSpace(raw)
	if isNull(raw) {
		return nil
	}
	switch raw[0] {
	case '"':
		var s str
		_ = s.UnmarshalJSON(raw)
		return texts(string(s))
	case '[':
		var items list
		_ = items.UnmarshalJSON(raw)
		var out chat.Blocks
		for _, item := range items {
			if len(item) > 0 && item[0] == '{' {
				out = append(out, onePart(source, item, level)...)
			} else if len(item) > 0 && item[0] == '"' {
				out = append(out, partsAt(source, item, level)...)
			} else if !isNull(item) {
				out = append(out, unknownBlock(source, item))
			}
		}
		return out
	case '{':
		return onePart(source, raw, level)
	}
	return chat.Blocks{unknownBlock(source, raw)}
}

// texts is a text as blocks: none if it has no visible character.
func texts(s string) chat.Blocks {
	if strings.TrimSpace(s) == "" {
		return nil
	}
	return chat.Blocks{chat.Text{Text: s}}
}

func onePart(source Source, raw json.RawMessage, level int) chat.Blocks {
	var p part
	if level > maxNested || json.Unmarshal(raw, &p) != nil {
		return chat.Blocks{unknownBlock(source, raw)}
	}
	var out chat.Blocks
	switch p.Type {
	case "text", "input_text", "output_text":
		text, ok := textOf(p.Text)
		if !ok {
			return chat.Blocks{unknownBlock(source, raw)}
		}
		out = texts(text)
		if notes := append(p.Annotations, p.Citations...); len(notes) > 0 && len(out) > 0 {
			out[0] = chat.Text{Text: text, Annotations: notes}
		}
		return out
	case "thinking", "redacted_thinking", "think", "reasoning":
		return chat.Blocks{p.reasoning(source, raw)}
	case "message":
		return partsAt(source, p.Content, level+1)
	case "refusal":
		return chat.Blocks{chat.Refusal{Text: string(p.Refusal)}}
	case "image", "image_url", "input_image":
		out = p.image()
	case "document":
		out = p.document()
	default:
		out = p.tool(source, level+1)
	}
	if len(out) == 0 {
		return chat.Blocks{unknownBlock(source, raw)}
	}
	return out
}

// textOf is the text in "text": a string, or an object with it as value.
func textOf(raw json.RawMessage) (string, bool) {
	if isNull(raw) {
		return "", true
	}
	var o struct{ Value *string }
	switch raw[0] {
	case '"':
		s, end := textAt(raw, 0)
		return s, end > 0
	case '{':
		if json.Unmarshal(raw, &o) == nil && o.Value != nil {
			return *o.Value, true
		}
	}
	return "", false
}

// reasoning keeps the complete piece in addition to its text. Its provider is the source, a name that no adapter has, so it is
// never sent back as a model's own reasoning.
func (p part) reasoning(source Source, raw json.RawMessage) chat.Block {
	var pieces []string
	for _, s := range []string{string(p.Thinking), string(p.Think)} {
		if s != "" {
			pieces = append(pieces, s)
		}
	}
	for _, value := range []json.RawMessage{p.Summary, p.Text, p.Content} {
		if s := allText(value); s != "" {
			pieces = append(pieces, s)
		}
	}
	return chat.Reasoning{
		Provider: string(source), Summary: strings.Join(pieces, "\n\n"),
		EncryptedContent: string(p.Encrypted + p.Data), Raw: bytes.Clone(raw),
	}
}

// allText joins the texts of a value: a string, a piece with a text, or a list of both.
func allText(raw json.RawMessage) string {
	if isNull(raw) {
		return ""
	}
	switch raw[0] {
	case '"':
		s, _ := textOf(raw)
		return s
	case '{':
		var p struct{ Text, Summary, Content, Output json.RawMessage }
		if json.Unmarshal(raw, &p) != nil {
			return ""
		}
		for _, value := range []json.RawMessage{p.Text, p.Content, p.Summary, p.Output} {
			if s, ok := textOf(value); ok && s != "" {
				return s
			}
		}
	case '[':
		var items list
		_ = items.UnmarshalJSON(raw)
		var pieces []string
		for _, item := range items {
			if len(item) > 0 && item[0] != '[' {
				if s := allText(item); s != "" {
					pieces = append(pieces, s)
				}
			}
		}
		return strings.Join(pieces, "\n\n")
	}
	return ""
}

// tool converts a call or a result; nothing if the piece is neither.
func (p part) tool(source Source, level int) chat.Blocks {
	id := string(p.CallID)
	id = cmp.Or(id, string(p.ID))
	switch t := string(p.Type); t {
	case "tool_use", "server_tool_use", "mcp_tool_use":
		return chat.Blocks{chat.ToolUse{ToolUseID: id, Name: string(p.Name), Input: chat.RawJSON(p.Input)}}
	case "function_call", "custom_tool_call":
		input := p.Arguments
		if isNull(input) {
			input = p.Input
		}
		return chat.Blocks{chat.ToolUse{ToolUseID: id, Name: string(p.Name), Input: arguments(input)}}
	case "local_shell_call", "web_search_call":
		return chat.Blocks{chat.ToolUse{ToolUseID: id, Name: strings.TrimSuffix(t, "_call"), Input: chat.RawJSON(p.Action)}}
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		return chat.Blocks{chat.ToolResult{ToolUseID: string(p.CallID), Content: output(source, p.Output, level), IsError: bool(p.IsError)}}
	case "tool_call":
		return libreCall(source, p.ToolCall, level)
	default:
		if t != "tool_result" && !strings.HasSuffix(t, "_tool_result") {
			return nil
		}
		return chat.Blocks{chat.ToolResult{ToolUseID: string(p.ToolUseID), Content: notNil(partsAt(source, p.Content, level)), IsError: bool(p.IsError)}}
	}
}

// arguments returns a call's arguments. They are JSON, mostly inside a string.
func arguments(raw json.RawMessage) json.RawMessage {
	if text, ok := textOf(raw); ok {
		return chat.RawJSON([]byte(text))
	}
	return chat.RawJSON(raw)
}

// output is a result's content: a text, a list of pieces, or an unknown object, which becomes its JSON text.
func output(source Source, raw json.RawMessage, level int) chat.Blocks {
	raw = bytes.TrimSpace(raw)
	if len(raw) > 0 && raw[0] == '{' {
		var o struct {
			Content json.RawMessage `json:"content"`
			Output  json.RawMessage `json:"output"`
			Type    str             `json:"type"`
		}
		_ = json.Unmarshal(raw, &o)
		for _, value := range []json.RawMessage{o.Content, o.Output} {
			if s, ok := textOf(value); ok && s != "" && o.Type == "" {
				return chat.Blocks{chat.Text{Text: s}, unknownBlock(source, raw)}
			}
		}
		if o.Type == "" {
			return chat.Blocks{chat.Text{Text: string(raw)}}
		}
	}
	return notNil(partsAt(source, raw, level))
}

// notNil makes the content of an empty result an empty list.
func notNil(bs chat.Blocks) chat.Blocks {
	if bs == nil {
		return chat.Blocks{}
	}
	return bs
}

// embedded is the source of an image or a document.
type embedded struct {
	Type      str `json:"type"`
	MediaType str `json:"media_type"`
	Data      str `json:"data"`
}

// image is an image with its data; nothing if the data is elsewhere.
func (p part) image() chat.Blocks {
	var source embedded
	if json.Unmarshal(p.Source, &source) == nil && source.Data != "" {
		return imageBlock(string(source.MediaType), string(source.Data))
	}
	var link struct {
		URL str `json:"url"`
	}
	address, _ := textOf(p.ImageURL)
	if address == "" && json.Unmarshal(p.ImageURL, &link) == nil {
		address = string(link.URL)
	}
	return dataImage(address)
}

// dataImage is the image in a data: address; nothing for other addresses.
func dataImage(address string) chat.Blocks {
	rest, ok := strings.CutPrefix(address, "data:")
	if !ok {
		return nil
	}
	media, data, ok := strings.Cut(rest, ";base64,")
	if !ok {
		return nil
	}
	media, _, _ = strings.Cut(media, ";")
	return imageBlock(media, data)
}

// imageBlock returns nothing if the data does not match its type.
func imageBlock(media, data string) chat.Blocks {
	if !strings.HasPrefix(media, "image/") {
		return nil
	}
	n, err := io.Copy(io.Discard, base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
	if err != nil || n == 0 {
		return nil
	}
	raw, err := chat.MarshalJSON(map[string]string{"data": data})
	if err != nil {
		return nil
	}
	return chat.Blocks{chat.Image{MediaType: media, Source: raw}}
}

// document returns a document with a text as source; nothing for other documents.
func (p part) document() chat.Blocks {
	var source embedded
	if json.Unmarshal(p.Source, &source) != nil || source.Type != "text" || source.Data == "" {
		return nil
	}
	return chat.Blocks{document(string(p.Title), string(source.MediaType), string(source.Data))}
}

// document is an attachment whose text is in the export. File and Tokens are set when it is stored.
func document(name, media, text string) chat.Block {
	name = cmp.Or(name, "attachment")
	if media == "" || !strings.Contains(media, "/") {
		media = "text/plain"
	}
	return chat.Document{Name: name, MediaType: media, Text: text, Complete: true}
}
