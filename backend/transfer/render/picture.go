package render

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
)

// Images are embedded as data up to these sizes: a page is meant to be viewed, a Markdown file to be read and edited.
const (
	pageImageBytes     = 8 << 20
	markdownImageBytes = 16 << 10
)

// pictures are the image types that a browser shows and that contain no script.
var pictures = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}

// picture is the content of an image block.
type picture struct {
	data        string // a validated data: address; empty: it is not shown
	description string
}

func pictureOf(b chat.Image, limit int) picture {
	var src struct {
		Data string `json:"data"`
		URL  string `json:"url"`
	}
	kind := display.OneLine(b.MediaType)
	_ = json.Unmarshal(b.Source, &src) // an unreadable image is still named
	if src.Data == "" {
		if src.URL != "" && len(src.URL) <= 2000 {
			return picture{description: "Image elsewhere, " + kind + ": " + display.OneLine(src.URL)}
		}
		return picture{description: "Image, " + kind}
	}
	size := base64.StdEncoding.DecodedLen(len(src.Data)) - strings.Count(src.Data[max(0, len(src.Data)-2):], "=")
	p := picture{description: "Image, " + kind + ", " + amount(size)}
	if size > limit || !pictures[b.MediaType] {
		return p
	}
	if _, err := base64.StdEncoding.Strict().DecodeString(src.Data); err == nil && !strings.ContainsAny(src.Data, "\r\n") {
		p.data = "data:" + b.MediaType + ";base64," + src.Data
	}
	return p
}
