package config

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

// FuzzEdit: setting a value and removing it again changes no other value and no comment, and the value that was set can
// be read.
func FuzzEdit(f *testing.F) {
	for _, s := range []string{
		srd18, "# first\n[models.a] # beside\nprovider = \"openai\" # why\n# last\n", "models = { \"a\" = { provider = \"x\" } } # inline\n",
		"a.b = 1 # dotted\r\n", "[x]\n\n# between\n\n[y]\nz = '''\n# no comment\n'''", "\xef\xbb\xbf# mark\n",
	} {
		f.Add([]byte(s), "models", "a", "value # \" \\ \n")
		f.Add([]byte(s), "x", "y z", "")
	}
	f.Fuzz(func(t *testing.T, data []byte, table, name, value string) {
		d, err := parseDocument(data)
		if err != nil {
			return
		}
		path := []string{table, name}
		set, err := setValue(data, path, value)
		if err != nil {
			return // a form that must be edited by hand
		}
		after, err := parseDocument(set)
		if err != nil {
			t.Fatalf("set in %q: %v", data, err)
		}
		if got, _ := after.lookup(path); got != strings.ToValidUTF8(value, "\uFFFD") {
			t.Fatalf("set %q in %q, read %q", value, set, got)
		}
		_, had := d.lookup(path)
		if !had && !keepsLines(data, set) {
			t.Fatalf("%q became %q", data, set)
		}
		back, err := removePath(set, path)
		if err != nil {
			return
		}
		rest, err := parseDocument(back)
		if err != nil {
			t.Fatalf("removed from %q: %v", set, err)
		}
		if want := withoutEmptyTables(withoutPath(d.values, path)); !reflect.DeepEqual(withoutEmptyTables(rest.values), want) {
			t.Fatalf("%q has other values than %q", back, data)
		}
	})
}

// keepsLines reports whether every comment of a text is in another one, in order.
func keepsLines(before, after []byte) bool {
	for line := range bytes.Lines(before) {
		line = bytes.TrimSpace(line)
		if !bytes.HasPrefix(line, []byte("#")) {
			continue
		}
		pos := bytes.Index(after, line)
		if pos < 0 {
			return false
		}
		after = after[pos+len(line):]
	}
	return true
}
