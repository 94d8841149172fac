package config

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	toml "github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// document is a file as text and as values, with the positions of the values.
type document struct {
	data    []byte
	values  map[string]any
	entries []entry
	headers []header
}

// entry is one `key = value`. Offsets are into data.
type entry struct {
	path       []string
	table      []string // the table it belongs to
	start, end int      // from its key to the end of its value
	valueStart int
	inline     bool // inside an inline table
}

// header is a [table] or [[table]] line.
type header struct {
	path  []string
	start int
}

// parseDocument parses a TOML text. A syntax error is a *syntaxError.
func parseDocument(data []byte) (*document, error) {
	d := &document{data: data}
	if err := toml.Unmarshal(bytes.TrimPrefix(data, bom), &d.values); err != nil {
		return nil, asSyntaxError(err)
	}
	if err := d.locate(); err != nil {
		return nil, asSyntaxError(err)
	}
	return d, nil
}

// bom is the byte order mark that some editors on Windows write.
var bom = []byte("\xef\xbb\xbf")

// syntaxError is for invalid TOML. Its message describes the position and never repeats a value.
type syntaxError struct {
	line    int
	key     []string
	message string
}

func (e *syntaxError) Error() string { return e.message }

func asSyntaxError(err error) error {
	var decode *toml.DecodeError
	if !errors.As(err, &decode) {
		return &syntaxError{line: 1, message: "is not valid TOML"}
	}
	line, _ := decode.Position()
	return &syntaxError{line: max(line, 1), key: decode.Key(), message: strings.TrimPrefix(decode.Error(), "toml: ")}
}

func (d *document) locate() error {
	var p unstable.Parser
	text := bytes.TrimPrefix(d.data, bom)
	shift := len(d.data) - len(text)
	p.Reset(text)
	var table []string
	for p.NextExpression() {
		switch node := p.Expression(); node.Kind {
		case unstable.Table, unstable.ArrayTable:
			key := node.Key()
			table = keyPath(key)
			d.headers = append(d.headers, header{path: table, start: shift + lineStart(text, firstOffset(key))})
		case unstable.KeyValue:
			d.addEntry(node, table, table, shift, false)
		}
	}
	return p.Error()
}

// addEntry records node and, if its value is an inline table, its content.
func (d *document) addEntry(node *unstable.Node, table, parent []string, shift int, inline bool) {
	key := node.Key()
	start := shift + int(node.Raw.Offset)
	e := entry{
		path: slices.Concat(parent, keyPath(key)), table: table, inline: inline,
		start: start, end: start + int(node.Raw.Length),
	}
	e.valueStart = valueStart(d.data, shift+lastOffset(key), e.end)
	// go-toml's range extends to the next token; the value ends earlier.
	for e.end > e.valueStart && strings.IndexByte(" \t\r\n", d.data[e.end-1]) >= 0 {
		e.end--
	}
	d.entries = append(d.entries, e)
	if node.Value().Kind != unstable.InlineTable {
		return
	}
	for it := node.Value().Children(); it.Next(); {
		if child := it.Node(); child.Kind == unstable.KeyValue {
			d.addEntry(child, table, e.path, shift, true)
		}
	}
}

func keyPath(it unstable.Iterator) []string {
	var path []string
	for it.Next() {
		path = append(path, string(it.Node().Data))
	}
	return path
}

func firstOffset(it unstable.Iterator) int {
	it.Next()
	return int(it.Node().Raw.Offset)
}

// lastOffset returns the end of the last part of a key.
func lastOffset(it unstable.Iterator) int {
	end := 0
	for it.Next() {
		end = int(it.Node().Raw.Offset + it.Node().Raw.Length)
	}
	return end
}

// valueStart skips ` = ` after a key.
func valueStart(data []byte, keyEnd, end int) int {
	i := keyEnd
	for i < end && strings.IndexByte(" \t=", data[i]) >= 0 {
		i++
	}
	return i
}

func lineStart(data []byte, offset int) int {
	return bytes.LastIndexByte(data[:offset], '\n') + 1
}

// lineEnd returns the offset after the line break that ends offset's line.
func lineEnd(data []byte, offset int) int {
	if i := bytes.IndexByte(data[offset:], '\n'); i >= 0 {
		return offset + i + 1
	}
	return len(data)
}

// line returns the line number, from 1, that best represents path: the entry itself, otherwise its table, otherwise the
// first entry below it.
func (d *document) line(path []string) int {
	best := -1
	for _, e := range d.entries {
		if slices.Equal(e.path, path) {
			return d.lineOf(e.start)
		}
		if best < 0 && hasPrefix(e.path, path) {
			best = e.start
		}
	}
	for _, h := range d.headers {
		if slices.Equal(h.path, path) {
			return d.lineOf(h.start)
		}
		if best < 0 && hasPrefix(h.path, path) {
			best = h.start
		}
	}
	if best < 0 {
		return 1
	}
	return d.lineOf(best)
}

func (d *document) lineOf(offset int) int {
	return 1 + bytes.Count(d.data[:offset], []byte{'\n'})
}

func hasPrefix(path, prefix []string) bool {
	return len(path) >= len(prefix) && slices.Equal(path[:len(prefix)], prefix)
}

// lookup finds a value by path.
func (d *document) lookup(path []string) (any, bool) {
	var current any = d.values
	for _, part := range path {
		table, ok := current.(map[string]any)
		if !ok {
			return nil, false
		}
		if current, ok = table[part]; !ok {
			return nil, false
		}
	}
	return current, true
}

// names lists what a table contains, in file order.
func (d *document) names(table []string) []string {
	offsets := map[string]int{}
	add := func(path []string, offset int) {
		if len(path) <= len(table) || !hasPrefix(path, table) {
			return
		}
		name := path[len(table)]
		if first, ok := offsets[name]; !ok || offset < first {
			offsets[name] = offset
		}
	}
	for _, e := range d.entries {
		add(e.path, e.start)
	}
	for _, h := range d.headers {
		add(h.path, h.start)
	}
	names := sortedKeys(offsets)
	slices.SortStableFunc(names, func(a, b string) int { return offsets[a] - offsets[b] })
	return names
}
