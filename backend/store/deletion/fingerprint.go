package deletion

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"contextinfinity/backend/internal/lexical"
)

// WordSet is a set of words of a text by which another text is recognized as repeating it: runs of letters and digits,
// anything between spaces (a password may contain any character), and overlapping pairs of characters in scripts
// written without spaces. Stop words and very short words are left out: any two texts share those.
type WordSet map[string]bool

// A word counts if it is long enough, because short ones occur in every text. With a digit or sign in it, it may be
// shorter.
const (
	shortestWord = 4
	shortestSign = 3
)

// text adds the words of a text.
func (w WordSet) text(s string) {
	for word := range tokens(s) {
		w[word] = true
	}
}

// JSON adds the words of every text in a JSON value, except of members that only name a kind.
func (w WordSet) JSON(raw string) {
	var v any
	if raw == "" {
		return
	}
	if json.Unmarshal([]byte(raw), &v) != nil {
		w.text(raw)
		return
	}
	w.value(v)
}

// kinds are the members of stored messages and items that hold no user text.
var kinds = map[string]bool{"type": true, "role": true, "media_type": true, "file_id": true, "chunk_id": true, "phase": true, "provider": true}

func (w WordSet) value(v any) {
	switch v := v.(type) {
	case string:
		w.text(v)
	case []any:
		for _, e := range v {
			w.value(e)
		}
	case map[string]any:
		for key, e := range v {
			if !kinds[key] {
				w.value(e)
			}
		}
	}
}

// In reports whether a text shares a word with the set.
func (w WordSet) In(s string) bool {
	for word := range tokens(s) {
		if w[word] {
			return true
		}
	}
	return false
}

// Without returns a text without the lines that share a word; [erased] replaces them. Headings stay.
func (w WordSet) Without(s string) string {
	if !w.In(s) {
		return s
	}
	var b strings.Builder
	marked := false
	for line := range strings.Lines(s) {
		heading := strings.HasPrefix(line, "## ") && summaryHeadings[strings.ToLower(strings.TrimSpace(line[3:]))]
		if heading || !w.In(line) {
			b.WriteString(line)
			marked = false
			continue
		}
		if !marked {
			b.WriteString("- " + DeletedMark + "\n")
		}
		marked = true
	}
	return b.String()
}

// summaryHeadings are the headings of every summary (SPEC 7).
var summaryHeadings = map[string]bool{"facts": true, "decisions": true, "constraints": true, "artifacts": true, "open tasks": true}

// tokens yields the words of a text in lower case.
func tokens(s string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for field := range strings.FieldsSeq(strings.ToLower(lexical.Fold(s))) {
			trimmed := strings.TrimFunc(field, func(r rune) bool { return unicode.IsPunct(r) })
			if isSignificant(trimmed) && !yield(trimmed) {
				return
			}
			for _, part := range lexical.Words(field) {
				if part != trimmed && isSignificant(part) && !yield(part) {
					return
				}
				if first, _ := utf8.DecodeRuneInString(part); !lexical.IsUnspaced(first) {
					continue
				}
				for _, pair := range lexical.Pairs(part) {
					if utf8.RuneCountInString(pair) > 1 && !yield(pair) {
						return
					}
				}
			}
		}
	}
}

// isSignificant reports whether a word is worth comparing.
func isSignificant(word string) bool {
	n := utf8.RuneCountInString(word)
	if strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }) {
		return n >= shortestSign
	}
	return n >= shortestWord && !lexical.IsStopWord(word)
}
