package store

import (
	"encoding/hex"

	"contextinfinity/backend/chat"
)

type fileRow struct {
	ID          string
	SessionID   string
	TurnID      *string
	Name        string
	MediaType   string
	Size        int64
	CreatedAt   string
	ContentHash []byte
	Tokens      int
}

func (fileRow) TableName() string { return "files" }

// fileColumns is all of a file but its content and text, which are read on demand.
const fileColumns = `id, session_id, turn_id, name, media_type, size, created_at, content_hash, tokens`

func (r fileRow) file() chat.File {
	return chat.File{
		ID: chat.FileID(r.ID), SessionID: chat.SessionID(r.SessionID), TurnID: chat.TurnID(text(r.TurnID)), Name: r.Name,
		MediaType: r.MediaType, Size: r.Size, Hash: hex.EncodeToString(r.ContentHash), Tokens: r.Tokens, CreatedAt: moment(r.CreatedAt),
	}
}
