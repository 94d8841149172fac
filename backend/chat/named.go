package chat

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

// A record of a task may name a session: by its id, by a current or former title, or by a file named after it, in which
// some characters may be replaced.

// distinctiveName is how many characters of a name are compared, because file names are shortened.
const distinctiveName = 48

// NamedIn reports whether a record, JSON or plain text, names the session.
func (p DeletionPreview) NamedIn(record string) bool {
	text := stringsOf(record)
	if p.Session != "" && strings.Contains(text, p.Session) {
		return true
	}
	words := wordsOf(text)
	return slices.ContainsFunc(p.Names, func(name string) bool {
		return name != "" && (strings.Contains(text, name) || containsWords(words, name))
	})
}

// containsWords reports whether the words of a name occur consecutively in the words of a text. The characters between
// them are ignored.
func containsWords(text []string, name string) bool {
	runes := []rune(name)
	cut := len(runes) > distinctiveName
	if cut {
		runes = runes[:distinctiveName]
	}
	words := wordsOf(string(runes))
	if len(words) == 0 {
		return false
	}
	last := len(words) - 1
	for i := 0; i+last < len(text); i++ {
		end := text[i+last]
		if slices.Equal(text[i:i+last], words[:last]) && (end == words[last] || cut && strings.HasPrefix(end, words[last])) {
			return true
		}
	}
	return false
}

// stringsOf returns all strings of a JSON value, one per line, or the text itself if it is not JSON.
func stringsOf(record string) string {
	var v any
	if json.Unmarshal([]byte(record), &v) != nil {
		return record
	}
	var b strings.Builder
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			b.WriteString(v)
			b.WriteByte('\n')
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(v)
	return b.String()
}

// wordsOf returns the runs of letters and digits of a text, in lower case.
func wordsOf(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
