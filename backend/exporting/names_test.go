package exporting

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

func TestFileName(t *testing.T) {
	long := strings.Repeat("word ", 60)
	for title, want := range map[string]string{
		"Ships and sails": "Ships and sails", "a/b\\c:d*e?f\"g<h>i|j": "a-b-c-d-e-f-g-h-i-j", "  two\n lines\t": "two lines",
		"$HOME & `rm -rf`; it's #1! {a}[b]^c (2)": "HOME + -rm -rf-- it’s -1- -a--b--c (2)", "R&D": "R+D", "#5": "5",
		"": unnamed, "...": unnamed, "/": unnamed, "\u202e": unnamed, "\u200d": unnamed, "--help": "help", ".hidden": "hidden", "../../etc/passwd": "etc-passwd",
		"CON": "_CON", "con.txt": "_con.txt", "Com1": "_Com1", "COM¹": "_COM¹", "lpt9.a.b": "_lpt9.a.b", "COM10": "COM10", "console": "console", "nul ": "_nul", "aux.": "_aux",
		"ends with a dot.": "ends with a dot", "👩‍👩‍👧 family 🏴󠁧󠁢󠁥󠁮󠁧󠁿": "👩‍👩‍👧 family 🏴󠁧󠁢󠁥󠁮󠁧󠁿", "日本語の題": "日本語の題", "e\u0301": "é", "a\x00b\x7fc": "a b c", "evil\u202egnp.exe": "evilgnp.exe", "a\u200bb": "ab",
		"\xff\xfe": unnamed, long: strings.TrimSpace(long[:longestName]), strings.Repeat("👩‍👩‍👧", 20): strings.Repeat("👩‍👩‍👧", longestName/len("👩‍👩‍👧")),
	} {
		if got := FileName(title); got != want {
			t.Errorf("FileName(%q) = %q, want %q", title, got, want)
		}
	}
}

func TestAnyTitleBecomesAValidName(t *testing.T) {
	piece := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"/", "\\", "..", "CON", "nul", "LPT1", ".", " ", "\u202e", "👨‍👩‍👧‍👦", "\x00", "é", "e\u0301", "🇩🇪", "-"}),
		rapid.StringOfN(rapid.RuneFrom(nil, unicode.Cf, unicode.Mn, unicode.Zs, unicode.Cc), 1, 9, -1))
	rapid.Check(t, func(t *rapid.T) {
		title := strings.Join(rapid.SliceOfN(piece, 0, 30).Draw(t, "title"), "")
		name := FileName(title)
		switch {
		case name == "" || len(name) > longestName+1 || !utf8.ValidString(name) || !norm.NFC.IsNormalString(name):
			t.Fatalf("%q", name)
		case strings.ContainsAny(name, "/\\:*?\"<>|\x00\n\r\t$`&;'!#^{}[]") || strings.ContainsFunc(name, unicode.IsControl):
			t.Fatalf("%q has a character that is refused", name)
		case strings.ContainsFunc(name, func(r rune) bool { return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200b }):
			t.Fatalf("%q has an invisible character", name)
		case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " ") || strings.HasPrefix(name, ".") || strings.HasPrefix(name, " ") || strings.HasPrefix(name, "-"):
			t.Fatalf("%q begins or ends with a character that a system drops", name)
		case isDevice(name):
			t.Fatalf("%q is a device", name)
		case FileName(name) != name && !strings.HasPrefix(name, "_"):
			t.Fatalf("%q is not a name: it becomes %q", name, FileName(name))
		}
		if len(name) < longestName-60 && uniseg.GraphemeClusterCount(name) == 0 {
			t.Fatalf("%q has no character", name)
		}
	})
}

func TestNamesOfAFolderDiffer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		titles := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "A", "ß", "ss", "é", "e\u0301", "a (2)", "A (2)", "", "CON", "con", "İ", "i"}), 1, 20).Draw(t, "titles")
		names, seen := taken{}, map[string]bool{}
		for _, title := range titles {
			name := names.choose(FileName(title), ".md")
			key := strings.ToUpper(norm.NFC.String(name))
			if seen[key] || seen[strings.ToLower(norm.NFC.String(name))] {
				t.Fatalf("%q is chosen twice of %q", name, titles)
			}
			seen[key] = true
			seen[strings.ToLower(norm.NFC.String(name))] = true
		}
	})
}
