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

// Limits for servers' definitions, beyond which a tool is refused.
const (
	MaxOffered      = 128 // tools per request; providers refuse more
	MaxOfferedBytes = 512 << 10
	MaxPerSource    = 500 // definitions considered per server
	maxName         = 256
	maxTitle        = 1 << 10
	maxDescription  = 32 << 10
	maxSchema       = 64 << 10
	maxAnnotations  = 8 << 10
	maxOfferedName  = 64 // limit of providers
)

var tooMany = fmt.Sprintf("More than %d tools, or %d KB of descriptions, are accepted; this one is left out.", MaxOffered, MaxOfferedBytes>>10)

// sizeOf returns the size of a definition in a request, in bytes.
func sizeOf(d chat.ToolDefinition) int { return len(d.Name) + len(d.Description) + len(d.Schema) }

// collect lists the usable definitions of all sources in a stable order: the program's own, then servers by name,
// tools by name. This way requests do not change if a server reorders its list.
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
			v.problems = append(v.problems, Problem{s.Name(), "", "Another source has the same name, so the tools of this one are left out."})
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

// collectServer adds a server's definitions, with the user's marks.
func (v *view) collectServer(c checked) {
	v.problems = append(v.problems, c.problems...)
	for _, o := range c.usable {
		o.Effects = v.marks[chat.ReadOnlyMark{Source: o.Source, Tool: o.Tool}] != o.hash
		v.tools = append(v.tools, o)
	}
}

// checked is the result of the last check of a server's definitions.
type checked struct {
	raw      []chat.ToolDefinition
	usable   []offered // sorted by name
	problems []Problem
}

// check checks a server's definitions. It caches the result, because lists are long, rarely change, and are needed
// several times in each step.
func (r *Registry) check(source string, raw []chat.ToolDefinition) checked {
	r.mu.RLock()
	last, ok := r.checked[source]
	r.mu.RUnlock()
	if ok && slices.EqualFunc(last.raw, raw, sameDefinition) {
		return last
	}
	result := checkServer(source, raw)
	r.mu.Lock()
	r.checked[source] = result
	r.mu.Unlock()
	return result
}

func sameDefinition(a, b chat.ToolDefinition) bool {
	return a.Tool == b.Tool && a.Title == b.Title && a.Description == b.Description &&
		bytes.Equal(a.Schema, b.Schema) && bytes.Equal(a.Annotations, b.Annotations)
}

func checkServer(source string, raw []chat.ToolDefinition) checked {
	c := checked{raw: raw}
	if len(raw) > MaxPerSource {
		c.problems = append(c.problems, Problem{source, "", fmt.Sprintf("It offers %d tools; only the first %d are considered.", len(raw), MaxPerSource)})
		raw = raw[:MaxPerSource]
	}
	count, reported := map[string]int{}, map[string]bool{}
	for _, d := range raw {
		count[d.Tool]++
	}
	for _, d := range raw {
		if reported[d.Tool] {
			continue
		}
		d.Source = source
		clean, reason := usableDefinition(d)
		if n := count[d.Tool]; n > 1 {
			reported[d.Tool] = true
			reason = fmt.Sprintf("The server offers %d tools of this name, so it is not clear which one would run. All of them are left out.", n)
		}
		if reason != "" {
			c.problems = append(c.problems, Problem{source, shownName(d.Tool), reason})
			continue
		}
		c.usable = append(c.usable, offered{ToolDefinition: clean, hash: clean.Hash()})
	}
	slices.SortFunc(c.usable, func(a, b offered) int { return cmp.Compare(a.Tool, b.Tool) })
	return c
}

// usableDefinition returns a server's definition as it is shown, hashed and offered, or the reason why it is refused.
// Models get only what people can see: invisible characters are removed from its texts, and a schema that contains any
// is refused.
func usableDefinition(d chat.ToolDefinition) (chat.ToolDefinition, string) {
	d.Name = offeredName(d.Source, d.Tool)
	d.Title, d.Description = untrusted.Visible(d.Title), untrusted.Visible(d.Description)
	switch {
	case strings.IndexFunc(d.Tool, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) < 0:
		return d, "The tool has no usable name."
	case len(d.Tool) > maxName || untrusted.Visible(d.Tool) != d.Tool || strings.Contains(d.Tool, "\n"):
		return d, "The tool's name is too long, or contains invisible characters."
	case len(d.Title) > maxTitle:
		return d, fmt.Sprintf("Its title is longer than %d bytes.", maxTitle)
	case len(d.Description) > maxDescription:
		return d, fmt.Sprintf("Its description is longer than %d KB.", maxDescription>>10)
	case len(d.Schema) > maxSchema:
		return d, fmt.Sprintf("The schema of its arguments is larger than %d KB.", maxSchema>>10)
	case len(d.Annotations) > maxAnnotations:
		d.Annotations = nil // these hints are never trusted
	}
	if reason := schemaProblem(d.Schema); reason != "" {
		return d, reason
	}
	var compact bytes.Buffer
	_ = json.Compact(&compact, d.Schema) // valid: schemaProblem has parsed it
	d.Schema = compact.Bytes()
	if len(d.Annotations) > 0 && !json.Valid(d.Annotations) {
		d.Annotations = nil
	}
	return d, ""
}

// HashOf returns the hash of a server's definition, which may be shown and offered with a cleaned text.
func HashOf(d chat.ToolDefinition) string {
	usable, _ := usableDefinition(d)
	return usable.Hash()
}

// schemaProblem returns the reason why a schema is invalid for a tool's arguments; empty if it is valid.
func schemaProblem(schema json.RawMessage) string {
	var object map[string]any
	if err := json.Unmarshal(schema, &object); err != nil || object == nil {
		return "The schema of its arguments is not a JSON object."
	}
	if kind, ok := object["type"].(string); !ok || kind != "object" {
		return `The schema of its arguments does not describe an object ("type": "object").`
	}
	if hasHidden(object) {
		return "The schema of its arguments contains invisible characters."
	}
	return ""
}

// hasHidden reports whether a decoded JSON value contains invisible characters.
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

// offeredName returns a name for a server's tool that providers accept: ^[a-zA-Z0-9_-]{1,64}$. A long name, or one in
// another script, of which nothing would remain, gets a hash.
func offeredName(source, tool string) string {
	full := source + "__" + tool
	nonASCII := false
	name := strings.Map(func(r rune) rune {
		nonASCII = nonASCII || r > unicode.MaxASCII
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_') {
			return r
		}
		return '_'
	}, full)
	if len(name) <= maxOfferedName && !nonASCII {
		return name
	}
	sum := sha256.Sum256([]byte(full))
	return name[:min(len(name), maxOfferedName-9)] + "_" + hex.EncodeToString(sum[:4])
}

// refuseSameNames drops tools with the same name in a request: the model's choice would be ambiguous, and one server
// must not receive another's calls.
func (v *view) refuseSameNames() {
	byName := map[string][]offered{}
	for _, o := range v.tools {
		byName[o.Name] = append(byName[o.Name], o)
	}
	v.tools = slices.DeleteFunc(v.tools, func(o offered) bool {
		same := byName[o.Name]
		if len(same) == 1 || o.builtin {
			return false
		}
		owners := make([]string, 0, len(same))
		for _, s := range same {
			owners = append(owners, fmt.Sprintf("%s of %s", shownName(s.Tool), s.Source))
		}
		v.problems = append(v.problems, Problem{o.Source, shownName(o.Tool),
			fmt.Sprintf("Models would see the same name, %s, for %s. They are left out.", o.Name, strings.Join(owners[:min(len(owners), 4)], ", "))})
		return true
	})
}

// shownName returns a server's name on one line.
func shownName(name string) string {
	return display.Clip(display.OneLine(untrusted.Visible(name)), 100)
}
