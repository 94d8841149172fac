package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Block is one structured unit of a message (SRD 5.1). The implementations are Text, ToolUse, ToolResult, Image,
// Reasoning, Refusal, Document, Memory, Edit and Unknown; in JSON each has its name in "type".
type Block interface {
	blockType() string
}

// Text is visible prose.
type Text struct {
	Text        string            `json:"text"`
	Annotations []json.RawMessage `json:"annotations,omitempty"`
	// Phase is OpenAI's label of a message item (commentary, final_answer); empty elsewhere.
	Phase string `json:"phase,omitempty"`
}

// ToolUse is a model's request to run a tool.
type ToolUse struct {
	ToolUseID string          `json:"tool_use_id"` // Anthropic tool_use.id or OpenAI call_id
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"` // always valid JSON; other text is wrapped in a JSON string
	// Extra are other members of the call that Provider needs back (a signature of its reasoning, its own id), as an
	// object. It is opaque, sent only to Provider and only while the turn of the call runs. Provider is also set if
	// ToolUseID has a form that other providers refuse.
	Provider string          `json:"provider,omitempty"`
	Extra    json.RawMessage `json:"extra,omitempty"`
}

// ToolResult answers a ToolUse; the two are never separated (SPEC 2.11).
type ToolResult struct {
	ToolUseID string `json:"tool_use_id"`
	Content   Blocks `json:"content"`
	IsError   bool   `json:"is_error"`
}

// UnknownOutcome is the text of a result that tells the model that nobody knows how the call ended.
const UnknownOutcome = "The outcome of this call is unknown: it was started, and no result came. It may or may not have had its effects. " +
	"Do not repeat it before you have verified what it did."

// OutcomeUnknown reports whether the result says that the outcome is unknown, which is not a failure.
func (r ToolResult) OutcomeUnknown() bool {
	return r.IsError && r.Content.RenderedText() == UnknownOutcome
}

// Image is an image by media type and source, the source being
// {"data": base64} or {"url": string}. Its name is never sent.
type Image struct {
	Name      string          `json:"name,omitempty"` // of its file, if known
	MediaType string          `json:"media_type"`
	Source    json.RawMessage `json:"source"`
}

// NewImage returns an image with its bytes included.
func NewImage(media string, data []byte) Image {
	source, _ := json.Marshal(map[string][]byte{"data": data}) // bytes always encode
	return Image{MediaType: media, Source: source}
}

// Data returns the image in base64. It is empty for a remote image, which is not fetched automatically (SPEC 13).
func (i Image) Data() string {
	var source struct {
		Data string `json:"data"`
	}
	_ = json.Unmarshal(i.Source, &source) // another program's source may be anything
	return source.Data
}

// ImageType detects an image's media type from its first bytes; empty if it is not accepted by any model.
func ImageType(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(head, []byte("GIF87a")), bytes.HasPrefix(head, []byte("GIF89a")):
		return "image/gif"
	case len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP":
		return "image/webp"
	}
	return ""
}

// Reasoning is a model's reasoning. EncryptedContent and Raw are opaque, sent only to Provider, and dropped for
// others (SPEC 3).
type Reasoning struct {
	Provider         string          `json:"provider,omitempty"`
	EncryptedContent string          `json:"encrypted_content,omitempty"`
	Summary          string          `json:"summary,omitempty"` // readable text
	Raw              json.RawMessage `json:"raw,omitempty"`
}

// Refusal is the provider's explanation for declining.
type Refusal struct {
	Text string `json:"text"`
}

// Document is a document attached to a message. The model sees Text, which is fixed when the message is accepted: the
// whole document or, if it is too large for a prompt, its beginning and the most relevant parts. File contains the
// whole document, and memory finds all of it once it is indexed.
type Document struct {
	File      FileID `json:"file_id"`
	Name      string `json:"name"`
	MediaType string `json:"media_type"`
	Tokens    int    `json:"tokens"` // of the whole document
	Text      string `json:"text"`
	Complete  bool   `json:"whole"` // Text is the whole document
}

// Memory is a chunk that the user attached to a message: it is packed into that turn's memory block before search
// results. It is not part of the following conversation.
type Memory struct {
	Chunk ChunkID `json:"chunk_id"`
}

// Edit separates the two parts of a draft while an earlier message is being rewritten: the blocks before it are the
// draft that it replaced, those after it the new version of that turn's message. No other message contains it.
type Edit struct {
	Turn TurnID `json:"turn_id"`
	Seq  int64  `json:"turn_seq"`
}

// Unknown keeps content without a matching block type, byte for byte.
type Unknown struct {
	Provider string
	Raw      []byte
}

func (Text) blockType() string       { return "text" }
func (ToolUse) blockType() string    { return "tool_use" }
func (ToolResult) blockType() string { return "tool_result" }
func (Image) blockType() string      { return "image" }
func (Reasoning) blockType() string  { return "reasoning" }
func (Refusal) blockType() string    { return "refusal" }
func (Document) blockType() string   { return "document" }
func (Memory) blockType() string     { return "memory" }
func (Edit) blockType() string       { return "edit" }
func (Unknown) blockType() string    { return "unknown" }

// unknownJSON is the JSON form of Unknown. Raw is for readers; RawText has the exact bytes if a JSON encoder could
// change them.
type unknownJSON struct {
	Provider string          `json:"provider"`
	Raw      json.RawMessage `json:"raw,omitempty"`
	RawText  []byte          `json:"raw_text,omitempty"` // base64 in JSON
}

// MarshalJSON keeps Raw exact: encoders compact and escape raw JSON, so bytes that would change are stored
// separately.
func (u Unknown) MarshalJSON() ([]byte, error) {
	w := unknownJSON{Provider: u.Provider}
	if json.Valid(u.Raw) {
		w.Raw = u.Raw
		var stable bytes.Buffer
		_ = json.Compact(&stable, u.Raw)
		if !bytes.Equal(stable.Bytes(), u.Raw) || bytes.ContainsAny(u.Raw, "<>&\u2028\u2029") {
			w.RawText = u.Raw
		}
	} else {
		w.RawText = u.Raw
	}
	return json.Marshal(w)
}

// UnmarshalJSON restores the exact bytes.
func (u *Unknown) UnmarshalJSON(data []byte) error {
	var w unknownJSON
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	u.Provider, u.Raw = w.Provider, []byte(w.Raw)
	if w.RawText != nil {
		u.Raw = w.RawText
	}
	return nil
}

// Blocks is an ordered list of blocks with a discriminated JSON form.
type Blocks []Block

// AtEdit returns the two parts of a draft in which a message is being rewritten. In any other message, ok is false and
// all blocks are in the first part.
func (bs Blocks) AtEdit() (before, edited Blocks, edit Edit, ok bool) {
	for i, b := range bs {
		if edit, ok = b.(Edit); ok {
			return bs[:i:i], bs[i+1:], edit, true
		}
	}
	return bs, nil, edit, false
}

// MarshalJSON writes each block as an object that begins with its "type".
func (bs Blocks) MarshalJSON() ([]byte, error) {
	out := []byte{'['}
	for i, b := range bs {
		if i > 0 {
			out = append(out, ',')
		}
		obj, err := marshalTyped(b.blockType(), b)
		if err != nil {
			return nil, err
		}
		out = append(out, obj...)
	}
	return append(out, ']'), nil
}

// UnmarshalJSON reads what MarshalJSON wrote. A block of an unknown type becomes Unknown, so nothing written by a
// newer program is lost.
func (bs *Blocks) UnmarshalJSON(data []byte) error {
	var raws []json.RawMessage
	if err := json.Unmarshal(data, &raws); err != nil {
		return err
	}
	out := make(Blocks, 0, len(raws))
	for _, raw := range raws {
		b, err := unmarshalBlock(raw)
		if err != nil {
			return err
		}
		out = append(out, b)
	}
	*bs = out
	return nil
}

func unmarshalBlock(raw json.RawMessage) (Block, error) {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, err
	}
	switch head.Type {
	case "text":
		return decodeAs[Text](raw)
	case "tool_use":
		return decodeAs[ToolUse](raw)
	case "tool_result":
		return decodeAs[ToolResult](raw)
	case "image":
		return decodeAs[Image](raw)
	case "reasoning":
		return decodeAs[Reasoning](raw)
	case "refusal":
		return decodeAs[Refusal](raw)
	case "document":
		return decodeAs[Document](raw)
	case "memory":
		return decodeAs[Memory](raw)
	case "edit":
		return decodeAs[Edit](raw)
	case "unknown":
		return decodeAs[Unknown](raw)
	}
	return Unknown{Provider: "contextinfinity", Raw: bytes.Clone(raw)}, nil
}

func decodeAs[T any](raw json.RawMessage) (T, error) {
	var v T
	err := json.Unmarshal(raw, &v)
	return v, err
}

// marshalTyped encodes v, a struct, with "type" as its first member. HTML characters are not escaped, because these
// bytes are hashed, stored and shown.
func marshalTyped(name string, v any) ([]byte, error) {
	body, err := MarshalJSON(v)
	if err != nil {
		return nil, err
	}
	if len(body) < 2 || body[0] != '{' {
		return nil, fmt.Errorf("chat: %s does not encode as an object", name)
	}
	out := append([]byte(`{"type":"`), name...)
	out = append(out, '"')
	if len(body) > 2 {
		out = append(out, ',')
	}
	return append(out, body[1:]...), nil
}

// MarshalJSON encodes v compactly without escaping HTML characters. Every stored or hashed JSON text is written with
// it.
func MarshalJSON(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte{'\n'}), nil
}

// RawJSON returns b if it is valid JSON, otherwise b as a JSON string, so that garbled arguments are kept and can be
// encoded.
func RawJSON(b []byte) json.RawMessage {
	if len(bytes.TrimSpace(b)) == 0 {
		return json.RawMessage("{}")
	}
	if json.Valid(b) {
		return json.RawMessage(bytes.Clone(b))
	}
	s, _ := MarshalJSON(strings.ToValidUTF8(string(b), "\uFFFD"))
	return s
}
