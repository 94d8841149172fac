package mcpsetup

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// fromLine reads a server as its documentation gives it: an address, or the command that starts it, with variables
// before it as a shell has them. Every command of a shell's language is only a word of it: nothing is expanded.
func fromLine(text string) (servers map[string]json.RawMessage, ok bool) {
	text = strings.TrimSpace(strings.TrimPrefix(text, "$ "))
	if u, err := url.Parse(text); err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && !placeholder.MatchString(text) {
		return oneEntry(hostName(u.Hostname()), map[string]any{"url": text})
	}
	words, ok := splitWords(strings.ReplaceAll(text, "\\\n", " "))
	for i, word := range words {
		words[i] = shellVariable.ReplaceAllString(word, "${1}$${${2}}")
	}
	env := map[string]any{}
	for ok && len(words) > 0 {
		name, value, isVariable := strings.Cut(words[0], "=")
		if !isVariable || !variableName.MatchString(name) {
			break
		}
		env[name], words = value, words[1:]
	}
	if i := slices.Index(words, "mcp"); i > 0 && i+1 < len(words) && words[i+1] == "add" || slices.Contains(words, "--add-mcp") {
		return nil, false // changes the configuration of another program
	}
	if !ok || len(words) == 0 || !programName.MatchString(words[0]) || len(words) == 1 && !strings.Contains(words[0], "mcp") {
		return nil, false
	}
	return oneEntry(nameOfCommand(words), map[string]any{"command": words[0], "args": words[1:], "env": env})
}

var (
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	// shellVariable is a whole value that the shell would take from a variable.
	shellVariable = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*=)?\$([A-Za-z_][A-Za-z0-9_]*)$`)
	// windowsPath begins a word in which a backslash only separates folders.
	windowsPath = regexp.MustCompile(`(^|=)[A-Za-z]:(\\.*)?$`)
	// networkPath is the beginning of a path on a server of Windows: \\server\share.
	networkPath = regexp.MustCompile(`^\\\\[\w.$?-]+\\[^\\]`)
	// placeholder is a word of documentation in the place of something that only the reader knows.
	placeholder = regexp.MustCompile(`<[A-Za-z][\w .-]{0,60}>`)
	programName = regexp.MustCompile(`^([a-z0-9][a-z0-9_.+-]*|[^{}]*[/\\][^{}]*)$`) // prose begins otherwise
)

// unfilled returns the first placeholder of a text that is a server except for its placeholders; empty: it is not.
func unfilled(text string, line lineReader) string {
	found := placeholder.FindString(text)
	if found == "" {
		return ""
	}
	if _, ok := line(placeholder.ReplaceAllLiteralString(text, "x")); !ok {
		return ""
	}
	return found
}

func oneEntry(name string, entry map[string]any) (map[string]json.RawMessage, bool) {
	raw, err := json.Marshal(entry)
	return map[string]json.RawMessage{name: raw}, err == nil
}

// splitWords splits a command as a shell does: blanks separate, quotes and a backslash keep them.
func splitWords(line string) (words []string, ok bool) {
	var word strings.Builder
	var quote rune
	begun, escaped, onNetwork := false, false, false
	for i, c := range line {
		if c == '\\' && (word.Len() == 0 || strings.HasSuffix(word.String(), "=")) {
			onNetwork = networkPath.MatchString(line[i:])
		}
		switch {
		case escaped:
			if escaped = false; !strings.ContainsRune(` "'\`, c) {
				word.WriteRune('\\') // of a path of Windows
			}
			word.WriteRune(c)
		case c == '\\' && quote != '\'' && !onNetwork && !windowsPath.MatchString(word.String()):
			begun, escaped = true, true
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '"' || c == '\'':
			begun, quote = true, c
		case c == '\n' || strings.ContainsRune("|;&<>`", c):
			return nil, false // a script, not one command
		case c == ' ' || c == '\t':
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun, onNetwork = false, false
		default:
			begun = true
			word.WriteRune(c)
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words, quote == 0 && !escaped
}

// launchers start the program that their first argument names.
var launchers = map[string]bool{
	"npx": true, "bunx": true, "pnpx": true, "uvx": true, "pipx": true, "node": true, "python": true, "python3": true, "uv": true,
	"docker": true, "podman": true, "deno": true, "npm": true, "pnpm": true, "yarn": true,
}

var fillers = map[string]bool{"run": true, "exec": true, "dlx": true, "tool": true, "x": true}

// takesValue are the options of containers whose value is the next word.
var takesValue = map[string]bool{
	"-e": true, "--env": true, "--env-file": true, "-v": true, "--volume": true, "--mount": true, "-p": true, "--publish": true,
	"--name": true, "--network": true, "-w": true, "--workdir": true, "-u": true, "--user": true,
}

// nameOfCommand returns the name of the program that a command starts, without what all servers are called.
func nameOfCommand(words []string) string {
	name := strings.TrimSuffix(filepath.Base(words[0]), ".exe")
	if launchers[name] {
		for i, w := range words[1:] {
			if !strings.HasPrefix(w, "-") && !fillers[w] && !strings.Contains(w, "=") && !takesValue[words[i]] {
				name = w
				break
			}
		}
	}
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name, _, _ = strings.Cut(name, "@")
	name, _, _ = strings.Cut(name, ":")
	for _, ext := range []string{".js", ".mjs", ".ts", ".py"} {
		name = strings.TrimSuffix(name, ext)
	}
	return withoutCommon(name)
}

// sharedLevels are labels before the code of a country that belong to everybody there: example.co.uk.
var sharedLevels = map[string]bool{
	"co": true, "com": true, "org": true, "net": true, "ac": true, "gov": true, "gob": true, "edu": true, "or": true, "ne": true, "go": true,
}

// hostName returns the telling part of a host: "linear" of mcp.linear.app.
func hostName(host string) string {
	parts := strings.Split(strings.TrimPrefix(strings.TrimPrefix(host, "mcp."), "www."), ".")
	if len(parts) < 2 || strings.Trim(host, "0123456789.") == "" {
		return host
	}
	own := len(parts) - 2
	if own > 0 && len(parts[own+1]) == 2 && sharedLevels[parts[own]] {
		own--
	}
	return withoutCommon(parts[own])
}

// withoutCommon removes the words that do not tell one server from another.
func withoutCommon(name string) string {
	rest := name
	for _, common := range []string{"server-", "mcp-", "server-"} {
		rest = strings.TrimPrefix(rest, common)
	}
	for _, common := range []string{"-mcp-server", "-server", "-mcp"} {
		rest = strings.TrimSuffix(rest, common)
	}
	if rest == "" || rest == "server" || rest == "mcp" {
		return name
	}
	return rest
}
