package config

import (
	"errors"
	"strings"
	"testing"
)

func TestSetKeepsEverythingElse(t *testing.T) {
	path := func(s string) []string { return strings.Split(s, ".") }
	cases := []struct {
		name, before string
		key          string
		value        any
		after        string
	}{
		{"replace, with comments", "# mine\n[budget] # here\n  compact_at   =  0.9   # why\n\n# end", "budget.compact_at", 0.8,
			"# mine\n[budget] # here\n  compact_at   =  0.8   # why\n\n# end"},
		{"beside a sibling", "[budget]\n\tcompact_at = 0.9 # why\n\n[stream]\n", "budget.compact_to", 0.1,
			"[budget]\n\tcompact_at = 0.9 # why\n\tcompact_to = 0.1\n\n[stream]\n"},
		{"under an empty header", "[budget]\n# nothing yet\n", "budget.compact_to", 0.1,
			"[budget]\ncompact_to = 0.1\n# nothing yet\n"},
		{"new section", "[budget]\ncompact_at = 0.9", "stream.fsync_ms", 5,
			"[budget]\ncompact_at = 0.9\n\n[stream]\nfsync_ms = 5\n"},
		{"empty file", "", "stream.fsync_ms", 5, "[stream]\nfsync_ms = 5\n"},
		{"no newline at the end", "[stream]\nfsync_ms = 9", "stream.flush_ms", 5, "[stream]\nfsync_ms = 9\nflush_ms = 5"},
		{"dotted", "stream.fsync_ms = 9\n", "stream.flush_ms", 5, "stream.fsync_ms = 9\nstream.flush_ms = 5\n"},
		{"inline", "stream = { fsync_ms = 9 } # one line\n", "stream.flush_ms", 5, "stream = { fsync_ms = 9, flush_ms = 5 } # one line\n"},
		{"inline, replace", "stream = { fsync_ms = 9 , flush_ms=1 }\n", "stream.fsync_ms", 5, "stream = { fsync_ms = 5 , flush_ms=1 }\n"},
		{"list over lines", "[redaction]\npatterns = [\n  \"a\", # first\n  \"b\",\n] # all\n", "redaction.patterns", []string{`\d+"`},
			"[redaction]\npatterns = [\"\\\\d+\\\"\"] # all\n"},
		{"text with quotes", "[general]\ndata_dir = '/old # dir'\n", "general.data_dir", "/new \"dir\"\t", "[general]\ndata_dir = \"/new \\\"dir\\\"\\u0009\"\n"},
		{"quoted name", "[models.\"a b\"]\nmodel_id = \"x\"\n", "models.a b.provider", "openai", "[models.\"a b\"]\nmodel_id = \"x\"\nprovider = \"openai\"\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := setValue([]byte(c.before), path(c.key), c.value)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != c.after {
				t.Fatalf("got\n%s\nwant\n%s", got, c.after)
			}
		})
	}
}

func TestRemoveKeepsEverythingElse(t *testing.T) {
	cases := []struct{ name, before, key, after string }{
		{"a line", "[stream]\n# a\nfsync_ms = 9 # b\nflush_ms = 1\n", "stream.fsync_ms", "[stream]\n# a\nflush_ms = 1\n"},
		{"not there", "# x\n", "stream.fsync_ms", "# x\n"},
		{"inline, first", "stream = { fsync_ms = 9, flush_ms = 1 }\n", "stream.fsync_ms", "stream = { flush_ms = 1 }\n"},
		{"inline, last", "stream = { flush_ms = 1, fsync_ms = 9 }\n", "stream.fsync_ms", "stream = { flush_ms = 1 }\n"},
		{"a table", "# top\n\n[models.a]\nprovider = \"x\" # y\n# inside\nmodel_id = \"z\"\n\n# of b\n[models.b]\nprovider = \"w\"\n", "models.a",
			"# top\n\n# of b\n[models.b]\nprovider = \"w\"\n"},
		{"a table and its sub-table", "[models.a]\nprovider = \"x\"\n[models.a.provider_options]\nk = 1\n[stream]\n", "models.a", "[stream]\n"},
		{"a table at the end", "[stream]\nfsync_ms = 1\n\n[models.a]\nprovider = \"x\"\n", "models.a", "[stream]\nfsync_ms = 1\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := removePath([]byte(c.before), strings.Split(c.key, "."))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != c.after {
				t.Fatalf("got\n%s\nwant\n%s", got, c.after)
			}
		})
	}
}

// A form of TOML that the editor cannot edit is refused.
func TestUneditableFormIsRefused(t *testing.T) {
	_, err := setValue([]byte("stream = {}\n"), []string{"stream", "fsync_ms"}, 5)
	if !errors.Is(err, errByHand) {
		t.Fatalf("error %v", err)
	}
}
