package cli

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/documents"
	"contextinfinity/backend/filetype"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/internal/plainfile"
)

// newMessage builds the user's message: images first, then the text, byte for byte. It is checked before anything is
// opened or created. With attachments, the text may be empty.
func (c *call) newMessage(text string, images []string, attached bool) (chat.Message, error) {
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
		const problem = "The %s is not valid UTF-8 (byte %d); nothing was stored or sent."
		return chat.Errorf(chat.CodeInvalid, op, problem, subject, invalidAt(text)+1).
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

// typed returns a text argument, or piped text, that must not be empty.
func (c *call) typed(args []string, op, name string) (string, error) {
	text, err := c.argument(args, name)
	if err == nil {
		err = checkText(op, name, text, false)
	}
	return text, err
}

// readUpTo reads a file that the caller named, up to a number of bytes. notDone says what did not happen if it cannot
// be read.
func readUpTo(most int64, op, path, notDone string) ([]byte, error) {
	f, err := plainfile.Open(path)
	if err != nil {
		return nil, readError(op, path, err, notDone)
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return nil, readError(op, path, err, notDone)
	}
	return data, nil
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
	data, err := readUpTo(filetype.MaxImageBytes+1, "cli.image", path, "nothing was sent or stored")
	if err != nil {
		return chat.Image{}, err
	}
	image, err := filetype.NewImage(path, http.DetectContentType(data), data)
	image.Name = filepath.Base(path)
	return image, err
}

// attachment is a document that was read but not stored yet. All attachments are read before anything is opened or
// created.
type attachment struct {
	read    documents.Document
	content []byte
}

func (c *call) readAttachments(ctx context.Context, paths []string) ([]attachment, error) {
	var out []attachment
	for _, path := range paths {
		content, err := readFile(c.path(path))
		if err != nil {
			return nil, err
		}
		read, err := c.app.Documents.Read(ctx, path, content)
		if err != nil {
			return nil, err
		}
		out = append(out, attachment{read, content})
	}
	return out, nil
}

// readFile reads a file, unless it is too large to attach.
func readFile(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		if err := documents.CheckSize(path, info.Size()); err != nil {
			return nil, err
		}
	}
	return readUpTo(documents.MaxBytes+1, "cli.attach", path, "nothing was sent or stored")
}

// attach stores the documents in the session of a branch and puts them before the text of the message.
func (s *Services) attach(ctx context.Context, m *chat.Message, branch chat.BranchID, files []attachment) error {
	var blocks chat.Blocks
	tokens := func(text string) int { return s.Counter.Count("", text) }
	for _, a := range files {
		kept, err := a.read.Save(ctx, s.Store, branch, a.content, tokens)
		if err != nil {
			return err
		}
		block := chat.Document{File: kept.ID, Name: kept.Name, MediaType: kept.MediaType, Tokens: kept.Tokens}
		blocks = append(blocks, block)
	}
	m.Blocks = append(blocks, m.Blocks...)
	return nil
}

// titleOfMessage makes a title for a new session from its first message, or from the attachments.
func titleOfMessage(text string, files []attachment) string {
	if title := chat.TitleFrom(text); title != "" {
		return title
	}
	names := lists.Map(files, func(a attachment) string { return a.read.Name })
	return chat.TitleFrom(strings.Join(names, ", "))
}
