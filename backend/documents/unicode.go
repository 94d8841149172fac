package documents

import (
	"encoding/hex"
	"io"
	"regexp"
	"strings"
	"unicode/utf16"

	"github.com/ledongthuc/pdf"
)

// maxMap limits the size of a ToUnicode map, in bytes.
const maxMap = 4 << 20

// The relevant parts of a ToUnicode map: single codes and ranges.
var (
	mapSection = regexp.MustCompile(`(?s)beginbf(char|range)(.*?)endbf`)
	mapToken   = regexp.MustCompile(`<[0-9A-Fa-f\s]*>|\[|\]`)
)

// readUnicode reads a font's ToUnicode map; nil if there is none or it cannot be read, so that the font's encoding is
// used. The library can read it too, but uses it last and searches all of it for every character.
func readUnicode(v pdf.Value) map[int]string {
	if v.Kind() != pdf.Stream {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(v.Reader(), maxMap))
	if err != nil && len(data) == 0 {
		return nil
	}
	return parseUnicode(data)
}

func parseUnicode(data []byte) map[int]string {
	m := map[int]string{}
	for _, section := range mapSection.FindAllSubmatch(data, -1) {
		tokens := mapToken.FindAllString(string(section[2]), -1)
		if string(section[1]) == "char" {
			for ; len(tokens) >= 2; tokens = tokens[2:] {
				put(m, codeOf(tokens[0]), textOf(tokens[1]))
			}
			continue
		}
		for len(tokens) >= 3 {
			tokens = putRange(m, tokens)
		}
	}
	if len(m) == 0 {
		return nil
	}
	return m
}

// putRange maps the codes <from> <to> to consecutive texts starting with <text>, or to the entries of a list [ <text>
// ... ], and returns the remaining tokens.
func putRange(m map[int]string, tokens []string) []string {
	from, to := codeOf(tokens[0]), codeOf(tokens[1])
	if tokens[2] == "[" {
		list := tokens[3:]
		for i := 0; i < len(list) && list[i] != "]"; i++ {
			put(m, from+i, textOf(list[i]))
		}
		for len(list) > 0 && list[0] != "]" {
			list = list[1:]
		}
		return list[min(1, len(list)):]
	}
	text := textOf(tokens[2])
	for code := from; from >= 0 && len(text) > 0 && code <= to && len(m) < maxWidths; code++ {
		put(m, code, text)
		text[len(text)-1]++
	}
	return tokens[3:]
}

func put(m map[int]string, code int, text []uint16) {
	if code >= 0 && len(m) < maxWidths {
		m[code] = string(utf16.Decode(text))
	}
}

func bytesOf(token string) []byte {
	b, err := hex.DecodeString(strings.Join(strings.Fields(strings.Trim(token, "<>")), ""))
	if err != nil {
		return nil
	}
	return b
}

// codeOf returns a code of one or two bytes; -1 for any other length.
func codeOf(token string) int {
	b := bytesOf(token)
	switch len(b) {
	case 1:
		return int(b[0])
	case 2:
		return int(b[0])<<8 | int(b[1])
	}
	return -1
}

// textOf decodes UTF-16, most significant byte first.
func textOf(token string) []uint16 {
	b := bytesOf(token)
	out := make([]uint16, len(b)/2)
	for i := range out {
		out[i] = uint16(b[2*i])<<8 | uint16(b[2*i+1])
	}
	return out
}
