// Package display prepares texts for display: on one line, cut between characters, counted. It is pure.
package display

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// OneLine is a text with all white space replaced by single spaces, without control characters and characters that
// change the text direction.
func OneLine(text string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), IsBidiControl(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))), " ")
}

// IsBidiControl reports a character that changes the direction of the text around it.
func IsBidiControl(r rune) bool {
	return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 || r == 0x200E || r == 0x200F || r == 0x061C
}

// Start is the beginning of a text: at most n bytes of complete characters.
func Start(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return text[:CharacterStart(text, n)]
}

// CharacterStart is the start of the character at byte offset at.
func CharacterStart(text string, at int) int {
	for i := at; i > at-utf8.UTFMax && i > 0 && i < len(text); i-- {
		if utf8.RuneStart(text[i]) {
			return i
		}
	}
	return at
}

// Clip is a text of at most n characters; if cut, the last one is an ellipsis.
func Clip(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	return string(runes[:n-1]) + "…"
}

// Shorten is a text of at most n bytes, with an ellipsis if cut.
func Shorten(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}

// JSON formats a JSON text on several lines. Other texts are returned unchanged.
func JSON(raw json.RawMessage) string {
	var b bytes.Buffer
	if len(raw) == 0 || json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// Count is "1 turn", "2 turns".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// Capitalized is a text whose first character is upper case.
func Capitalized(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 || first == utf8.RuneError {
		return text
	}
	return string(unicode.ToUpper(first)) + text[size:]
}
