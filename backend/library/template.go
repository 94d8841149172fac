package library

import (
	"regexp"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
)

// maxFilled bounds a filled-in prompt, in bytes: a value may be in it many times.
const maxFilled = 1 << 20

// Built-in variables. Their values come from where the prompt is used.
const (
	Date      = "date"      // today, as 2006-01-02
	Clipboard = "clipboard" // the text of the clipboard, read when the prompt is inserted
	Selection = "selection" // the text that is selected where the prompt is inserted
)

// Variable is a place in a saved prompt that is filled in when the prompt is used.
type Variable struct {
	Name    string `json:"name"`
	Default string `json:"default"`
	Builtin bool   `json:"builtin"`
}

// variable is {{name}} or {{name:default}}. Braces around anything else are text.
var variable = regexp.MustCompile(`\{\{[ \t]*([\p{L}_][\p{L}\p{N}_ -]{0,39}?)[ \t]*(?::([^{}]*))?\}\}`)

// Variables are the variables of a text, in the order in which they first appear. The default
// is the first that one of its places gives.
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

// Fill puts values in place of the variables of a text. One without a value has its
// default; one with neither is an error. Values are text: variables in them stay as they are.
func Fill(text string, values map[string]string) (string, error) {
	filled, missing := map[string]string{}, []string{}
	for _, v := range Variables(text) {
		value, given := values[v.Name]
		if filled[v.Name] = value; value == "" {
			filled[v.Name] = v.Default
		}
		if !given && v.Default == "" {
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
	return variable.ReplaceAllStringFunc(text, func(place string) string {
		return filled[variable.FindStringSubmatch(place)[1]]
	}), nil
}
