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

// OneLine replaces all white space of a text by single spaces, and removes control characters and characters that
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

// IsBidiControl reports whether a character changes the direction of the text around it.
func IsBidiControl(r rune) bool {
	return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 || r == 0x200E || r == 0x200F || r == 0x061C
}

// Start returns the beginning of a text: at most n bytes of complete characters.
func Start(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return text[:CharacterStart(text, n)]
}

// CharacterStart returns the offset of the first byte of the character that contains the byte at.
func CharacterStart(text string, at int) int {
	for i := at; i > at-utf8.UTFMax && i > 0 && i < len(text); i-- {
		if utf8.RuneStart(text[i]) {
			return i
		}
	}
	return at
}

// Clip cuts a text to at most n characters; if it was cut, the last one is an ellipsis.
func Clip(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	return string(runes[:n-1]) + "…"
}

// Shorten cuts a text to at most n bytes, and adds an ellipsis if it was cut.
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

// Count returns a number with its noun: "1 turn", "2 turns".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// Capitalized returns a text with its first character in upper case.
func Capitalized(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 || first == utf8.RuneError {
		return text
	}
	return string(unicode.ToUpper(first)) + text[size:]
}
