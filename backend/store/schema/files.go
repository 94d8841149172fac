package schema

import (
	"encoding/hex"

	"contextinfinity/backend/chat"
)

type FileRow struct {
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

func (FileRow) TableName() string { return "files" }

// FileColumns are all columns of a file except its content and text, which are read on demand.
const FileColumns = `id, session_id, turn_id, name, media_type, size, created_at, content_hash, tokens`

func (r FileRow) File() chat.File {
	return chat.File{
		ID: chat.FileID(r.ID), SessionID: chat.SessionID(r.SessionID), TurnID: chat.TurnID(Text(r.TurnID)), Name: r.Name,
		MediaType: r.MediaType, Size: r.Size, Hash: hex.EncodeToString(r.ContentHash), Tokens: r.Tokens, CreatedAt: ParseTime(r.CreatedAt),
	}
}
