package exporting

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// longestName is the length of a name without its extension, in bytes of UTF-8. File
// systems take 255 with the extension, a number to tell names apart, and what some add
// while a file is copied.
const longestName = 160

// unnamed is the name of what has none that can be used.
const unnamed = "Conversation"

// FileName is a title as the name of a file on every system, without an extension:
// no character that one of them refuses, that a shell obeys even between quotes or
// between words, or that is not seen, no name that Windows keeps for its devices, no leading or trailing dot or space, at most longestName
// bytes, cut between what people take for characters. Emoji and all scripts stay.
func FileName(title string) string {
	name := norm.NFC.String(strings.Map(nameRune, norm.NFC.String(strings.ToValidUTF8(title, " "))))
	name = trimName(strings.Join(strings.Fields(name), " "))
	name = trimName(cut(name, longestName))
	if strings.Trim(name, "-_. \u200d\ufe0f") == "" {
		name = unnamed
	}
	if device(name) {
		name = "_" + name
	}
	return name
}

// nameRune is a character of a title in a name.
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
		return -1 // characters that turn, join or hide what is around them
	}
	return r
}

// trimName takes away what a system drops, hides a file for, or takes for an option.
func trimName(s string) string {
	return strings.TrimRight(strings.TrimLeft(s, " .-~\u200d\ufe0f"), " .\u200d")
}

// cut keeps as many whole characters as fit.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	n := 0
	for g := uniseg.NewGraphemes(s); g.Next(); {
		if n+len(g.Str()) > most {
			break
		}
		n += len(g.Str())
	}
	return s[:n]
}

// device reports a name that Windows keeps for a device, whatever its extension.
func device(name string) bool {
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

// taken are the names of a folder, as systems that know no case tell them apart: each
// has its own idea of it.
type taken map[string]bool

// choose returns the name, or one with a number that is free, and takes it.
func (t taken) choose(name, extension string) string {
	for n := 1; ; n++ {
		full := numbered(name, n) + extension
		if t.take(full) {
			return full
		}
	}
}

// take reports that a name was free, and takes it.
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

// numbered is a name beside others that are called the same.
func numbered(name string, n int) string {
	if n == 1 {
		return name
	}
	return name + " (" + strconv.Itoa(n) + ")"
}
