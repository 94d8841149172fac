package display

import (
	"fmt"
	"strings"
	"unicode"
)

// Visible returns a text in which nothing is hidden: a character that is invisible, changes the direction of the text or
// controls a terminal is written as \u{HEX}. Line feeds and tabs stay; so do the joiners and selectors inside an emoji.
// Whoever decides about a text of other people sees what is in it, also in a file or a pipe.
func Visible(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n")
	if strings.IndexFunc(text, isHidden) < 0 {
		return text
	}
	var b strings.Builder
	runes := []rune(text)
	for i, r := range runes {
		if isHidden(r) && !insideEmoji(runes, i) {
			fmt.Fprintf(&b, `\u{%x}`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// isHidden reports whether a reader cannot see a character, or a terminal would interpret it.
func isHidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x80:
		return unicode.IsControl(r)
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, hiddenOthers) || r&0xfffe == 0xfffe
}

// hiddenOthers are characters without a shape whose category is not one of the hidden ones: joiners, fillers,
// selectors of variants, the plane of tags.
var hiddenOthers = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034f, Hi: 0x034f, Stride: 1},
		{Lo: 0x115f, Hi: 0x1160, Stride: 1},
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1},
		{Lo: 0x180b, Hi: 0x180f, Stride: 1},
		{Lo: 0x2060, Hi: 0x206f, Stride: 1},
		{Lo: 0x2800, Hi: 0x2800, Stride: 1},
		{Lo: 0x3164, Hi: 0x3164, Stride: 1},
		{Lo: 0xfe00, Hi: 0xfe0f, Stride: 1},
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1},
		{Lo: 0xfff0, Hi: 0xfffb, Stride: 1},
	},
	R32: []unicode.Range32{{Lo: 0xe0000, Hi: 0xe0fff, Stride: 1}},
}

// insideEmoji reports whether the character at i is the joiner or the selector of a pictograph.
func insideEmoji(text []rune, i int) bool {
	const joiner, selector = 0x200d, 0xfe0f
	switch {
	case i == 0:
		return false
	case text[i] == selector:
		return pictograph(text[i-1])
	case text[i] == joiner && i+1 < len(text):
		return (pictograph(text[i-1]) || text[i-1] == selector && i > 1 && pictograph(text[i-2])) && pictograph(text[i+1])
	}
	return false
}

func pictograph(r rune) bool { return r > 0x203b && unicode.In(r, unicode.So, unicode.Sk) }
