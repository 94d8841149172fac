package verify

import (
	"bytes"

	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/schema"
)

// auditedFile is a document with its content.
type auditedFile struct {
	Row     schema.FileRow `gorm:"embedded"`
	Content []byte
	Text    *string
}

// words returns the text that is searched and sent.
func (f auditedFile) words() string {
	if f.Text != nil {
		return *f.Text
	}
	return string(f.Content)
}

// files checks documents against their hashes, and those that were sent also against the ledger, which does not
// contain drafts.
func (a *Audit) files() {
	each(a, "files", schema.FileColumns+", content, text", "id", func(f auditedFile) {
		r := f.Row
		a.times("files", r.ID, &r.CreatedAt)
		a.expect(bytes.Equal(codec.Hash(f.Content), r.ContentHash), FindContent, "files", r.ID, "Its content does not match its hash.")
		a.expect(r.Size == int64(len(f.Content)), FindContent, "files", r.ID, "It is not as long as it should be.")
		if r.TurnID == nil && a.Want.Files[r.ID] == nil {
			return // belongs to a draft
		}
		a.Have.Files[r.ID] = &ledger.File{
			TurnID: schema.Text(r.TurnID), MediaType: r.MediaType, Size: r.Size, Tokens: r.Tokens,
			Name: ledger.SumOfText(r.Name), Content: ledger.SumOf(f.Content), Text: ledger.SumOfText(f.words()),
		}
	})
}
