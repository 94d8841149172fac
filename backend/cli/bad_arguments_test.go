package cli_test

import (
	"strings"
	"testing"
)

// For invalid arguments the error says what is wrong and what to do instead.
func TestBadArguments(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	session := h.send("--new", "hi").SessionID
	for line, want := range map[string]string{
		"reconcile extra":                               `"extra" is one argument too many`,
		"reconcile --bogus":                             "contextinfinity reconcile --help lists its flags",
		"metrics nosuch":                                `"nosuch" is not a session id. (give its 26 letters and digits`,
		"metrics --limit -1":                            "--limit must not be negative",
		"metrics --all --branch x":                      "--all excludes SESSION and --branch",
		"chunks --scope bogus":                          `lineage, session, project, all, not "bogus"`,
		"chunks --offset -1":                            "--offset must not be negative",
		"chunks --id nosuch":                            `"nosuch" is not a chunk id`,
		"chunks S --id 01HRZPH300K2A4TS0XFJ1GR8A3":      "--id shows one chunk: SESSION",
		"summaries":                                     "SESSION is missing",
		"summaries S --branch nosuch":                   `"nosuch" is not a branch id`,
		"models --switch-preview":                       "contextinfinity models --help lists its flags",
		"models --switch-preview=":                      "--switch-preview needs the name of a model. (contextinfinity models lists them)",
		"models --session S":                            "--session needs --switch-preview",
		"sessions --set foo":                            "--set foo has no value. (write --set KEY=VALUE)",
		"sessions --set =5":                             `--set "=5" names no setting. (write --set KEY=VALUE)`,
		"sessions --set nosuch=1":                       "--set nosuch: there is no setting of that name",
		"sessions --set budget.working_set_tokens=":     `must be a whole number, not ""`,
		"sessions --set budget.working_set_tokens=many": `must be a whole number, not "many"`,
		"sessions --set context.infinity=maybe":         `must be true or false, not "maybe"`,
		"sessions --set budget.working_set_tokens=1":    "must be between 1000 and",
	} {
		args := strings.Fields(strings.ReplaceAll(line, " S", " "+session))
		if r := h.run(args...).exits(2); !strings.Contains(r.err, want) || r.out != "" {
			t.Errorf("%s: %q, want %q", line, r.err, want)
		}
	}
}

// If there is nothing to list, the output says so, and how to create something.
func TestNothingToList(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	session := h.send("--new", "--wait", "indexed", "hi").SessionID
	for line, want := range map[string]string{
		"summaries S":           "No range summaries. They are made when old turns no longer fit",
		"summaries S --orphans": "No range summary was replaced by another.",
		"chunks --text zebra":   "No chunk contains this text.",
		"chunks --offset 1000":  "No chunks after --offset: there are ",
		"reconcile":             "No unfinished work was found.",
		"reconcile --last":      "No run has found unfinished work yet.",
	} {
		if r := h.run(strings.Fields(strings.ReplaceAll(line, " S", " "+session))...).exits(0); !strings.HasPrefix(r.out, want) {
			t.Errorf("%s: %q, want %q", line, r.out, want)
		}
	}
	empty := newHome(t)
	empty.writer() // creates the data
	for line, want := range map[string]string{
		"chunks": "No chunks. Turns are indexed", "metrics --all": "Nothing has been measured yet.", "sessions": "No sessions.",
	} {
		if r := empty.run(strings.Fields(line)...).exits(0); !strings.HasPrefix(r.out, want) {
			t.Errorf("%s: %q, want %q", line, r.out, want)
		}
	}
}
