// Package sessions organizes conversations: names, folders, the archive, settings and copies. The window and the
// command line both use its Service, so the same rules apply to both, and changes are published to all views.
package sessions

import (
	"context"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/librarian"
)

// Store stores sessions and their branches.
type Store interface {
	CreateSession(context.Context, chat.NewSession) (chat.Session, chat.Branch, error)
	Session(context.Context, chat.SessionID) (chat.Session, error)
	Sessions(context.Context, chat.SessionQuery) ([]chat.SessionSummary, error)
	Folders(context.Context) ([]chat.Folder, error)
	Branch(context.Context, chat.BranchID) (chat.Branch, error)
	Branches(context.Context, chat.SessionID) ([]chat.BranchSummary, error)
	RenameSession(context.Context, chat.SessionID, string) error
	ArchiveSession(context.Context, chat.SessionID, bool) error
	ArchiveSessions(context.Context, []chat.SessionID, bool) error
	PinSession(context.Context, chat.SessionID, bool) error
	SetFolder(ctx context.Context, ids []chat.SessionID, folder string) error
	RenameFolder(ctx context.Context, from, to string) error
	Duplicate(ctx context.Context, branch chat.BranchID, title string) (chat.Duplicate, error)
	SetSessionModel(context.Context, chat.SessionID, string) error
	SetSessionSettings(context.Context, chat.SessionID, chat.SessionSettings) error
	RenameBranch(context.Context, chat.BranchID, string) error
	SetSystemPrompt(context.Context, chat.SessionID, string) error
}

// History reads the turns of a branch.
type History interface {
	Lineage(context.Context, chat.LineageQuery) ([]chat.Turn, error)
}

// Limits rejects instructions that leave a session's model too little room. It is turn.Engine.
type Limits interface {
	CheckInstructions(ctx context.Context, session chat.SessionID, text string) error
}

// Deps are the dependencies of a Service; all are required.
type Deps struct {
	Store   Store
	History History
	Limits  Limits
	// Publish is called with each change.
	Publish func(chat.Change)
	// Wake starts background work that has become due.
	Wake func()
}

// Service adds rules and notifications to the store's changes of sessions. Reading methods are the store's own.
type Service struct {
	Store
	d Deps
}

// New returns the service.
func New(d Deps) *Service { return &Service{Store: d.Store, d: d} }

// changed publishes that sessions have changed, unless err is set.
func (s *Service) changed(err error, ids ...chat.SessionID) error {
	if err != nil {
		return err
	}
	for _, id := range ids {
		s.d.Publish(chat.Change{Kind: chat.ChangeSessions, ID: string(id), Session: id})
		s.d.Publish(chat.Change{Kind: chat.ChangeSession, ID: string(id), Session: id})
	}
	return nil
}

// CreateSession creates an empty session; its folder need not exist.
func (s *Service) CreateSession(ctx context.Context, n chat.NewSession) (chat.Session, chat.Branch, error) {
	var err error
	if n.Folder, err = chat.FolderName(n.Folder); err != nil {
		return chat.Session{}, chat.Branch{}, err
	}
	session, branch, err := s.Store.CreateSession(ctx, n)
	return session, branch, s.changed(err, session.ID)
}

// RenameSession changes the title of a session. Surrounding spaces are removed.
//
// Errors: CodeInvalid for an empty title.
func (s *Service) RenameSession(ctx context.Context, id chat.SessionID, title string) error {
	if title = strings.TrimSpace(title); title == "" {
		return chat.Errorf(chat.CodeInvalid, "session.rename", "A title needs at least one character; the old one is kept.")
	}
	return s.changed(s.Store.RenameSession(ctx, id, title), id)
}

// SetTitleFrom gives a session that has no title the title of a message.
func (s *Service) SetTitleFrom(ctx context.Context, session chat.Session, m chat.Message) error {
	if session.Title != "" || m.Title() == "" {
		return nil
	}
	return s.RenameSession(ctx, session.ID, m.Title())
}

// ArchiveSession hides a session or shows it again. Nothing is deleted.
func (s *Service) ArchiveSession(ctx context.Context, id chat.SessionID, archived bool) error {
	return s.changed(s.Store.ArchiveSession(ctx, id, archived), id)
}

// ArchiveSessions hides sessions or shows them again: all of them, or none if it fails.
func (s *Service) ArchiveSessions(ctx context.Context, ids []chat.SessionID, archived bool) error {
	return s.changed(s.Store.ArchiveSessions(ctx, ids, archived), ids...)
}

// PinSession keeps a session at the top of the list.
func (s *Service) PinSession(ctx context.Context, id chat.SessionID, pinned bool) error {
	return s.changed(s.Store.PinSession(ctx, id, pinned), id)
}

// SetFolder moves sessions to a folder, all of them or none; an empty folder takes them out of theirs.
func (s *Service) SetFolder(ctx context.Context, ids []chat.SessionID, folder string) error {
	name, err := chat.FolderName(folder)
	if err != nil {
		return err
	}
	return s.changed(s.Store.SetFolder(ctx, ids, name), ids...)
}

// RenameFolder renames a folder with its content, including archived sessions and its project. If the new name is
// that of another folder, the two are merged.
func (s *Service) RenameFolder(ctx context.Context, from, to string) error {
	err := s.Store.RenameFolder(ctx, from, to)
	if err == nil {
		s.d.Publish(chat.Change{Kind: chat.ChangeSessions})
		s.d.Publish(chat.Change{Kind: chat.ChangeProjects}) // its project and the scope of its sessions
	}
	return err
}

// Duplicate creates a session with the lineage of a branch. Open turns are left out and counted. An empty title means
// the original title, marked as a copy.
func (s *Service) Duplicate(ctx context.Context, branch chat.BranchID, title string) (chat.Duplicate, error) {
	if title == "" {
		b, err := s.Branch(ctx, branch)
		if err != nil {
			return chat.Duplicate{}, err
		}
		original, err := s.Session(ctx, b.SessionID)
		if err != nil {
			return chat.Duplicate{}, err
		}
		title = chat.CopyTitle(original.Title)
	}
	duplicate, err := s.Store.Duplicate(ctx, branch, title)
	if s.changed(err, duplicate.Session.ID) == nil {
		s.d.Publish(chat.Change{Kind: chat.ChangeJobs})
		s.d.Wake()
	}
	return duplicate, err
}

// SetSessionModel sets the model of a session, starting with the next message.
func (s *Service) SetSessionModel(ctx context.Context, id chat.SessionID, model string) error {
	return s.changed(s.Store.SetSessionModel(ctx, id, model), id)
}

// SetSessionSettings replaces a session's own settings, starting with the next message.
//
// Errors: CodeOverBudget for instructions that leave its model too little room.
func (s *Service) SetSessionSettings(ctx context.Context, id chat.SessionID, v chat.SessionSettings) error {
	if err := s.d.Limits.CheckInstructions(ctx, id, v.SystemPrompt); err != nil {
		return err
	}
	return s.changed(s.Store.SetSessionSettings(ctx, id, v), id)
}

// SetSystemPrompt sets a session's instructions, starting with the next message. Its errors are those of
// SetSessionSettings.
func (s *Service) SetSystemPrompt(ctx context.Context, id chat.SessionID, prompt string) error {
	if err := s.d.Limits.CheckInstructions(ctx, id, prompt); err != nil {
		return err
	}
	return s.changed(s.Store.SetSystemPrompt(ctx, id, prompt), id)
}

// ChangeSettings changes some of a session's own settings and keeps the others.
func (s *Service) ChangeSettings(ctx context.Context, id chat.SessionID, change func(*chat.SessionSettings)) error {
	session, err := s.Session(ctx, id)
	if err != nil {
		return err
	}
	v := session.Settings()
	change(&v)
	return s.SetSessionSettings(ctx, id, v)
}

// titleFirst and titleLast are how many turns at the beginning and at the end of a conversation are used for a title.
const (
	titleFirst = 100
	titleLast  = 300
)

// SuggestTitle makes a title from the turns on the session's active branch, without a network request; empty if there
// are none.
func (s *Service) SuggestTitle(ctx context.Context, id chat.SessionID) (string, error) {
	session, err := s.Session(ctx, id)
	if err != nil {
		return "", err
	}
	first, err := s.d.History.Lineage(ctx, chat.LineageQuery{Branch: session.ActiveBranch, Limit: titleFirst})
	if err != nil {
		return "", err
	}
	last, err := s.d.History.Lineage(ctx, chat.LineageQuery{Branch: session.ActiveBranch, FromSeq: titleFirst + 1, Limit: titleLast, Newest: true})
	return librarian.Title(append(first, last...)), err
}

// RenameBranch changes a branch's label.
func (s *Service) RenameBranch(ctx context.Context, id chat.BranchID, label string) error {
	b, err := s.Branch(ctx, id)
	if err != nil {
		return err
	}
	return s.changed(s.Store.RenameBranch(ctx, id, strings.TrimSpace(label)), b.SessionID)
}
