package api

import (
	"context"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/librarian"
)

// SetFolder puts sessions into a folder, all of them or none; empty takes them out.
func (s *Sessions) SetFolder(ids []string, folder string) error {
	return s.changeMany(ids, func(ctx context.Context, list []chat.SessionID) error {
		name, err := chat.FolderName(folder)
		if err != nil {
			return err
		}
		return s.c.Store.SetFolder(ctx, list, name)
	})
}

// RenameFolder renames a folder with all that is in it, archived sessions and its project too;
// the name of another folder joins both.
func (s *Sessions) RenameFolder(from, to string) error {
	if err := s.c.ready(); err != nil {
		return err
	}
	if err := s.c.Store.RenameFolder(s.c.ctx(), from, to); err != nil {
		return err
	}
	s.c.Hub.Change(chat.Change{Kind: chat.ChangeSessions})
	return nil
}

// Folders are the names sessions are kept under, by name.
func (s *Sessions) Folders() ([]Folder, error) {
	if err := s.c.ready(); err != nil {
		return nil, err
	}
	list, err := s.c.Store.Folders(s.c.ctx())
	return lists.Map(list, func(f chat.Folder) Folder { return Folder{Name: f.Name, Sessions: f.Sessions} }), err
}

// ArchiveMany hides sessions or shows them again, all of them or none.
func (s *Sessions) ArchiveMany(ids []string, archived bool) error {
	return s.changeMany(ids, func(ctx context.Context, list []chat.SessionID) error {
		return s.c.Store.ArchiveSessions(ctx, list, archived)
	})
}

func (s *Sessions) changeMany(ids []string, do func(context.Context, []chat.SessionID) error) error {
	if err := s.c.ready(); err != nil {
		return err
	}
	list := lists.Map(ids, func(id string) chat.SessionID { return chat.SessionID(id) })
	if err := do(s.c.ctx(), list); err != nil {
		return err
	}
	for _, id := range list {
		s.c.changedSession(id)
	}
	return nil
}

// Duplicate makes a session that holds the lineage of a branch (empty: the active one).
// A turn that is still open is left out, and counted in the row.
func (s *Sessions) Duplicate(id, branchID string) (SessionRow, error) {
	if err := s.c.ready(); err != nil {
		return SessionRow{}, err
	}
	ctx := s.c.ctx()
	sess, err := s.c.Store.Session(ctx, chat.SessionID(id))
	if err != nil {
		return SessionRow{}, err
	}
	branch := chat.BranchID(branchID)
	if branch == "" {
		branch = sess.ActiveBranch
	}
	b, err := s.c.Store.Branch(ctx, branch)
	if err != nil {
		return SessionRow{}, err
	}
	if b.SessionID != sess.ID {
		return SessionRow{}, chat.Errorf(chat.CodeNotFound, "session.duplicate", "Branch %s belongs to another session.", branch)
	}
	made, err := s.c.Store.Duplicate(ctx, branch, chat.CopyTitle(sess.Title))
	if err != nil {
		return SessionRow{}, err
	}
	s.c.changedSession(made.Session.ID)
	s.c.Hub.Change(chat.Change{Kind: chat.ChangeJobs})
	s.c.Jobs.Wake()
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
	return librarian.SuggestTitle(s.c.ctx(), s.c.Store, chat.SessionID(id))
}
