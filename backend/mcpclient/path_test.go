//go:build unix

package mcpclient

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"contextinfinity/backend/config"
	"contextinfinity/backend/tools"
)

func TestSplitCommand(t *testing.T) {
	for line, want := range map[string][]string{
		"npx -y @scope/server  /docs":       {"npx", "-y", "@scope/server", "/docs"},
		`uvx tool --name "My Docs" 'it''s'`: {"uvx", "tool", "--name", "My Docs", "its"},
		`/My\ Programs/server --flag`:       {"/My Programs/server", "--flag"},
		`C:\Tools\server.exe --dir C:\Docs`: {`C:\Tools\server.exe`, "--dir", `C:\Docs`},
		`server --json "{\"a\": 'b'}" ""`:   {"server", "--json", `{"a": 'b'}`, ""},
		`server 'unclosed`:                  nil,
		"":                                  nil,
	} {
		if got := splitCommand(line); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// script writes a program that starts a well-behaved server and records its arguments and its PATH.
func script(t *testing.T, dir, name string) {
	t.Helper()
	text := fmt.Sprintf("#!/bin/sh\necho \"$PATH\" > %q\nprintf '%%s\\n' \"$@\" > %q\n%s=none exec %q\n",
		filepath.Join(dir, "path"), filepath.Join(dir, "args"), hostileEnv, os.Args[0])
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

func written(t *testing.T, parts ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(data))
}

// A program that only the PATH of the login shell contains is found as in a terminal, whatever the files of the shell
// print, and the server gets that PATH. The shell is asked once, and one that hangs does not block a start for long.
func TestProgramsOfTheLoginShell(t *testing.T) {
	home := t.TempDir()
	bin := filepath.Join(home, "versions", "bin")
	script(t, bin, "npxx")
	t.Setenv("HOME", home)
	t.Setenv("SHELL", "/bin/sh")
	asked := filepath.Join(home, "asked")
	profile := fmt.Sprintf("echo hello\nPATH=%q:$PATH\necho x >> %q\n", bin, asked)
	if err := os.WriteFile(filepath.Join(home, ".profile"), []byte(profile), 0o600); err != nil {
		t.Fatal(err)
	}
	b := newFixture(t, nil,
		config.MCPServer{Name: "split", Enabled: true, Command: `npxx -y "a b" $HOME/docs`, Args: []string{"~/last", "${env:HOME}", "$HOMEPAGE"}})
	b.Ensure(t.Context())
	if st := b.status(); st.State != StateReady {
		t.Fatalf("%+v\n%s", st, b.logText())
	}
	if got, want := written(t, bin, "args"), strings.Join([]string{"-y", "a b", home + "/docs", home + "/last", home, "$HOMEPAGE"}, "\n"); got != want {
		t.Errorf("the arguments are %q, want %q", got, want)
	}
	if path := written(t, bin, "path"); !strings.HasPrefix(path, bin+":") || !strings.Contains(path, ":/usr/bin") {
		t.Errorf("its PATH is %s", path)
	}
	before := written(t, asked)
	if _, _, err := b.all()[0].resolve(config.MCPServer{Command: "missing-program"}, []string{"PATH=/usr/bin"}); err == nil {
		t.Error("a missing program was found")
	}
	if written(t, asked) != before {
		t.Error("the shell was asked again")
	}
	if path := askShell("/bin/sh", []string{"-c"}, []string{"PATH=/a:/b"}); path != "/a:/b" {
		t.Errorf("a shell without files: %q", path)
	}
	if path := askShell("/bin/false", []string{"-c"}, nil); path != "" {
		t.Errorf("a shell that fails: %q", path)
	}
}

// $HOME and ~ are replaced in the program, its folder and its variables, but not in secrets.
func TestHomeOfServers(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	script(t, filepath.Join(home, "My Tools"), "server")
	for _, command := range []string{"$HOME/My Tools/server", "~/My Tools/server", "${HOME}/My Tools/server", `"$HOME/My Tools/server" --flag`} {
		b := newFixture(t, nil, config.MCPServer{
			Name: "home", Enabled: true, Command: command, Cwd: "$HOME/My Tools", Args: []string{"${secret:S}"},
		})
		b.secrets["home/S"] = "~/$HOME"
		b.Ensure(t.Context())
		if st := b.status(); st.State != StateReady {
			t.Fatalf("%s: %+v", command, st)
		}
		if got := written(t, home, "My Tools", "args"); !strings.HasSuffix(got, "~/$HOME") {
			t.Errorf("%s: the arguments are %q", command, got)
		}
	}
}

// The error of a program that ends says what it wrote last.
func TestTheErrorQuotesTheLastLine(t *testing.T) {
	b := newFixture(t, nil, faulty("exit"))
	b.Ensure(t.Context())
	if st := b.status(); !strings.Contains(st.Full().String(), "exit status 7. It wrote: cannot find module") {
		t.Errorf("%s", st.Full())
	}
}

// A call on a session that the server has forgotten opens another one and runs there, once. If the server forgets that
// one too, the call is not repeated again.
func TestForgottenSessionsAreOpenedAgain(t *testing.T) {
	for forgets, want := range map[int32]struct{ ran, requests int32 }{1: {1, 2}, 5: {0, 2}} {
		var requests, ran atomic.Int32
		b := newFixture(t, nil, serverAt(honest(t, false, calling(func(w http.ResponseWriter, _ *http.Request, id json.RawMessage) {
			if requests.Add(1) <= forgets {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			ran.Add(1)
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"done"}]}}`, id)
		})).URL))
		b.Ensure(t.Context())
		out, err := b.call(t.Context(), "ask")
		if ran.Load() != want.ran || requests.Load() != want.requests {
			t.Errorf("forgotten %d times: %d requests, the tool ran %d times; %v", forgets, requests.Load(), ran.Load(), err)
		}
		switch {
		case want.ran == 1 && (err != nil || textOf(out.Content) != "done"):
			t.Errorf("%q, %v", textOf(out.Content), err)
		case want.ran == 0 && !errors.Is(err, tools.ErrNotStarted):
			t.Errorf("it may have run: %v", err)
		}
	}
}
