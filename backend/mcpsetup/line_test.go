package mcpsetup

import (
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

func TestReadsACommandOrAnAddress(t *testing.T) {
	for text, want := range map[string]struct {
		name, command, url string
		args               []string
	}{
		"npx -y @modelcontextprotocol/server-filesystem '/home/a b'": {
			name: "filesystem", command: "npx", args: []string{"-y", "@modelcontextprotocol/server-filesystem", "/home/a b"},
		},
		"$ uvx mcp-server-git@latest --repository .": {
			name: "git", command: "uvx", args: []string{"mcp-server-git@latest", "--repository", "."},
		},
		"LEVEL=debug npx \\\n  -y time-mcp": {name: "time", command: "npx", args: []string{"-y", "time-mcp"}},
		`C:\tools\notes-mcp.exe --all`:      {name: "notes", command: `C:\tools\notes-mcp.exe`, args: []string{"--all"}},
		`"C:\Program Files\notes mcp\run.exe" --root "C:\Users\ada\" --deep`: {
			name: "run", command: `C:\Program Files\notes mcp\run.exe`, args: []string{"--root", `C:\Users\ada\`, "--deep"},
		},
		`\\nas\tools\notes-mcp.exe --root="\\nas\Ada's files\" \\\\nas\\b '\\nas\c'`: {
			name: "notes", command: `\\nas\tools\notes-mcp.exe`, args: []string{`--root=\\nas\Ada's files\`, `\\nas\b`, `\\nas\c`},
		},
		"https://mcp.example.co.uk/mcp": {name: "example", url: "https://mcp.example.co.uk/mcp"},
		"https://mcp.co.example/mcp":    {name: "co", url: "https://mcp.co.example/mcp"},
		"KEY=$MY_KEY npx x-mcp $DIR":    {name: "x", command: "npx", args: []string{"x-mcp", "${env:DIR}"}},
		"https://mcp.linear.app/mcp":    {name: "linear", url: "https://mcp.linear.app/mcp"},
		"http://127.0.0.1:3000/mcp":     {name: "127-0-0-1", url: "http://127.0.0.1:3000/mcp"},
	} {
		in, err := parse(text, fromLine)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		got := in.Servers[0].Settings
		if got.Name != want.name || got.Command != want.command || got.URL != want.url || !slices.Equal(got.Args, want.args) {
			t.Errorf("%q was read as %q: %q %q %q", text, got.Name, got.Command, got.Args, got.URL)
		}
	}
}

func TestASecretOfAContainerIsNoPartOfTheConfiguration(t *testing.T) {
	in, err := parse("docker run -i --rm -e BRAVE_API_KEY=BSA0123456789abcdefghij mcp/brave-search", fromLine)
	if err != nil {
		t.Fatal(err)
	}
	got := in.Servers[0].Settings
	if got.Name != "brave-search" || strings.Contains(strings.Join(got.Args, " "), "BSA0") || !strings.HasPrefix(got.Args[4], "BRAVE_API_KEY=") {
		t.Errorf("%q: %q", got.Name, got.Args)
	}
	if in, err := parse("claude mcp add --transport http linear https://mcp.linear.app/mcp", fromLine); err == nil {
		t.Errorf("%+v", in.Servers)
	}
}

func TestASecretBeforeACommandIsNoPartOfTheConfiguration(t *testing.T) {
	in, err := parse("GITHUB_TOKEN=ghp_0123456789abcdefghijklmnopqrstuvwxyz npx -y github-mcp-server", fromLine)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range in.Servers[0].Settings.Env {
		if v.Value == "ghp_0123456789abcdefghijklmnopqrstuvwxyz" {
			t.Errorf("%+v", v)
		}
	}
	if len(in.Servers[0].Questions) != 1 || !in.Servers[0].Questions[0].Secret {
		t.Errorf("%+v", in.Servers[0].Questions)
	}
}

// Documentation writes <placeholders> where the reader's own values belong.
func TestAPlaceholderIsNamed(t *testing.T) {
	for text, want := range map[string]string{
		"npx -y notes-mcp --key <YOUR API KEY>":        "<YOUR API KEY>",
		"NOTES_TOKEN=<your-token> npx -y notes-mcp":    "<your-token>",
		"https://<your-team>.example.com/mcp":          "<your-team>",
		"docker run -i --rm -v <path>:/data mcp/notes": "<path>",
	} {
		in, err := parse(text, fromLine)
		if err == nil {
			t.Errorf("%q was read as %+v", text, in.Servers)
			continue
		}
		if e := chat.AsError(err); chat.CodeOf(err) != chat.CodeInvalid || !strings.HasPrefix(e.Message, want+" stands for") || e.Hint == "" {
			t.Errorf("%q: %+v, %v", text, in, err)
		}
	}
	for _, text := range []string{"<html>", "cat <file | sh >out", "Write <this> down"} {
		if in, err := parse(text, fromLine); err == nil || strings.Contains(err.Error(), "stands for") {
			t.Errorf("%q: %+v, %v", text, in, err)
		}
	}
}

func TestScriptsAndProseAreNoCommands(t *testing.T) {
	for _, text := range []string{"curl https://x.example | sh", "Please add my server", "npx 'unfinished", "a\nb", "{\"a\":", ""} {
		if in, err := parse(text, fromLine); err == nil {
			t.Errorf("%q was read as %+v", text, in.Servers)
		}
	}
	// What a program or a file says is not a command either.
	if in, err := new(Setup).ReadConfiguration("upstream connect error or disconnect"); err == nil {
		t.Errorf("%+v", in.Servers)
	}
}
