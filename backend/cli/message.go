package cli

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/filetype"
)

// message builds the user's message: images first, then the text, byte for byte. It is checked before anything is
// opened or created. With attachments, the text may be empty.
func (c *call) message(text string, images []string, attached bool) (chat.Message, error) {
	m := chat.Message{Role: chat.RoleUser}
	for _, path := range images {
		image, err := readImage(c.path(path))
		if err != nil {
			return m, err
		}
		m.Blocks = append(m.Blocks, image)
	}
	if err := checkText("cli.send", "message", text, attached || len(images) > 0); err != nil {
		return m, err
	}
	if strings.TrimSpace(text) != "" {
		m.Blocks = append(m.Blocks, chat.Text{Text: text})
	}
	return m, nil
}

// path resolves a path relative to the caller's current folder.
func (c *call) path(name string) string {
	if c.app.Dir == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(c.app.Dir, name)
}

// checkText rejects text that could not be stored unchanged.
func checkText(op, subject, text string, mayBeEmpty bool) error {
	if !utf8.ValidString(text) {
		return chat.Errorf(chat.CodeInvalid, op, "The %s is not valid UTF-8 (byte %d); nothing was stored or sent.", subject, invalidAt(text)+1).
			WithHint("convert it first, for instance with iconv -t UTF-8")
	}
	if strings.TrimSpace(text) == "" && !mayBeEmpty {
		return usagef("The %s is empty; nothing was stored or sent.", subject)
	}
	return nil
}

// invalidAt returns the offset of the first byte that is not valid UTF-8.
func invalidAt(s string) int {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(s)
}

// readError is the error for a file named by the caller that cannot be read. notDone says what was not done.
func readError(op, path string, err error, notDone string) error {
	cause := err
	if p := new(fs.PathError); errors.As(err, &p) {
		cause = p.Err
	}
	return chat.WrapError(chat.CodeInvalid, op, err, "%s cannot be read: %v; %s.", clip(path, 200), cause, notDone)
}

func readImage(path string) (chat.Image, error) {
	const op = "cli.image"
	f, err := os.Open(path)
	if err != nil {
		return chat.Image{}, readError(op, path, err, "nothing was sent or stored")
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, filetype.MaxImageBytes+1))
	if err != nil {
		return chat.Image{}, readError(op, path, err, "nothing was sent or stored")
	}
	image, err := filetype.NewImage(path, http.DetectContentType(data), data)
	image.Name = filepath.Base(path)
	return image, err
}

// argument returns a text argument, or piped text: for `-`, or without an argument if stdin is not a terminal.
func (c *call) argument(args []string, name string) (string, error) {
	if len(args) > 0 && args[0] != "-" {
		return args[0], nil
	}
	if len(args) == 0 && c.in.terminal {
		return "", usageHint("quote it, or pipe it in", "The %s is missing.", name)
	}
	return c.in.all()
}
