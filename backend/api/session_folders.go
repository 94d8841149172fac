package api

import (
	"context"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
)

// SetFolder puts sessions into a folder, all of them or none; empty takes them out.
func (s *Sessions) SetFolder(ids []string, folder string) error {
	return s.c.do(func(ctx context.Context) error { return s.c.Sessions.SetFolder(ctx, sessionIDs(ids), folder) })
}

func sessionIDs(ids []string) []chat.SessionID {
	return lists.Map(ids, func(id string) chat.SessionID { return chat.SessionID(id) })
}

// RenameFolder renames a folder with all that is in it, archived sessions and its project too;
// the name of another folder joins both.
func (s *Sessions) RenameFolder(from, to string) error {
	return s.c.do(func(ctx context.Context) error { return s.c.Sessions.RenameFolder(ctx, from, to) })
}

// Folders are the names sessions are kept under, by name.
func (s *Sessions) Folders() ([]Folder, error) {
	if err := s.c.ready(); err != nil {
		return nil, err
	}
	list, err := s.c.Sessions.Folders(s.c.ctx())
	return lists.Map(list, func(f chat.Folder) Folder { return Folder{Name: f.Name, Sessions: f.Sessions} }), err
}

// ArchiveMany hides sessions or shows them again, all of them or none.
func (s *Sessions) ArchiveMany(ids []string, archived bool) error {
	return s.c.do(func(ctx context.Context) error { return s.c.Sessions.ArchiveSessions(ctx, sessionIDs(ids), archived) })
}

// Duplicate makes a session that holds the lineage of a branch (empty: the active one).
// A turn that is still open is left out, and counted in the row.
func (s *Sessions) Duplicate(id, branchID string) (SessionRow, error) {
	if err := s.c.ready(); err != nil {
		return SessionRow{}, err
	}
	ctx := s.c.ctx()
	sess, err := s.c.Sessions.Session(ctx, chat.SessionID(id))
	if err != nil {
		return SessionRow{}, err
	}
	branch := chat.BranchID(branchID)
	if branch == "" {
		branch = sess.ActiveBranch
	}
	b, err := s.c.Sessions.Branch(ctx, branch)
	if err != nil {
		return SessionRow{}, err
	}
	if b.SessionID != sess.ID {
		return SessionRow{}, chat.Errorf(chat.CodeNotFound, "session.duplicate", "Branch %s belongs to another session.", branch)
	}
	made, err := s.c.Sessions.Duplicate(ctx, branch, "")
	if err != nil {
		return SessionRow{}, err
	}
	row, err := s.c.row(ctx, made.Session.ID)
	row.LeftOut = made.LeftOut
	return row, err
}

// SuggestTitle names a session by what was said on its active branch, on this machine;
// empty while nothing was.
func (s *Sessions) SuggestTitle(id string) (string, error) {
	if err := s.c.ready(); err != nil {
		return "", err
	}
	return s.c.Sessions.SuggestTitle(s.c.ctx(), chat.SessionID(id))
}
