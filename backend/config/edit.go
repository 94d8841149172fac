package config

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	toml "github.com/pelletier/go-toml/v2"

	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/internal/pattern"
)

// errByHand is for a file that this editor cannot change without affecting other parts. Nothing is written then.
var errByHand = errors.New("the file is written in a form that must be edited by hand")

// setValue returns data with path set to value and everything else unchanged. The result is parsed and must differ
// only in that value, or it is refused, so mistakes in the text editing below cannot do damage.
func setValue(data []byte, path []string, value any) ([]byte, error) {
	d, err := parseDocument(data)
	if err != nil {
		return nil, err
	}
	text := tomlValue(value)
	var plain map[string]any
	if err := toml.Unmarshal([]byte("v = "+text), &plain); err != nil {
		return nil, fmt.Errorf("config: value of %s does not encode: %w", dotted(path), err)
	}
	return verified(d.insert(path, text), withPath(d.values, path, plain["v"]))
}

// removePath returns data without path, a value or a table.
func removePath(data []byte, path []string) ([]byte, error) {
	d, err := parseDocument(data)
	if err != nil {
		return nil, err
	}
	if _, ok := d.lookup(path); !ok {
		return data, nil
	}
	return verified(d.cut(path), withoutPath(d.values, path))
}

func verified(data []byte, want map[string]any) ([]byte, error) {
	got, err := parseDocument(data)
	if err != nil || !reflect.DeepEqual(withoutEmptyTables(got.values), withoutEmptyTables(want)) {
		return nil, errByHand
	}
	return data, nil
}

// insert adds `path = text` in the right position: in place of the old value, beside its siblings, under its header,
// or under a new header at the end.
func (d *document) insert(path []string, text string) []byte {
	parent, name := path[:len(path)-1], path[len(path)-1]
	sibling := -1
	for i, e := range d.entries {
		if slices.Equal(e.path, path) {
			return splice(d.data, e.valueStart, e.end, text)
		}
		if len(e.path) == len(path) && hasPrefix(e.path, parent) {
			sibling = i
		}
	}
	if sibling >= 0 {
		return d.insertBeside(d.entries[sibling], path, text)
	}
	assignment := tomlKey(name) + " = " + text
	for _, h := range d.headers {
		if slices.Equal(h.path, parent) {
			return d.insertLine(h.start, assignment)
		}
	}
	eol := d.eol()
	tail := "[" + dotted(parent) + "]" + eol + assignment + eol
	if body := bytes.TrimPrefix(d.data, bom); len(body) > 0 {
		if !bytes.HasSuffix(body, []byte("\n")) {
			tail = eol + tail
		}
		tail = eol + tail
	}
	return splice(d.data, len(d.data), len(d.data), tail)
}

func (d *document) insertBeside(e entry, path []string, text string) []byte {
	if e.inline {
		return splice(d.data, e.end, e.end, ", "+tomlKey(path[len(path)-1])+" = "+text)
	}
	start := lineStart(d.data, e.start)
	indent := d.data[start:e.start]
	if len(bytes.Trim(indent, " \t")) > 0 {
		indent = nil
	}
	return d.insertLine(e.end, string(indent)+dotted(path[len(e.table):])+" = "+text)
}

// insertLine adds a line after the line of offset.
func (d *document) insertLine(offset int, line string) []byte {
	pos := lineEnd(d.data, offset)
	if pos == 0 || d.data[pos-1] != '\n' {
		return splice(d.data, pos, pos, d.eol()+line)
	}
	return splice(d.data, pos, pos, line+d.eol())
}

func (d *document) eol() string {
	if bytes.Contains(d.data, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

type span struct{ from, to int }

// cut removes everything at or under path: headers with their entries, and entries elsewhere. Comments above a header
// stay.
func (d *document) cut(path []string) []byte {
	var spans []span
	for i, h := range d.headers {
		if hasPrefix(h.path, path) {
			spans = append(spans, d.tableSpan(i))
		}
	}
	for _, e := range d.entries {
		if !hasPrefix(e.path, path) {
			continue
		}
		if s := d.entrySpan(e); !slices.ContainsFunc(spans, func(o span) bool { return o.from <= s.from && s.to <= o.to }) {
			spans = append(spans, s)
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return b.from - a.from })
	data := d.data
	for _, s := range spans {
		data = splice(data, s.from, s.to, "")
		data = closeGap(data, s.from)
	}
	return data
}

// tableSpan returns the span of a header and its entries, up to the end of the last one.
func (d *document) tableSpan(i int) span {
	h := d.headers[i]
	limit := len(d.data)
	if i+1 < len(d.headers) {
		limit = d.headers[i+1].start
	}
	s := span{h.start, lineEnd(d.data, h.start)}
	for _, e := range d.entries {
		if !e.inline && e.start > h.start && e.start < limit {
			s.to = lineEnd(d.data, e.end)
		}
	}
	return s
}

func (d *document) entrySpan(e entry) span {
	if !e.inline {
		return span{lineStart(d.data, e.start), lineEnd(d.data, e.end)}
	}
	after := e.end + len(d.data[e.end:]) - len(bytes.TrimLeft(d.data[e.end:], " \t"))
	if after < len(d.data) && d.data[after] == ',' {
		rest := d.data[after+1:]
		return span{e.start, after + 1 + len(rest) - len(bytes.TrimLeft(rest, " \t"))}
	}
	before := len(bytes.TrimRight(d.data[:e.start], " \t"))
	if before > 0 && d.data[before-1] == ',' {
		return span{before - 1, e.end}
	}
	return span{e.start, e.end}
}

// closeGap removes one of two consecutive empty lines left by a cut.
func closeGap(data []byte, pos int) []byte {
	before, after := data[:pos], data[pos:]
	if (len(before) == 0 || bytes.HasSuffix(before, []byte("\n\n"))) && bytes.HasPrefix(after, []byte("\n")) {
		return splice(data, pos, pos+1, "")
	}
	if len(after) == 0 && bytes.HasSuffix(before, []byte("\n\n")) {
		return before[:len(before)-1]
	}
	return data
}

func splice(data []byte, from, to int, text string) []byte {
	return slices.Concat(data[:from], []byte(text), data[to:])
}

// withPath returns a copy of values with path set to value.
func withPath(values map[string]any, path []string, value any) map[string]any {
	out := maps.Clone(values)
	if out == nil {
		out = map[string]any{}
	}
	if len(path) == 1 {
		out[path[0]] = value
		return out
	}
	child, _ := out[path[0]].(map[string]any)
	out[path[0]] = withPath(child, path[1:], value)
	return out
}

func withoutPath(values map[string]any, path []string) map[string]any {
	out := maps.Clone(values)
	if len(path) == 1 {
		delete(out, path[0])
		return out
	}
	if child, ok := out[path[0]].(map[string]any); ok {
		out[path[0]] = withoutPath(child, path[1:])
	}
	return out
}

// withoutEmptyTables treats a missing table and an empty one as equal.
func withoutEmptyTables(values map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range values {
		child, ok := v.(map[string]any)
		if !ok {
			out[k] = v
		} else if child = withoutEmptyTables(child); len(child) > 0 {
			out[k] = child
		}
	}
	return out
}

var bareKey = pattern.New(`^[A-Za-z0-9_-]+$`)

// tomlKey returns a part of a key in TOML syntax.
func tomlKey(s string) string {
	if bareKey().MatchString(s) {
		return s
	}
	return tomlString(s)
}

// tomlValue returns a value on one line in TOML syntax. Tables have sorted keys.
func tomlValue(value any) string {
	switch v := value.(type) {
	case string:
		return tomlString(v)
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		text := formatFloat(v)
		if !strings.ContainsAny(text, ".nI") {
			text += ".0"
		}
		return strings.ToLower(text)
	case []string:
		return tomlList(v)
	case []any:
		return tomlList(v)
	case map[string]any:
		return tomlInlineTable(v)
	}
	return tomlOther(value)
}

func tomlList[T any](items []T) string {
	parts := make([]string, len(items))
	for i, item := range items {
		parts[i] = tomlValue(item)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func tomlInlineTable(table map[string]any) string {
	parts := lists.Map(sortedKeys(table), func(k string) string { return tomlKey(k) + " = " + tomlValue(table[k]) })
	return "{ " + strings.Join(parts, ", ") + " }"
}

// tomlOther lets the library encode dates and times.
func tomlOther(value any) string {
	out, err := toml.Marshal(map[string]any{"v": value})
	if err != nil {
		return ""
	}
	return strings.TrimSpace(strings.TrimPrefix(string(out), "v = "))
}

func tomlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range strings.ToValidUTF8(s, "\uFFFD") {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
