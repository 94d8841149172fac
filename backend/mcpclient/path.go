package mcpclient

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"contextinfinity/backend/config"
	"contextinfinity/backend/internal/childenv"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/internal/pattern"
)

// resolve returns a server's settings with the program as a path that can be started: a whole command line is split, ~ and
// $HOME are replaced, and a program that this program's PATH does not contain is looked for in that of the login shell, which
// the server then gets: a program that was started from a desktop does not have the PATH of a terminal.
func (s *server) resolve(cfg config.MCPServer, env []string) (config.MCPServer, []string, error) {
	found, err := lookPath(cfg.Command, env)
	if err != nil {
		if words := splitCommand(cfg.Command); len(words) > 1 {
			cfg.Command, cfg.Args = words[0], append(lists.Map(words[1:], expandHome), cfg.Args...)
			found, err = lookPath(cfg.Command, env)
		}
	}
	if errors.Is(err, exec.ErrNotFound) && !isPath(cfg.Command) && cfg.Env["PATH"] == "" {
		path := joinPaths(s.m.loginPath(), pathOf(env))
		env = append(env, "PATH="+path) // the later of two wins
		found, err = lookIn(cfg.Command, filepath.SplitList(path))
	}
	if err == nil {
		cfg.Command = found
	}
	return cfg, env, err
}

// splitCommand splits a command line into words like a shell: at blanks outside quotes. A backslash protects a quote, a blank
// or a backslash, and otherwise stays, as in paths of Windows. It is empty if a quote is not closed.
func splitCommand(line string) []string {
	var words []string
	var word strings.Builder
	inWord, quote := false, byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '\\' && quote != '\'' && i+1 < len(line) && strings.IndexByte(` "'\`, line[i+1]) >= 0:
			i++
			word.WriteByte(line[i])
			inWord = true
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, inWord = c, true
		case quote == 0 && (c == ' ' || c == '\t'):
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	if quote != 0 {
		return nil
	}
	if inWord {
		words = append(words, word.String())
	}
	return words
}

// Limits of asking the login shell: some set up a lot, and may print it.
const (
	loginTimeout = 5 * time.Second
	maxLogin     = 256 << 10
)

// loginMark begins the line with the PATH in what a shell prints.
const loginMark = "contextinfinity-path:"

// askLoginPath returns the PATH of the user's login shell; empty if it does not say. The shell is interactive too, because
// version managers set the PATH in the file for those.
func askLoginPath(environ []string) string {
	if runtime.GOOS == "windows" { // every program has the same PATH
		return ""
	}
	shell := variable(environ, "SHELL")
	if !filepath.IsAbs(shell) {
		shell = "/bin/sh"
	}
	for _, flags := range [][]string{{"-l", "-i", "-c"}, {"-l", "-c"}} {
		if path := askShell(shell, flags, environ); path != "" {
			return path
		}
	}
	return ""
}

func askShell(shell string, flags, environ []string) string {
	ctx, cancel := context.WithTimeout(context.Background(), loginTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, shell, append(flags, `printf '\n`+loginMark+`%s\n' "$PATH"`)...)
	cmd.Env, cmd.Dir = childenv.Tool(environ), homeDir()
	out := &limited{max: maxLogin}
	cmd.Stdout = out
	prepareShell(cmd)
	cmd.Cancel = func() error { groupOf(cmd.Process).kill(); return nil }
	cmd.WaitDelay = 100 * time.Millisecond // what it started may keep its output open
	_ = cmd.Run()                          // it may fail after it has printed
	_, after, found := bytes.Cut(out.Bytes(), []byte("\n"+loginMark))
	if line, _, ends := bytes.Cut(after, []byte("\n")); found && ends {
		return string(line)
	}
	return ""
}

// limited keeps the beginning of what is written.
type limited struct {
	bytes.Buffer
	max int
}

func (l *limited) Write(p []byte) (int, error) {
	_, _ = l.Buffer.Write(p[:min(len(p), l.max-l.Len())])
	return len(p), nil
}

// joinPaths joins two values of PATH without repetitions.
func joinPaths(first, second string) string {
	var all []string
	for _, dir := range append(filepath.SplitList(first), filepath.SplitList(second)...) {
		if dir != "" && !slices.Contains(all, dir) {
			all = append(all, dir)
		}
	}
	return strings.Join(all, string(os.PathListSeparator))
}

func pathOf(env []string) string { return variable(env, "PATH") }

// variable returns the last value of a variable in an environment.
func variable(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if key, value, _ := strings.Cut(entry, "="); strings.EqualFold(key, name) {
			return value
		}
	}
	return ""
}

// lookPath finds a program using the server's own PATH.
func lookPath(command string, env []string) (string, error) {
	if isPath(command) {
		return exec.LookPath(expandHome(command))
	}
	return lookIn(command, filepath.SplitList(pathOf(env)))
}

func isPath(command string) bool {
	return strings.ContainsRune(command, filepath.Separator) || strings.Contains(command, "/")
}

func lookIn(command string, dirs []string) (string, error) {
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			continue // it would find a program in the current folder
		}
		if path, err := exec.LookPath(filepath.Join(dir, command)); err == nil {
			return path, nil
		}
	}
	return "", exec.ErrNotFound
}

var homeVariable = pattern.New(`\$HOME\b|\$\{HOME\}`)

// expandHome replaces ~ at the beginning, and $HOME, by the home directory.
func expandHome(text string) string {
	home := homeDir()
	if home == "" {
		return text
	}
	if rest, ok := strings.CutPrefix(text, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		text = home + rest
	}
	if !strings.Contains(text, "$") {
		return text
	}
	return homeVariable().ReplaceAllLiteralString(text, home)
}

func homeDir() string {
	home, _ := os.UserHomeDir() // empty if there is none
	return home
}
