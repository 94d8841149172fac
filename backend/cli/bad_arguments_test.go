package cli_test

import (
	"regexp"
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
		"--session S":                                   "--session needs --new-window. (to send to a session:",
		"--hidden --bogus":                              "Unknown flag: --bogus. (contextinfinity --help lists its flags)",
		"sessions nosuch":                               `sessions has no verb "nosuch". (one of: archive, duplicate, folder`,
		"config nosuch x":                               `config has no verb "nosuch". (one of: check, path, reset, set, show)`,
		"mcp servers nosuch":                            `mcp servers has no verb "nosuch". (one of: add, disable`,
		"config":                                        "config needs a verb. (one of: check, path, reset, set, show)",
		"send hello world":                              `"world" is one argument too many. (contextinfinity send [TEXT|-] [flags]; put TEXT in quotation marks)`,
		"search two words":                              "; put QUERY in quotation marks)",
		"assistants set nosuch":                         "No change is given; nothing was done. (contextinfinity assistants set --help lists the flags)",
		"projects set nosuch":                           "No change is given",
		"mcp servers add nosuch":                        "A server needs the command that starts it, or --url with its address",
		"find x":                                        "(contextinfinity sessions lists them;",
		"jobs retry x":                                  "(contextinfinity jobs lists them)",
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
		"sync --check --vault x":                        "--check and --vault exclude each other",
		"devices remove x":                              "This needs confirmation, which is not possible here; nothing was changed. (add --yes)",
		"devices remove x --yes":                        "There is no terminal to ask; nothing was done. (name a file with it: --passphrase-file FILE)",
		"sync --user u":                                 "--user needs --vault",
		"sync --vault x --password-env P":               "--password-file and --password-env need --user",
		"sync --vault https://h/ --user u":              "There is no terminal to ask; nothing was done. (name a file with it: --password-file FILE)",
		"sync --vault x":                                "There is no terminal to ask; nothing was done. (name a file with it: --passphrase-file FILE)",
		"sync --vault https://h/ --user u --password-file f --password-env P": "--password-file and --password-env exclude each other",
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

// An empty argument or flag is an error that names it: an empty path would mean the current folder, and an empty session
// the one used last.
func TestEmptyArguments(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for verb, want := range map[string]string{
		"import": "FILE is empty; nothing was done.", "backup": "PATH is empty", "restore --yes": "PATH is empty", "show": "SESSION is empty",
		"fork": "TURN is empty", "projects add P": "FILE is empty", "projects show": "PROJECT is empty", "mcp servers add": "NAME is empty",
		"projects watch P": "FOLDER is missing", "prompts import": "FILE is empty", "search": "QUERY is empty",
	} {
		if r := h.run(append(strings.Fields(verb), "")...).exits(2); !strings.Contains(r.err, want) || r.out != "" {
			t.Errorf("%s: %q, want %q", verb, r.err, want)
		}
	}
	for line, flag := range map[string]string{
		"send --session= hi": "session", "send --branch= hi": "branch", "send --new --attach= hi": "attach", "send --new --project= hi": "project",
		"tools allow x --session=": "session", "tools accept x --hash=": "hash", "delete S --hard --yes --turn=": "turn",
		"export S --output=": "output", "mcp clients allow x --session=": "session", "show S --branch=": "branch",
	} {
		want := "--" + flag + " is empty; nothing was done. (give it a value, or omit it)"
		if r := h.run(strings.Fields(line)...).exits(2); !strings.Contains(r.err, want) || r.out != "" {
			t.Errorf("%s: %q, want %q", line, r.err, want)
		}
	}
	for verb, want := range map[string]string{
		"tools resolve": "CALL and enter|rerun|tell are missing.", "mcp servers add": "NAME is missing.", "import": "FILE is missing.",
	} {
		if r := h.run(strings.Fields(verb)...).exits(2); !strings.Contains(r.err, want) {
			t.Errorf("%s: %q, want %q", verb, r.err, want)
		}
	}
}

// A file that cannot be opened is named, with what did not happen.
func TestFilesThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for verb, want := range map[string]string{
		"send --new hi --attach":                   "nowhere.md cannot be read: no such file or directory; nothing was sent or stored.",
		"send --new hi --image":                    "nowhere.md cannot be read: no such file or directory; nothing was sent or stored.",
		"eval recall --queries x --out y --corpus": "nowhere.md cannot be read: no such file or directory; nothing was written.",
		"prompts import":                           "nowhere.md cannot be read: no such file or directory; nothing was imported.",
	} {
		if r := h.run(append(strings.Fields(verb), "nowhere.md")...); r.code == 0 || !strings.Contains(r.err, want) || strings.Contains(r.err, ": open ") {
			t.Errorf("%s: %q, want %q", verb, r.err, want)
		}
	}
}

// A --data-dir that was mistyped must not look like an empty history.
func TestANamedDirectoryWithoutData(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if r := h.run("sessions").exits(0); !strings.Contains(r.err, "note: there is no data in "+h.dir+" yet") || !strings.HasPrefix(r.out, "No sessions.") {
		t.Errorf("%q %q", r.out, r.err)
	}
	h.send("--new", "hi")
	if r := h.run("sessions").exits(0); r.err != "" {
		t.Errorf("%q", r.err)
	}
}

func TestAnEmptyProjectShowsZeroCounts(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.run("projects", "new", "Bakery").exits(0)
	if !regexp.MustCompile(`(?m)^ *files +0$`).MatchString(r.out) || !regexp.MustCompile(`(?m)^ *sessions +0$`).MatchString(r.out) {
		t.Errorf("%s", r.out)
	}
}
