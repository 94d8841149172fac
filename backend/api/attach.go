package api

import (
	"encoding/base64"
	"sync"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/documents"
	"contextinfinity/backend/internal/lists"
)

// uploads are documents that arrive in pieces, because a JSON bridge should not carry two hundred megabytes at once.
type uploads struct {
	mu   sync.Mutex
	open map[string]*upload
}

type upload struct {
	branch chat.BranchID
	name   string
	data   []byte
}

// maxUploads limits concurrent uploads.
const maxUploads = 8

// add adds a piece to an upload; the first piece has no upload id yet. After the last piece it also returns the upload.
func (u *uploads) add(p AttachPart, data []byte, newID func() string) (id string, complete *upload, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	current := u.open[p.Upload]
	switch {
	case p.Upload == "" && len(u.open) >= maxUploads:
		return "", nil, chat.Errorf(chat.CodeBusy, "chat.attach", "Too many documents are being attached at once; %s was not attached.", p.Name).WithHint("try again in a moment")
	case p.Upload == "":
		p.Upload, current = newID(), &upload{branch: chat.BranchID(p.BranchID), name: p.Name}
	case current == nil:
		return "", nil, chat.Errorf(chat.CodeNotFound, "chat.attach", "This document is no longer being attached.").WithHint("attach it again")
	}
	if err := documents.CheckSize(current.name, int64(len(current.data)+len(data))); err != nil {
		delete(u.open, p.Upload)
		return "", nil, err
	}
	current.data = append(current.data, data...)
	if p.Last {
		delete(u.open, p.Upload)
		return p.Upload, current, nil
	}
	if u.open == nil {
		u.open = map[string]*upload{}
	}
	u.open[p.Upload] = current
	return p.Upload, nil, nil
}

func (u *uploads) drop(id string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.open, id)
}

// Attach receives a piece of a document; after the last one the document is read and stored for the draft of its
// branch.
func (s *Chat) Attach(part AttachPart) (AttachResult, error) {
	data, err := base64.StdEncoding.DecodeString(part.Data)
	if err != nil {
		s.uploads.drop(part.Upload)
		return AttachResult{}, chat.Errorf(chat.CodeInvalid, "chat.attach", "%s did not arrive completely; nothing was attached.", part.Name).WithHint("attach it again")
	}
	id, complete, err := s.uploads.add(part, data, s.c.newID)
	if err != nil || complete == nil {
		return AttachResult{Upload: id}, err
	}
	file, err := s.c.keepDocument(complete.branch, complete.name, complete.data)
	if err != nil {
		return AttachResult{}, err
	}
	v := fileView(file)
	return AttachResult{Upload: id, File: &v}, nil
}

// keepDocument reads a document and stores it in the session of a branch.
func (c *Core) keepDocument(branch chat.BranchID, name string, data []byte) (chat.File, error) {
	ctx := c.ctx()
	d, err := c.Documents.Read(ctx, name, data)
	if err != nil {
		return chat.File{}, err
	}
	return d.Save(ctx, c.Store, branch, data, func(text string) int { return c.Counter.Count("", text) })
}

// AttachCancel discards the received part of a document.
func (s *Chat) AttachCancel(upload string) error {
	s.uploads.drop(upload)
	return nil
}

// Document returns an attached document to read.
func (s *Chat) Document(fileID string) (DocumentView, error) {
	ctx := s.c.ctx()
	f, err := s.c.Store.File(ctx, chat.FileID(fileID))
	if err != nil {
		return DocumentView{}, err
	}
	text, err := s.c.Store.FileText(ctx, f.ID)
	return DocumentView{File: fileView(f), Text: text}, err
}

func fileView(f chat.File) FileView {
	return FileView{ID: string(f.ID), Name: f.Name, MediaType: f.MediaType, Tokens: f.Tokens}
}

// documentBlocks returns blocks that name the files of a message. The text for the model is set when the message is
// sent.
func documentBlocks(files []FileView) chat.Blocks {
	var out chat.Blocks
	for _, f := range files {
		out = append(out, chat.Document{File: chat.FileID(f.ID), Name: f.Name, MediaType: f.MediaType, Tokens: f.Tokens})
	}
	return out
}

func documentViews(bs chat.Blocks) []FileView {
	return lists.Map(bs.Documents(), func(d chat.Document) FileView {
		return FileView{ID: string(d.File), Name: d.Name, MediaType: d.MediaType, Tokens: d.Tokens}
	})
}
