// Package erasing deletes permanently: it asks before, has long work forget what goes, and tells everybody who shows it.
package erasing

import (
	"context"

	"contextinfinity/backend/chat"
)

// Store keeps everything, and the receipts of what it does not keep any more.
type Store interface {
	ErasePreview(ctx context.Context, kind, id string) (chat.ErasePreview, error)
	Erase(ctx context.Context, kind, id string) (chat.Receipt, error)
	Receipts(context.Context) ([]chat.Receipt, error)
}

// Deps are what a Service is built from.
type Deps struct {
	Store Store
	// Forget has long work end that is about a session, and drop its records where named finds the session's names.
	// nil: there is no long work, and nobody else who shows sessions.
	Forget  func(ctx context.Context, session chat.SessionID, named func(string) bool) error
	Publish func(chat.Change)
}

// Service deletes permanently.
type Service struct {
	Store
	d Deps
}

// New returns the service.
func New(d Deps) *Service { return &Service{Store: d.Store, d: d} }

// Erase removes a session, a project, or what a turn says (kind) for good. agree sees what would go and refuses with an
// error; nil: it is agreed to. A receipt comes with an error too when the records are gone and something beside them is not.
//
// Errors: CodeConflict where it cannot be done now, and those of agree; then nothing was deleted.
func (s *Service) Erase(ctx context.Context, kind, id string, agree func(chat.ErasePreview) error) (chat.Receipt, error) {
	if agree == nil && s.d.Forget == nil { // a preview does all of it, to undo it
		return s.Store.Erase(ctx, kind, id)
	}
	p, err := s.ErasePreview(ctx, kind, id)
	if err == nil && p.Reason != "" {
		err = chat.Errorf(chat.CodeConflict, "content.erase", "%s", p.Reason)
	}
	if err == nil && agree != nil {
		err = agree(p)
	}
	session := chat.SessionID(p.Session)
	if err == nil && s.d.Forget != nil {
		err = s.d.Forget(ctx, session, p.NamedIn)
	}
	if err != nil {
		return chat.Receipt{}, err
	}
	receipt, err := s.Store.Erase(ctx, kind, id)
	if receipt.ID == "" {
		return receipt, err
	}
	s.d.Publish(chat.Change{Kind: chat.ChangeSessions})
	s.d.Publish(chat.Change{Kind: chat.ChangeSession, Session: session})
	switch kind {
	case chat.EraseProject:
		s.d.Publish(chat.Change{Kind: chat.ChangeProjects, ID: id})
	case chat.EraseTurn:
		s.d.Publish(chat.Change{Kind: chat.ChangeTurn, Session: session, ID: id})
	}
	return receipt, err
}
