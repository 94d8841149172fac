package exporting

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// longestName is the maximum length of a name without its extension, in bytes of UTF-8. File systems allow 255
// including the extension, a number for uniqueness, and suffixes that some programs add while copying.
const longestName = 160

// unnamed is used if a title has no usable character.
const unnamed = "Session"

// FileName converts a title to a file name that is valid on every system, without an extension: no character that a
// system refuses, that a shell interprets (even inside quotes or between words) or that is invisible, no name that
// Windows reserves for devices, no leading or trailing dot or space, at most longestName bytes, cut between grapheme
// clusters. Emoji and all scripts are kept.
func FileName(title string) string {
	name := norm.NFC.String(strings.Map(nameRune, norm.NFC.String(strings.ToValidUTF8(title, " "))))
	name = trimName(strings.Join(strings.Fields(name), " "))
	name = trimName(cut(name, longestName))
	if strings.Trim(name, "-_. \u200d\ufe0f") == "" {
		name = unnamed
	}
	if isDevice(name) {
		name = "_" + name
	}
	return name
}

// nameRune converts one character of a title.
func nameRune(r rune) rune {
	switch {
	case strings.ContainsRune("/\\:*?\"<>|$`;!#^{}[]", r):
		return '-'
	case r == '&':
		return '+'
	case r == '\'':
		return '’'
	case r == '\u200d' || r >= 0xe0020 && r <= 0xe007f: // joiners and tags inside emoji
		return r
	case unicode.IsControl(r), unicode.IsSpace(r), r == unicode.ReplacementChar, unicode.In(r, unicode.Zl, unicode.Zp):
		return ' '
	case unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs):
		return -1 // characters that change direction, join or hide their neighbours
	}
	return r
}

// trimName removes leading and trailing characters that a system drops, that hide the file, or that look like an
// option.
func trimName(s string) string {
	return strings.TrimRight(strings.TrimLeft(s, " .-~\u200d\ufe0f"), " .\u200d")
}

// cut keeps as many complete grapheme clusters as fit.
func cut(s string, maxBytes int) string {
	if len(s) <= maxBytes {
		return s
	}
	n := 0
	for g := uniseg.NewGraphemes(s); g.Next(); {
		if n+len(g.Str()) > maxBytes {
			break
		}
		n += len(g.Str())
	}
	return s[:n]
}

// isDevice reports whether Windows reserves a name for a device, with any extension.
func isDevice(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	switch stem = strings.ToUpper(strings.TrimRight(stem, " ")); stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$":
		return true
	}
	if rest, ok := strings.CutPrefix(stem, "COM"); ok {
		return portNumber(rest)
	}
	rest, ok := strings.CutPrefix(stem, "LPT")
	return ok && portNumber(rest)
}

func portNumber(s string) bool {
	return len([]rune(s)) == 1 && strings.ContainsAny(s, "0123456789¹²³")
}

// taken is the set of names in a folder, compared the way case-insensitive systems do; each system has its own rules.
type taken map[string]bool

// choose returns the name, or an unused one with a number, and reserves it.
func (t taken) choose(name, extension string) string {
	for n := 1; ; n++ {
		full := numbered(name, n) + extension
		if t.take(full) {
			return full
		}
	}
}

// take reserves a name and reports whether it was unused.
func (t taken) take(name string) bool {
	plain := norm.NFC.String(name)
	keys := []string{norm.NFC.String(cases.Fold().String(plain)), strings.ToLower(plain), strings.ToUpper(plain)}
	for _, key := range keys {
		if t[key] {
			return false
		}
	}
	for _, key := range keys {
		t[key] = true
	}
	return true
}

// numbered returns a name with a number; the first has none.
func numbered(name string, n int) string {
	if n == 1 {
		return name
	}
	return name + " (" + strconv.Itoa(n) + ")"
}
