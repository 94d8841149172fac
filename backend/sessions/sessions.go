// Package sessions arranges conversations: names, folders, the archive, settings and copies. The window and the command
// line both do it through a Service, so that each act has one rule, and whoever shows sessions learns of it.
package sessions

import (
	"context"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/librarian"
)

// Store keeps sessions and their branches.
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

// History keeps what was said.
type History interface {
	Lineage(context.Context, chat.LineageQuery) ([]chat.Turn, error)
}

// Limits refuse instructions that leave a session's model no room. It is turn.Engine.
type Limits interface {
	CheckInstructions(ctx context.Context, session chat.SessionID, text string) error
}

// Deps are what a Service is built from; all are required.
type Deps struct {
	Store   Store
	History History
	Limits  Limits
	// Publish is called with each change.
	Publish func(chat.Change)
	// Wake has the background work look for what became due.
	Wake func()
}

// Service is the store's sessions with the rules of each act. What only reads is the store's own.
type Service struct {
	Store
	d Deps
}

// New returns the service.
func New(d Deps) *Service { return &Service{Store: d.Store, d: d} }

// changed tells of sessions that are different now, where err is nil.
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

// CreateSession makes an empty session; its folder need not exist.
func (s *Service) CreateSession(ctx context.Context, n chat.NewSession) (chat.Session, chat.Branch, error) {
	var err error
	if n.Folder, err = chat.FolderName(n.Folder); err != nil {
		return chat.Session{}, chat.Branch{}, err
	}
	session, branch, err := s.Store.CreateSession(ctx, n)
	return session, branch, s.changed(err, session.ID)
}

// RenameSession gives a session another title, without the space around it.
//
// Errors: CodeInvalid for a title without a character.
func (s *Service) RenameSession(ctx context.Context, id chat.SessionID, title string) error {
	if title = strings.TrimSpace(title); title == "" {
		return chat.Errorf(chat.CodeInvalid, "session.rename", "A title needs at least one character; the old one stays.")
	}
	return s.changed(s.Store.RenameSession(ctx, id, title), id)
}

// NameBy names a session that has no title by a message.
func (s *Service) NameBy(ctx context.Context, session chat.Session, m chat.Message) error {
	if session.Title != "" || m.Title() == "" {
		return nil
	}
	return s.RenameSession(ctx, session.ID, m.Title())
}

// ArchiveSession hides a session or shows it again. Nothing is deleted.
func (s *Service) ArchiveSession(ctx context.Context, id chat.SessionID, archived bool) error {
	return s.changed(s.Store.ArchiveSession(ctx, id, archived), id)
}

// ArchiveSessions hides sessions or shows them again, all of them or none.
func (s *Service) ArchiveSessions(ctx context.Context, ids []chat.SessionID, archived bool) error {
	return s.changed(s.Store.ArchiveSessions(ctx, ids, archived), ids...)
}

// PinSession keeps a session at the top of the list.
func (s *Service) PinSession(ctx context.Context, id chat.SessionID, pinned bool) error {
	return s.changed(s.Store.PinSession(ctx, id, pinned), id)
}

// SetFolder puts sessions into a folder, all of them or none; empty takes them out.
func (s *Service) SetFolder(ctx context.Context, ids []chat.SessionID, folder string) error {
	name, err := chat.FolderName(folder)
	if err != nil {
		return err
	}
	return s.changed(s.Store.SetFolder(ctx, ids, name), ids...)
}

// RenameFolder renames a folder with all that is in it, archived sessions and its project too;
// the name of another folder joins both.
func (s *Service) RenameFolder(ctx context.Context, from, to string) error {
	err := s.Store.RenameFolder(ctx, from, to)
	if err == nil {
		s.d.Publish(chat.Change{Kind: chat.ChangeSessions})
	}
	return err
}

// Duplicate makes a session that holds the lineage of a branch. A turn that is still open is left out, and counted.
// An empty title is that of the original, marked as a copy.
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
	made, err := s.Store.Duplicate(ctx, branch, title)
	if s.changed(err, made.Session.ID) == nil {
		s.d.Publish(chat.Change{Kind: chat.ChangeJobs})
		s.d.Wake()
	}
	return made, err
}

// SetSessionModel sets a session's model from now on.
func (s *Service) SetSessionModel(ctx context.Context, id chat.SessionID, model string) error {
	return s.changed(s.Store.SetSessionModel(ctx, id, model), id)
}

// SetSessionSettings replaces a session's own choices, from the next message on.
//
// Errors: CodeOverBudget for instructions that leave its model no room.
func (s *Service) SetSessionSettings(ctx context.Context, id chat.SessionID, v chat.SessionSettings) error {
	if err := s.d.Limits.CheckInstructions(ctx, id, v.SystemPrompt); err != nil {
		return err
	}
	return s.changed(s.Store.SetSessionSettings(ctx, id, v), id)
}

// SetSystemPrompt gives a session instructions, from the next message on. Its errors are those of SetSessionSettings.
func (s *Service) SetSystemPrompt(ctx context.Context, id chat.SessionID, prompt string) error {
	if err := s.d.Limits.CheckInstructions(ctx, id, prompt); err != nil {
		return err
	}
	return s.changed(s.Store.SetSystemPrompt(ctx, id, prompt), id)
}

// ChangeSettings changes some of a session's own choices and leaves the others as they are.
func (s *Service) ChangeSettings(ctx context.Context, id chat.SessionID, change func(*chat.SessionSettings)) error {
	session, err := s.Session(ctx, id)
	if err != nil {
		return err
	}
	v := session.Settings()
	change(&v)
	return s.SetSessionSettings(ctx, id, v)
}

// titleFirst and titleLast are how many turns of a conversation a title is made from.
const (
	titleFirst = 100
	titleLast  = 300
)

// SuggestTitle names a session by what was said on its active branch, on this machine; empty while nothing was.
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
