package tools

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/untrusted"
)

// Bounds of what servers offer, beyond which a tool is refused.
const (
	MaxOffered      = 128 // tools in one request; providers refuse more
	MaxOfferedBytes = 512 << 10
	MaxPerSource    = 500 // definitions of one server that are looked at
	maxName         = 256
	maxTitle        = 1 << 10
	maxDescription  = 32 << 10
	maxSchema       = 64 << 10
	maxAnnotations  = 8 << 10
	maxOfferedName  = 64 // as providers take it
)

var tooMany = fmt.Sprintf("More than %d tools, or %d KB of descriptions, are accepted; this one is left out.", MaxOffered, MaxOfferedBytes>>10)

// sizeOf is what a definition weighs in a request, in bytes.
func sizeOf(d chat.ToolDefinition) int { return len(d.Name) + len(d.Description) + len(d.Schema) }

// collect makes the usable definitions of all sources, in a stable order: the program's
// own, then servers by name, tools by name. So a server that shuffles its list changes no
// request.
func (v *view) collect(builtin, servers []Source, check func(string, []chat.ToolDefinition) checked) {
	v.builtin = map[string]bool{}
	for _, s := range builtin {
		v.builtin[s.Name()] = true
		v.sources[s.Name()] = s
		for _, d := range s.Definitions() {
			d.Source = s.Name()
			v.tools = append(v.tools, offered{ToolDefinition: d, hash: d.Hash(), builtin: true})
		}
	}
	for _, s := range servers {
		if _, taken := v.sources[s.Name()]; taken {
			v.problems = append(v.problems, Problem{s.Name(), "", "Another source has this name, so its tools are left out."})
			continue
		}
		v.sources[s.Name()] = s
		v.collectServer(check(s.Name(), s.Definitions()))
	}
	for _, s := range slices.Concat(builtin, servers) {
		if c, ok := s.(Complaining); ok {
			for _, p := range c.Problems() {
				v.problems = append(v.problems, Problem{s.Name(), p.Tool, p.Message})
			}
		}
	}
	v.refuseSameNames()
}

// collectServer adds what a server offers, with the marks that people made.
func (v *view) collectServer(c checked) {
	v.problems = append(v.problems, c.problems...)
	for _, o := range c.usable {
		o.Effects = v.marks[chat.ReadOnlyMark{Source: o.Source, Tool: o.Tool}] != o.hash
		v.tools = append(v.tools, o)
	}
}

// checked is what a server offers, as it was looked at last.
type checked struct {
	raw      []chat.ToolDefinition
	usable   []offered // tools by name
	problems []Problem
}

// check looks at what a server offers. It remembers the last answer: lists are long, change
// seldom, and are asked for several times in each step.
func (r *Registry) check(source string, raw []chat.ToolDefinition) checked {
	r.mu.RLock()
	last, ok := r.checked[source]
	r.mu.RUnlock()
	if ok && slices.EqualFunc(last.raw, raw, sameDefinition) {
		return last
	}
	now := checkServer(source, raw)
	r.mu.Lock()
	r.checked[source] = now
	r.mu.Unlock()
	return now
}

func sameDefinition(a, b chat.ToolDefinition) bool {
	return a.Tool == b.Tool && a.Title == b.Title && a.Description == b.Description &&
		bytes.Equal(a.Schema, b.Schema) && bytes.Equal(a.Annotations, b.Annotations)
}

func checkServer(source string, raw []chat.ToolDefinition) checked {
	c := checked{raw: raw}
	if len(raw) > MaxPerSource {
		c.problems = append(c.problems, Problem{source, "", fmt.Sprintf("It offers %d tools; only the first %d are looked at.", len(raw), MaxPerSource)})
		raw = raw[:MaxPerSource]
	}
	count, told := map[string]int{}, map[string]bool{}
	for _, d := range raw {
		count[d.Tool]++
	}
	for _, d := range raw {
		if told[d.Tool] {
			continue
		}
		d.Source = source
		clean, why := usableDefinition(d)
		if n := count[d.Tool]; n > 1 {
			told[d.Tool] = true
			why = fmt.Sprintf("The server offers %d tools of this name, so it is not clear which one would run. All of them are left out.", n)
		}
		if why != "" {
			c.problems = append(c.problems, Problem{source, shownName(d.Tool), why})
			continue
		}
		c.usable = append(c.usable, offered{ToolDefinition: clean, hash: clean.Hash()})
	}
	slices.SortFunc(c.usable, func(a, b offered) int { return cmp.Compare(a.Tool, b.Tool) })
	return c
}

// usableDefinition is a server's definition as it is shown, hashed and offered, or why it
// is refused. Models get what people can see: characters that are not drawn are left out
// of its words, and a schema with such characters is refused.
func usableDefinition(d chat.ToolDefinition) (chat.ToolDefinition, string) {
	d.Name = offeredName(d.Source, d.Tool)
	d.Title, d.Description = untrusted.Visible(d.Title), untrusted.Visible(d.Description)
	switch {
	case strings.IndexFunc(d.Tool, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) < 0:
		return d, "The tool has no usable name."
	case len(d.Tool) > maxName || untrusted.Visible(d.Tool) != d.Tool || strings.Contains(d.Tool, "\n"):
		return d, "The tool's name is too long, or holds characters that cannot be seen."
	case len(d.Title) > maxTitle:
		return d, fmt.Sprintf("Its title is longer than %d bytes.", maxTitle)
	case len(d.Description) > maxDescription:
		return d, fmt.Sprintf("Its description is longer than %d KB.", maxDescription>>10)
	case len(d.Schema) > maxSchema:
		return d, fmt.Sprintf("The schema of its arguments is larger than %d KB.", maxSchema>>10)
	case len(d.Annotations) > maxAnnotations:
		d.Annotations = nil // hints that are never trusted
	}
	if why := schemaProblem(d.Schema); why != "" {
		return d, why
	}
	var compact bytes.Buffer
	_ = json.Compact(&compact, d.Schema) // it was read above
	d.Schema = compact.Bytes()
	if len(d.Annotations) > 0 && !json.Valid(d.Annotations) {
		d.Annotations = nil
	}
	return d, ""
}

// HashOf is the hash by which people and models know a server's definition, which may be shown and
// offered in other words than the server's.
func HashOf(d chat.ToolDefinition) string {
	usable, _ := usableDefinition(d)
	return usable.Hash()
}

// schemaProblem says why a schema cannot be that of a tool's arguments.
func schemaProblem(schema json.RawMessage) string {
	var object map[string]any
	if err := json.Unmarshal(schema, &object); err != nil || object == nil {
		return "The schema of its arguments is not a JSON object."
	}
	if kind, ok := object["type"].(string); !ok || kind != "object" {
		return `The schema of its arguments does not describe an object ("type": "object").`
	}
	if hasHidden(object) {
		return "The schema of its arguments holds characters that cannot be seen."
	}
	return ""
}

// hasHidden reports a text in a decoded JSON value that a reader would not see all of.
func hasHidden(value any) bool {
	switch x := value.(type) {
	case string:
		return untrusted.Visible(x) != strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(x)
	case []any:
		return slices.ContainsFunc(x, hasHidden)
	case map[string]any:
		for k, e := range x {
			if hasHidden(k) || hasHidden(e) {
				return true
			}
		}
	}
	return false
}

// offeredName is the name by which providers get a server's tool: ^[a-zA-Z0-9_-]{1,64}$. A name of
// another script, of which that leaves nothing, is told apart by its hash, and so is a long one.
func offeredName(source, tool string) string {
	full := source + "__" + tool
	foreign := false
	name := strings.Map(func(r rune) rune {
		foreign = foreign || r > unicode.MaxASCII
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_') {
			return r
		}
		return '_'
	}, full)
	if len(name) <= maxOfferedName && !foreign {
		return name
	}
	sum := sha256.Sum256([]byte(full))
	return name[:min(len(name), maxOfferedName-9)] + "_" + hex.EncodeToString(sum[:4])
}

// refuseSameNames leaves out tools that would have one name in a request. Which one a model
// means could not be told, and one server must not take the calls of another.
func (v *view) refuseSameNames() {
	holders := map[string][]offered{}
	for _, o := range v.tools {
		holders[o.Name] = append(holders[o.Name], o)
	}
	v.tools = slices.DeleteFunc(v.tools, func(o offered) bool {
		same := holders[o.Name]
		if len(same) == 1 || o.builtin {
			return false
		}
		others := make([]string, 0, len(same))
		for _, s := range same {
			others = append(others, fmt.Sprintf("%s of %s", shownName(s.Tool), s.Source))
		}
		v.problems = append(v.problems, Problem{o.Source, shownName(o.Tool),
			fmt.Sprintf("Models would get one name, %s, for %s. They are left out.", o.Name, strings.Join(others[:min(len(others), 4)], ", "))})
		return true
	})
}

// shownName is a name of a server's choice on one line.
func shownName(name string) string {
	return display.Clip(display.OneLine(untrusted.Visible(name)), 100)
}
