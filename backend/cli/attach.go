package cli

import (
	"context"
	"io"
	"os"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/documents"
	"contextinfinity/backend/internal/lists"
)

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
	const op = "cli.attach"
	f, err := os.Open(path)
	if err != nil {
		return nil, readError(op, path, err, "nothing was sent or stored")
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() {
		err = documents.CheckSize(path, info.Size())
	}
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, documents.MaxBytes+1))
	if err != nil {
		return nil, readError(op, path, err, "nothing was sent or stored")
	}
	return data, nil
}

// attach stores the documents in the session of a branch and puts them before the text of the message.
func (s *Services) attach(ctx context.Context, m *chat.Message, branch chat.BranchID, files []attachment) error {
	var blocks chat.Blocks
	for _, a := range files {
		kept, err := a.read.Save(ctx, s.Store, branch, a.content, func(text string) int { return s.Counter.Count("", text) })
		if err != nil {
			return err
		}
		blocks = append(blocks, chat.Document{File: kept.ID, Name: kept.Name, MediaType: kept.MediaType, Tokens: kept.Tokens})
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
