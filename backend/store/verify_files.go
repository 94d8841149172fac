package store

import (
	"bytes"
	"encoding/hex"
	"fmt"

	"contextinfinity/backend/chat"
)

// auditedFile is a document with what it holds.
type auditedFile struct {
	Row     fileRow `gorm:"embedded"`
	Content []byte
	Text    *string
}

// words is the text that is searched and sent.
func (f auditedFile) words() string {
	if f.Text != nil {
		return *f.Text
	}
	return string(f.Content)
}

// files checks documents against their hashes, and those that were sent against the
// ledger, which does not know drafts.
func (a *audit) files() {
	each(a, "files", fileColumns+", content, text", "id", func(f auditedFile) {
		r := f.Row
		a.times("files", r.ID, &r.CreatedAt)
		a.expect(bytes.Equal(hashBytes(f.Content), r.ContentHash), findContent, "files", r.ID, "Its content does not match its hash.")
		a.expect(r.Size == int64(len(f.Content)), findContent, "files", r.ID, "It is not as long as it should be.")
		w, told := a.want.files[r.ID]
		if told != (r.TurnID != nil) {
			a.add(findReplay, "files", r.ID, "Whether it was sent is not what the ledger says.")
		}
		if !told {
			return
		}
		a.differs("files", r.ID, is("turn_id", text(r.TurnID), string(w.TurnID)), is("name", r.Name, w.Name),
			is("media_type", r.MediaType, w.MediaType), is("size", r.Size, w.Size), is("tokens", r.Tokens, w.Tokens),
			is("content", hex.EncodeToString(r.ContentHash), w.SHA256), is("text", chat.HashText(f.words()), w.TextSHA256))
	})
}

// file replays a document that was sent.
func (w *replay) file(e eventRow, p fileAdded) error {
	if w.turns[string(p.TurnID)] == nil {
		return fmt.Errorf("no earlier event made turn %s", p.TurnID)
	}
	w.files[e.EntityID] = &p
	return nil
}
