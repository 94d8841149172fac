package mcpclient

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/filetype"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/scrub"
)

// blocksOf returns the parts of a result as texts and images. Other parts are named, so that the result does not seem
// complete without them.
func blocksOf(parts []mcp.Content) chat.Blocks {
	var out chat.Blocks
	for _, part := range parts {
		switch p := part.(type) {
		case *mcp.TextContent:
			out = append(out, chat.Text{Text: text(p.Text)})
		case *mcp.ImageContent:
			out = append(out, image(p.MIMEType, p.Data))
		case *mcp.AudioContent:
			out = append(out, note("audio, %s, %d bytes: not shown", p.MIMEType, len(p.Data)))
		case *mcp.ResourceLink:
			out = append(out, link(p))
		case *mcp.EmbeddedResource:
			out = append(out, resourceBlock(p.Resource))
		default:
			out = append(out, note("content of an unknown type: not shown"))
		}
	}
	return out
}

// containsStructured reports whether a text of a result is its structured form, which servers should add for older
// clients. If no text is, a model gets both.
func containsStructured(parts []mcp.Content, value any) bool {
	if value == nil {
		return true
	}
	for _, part := range parts {
		var decoded any
		if p, ok := part.(*mcp.TextContent); ok && json.Unmarshal([]byte(p.Text), &decoded) == nil && reflect.DeepEqual(decoded, value) {
			return true
		}
	}
	return false
}

// structured returns a structured result as text. Secrets are redacted by value first, so that the rest is valid JSON,
// and then by field name.
func (s *server) structured(value any) chat.Blocks {
	if value == nil {
		return nil
	}
	raw, err := chat.MarshalJSON(value)
	if err != nil {
		return nil
	}
	return chat.Blocks{chat.Text{Text: s.redact(string(scrub.JSON(raw, s.plainRedact)))}}
}

// redacted returns the blocks without secrets: those that a server was given must not reach models or other programs.
func (s *server) redacted(blocks chat.Blocks) chat.Blocks {
	for i, b := range blocks {
		if t, ok := b.(chat.Text); ok {
			t.Text = s.redact(t.Text)
			blocks[i] = t
		}
	}
	return blocks
}

func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func note(format string, args ...any) chat.Block {
	return chat.Text{Text: "[" + clean(fmt.Sprintf(format, args...)) + "]"}
}

func image(media string, data []byte) chat.Block {
	media = strings.ToLower(strings.TrimSpace(media))
	switch {
	case !filetype.IsImage(media):
		return note("an image of a type that cannot be shown, %s, %d bytes", display.Shorten(media, 100), len(data))
	case len(data) > filetype.MaxImageBytes:
		return note("an image of %d bytes: too large to show", len(data))
	case len(data) == 0:
		return note("an empty image")
	}
	// The type is detected from the bytes: a provider refuses the whole request if an image has another type than
	// declared.
	if media = http.DetectContentType(data); !filetype.IsImage(media) {
		return note("an image whose data is not of a type that can be shown, %d bytes", len(data))
	}
	return chat.NewImage(media, data)
}

func link(p *mcp.ResourceLink) chat.Block {
	name := p.Title
	name = cmp.Or(name, p.Name)
	return note("resource: %s, %s %s", display.Shorten(name, 200), display.Shorten(p.URI, 2000), display.Shorten(p.MIMEType, 100))
}

func resourceBlock(r *mcp.ResourceContents) chat.Block {
	switch {
	case r == nil:
		return note("an empty resource")
	case len(r.Blob) == 0:
		return chat.Text{Text: text(r.Text)}
	case strings.HasPrefix(r.MIMEType, "image/"):
		return image(r.MIMEType, r.Blob)
	}
	return note("resource: %s, %s, %d bytes: not shown", display.Shorten(r.URI, 2000), display.Shorten(r.MIMEType, 100), len(r.Blob))
}
