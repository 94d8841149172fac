// Package deletion deletes content permanently. It shows a preview first, removes long-running tasks about the
// content, and publishes the changes.
package deletion

import (
	"context"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/transfer/bundle"
)

// Store deletes permanently and keeps the receipts.
type Store interface {
	PreviewDeletion(ctx context.Context, kind, id string, copies ...chat.SessionID) (chat.DeletionPreview, error)
	Delete(ctx context.Context, kind, id string, copies ...chat.SessionID) (chat.Receipt, error)
	// DeleteAsSeen deletes a session whose lanes still end where they were seen to; otherwise CodeConflict.
	DeleteAsSeen(ctx context.Context, session chat.SessionID, seen map[string]int64) (chat.Receipt, error)
	// DeleteTurnAs deletes the content of a turn as another device did, according to what is here of a session and to events that are to
	// come from there. If the turn is not here, only what the session quotes of it is deleted.
	DeleteTurnAs(ctx context.Context, session chat.SessionID, turn chat.TurnID, coming []bundle.Parcel) (chat.Receipt, error)
	// DeletableCopies returns the other sessions that contain the messages of a session or turn.
	DeletableCopies(ctx context.Context, kind, id string) ([]chat.Copy, error)
	Receipts(context.Context) ([]chat.Receipt, error)
	Branches(context.Context, chat.SessionID) ([]chat.BranchSummary, error)
}

// Deps are the dependencies of a Service.
type Deps struct {
	Store Store
	// Forget cancels the tasks about a session, and those for whose record named returns true, and removes them from
	// the list. The deletion removes the records. nil: there are no tasks.
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

// Delete permanently deletes a session, a project or the content of a turn, depending on kind. In the named copies it
// deletes the same: the whole session, or the content of the turn. agree gets the preview and can refuse with an error;
// nil: no confirmation. If the records are deleted but something outside of the database could not be removed, both a
// receipt and an error are returned.
//
// Errors: CodeConflict if it cannot be deleted now or a named session is not a copy, and those of agree; nothing was
// deleted then.
func (s *Service) Delete(ctx context.Context, kind, id string, agree func(chat.DeletionPreview) error, copies ...chat.SessionID) (chat.Receipt, error) {
	return s.delete(ctx, kind, id, agree, copies, func() (chat.Receipt, error) {
		return s.Store.Delete(ctx, kind, id, copies...)
	})
}

// DeleteAsSeen permanently deletes a session whose lanes still end where they were seen to. CodeConflict: it went on,
// or cannot be deleted now; nothing was deleted then.
func (s *Service) DeleteAsSeen(
	ctx context.Context, session chat.SessionID, seen map[string]int64,
) (chat.Receipt, error) {
	return s.delete(ctx, chat.DeletionSession, string(session), nil, nil, func() (chat.Receipt, error) {
		return s.Store.DeleteAsSeen(ctx, session, seen)
	})
}

// DeleteTurnAs permanently deletes the content of a turn as another device did, according to what is here of a session and to events
// that are to come from there. CodeConflict: it cannot be deleted now; nothing was deleted then.
func (s *Service) DeleteTurnAs(ctx context.Context, session chat.SessionID, turn chat.TurnID, coming []bundle.Parcel) (chat.Receipt, error) {
	carryOut := func() (chat.Receipt, error) { return s.Store.DeleteTurnAs(ctx, session, turn, coming) }
	receipt, err := s.delete(ctx, chat.DeletionTurn, string(turn), nil, nil, carryOut)
	if chat.CodeOf(err) != chat.CodeNotFound {
		return receipt, err
	}
	if receipt, err = carryOut(); receipt.ID != "" { // the turn is not here, so no window knows it
		s.d.Publish(chat.Change{Kind: chat.ChangeSession, Session: session})
	}
	return receipt, err
}

func (s *Service) delete(
	ctx context.Context, kind, id string, agree func(chat.DeletionPreview) error, copies []chat.SessionID,
	carryOut func() (chat.Receipt, error),
) (chat.Receipt, error) {
	if agree == nil && s.d.Forget == nil { // a preview is as expensive as the deletion, because it deletes and rolls back
		return carryOut()
	}
	p, err := s.PreviewDeletion(ctx, kind, id, copies...)
	if err == nil && p.Reason != "" {
		err = chat.Errorf(chat.CodeConflict, "content.delete", "%s", p.Reason)
	}
	if err == nil && agree != nil {
		err = agree(p)
	}
	deleted := append([]chat.Copy{{Session: chat.SessionID(p.Session), Turn: chat.TurnID(id)}}, p.Included...)
	for _, x := range deleted {
		if err == nil && s.d.Forget != nil {
			err = s.d.Forget(ctx, x.Session, p.NamedIn)
		}
	}
	if err != nil {
		return chat.Receipt{}, err
	}
	receipt, err := carryOut()
	if receipt.ID == "" {
		return receipt, err
	}
	s.d.Publish(chat.Change{Kind: chat.ChangeSessions})
	for _, x := range deleted {
		s.d.Publish(chat.Change{Kind: chat.ChangeSession, Session: x.Session})
		if kind == chat.DeletionTurn {
			s.d.Publish(chat.Change{Kind: chat.ChangeTurn, Session: x.Session, ID: string(x.Turn)})
			s.publishUnsent(context.WithoutCancel(ctx), receipt, x.Session)
		}
	}
	if kind == chat.DeletionProject {
		s.d.Publish(chat.Change{Kind: chat.ChangeProjects, ID: id})
	}
	return receipt, err
}

// publishUnsent publishes the drafts and queues of a session if the deletion of a turn changed any. A window that kept
// such a draft would save the deleted text again.
func (s *Service) publishUnsent(ctx context.Context, receipt chat.Receipt, session chat.SessionID) {
	counts := map[string]int64{}
	for _, r := range slices.Concat(receipt.Included, []chat.Receipt{receipt}) {
		for _, e := range r.Deleted {
			counts[e.Store] += e.Count
		}
	}
	for _, unsent := range []struct {
		store string
		kind  chat.ChangeKind
	}{{"drafts", chat.ChangeDraft}, {"queued_messages", chat.ChangeQueue}} {
		if counts[unsent.store] == 0 {
			continue
		}
		branches, _ := s.Branches(ctx, session) // an error changes nothing about the deletion
		for _, b := range branches {
			s.d.Publish(chat.Change{Kind: unsent.kind, Session: session, ID: string(b.ID)})
		}
	}
}
