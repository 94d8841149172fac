package api

import (
	"cmp"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
)

// SetFolder moves sessions to a folder, all of them or none; an empty folder takes them out of theirs.
func (s *Sessions) SetFolder(ids []string, folder string) error {
	return s.c.Sessions.SetFolder(s.c.ctx(), sessionIDs(ids), folder)
}

func sessionIDs(ids []string) []chat.SessionID {
	return lists.Map(ids, func(id string) chat.SessionID { return chat.SessionID(id) })
}

// RenameFolder renames a folder with its content, including archived sessions and its project. If the new name is
// that of another folder, the two are merged.
func (s *Sessions) RenameFolder(from, to string) error {
	return s.c.Sessions.RenameFolder(s.c.ctx(), from, to)
}

// Folders returns the folders of sessions, by name.
func (s *Sessions) Folders() ([]Folder, error) {
	list, err := s.c.Sessions.Folders(s.c.ctx())
	return lists.Map(list, func(f chat.Folder) Folder { return Folder{Name: f.Name, Sessions: f.Sessions} }), err
}

// ArchiveMany hides sessions or shows them again: all of them, or none if it fails.
func (s *Sessions) ArchiveMany(ids []string, archived bool) error {
	return s.c.Sessions.ArchiveSessions(s.c.ctx(), sessionIDs(ids), archived)
}

// Duplicate creates a session with the lineage of a branch (empty: the active one). Open turns are left out, and
// counted in the row.
func (s *Sessions) Duplicate(id, branchID string) (SessionRow, error) {
	ctx := s.c.ctx()
	sess, err := s.c.Sessions.Session(ctx, chat.SessionID(id))
	if err != nil {
		return SessionRow{}, err
	}
	branch := chat.BranchID(branchID)
	branch = cmp.Or(branch, sess.ActiveBranch)
	b, err := s.c.Sessions.Branch(ctx, branch)
	if err != nil {
		return SessionRow{}, err
	}
	if b.SessionID != sess.ID {
		return SessionRow{}, chat.Errorf(chat.CodeNotFound, "session.duplicate", "Branch %s belongs to another session.", branch)
	}
	copied, err := s.c.Sessions.Duplicate(ctx, branch, "")
	if err != nil {
		return SessionRow{}, err
	}
	row, err := s.c.row(ctx, copied.Session.ID)
	row.LeftOut = copied.LeftOut
	return row, err
}

// SuggestTitle makes a title from the session's active branch, without a network request; empty if it has no turns.
func (s *Sessions) SuggestTitle(id string) (string, error) {
	return s.c.Sessions.SuggestTitle(s.c.ctx(), chat.SessionID(id))
}
