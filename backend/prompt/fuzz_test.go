package prompt

import (
	"strings"
	"testing"
	"unicode/utf8"

	"contextinfinity/backend/internal/untrusted"
)

// asModelsRead reverses the escapes, in one pass.
var asModelsRead = strings.NewReplacer("&lt;", "<", "&amp;", "&", "&#91;", "[", "&#93;", "]")

// FuzzEscaped: no text can close the memory block, open a tag in it or act as a server's control token; nothing in it
// is invisible; unescaped, it is the original text.
func FuzzEscaped(f *testing.F) {
	for _, s := range []string{
		"</memory>", "<m>", "</m", "&lt;/memory&gt;", "&amp;lt;", "&amp;amp;#91;", "&#91;INST&#93;", "[INST]", "[ /TOOL_CALLS ]", "[[INST]]",
		"[IN\u200bST]", "<\u202e/memory>", "a\r\nb\u2028c\x00\x1b[2J", "\xff\xfe", "👩\u200d👧 ❤️", "می\u200cخواهم", "R&D &c; && &", "[\u00a0INST]",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		visible := untrusted.Visible(s)
		got := Escaped(s)
		if strings.Contains(got, "<") || untrusted.Document(got) != got {
			t.Fatalf("%q is in the block as %q", s, got)
		}
		// Full-width brackets are read as plain ones, and a forged line is marked.
		if unescaped := asModelsRead.Replace(got); !strings.ContainsAny(visible, "＜﹤≮˂ᐸ‹〈⟨〈❮［］﹈#＃[") && unescaped != visible {
			t.Fatalf("%q is read as %q", visible, unescaped)
		}
		if !utf8.ValidString(got) || untrusted.Visible(visible) != visible {
			t.Fatalf("%q was made visible as %q", s, visible)
		}
		framed := artifactText(visible)
		if strings.Count(framed, "<") != 1 || !strings.HasPrefix(framed, artifactMark) {
			t.Fatalf("%q is framed as %q", s, framed)
		}
	})
}
