package transfer

import (
	"encoding/json"
	"strings"

	"contextinfinity/backend/internal/pattern"
)

// ChatGPT writes references into its texts between private-use characters: begin, a kind, its arguments, end.
const (
	markBegin = '\ue200'
	markEnd   = '\ue201'
	markNext  = "\ue202"
)

var mark = pattern.New(string(markBegin) + "[^" + string(markBegin) + string(markEnd) + "]*" + string(markEnd))

// withoutMarks removes ChatGPT's references from a text. The words that some of them contain stay: the name of a person,
// the title of a page.
func withoutMarks(s string) string {
	if !strings.ContainsRune(s, markBegin) {
		return s
	}
	s = mark().ReplaceAllStringFunc(s, func(m string) string {
		args := strings.Split(strings.Trim(m, string(markBegin)+string(markEnd)), markNext)
		switch {
		case len(args) < 2:
		case args[0] == "link_title":
			return args[1]
		case args[0] == "entity": // ["people", "Ada Lovelace", 0]
			var entity list
			if json.Unmarshal([]byte(args[1]), &entity) == nil && len(entity) > 1 {
				name, _ := textOf(entity[1])
				return name
			}
		}
		return ""
	})
	return strings.Map(func(r rune) rune { // of marks that do not end
		if r >= markBegin && r <= '\ue206' {
			return -1
		}
		return r
	}, s)
}

// withoutElements removes the named elements at the beginning and the end of a text: programs write them around what a
// person wrote.
func withoutElements(text string, names []string) string {
	for {
		text = strings.TrimSpace(text)
		rest := withoutElement(text, names)
		if rest == text {
			return text
		}
		text = rest
	}
}

func withoutElement(text string, names []string) string {
	for _, name := range names {
		end := "</" + name + ">"
		if begins(text, name) {
			if _, rest, ok := strings.Cut(text, end); ok {
				return rest
			}
		}
		if strings.HasSuffix(text, end) {
			if at := strings.LastIndex(text, "<"+name); at >= 0 && begins(text[at:], name) {
				return text[:at]
			}
		}
	}
	return text
}

// begins reports whether a text begins with the tag of an element.
func begins(text, name string) bool {
	rest, ok := strings.CutPrefix(text, "<"+name)
	return ok && rest != "" && strings.ContainsRune("> \n\t/", rune(rest[0]))
}
