//go:build !windows && !darwin

package autostart

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"contextinfinity/backend/internal/atomicfile"
)

// maxEntry limits how many bytes of an entry are read.
const maxEntry = 64 << 10

// desktopFile is the path of an entry in the user's autostart folder (Desktop Application Autostart Specification).
type desktopFile string

func systemPlace() (place, error) {
	dir, err := os.UserConfigDir() // XDG_CONFIG_HOME
	if err != nil {
		return nil, err
	}
	return desktopFile(filepath.Join(dir, "autostart", "contextinfinity.desktop")), nil
}

func (f desktopFile) String() string { return string(f) }

// command reads the entry. Desktops disable an entry with Hidden or with a key specific to GNOME.
func (f desktopFile) command() ([]string, error) {
	file, err := os.Open(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxEntry))
	if err != nil {
		return nil, err
	}
	group, command := "", ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			group = line
		}
		key, value, found := strings.Cut(line, "=")
		if !found || group != "[Desktop Entry]" {
			continue
		}
		switch key, value := strings.TrimSpace(key), strings.TrimSpace(value); {
		case key == "Hidden" && value == "true", key == "X-GNOME-Autostart-enabled" && value == "false":
			return nil, nil
		case key == "Exec":
			command = value
		}
	}
	return unquote(command), nil
}

func (f desktopFile) write(command []string) error {
	if err := os.MkdirAll(filepath.Dir(string(f)), 0o700); err != nil {
		return err
	}
	text := "[Desktop Entry]\nType=Application\nName=" + Name + "\nComment=Started when you sign in, in the tray\nExec=" + quote(command) +
		"\nIcon=contextinfinity\nTerminal=false\nStartupNotify=false\nX-GNOME-Autostart-enabled=true\n"
	return atomicfile.Write(string(f), []byte(text), 0o644)
}

func (f desktopFile) remove() error {
	if err := os.Remove(string(f)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// quote writes a command in the format of Exec: each word is in quotes, with four characters escaped and percent
// signs doubled. The whole value is then a string of the desktop file, in which backslashes are doubled again.
func quote(command []string) string {
	words := make([]string, len(command))
	for i, word := range command {
		words[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`", `$`, `\$`, `%`, `%%`).Replace(word) + `"`
	}
	return strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\t", `\t`, "\r", `\r`).Replace(strings.Join(words, " "))
}

// unquote splits a command that quote wrote, or that was written by hand.
func unquote(exec string) []string {
	exec = strings.NewReplacer(`\\`, `\`, `\s`, " ", `\n`, "\n", `\t`, "\t", `\r`, "\r").Replace(exec)
	var words []string
	var word strings.Builder
	inWord, quoted := false, false
	end := func() {
		if inWord {
			words = append(words, word.String())
		}
		word.Reset()
		inWord = false
	}
	for i := 0; i < len(exec); i++ {
		c := exec[i]
		switch {
		case c == '"':
			quoted, inWord = !quoted, true
		case quoted && c == '\\' && i+1 < len(exec), c == '%' && i+1 < len(exec) && exec[i+1] == '%':
			i++
			word.WriteByte(exec[i])
		case !quoted && (c == ' ' || c == '\t'):
			end()
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	end()
	return words
}
