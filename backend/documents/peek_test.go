package documents

import (
	"strings"
	"testing"
)

func TestPeek(t *testing.T) {
	for name, c := range map[string]struct {
		head  string
		whole bool
		want  Looks
	}{
		"text":                         {"The harbour opens at seven.", true, LooksReadable},
		"empty":                        {"", true, LooksReadable},
		"a pdf":                        {"%PDF-1.7\n\x00\x01\x02", false, LooksReadable},
		"a word document":              {"PK\x03\x04" + strings.Repeat("\x00", 26) + "[Content_Types].xml", false, LooksReadable},
		"another archive":              {"PK\x03\x04" + strings.Repeat("\x00", 26) + "photos/1.jpg", false, LooksBinary},
		"a truncated archive":          {"PK\x03\x04\x00", false, LooksBinary},
		"an old word document":         {"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1\x00", false, LooksOld},
		"a truncated character":        {"für die K\xc3", false, LooksReadable},
		"a truncated emoji":            {"well \xf0\x9f\x98", false, LooksReadable},
		"an incomplete last character": {"für die K\xc3", true, LooksEncoded},
		"latin-1":                      {"f\xfcr die K\xfcche", false, LooksEncoded},
		"utf-16":                       {"\xff\xfea\x00b\x00c", false, LooksReadable},
		"incomplete utf-16":            {"\xff\xfea\x00b\x00c", true, LooksBinary},
		"a program":                    {"\x7fELF\x02\x01\x01\x00\x00", false, LooksBinary},
	} {
		if got := Peek([]byte(c.head), c.whole); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
