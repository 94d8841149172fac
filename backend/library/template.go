package library

import (
	"regexp"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
)

// maxFilled limits a filled-in prompt, in bytes: a value may be inserted many times.
const maxFilled = 1 << 20

// Built-in variables. Where the prompt is used determines their values.
const (
	Date      = "date"      // today, as 2006-01-02
	Clipboard = "clipboard" // the text of the clipboard, read when the prompt is inserted
	Selection = "selection" // the text selected where the prompt is inserted
)

// Variable is a placeholder in a saved prompt.
type Variable struct {
	Name    string `json:"name"`
	Default string `json:"default"`
	Builtin bool   `json:"builtin"`
}

// variable matches {{name}} and {{name:default}}. Braces around anything else are plain text.
var variable = regexp.MustCompile(`\{\{[ \t]*([\p{L}_][\p{L}\p{N}_ -]{0,39}?)[ \t]*(?::([^{}]*))?\}\}`)

// Variables returns the variables of a text in order of their first appearance. If a variable occurs several times,
// its first default is used.
func Variables(text string) []Variable {
	out := []Variable{}
	for _, m := range variable.FindAllStringSubmatch(text, -1) {
		i := slices.IndexFunc(out, func(v Variable) bool { return v.Name == m[1] })
		if i < 0 {
			i = len(out)
			out = append(out, Variable{Name: m[1], Builtin: slices.Contains([]string{Date, Clipboard, Selection}, m[1])})
		}
		if out[i].Default == "" {
			out[i].Default = m[2]
		}
	}
	return out
}

// Fill replaces the variables of a text with values. A variable without a value gets its default; if it has no default
// either, that is an error. Variables inside values are not replaced.
func Fill(text string, values map[string]string) (string, error) {
	filled, missing := map[string]string{}, []string{}
	for _, v := range Variables(text) {
		value, hasValue := values[v.Name]
		if filled[v.Name] = value; value == "" {
			filled[v.Name] = v.Default
		}
		if !hasValue && v.Default == "" {
			missing = append(missing, v.Name)
		}
	}
	const op = "prompt.fill"
	if len(missing) > 0 {
		return "", chat.Errorf(chat.CodeInvalid, op, "The prompt needs a value for %s; nothing was sent.", strings.Join(missing, ", ")).
			WithHint("give each of them a value: --var %s=VALUE", missing[0])
	}
	size := len(text)
	for _, m := range variable.FindAllStringSubmatch(text, -1) {
		if size += len(filled[m[1]]); size > maxFilled {
			return "", chat.Errorf(chat.CodeTooLarge, op, "The prompt with its values would be larger than %d MB; nothing was inserted.", maxFilled>>20).
				WithHint("attach long texts as files")
		}
	}
	return variable.ReplaceAllStringFunc(text, func(match string) string {
		return filled[variable.FindStringSubmatch(match)[1]]
	}), nil
}
