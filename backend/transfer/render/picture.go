package render

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
)

// Images are carried as data where they are not larger: a page is there to be looked
// at, a Markdown file to be read and edited.
const (
	pageImageBytes     = 8 << 20
	markdownImageBytes = 16 << 10
)

// pictures are the kinds of image that a browser draws and that hold no script.
var pictures = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}

// picture is what there is of an image block.
type picture struct {
	data  string // a data: address, checked; empty: it is not shown
	words string // what to say of it
}

func pictureOf(b chat.Image, most int) picture {
	var src struct {
		Data string `json:"data"`
		URL  string `json:"url"`
	}
	kind := display.OneLine(b.MediaType)
	_ = json.Unmarshal(b.Source, &src) // an image that cannot be read is named anyway
	if src.Data == "" {
		if src.URL != "" && len(src.URL) <= 2000 {
			return picture{words: "Image elsewhere, " + kind + ": " + display.OneLine(src.URL)}
		}
		return picture{words: "Image, " + kind}
	}
	size := base64.StdEncoding.DecodedLen(len(src.Data)) - strings.Count(src.Data[max(0, len(src.Data)-2):], "=")
	p := picture{words: "Image, " + kind + ", " + amount(size)}
	if size > most || !pictures[b.MediaType] {
		return p
	}
	if _, err := base64.StdEncoding.Strict().DecodeString(src.Data); err == nil && !strings.ContainsAny(src.Data, "\r\n") {
		p.data = "data:" + b.MediaType + ";base64," + src.Data
	}
	return p
}
