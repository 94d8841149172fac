package transfer

import (
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

// TestNoPartOfAnAnswerIsLost: the HTML is kept if a part of it does not become text, and the content after a void tag is
// text.
func TestNoPartOfAnAnswerIsLost(t *testing.T) {
	for _, c := range []struct {
		html, text string
		complete   bool
	}{
		{"Text <head> more", "Text  more", true},
		{"<html><head><meta charset=utf-8><body>Text", "Text", true},
		{"<head><style>p {}</style></head><p>Text</p><script>alert(1)</script> more", "Text\n\nmore", true},
		{"Text <script/> more", "Text  more", true},
		{"Text <title/> more <b>and more</b>", "Text  more **and more**", true},
		{"<title>A title</title>Text", "Text", false},
		{"Text <script> more", "Text", false},
		{"Text <style> more </script>", "Text", false},
		{"Text <!-- more", "Text", false},
		{"Text <!-- said --> more", "Text  more", true},
		{"Text <b more", "Text", false},
		{"", "", true},
	} {
		text, complete := markdownOf(c.html, MaxLineBytes)
		if text != c.text || complete != c.complete {
			t.Errorf("%q became %q, complete: %v", c.html, text, complete)
		}
		_, kept := takeoutAnswer(c.html)[len(takeoutAnswer(c.html))-1].(chat.Unknown)
		if kept == (c.complete && c.text != "") {
			t.Errorf("%q: the HTML is kept: %v", c.html, kept)
		}
	}
	if text, complete := markdownOf("<p>Text</p><a title='"+strings.Repeat("x", 2000)+"'>more</a>", 1000); text != "Text" || complete {
		t.Errorf("a token over the limit gave %q, complete: %v", text, complete)
	}
}
