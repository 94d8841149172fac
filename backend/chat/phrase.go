package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// Phrase is a text of the program for people: an English format and its values. It is put into words where it is shown:
// String does it in English, for the command line and the log, and the page in its own language, whose catalogue has
// the format as its key. A text that somebody else wrote (a provider, an earlier version) is a Phrase without values
// and without a translation. Phrases can be compared.
//
// As JSON it is a string if it has no values, and otherwise {"id": format, "args": [string, number or phrase, ...]}. A
// phrase among the args is always an object, so that it differs from a name.
type Phrase struct {
	id   string
	args string // a JSON list; empty: no values
}

// phraseJSON is a Phrase with values, or one that is a value of another.
type phraseJSON struct {
	ID   string          `json:"id"`
	Args json.RawMessage `json:"args,omitempty"`
}

// Say returns a text of the program. An argument that is a Phrase, or an error with one, keeps it; an integer stays a
// number, which the page formats. Everything else is formatted here.
func Say(format string, args ...any) Phrase {
	if text := fmt.Sprintf(format, args...); len(args) == 0 {
		return Phrase{id: text}
	}
	verbs := verb.FindAllString(format, -1)
	values := make([]any, len(args))
	for i, arg := range args {
		values[i] = valueOf(arg, verbs[i])
	}
	if format == "%s" {
		return wholeText(values[0])
	}
	return Phrase{id: format, args: encode(values)}
}

// Quote returns a text that is not the program's.
func Quote(text string) Phrase { return Phrase{id: text} }

// verb matches the placeholder of one value in a format.
var verb = regexp.MustCompile(`%[+#]?(?:\.\d+)?[a-z]`)

func valueOf(arg any, verb string) any {
	switch arg := arg.(type) {
	case Phrase:
		return phraseJSON{arg.id, json.RawMessage(arg.args)}
	case interface{ Phrase() Phrase }:
		return valueOf(arg.Phrase(), verb)
	case error, fmt.Stringer:
		return fmt.Sprint(arg)
	}
	switch v := reflect.ValueOf(arg); {
	case v.CanInt() || v.CanUint():
		return arg
	case v.Kind() == reflect.String: // the quotes of %q depend on the language
		return v.String()
	}
	return fmt.Sprintf(verb, arg)
}

// wholeText returns a value that is the whole text.
func wholeText(value any) Phrase {
	if p, ok := value.(phraseJSON); ok {
		return Phrase{id: p.ID, args: string(p.Args)}
	}
	return Quote(fmt.Sprint(value))
}

// encode returns values as JSON. It leaves < and & as they are, so that the same phrase has the same bytes wherever it
// is stored.
func encode(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // strings, numbers and phrases can always be encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// String returns the text in English.
func (p Phrase) String() string {
	if p.args == "" {
		return p.id
	}
	var args []json.RawMessage
	if json.Unmarshal([]byte(p.args), &args) != nil {
		return p.id
	}
	var out strings.Builder
	rest := strings.ReplaceAll(p.id, "%%", "\x00")
	for _, arg := range args {
		at := verb.FindStringIndex(rest)
		if at == nil {
			break
		}
		out.WriteString(rest[:at[0]])
		value := textOfArg(arg)
		if rest[at[1]-1] == 'q' {
			value = strconv.Quote(value)
		}
		if rest = rest[at[1]:]; strings.HasPrefix(rest, ".") && strings.HasSuffix(value, "?") {
			rest = rest[1:]
		} else if strings.HasPrefix(rest, ".") {
			value = strings.TrimSuffix(value, ".") // a sentence inside another
		}
		out.WriteString(value)
	}
	return strings.ReplaceAll(out.String()+rest, "\x00", "%")
}

func textOfArg(arg json.RawMessage) string {
	var p Phrase
	if json.Unmarshal(arg, &p) == nil {
		return p.String()
	}
	return string(arg) // a number
}

// Reword returns the phrase with a part of its own words replaced.
func (p Phrase) Reword(from, to string) Phrase {
	p.id = strings.Replace(p.id, from, to, 1)
	return p
}

// Map returns the phrase with each of its texts changed. If a change depends on several of them, the result is the whole
// text, changed, without values.
func (p Phrase) Map(change func(string) string) Phrase {
	text := change(p.String())
	if text == p.String() {
		return p
	}
	out := Phrase{id: change(p.id)}
	var args []json.RawMessage
	if json.Unmarshal([]byte(p.args), &args) == nil {
		for i, arg := range args {
			args[i] = mapArg(arg, change)
		}
		out.args = encode(args)
	}
	return out.As(text)
}

func mapArg(arg json.RawMessage, change func(string) string) json.RawMessage {
	var p Phrase
	switch {
	case json.Unmarshal(arg, &p) != nil: // a number
		return arg
	case arg[0] == '{':
		p = p.Map(change)
		return json.RawMessage(encode(phraseJSON{p.id, json.RawMessage(p.args)}))
	}
	return json.RawMessage(encode(change(p.id)))
}

// As returns the phrase if its English is text, and otherwise the text without values: it was changed since.
func (p Phrase) As(text string) Phrase {
	if p.String() == text {
		return p
	}
	return Quote(text)
}

// Split returns the English text, and the phrase if it has values: what is stored of it, and shown to programs.
func (p Phrase) Split() (string, Phrase) {
	if p.args == "" {
		return p.id, Phrase{}
	}
	return p.String(), p
}

// Packed returns the phrase for a column of text: the text, or JSON if it has values. Unpack reads it.
func (p Phrase) Packed() string {
	if p.args == "" {
		return p.id
	}
	return encode(p)
}

// Unpack reads what Packed returned, and texts of earlier versions.
func Unpack(column string) Phrase {
	var p Phrase
	if strings.HasPrefix(column, `{"id":`) && json.Unmarshal([]byte(column), &p) == nil {
		return p
	}
	return Quote(column)
}

// IsZero reports whether there is no text.
func (p Phrase) IsZero() bool { return p == Phrase{} }

func (p Phrase) MarshalJSON() ([]byte, error) {
	if p.args == "" {
		return []byte(encode(p.id)), nil
	}
	return []byte(encode(phraseJSON{p.id, json.RawMessage(p.args)})), nil
}

func (p *Phrase) UnmarshalJSON(raw []byte) error {
	var with phraseJSON
	if json.Unmarshal(raw, &with) == nil && with.ID != "" {
		*p = Phrase{id: with.ID, args: string(with.Args)}
		return nil
	}
	*p = Phrase{}
	return json.Unmarshal(raw, &p.id)
}
