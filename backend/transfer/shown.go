package transfer

import (
	"cmp"
	"encoding/json"
	"strings"
	"unicode"

	"contextinfinity/backend/chat"
)

// show sets the form of visible messages with documents that a call writes, and with content of unknown types: their text
// is shown and found, and the content is kept with it.
func (d *draft) show() {
	for i := range d.nodes {
		n := &d.nodes[i]
		f := n.form()
		if f.kind < kindUser || n.failed {
			continue
		}
		if blocks, changed := readable(f.blocks, f.kind); changed {
			n.showAs(blocks)
		}
	}
}

// form returns how a message is shown.
func (n *node) form() form {
	if n.now != nil {
		return *n.now
	}
	return form{kind: n.kind, blocks: n.blocks}
}

// shellCall is a command that a person ran in the program, and what it put out, each if it is known.
func shellCall(command string, output ...string) (out chat.Blocks) {
	if command != "" {
		input, _ := chat.MarshalJSON(map[string]string{"command": command})
		out = append(out, chat.ToolUse{Name: "shell", Input: input})
	}
	if text := strings.TrimSpace(strings.Join(output, "\n")); text != "" {
		out = append(out, chat.ToolResult{Content: texts(text)})
	}
	return out
}

// showAs changes the blocks that are shown of a message.
func (n *node) showAs(blocks chat.Blocks) {
	f := n.form()
	f.blocks = blocks
	n.now = &f
}

// hide makes a message that earlier versions showed hidden.
func (n *node) hide(raw chat.Block) { n.now = &form{kind: kindHidden, kept: chat.Blocks{raw}} }

// clean shows the texts of a message without what its program wrote into them. references are the sources that it
// removes from the text.
func (n *node) clean(clean func(string) string, references list) {
	if blocks, changed := cleaned(n.form().blocks, clean, references); changed {
		n.showAs(blocks)
	}
}

func cleaned(blocks chat.Blocks, clean func(string) string, references list) (out chat.Blocks, changed bool) {
	for _, b := range blocks {
		switch x := b.(type) {
		case chat.Text:
			text := clean(x.Text)
			if text == x.Text {
				break
			}
			changed = true
			if strings.TrimSpace(text) == "" {
				continue
			}
			x.Text, x.Annotations = text, append(x.Annotations[:len(x.Annotations):len(x.Annotations)], references...)
			b, references = x, nil
		case chat.ToolResult:
			content, c := cleaned(x.Content, clean, references)
			if c {
				x.Content, changed = notNil(content), true
			}
			b = x
		}
		out = append(out, b)
	}
	return out, changed
}

// readable puts the text of content of an unknown type before it. In a person's message that is only what the content
// itself calls text.
func readable(blocks chat.Blocks, k kind) (out chat.Blocks, changed bool) {
	for i, b := range blocks {
		switch x := b.(type) {
		case chat.Unknown:
			text := unknownText(x.Raw, k == kindUser)
			if i > 0 && text != "" {
				if before, ok := blocks[i-1].(chat.Text); ok && strings.Contains(text, strings.TrimSpace(before.Text)) {
					break // its text is there already
				}
			}
			if text != "" {
				out, changed = append(out, chat.Text{Text: text}), true
			}
		case chat.ToolUse:
			if call, text, ok := written(x); ok {
				out, changed = append(out, call, text), true
				continue
			}
		case chat.ToolResult:
			content, c := readable(x.Content, kindTool)
			if c {
				x.Content, changed = content, true
			}
			b = x
		}
		out = append(out, b)
	}
	return out, changed
}

// textMembers are the members of objects whose values are text, however short it is.
var textMembers = map[string]bool{
	"text": true, "content": true, "title": true, "url": true, "output": true, "result": true, "query": true, "name": true,
	"message": true, "transcript": true, "summary": true, "prompt": true, "code": true, "stdout": true, "stderr": true,
}

// unknownText is the text in an object of an unknown type: what its members call text, and other values with several
// words. If only is set, it is the member called text or content; nothing if there is none.
func unknownText(raw json.RawMessage, only bool) string {
	if only {
		for _, key := range []string{"text", "content"} {
			if s, ok := textOf(valueOf(raw, key)); ok && strings.TrimSpace(s) != "" {
				return strings.TrimSpace(s)
			}
		}
		return ""
	}
	var lines []string
	collectText(raw, "", 0, &lines)
	return strings.Join(lines, "\n")
}

func collectText(raw json.RawMessage, key string, level int, lines *[]string) {
	if level > maxNested || isNull(raw) {
		return
	}
	switch raw[0] {
	case '{':
		for _, m := range members(raw) {
			collectText(m.value, m.key, level+1, lines)
		}
	case '[':
		var items list
		_ = items.UnmarshalJSON(raw)
		for _, item := range items {
			collectText(item, key, level+1, lines)
		}
	case '"':
		s, _ := textOf(raw)
		if s = strings.TrimSpace(s); level > 0 && s != "" && (textMembers[key] && !isOpaque(s) || isProse(s)) {
			*lines = append(*lines, s)
		}
	}
}

// isProse reports whether a text has several words, or is in a script without spaces.
func isProse(s string) bool {
	return strings.ContainsFunc(s, unicode.IsLetter) && strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r >= '\u2e80' })
}

// isOpaque reports whether a text is data rather than words.
func isOpaque(s string) bool { return len(s) > 500 && !isProse(s) }

// written takes the text of the document that a call writes, a canvas or an artifact, out of its arguments.
func written(call chat.ToolUse) (chat.ToolUse, chat.Text, bool) {
	var in struct {
		Title    str `json:"title"`
		Name     str `json:"name"`
		Type     str `json:"type"`
		Language str `json:"language"`
		Content  str `json:"content"`
	}
	isDocument := call.Name == "canmore.create_textdoc" || call.Name == "artifacts"
	if !isDocument || json.Unmarshal(call.Input, &in) != nil || strings.TrimSpace(string(in.Content)) == "" {
		return call, chat.Text{}, false
	}
	rest := []byte{'{'}
	for _, m := range members(call.Input) {
		if m.key == "content" {
			continue
		}
		if len(rest) > 1 {
			rest = append(rest, ',')
		}
		key, _ := chat.MarshalJSON(m.key)
		rest = append(append(append(rest, key...), ':'), m.value...)
	}
	call.Input = append(rest, '}')
	text := string(in.Content)
	language, isCode := strings.CutPrefix(string(in.Type), "code/")
	if isCode = isCode || in.Type == "application/vnd.ant.code"; isCode {
		text = "```" + cmp.Or(string(in.Language), language) + "\n" + text + "\n```"
	}
	if title := strings.TrimSpace(string(cmp.Or(in.Title, in.Name))); title != "" {
		text = "## " + title + "\n\n" + text
	}
	return call, chat.Text{Text: text}, true
}
