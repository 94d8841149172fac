package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

var fenced = regexp.MustCompile("(?ms)^```[a-z]*\n(.*?)^```")

// readmeExamples are the command lines of README.md's fenced blocks.
func readmeExamples(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, block := range fenced.FindAllStringSubmatch(string(readFile(t, "README.md")), -1) {
		for line := range strings.Lines(strings.ReplaceAll(block[1], "\\\n", " ")) {
			line = strings.TrimPrefix(strings.TrimSpace(line), "$ ")
			command := strings.TrimSpace(strings.SplitN(line, " #", 2)[0])
			// By itself the program opens the window: other tests drive that.
			if strings.Contains(command, program+" ") {
				out = append(out, command)
			}
		}
	}
	return out
}

const program = "contextinfinity"

// Every example of the README does what it says, as it stands there, in this
// order, on a machine that has one session.
func TestEveryExampleOfTheReadme(t *testing.T) {
	t.Parallel()
	examples := readmeExamples(t)
	if len(examples) < 2 {
		t.Fatalf("the README has %d examples of the command line", len(examples))
	}
	h := newHome(t, shipped(t), "")
	h.ok("send", "--new", "--wait", "indexed", "We decided to move the database on Friday.")
	h.ok("pin", h.lastSession(), "A first fact.")
	write(t, filepath.Join(h.dir, "notes.txt"), []byte("Some notes to send.\n"))
	shell := h.using("/bin/sh").with("PATH=" + filepath.Dir(shipped(t)) + ":" + os.Getenv("PATH"))
	things := h.things()
	for _, example := range examples {
		command := placeholder.ReplaceAllStringFunc(example, func(name string) string { return things[name] })
		// The example's own stdin is empty: a conversation ends at once.
		r := shell.runIn("", "-c", command)
		if strings.Contains(command, "keys set") {
			// There is no keyring here, and it says so instead of pretending.
			if r.code == 1 && r.stderr != "" {
				continue
			}
		}
		if r.code != 0 {
			t.Errorf("%s\nas %s\nended with %d: %s%s", example, command, r.code, clip(r.stdout), clip(r.stderr))
		}
	}
	h.clean()
}

var placeholder = regexp.MustCompile(`\b(SESSION|TURN|STATE|BRANCH|PIN|JOB|STEP|PATH|FILE|PROVIDER)\b`)

// things are what the placeholders of the examples can stand for.
func (h *home) things() map[string]string {
	h.t.Helper()
	session := h.lastSession()
	doc := h.show(session)
	turn := doc.Turns[0]
	var pins struct {
		Pins []struct {
			ID string `json:"pin_id"`
		}
	}
	h.ok("pins", session, "--json").document(&pins)
	return map[string]string{
		"SESSION": session, "TURN": turn.ID, "STATE": turn.StateAfter, "BRANCH": doc.Branches[0].ID, "PIN": pins.Pins[0].ID, "JOB": "1",
		"STEP": turn.Steps[0].ID, "PATH": filepath.Join(h.dir, "copy.db"), "FILE": filepath.Join(h.dir, "notes.txt"), "PROVIDER": "openai",
	}
}
