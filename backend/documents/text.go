package documents

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// mediaTypes maps file extensions to media types. Other text is text/plain.
var mediaTypes = map[string]string{
	".md": "text/markdown", ".markdown": "text/markdown", ".html": "text/html", ".htm": "text/html", ".css": "text/css",
	".csv": "text/csv", ".tsv": "text/tab-separated-values", ".json": "application/json", ".jsonl": "application/jsonl",
	".xml": "application/xml", ".yaml": "application/yaml", ".yml": "application/yaml", ".toml": "application/toml",
	".tex": "text/x-tex", ".rst": "text/x-rst", ".diff": "text/x-diff", ".patch": "text/x-diff",
	".go": "text/x-go", ".py": "text/x-python", ".js": "text/javascript", ".mjs": "text/javascript", ".jsx": "text/javascript",
	".ts": "text/x-typescript", ".tsx": "text/x-typescript", ".svelte": "text/x-svelte", ".vue": "text/x-vue",
	".rs": "text/x-rust", ".java": "text/x-java", ".kt": "text/x-kotlin", ".scala": "text/x-scala", ".swift": "text/x-swift",
	".c": "text/x-c", ".h": "text/x-c", ".cc": "text/x-c++", ".cpp": "text/x-c++", ".hpp": "text/x-c++", ".cs": "text/x-csharp",
	".rb": "text/x-ruby", ".php": "text/x-php", ".pl": "text/x-perl", ".lua": "text/x-lua", ".r": "text/x-r", ".jl": "text/x-julia",
	".sh": "text/x-shellscript", ".bash": "text/x-shellscript", ".zsh": "text/x-shellscript", ".ps1": "text/x-powershell",
	".sql": "text/x-sql", ".hs": "text/x-haskell", ".ml": "text/x-ocaml", ".ex": "text/x-elixir", ".exs": "text/x-elixir",
	".erl": "text/x-erlang", ".clj": "text/x-clojure", ".dart": "text/x-dart", ".zig": "text/x-zig", ".proto": "text/x-protobuf",
}

func mediaType(name string) string {
	if t, ok := mediaTypes[strings.ToLower(filepath.Ext(name))]; ok {
		return t
	}
	return "text/plain"
}

// Byte order marks.
var (
	markUTF8    = []byte{0xEF, 0xBB, 0xBF}
	markUTF16LE = []byte{0xFF, 0xFE}
	markUTF16BE = []byte{0xFE, 0xFF}
)

// decode returns a file's text, or an error that says why it has none. It looks only at the content, not at the name.
func decode(name string, data []byte) (string, error) {
	switch {
	case bytes.HasPrefix(data, markUTF8):
		data = data[len(markUTF8):]
	case bytes.HasPrefix(data, markUTF16LE):
		return decodeUTF16(name, data[2:], binary.LittleEndian)
	case bytes.HasPrefix(data, markUTF16BE):
		return decodeUTF16(name, data[2:], binary.BigEndian)
	}
	if binaryLooking(data) {
		return "", refused("%s is not a text file; nothing was attached.", name).
			WithHint("text, Markdown, source code, PDF and office documents can be attached; save it as one of these")
	}
	if !utf8.Valid(data) {
		return "", refused("%s is text in an unknown encoding; nothing was attached.", name).
			WithHint("save it as UTF-8, for instance with iconv -t UTF-8")
	}
	return string(data), nil
}

func decodeUTF16(name string, data []byte, order binary.ByteOrder) (string, error) {
	if len(data)%2 != 0 {
		return "", refused("%s looks like UTF-16 text, but is cut off in the middle of a character; nothing was attached.", name).
			WithHint("check that it was copied completely")
	}
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = order.Uint16(data[2*i:])
	}
	text := string(utf16.Decode(units))
	if strings.ContainsRune(text, 0) || strings.Count(text, "\uFFFD") > len(units)/100 {
		return "", refused("%s is not a text file; nothing was attached.", name)
	}
	return text, nil
}

// binaryLooking reports whether data contains a NUL, which text never does, or many other control characters.
func binaryLooking(data []byte) bool {
	controls := 0
	for _, b := range data {
		if b == 0 {
			return true
		}
		if b < ' ' && b != '\t' && b != '\n' && b != '\r' && b != '\f' && b != '\x1b' {
			controls++
		}
	}
	return controls > len(data)/100
}

// visible drops invisible characters, for strings.Map. It is used for names and for text assembled from glyphs.
func visible(r rune) rune {
	switch {
	case r == '\n' || r == '\t' || r == '\f' || r == ' ':
		return r
	case unicode.IsSpace(r):
		return ' '
	case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d' || unicode.Is(unicode.Co, r):
		return -1
	}
	return r
}
