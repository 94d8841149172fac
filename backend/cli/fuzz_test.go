package cli

import (
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"contextinfinity/backend/chat"
)

// FuzzMessage: typed, pasted or piped text is kept unchanged or refused, and the error says where it is not valid
// text.
func FuzzMessage(f *testing.F) {
	for _, s := range []string{"words", "", " \n\t", "\xff", "ok\xc3", "a\xed\xa0\x80", "\x00", "漢字\uFFFD"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m, err := (&call{}).newMessage(s, nil, false)
		if err != nil {
			if chat.CodeOf(err) != chat.CodeInvalid || utf8.ValidString(s) && strings.TrimSpace(s) != "" || !utf8.ValidString(err.Error()) {
				t.Fatalf("%q is refused: %v", s, err)
			}
		} else if got := m.RenderedText(); got != s || !utf8.ValidString(got) {
			t.Fatalf("%q is sent as %q", s, got)
		}
		if offset := invalidAt(s); !utf8.ValidString(s[:offset]) || (offset == len(s)) != utf8.ValidString(s) {
			t.Fatalf("%q is reported as invalid at %d", s, offset)
		}
	})
}

// FuzzCommand: anything typed at the prompt is a message, a known command or an unknown one; turn numbers are
// numbers.
func FuzzCommand(f *testing.F) {
	for _, s := range []string{"/help", "/pin  a fact ", "//etc/passwd", "/", "/ x", "/nö\x00such", "#12", "999999999", "#0", "٣"} {
		f.Add(s)
	}
	known := map[string]bool{}
	all := commands()
	for _, c := range all {
		known[c.name] = true
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n, ok := turnNumber(s); ok && (n < 1 || n > 999_999_999 || strings.Trim(s, "#0123456789") != "") {
			t.Fatalf("%q is turn %d", s, n)
		}
		name, _, _ := strings.Cut(strings.TrimSpace(s), " ")
		if known[name] {
			return
		}
		talk := &talk{c: &run{call: &call{note: &output{w: io.Discard}}}}
		if err := talk.command(t.Context(), name, s); chat.CodeOf(err) != chat.CodeInvalid {
			t.Fatalf("%q: %v", s, err)
		}
	})
}
