package deletion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/transfer/bundle"
)

// fakeStore is a store with one session that records the calls.
type fakeStore struct {
	Store
	reason string
	broken error // returned with the receipt
	absent bool  // it does not have what is deleted
	unsent []chat.DeletedCount
	calls  []string
}

func (k *fakeStore) PreviewDeletion(_ context.Context, _, _ string, copies ...chat.SessionID) (chat.DeletionPreview, error) {
	k.calls = append(k.calls, "preview")
	if k.absent {
		return chat.DeletionPreview{}, chat.Errorf(chat.CodeNotFound, "test", "it is not here")
	}
	p := chat.DeletionPreview{Session: "s", Reason: k.reason}
	for _, c := range copies {
		p.Included = append(p.Included, chat.Copy{Session: c, Turn: "t" + chat.TurnID(c)})
	}
	return p, nil
}

func (k *fakeStore) Delete(_ context.Context, kind, id string, copies ...chat.SessionID) (chat.Receipt, error) {
	call := "delete " + kind + " " + id
	for _, c := range copies {
		call += " and " + string(c)
	}
	k.calls = append(k.calls, call)
	return chat.Receipt{ID: "r", Deleted: k.unsent}, k.broken
}

func (k *fakeStore) DeleteTurnAs(_ context.Context, session chat.SessionID, turn chat.TurnID, coming []bundle.Parcel) (chat.Receipt, error) {
	k.calls = append(k.calls, fmt.Sprintf("delete %s of %s, %d", turn, session, len(coming)))
	return chat.Receipt{ID: "r"}, nil
}

func (k *fakeStore) Branches(_ context.Context, session chat.SessionID) ([]chat.BranchSummary, error) {
	return []chat.BranchSummary{{Branch: chat.Branch{ID: chat.BranchID(session) + "1"}}, {Branch: chat.Branch{ID: chat.BranchID(session) + "2"}}}, nil
}

func (k *fakeStore) forget(_ context.Context, session chat.SessionID, _ func(string) bool) error {
	k.calls = append(k.calls, "forget "+string(session))
	return nil
}

func (k *fakeStore) publish(c chat.Change) {
	k.calls = append(k.calls, string(c.Kind)+" "+string(c.Session)+c.ID)
}

// Before a deletion the preview is confirmed and tasks about the content are removed; afterwards it is published.
func TestDelete(t *testing.T) {
	agree := func(chat.DeletionPreview) error { return nil }
	refuse := func(chat.DeletionPreview) error { return chat.Errorf(chat.CodeCancelled, "test", "no") }
	half := errors.New("a file could not be removed")
	for name, c := range map[string]struct {
		reason string
		broken error
		alone  bool // a process without tasks
		kind   string
		copies []chat.SessionID
		agree  func(chat.DeletionPreview) error
		want   []string
		code   chat.Code
	}{
		"a session":             {kind: chat.DeletionSession, agree: agree, want: []string{"preview", "forget s", "delete session x", "sessions ", "session s"}},
		"a turn":                {kind: chat.DeletionTurn, agree: agree, want: []string{"preview", "forget s", "delete turn x", "sessions ", "session s", "turn sx"}},
		"a project":             {kind: chat.DeletionProject, agree: agree, want: []string{"preview", "forget s", "delete project x", "sessions ", "session s", "projects x"}},
		"refused":               {kind: chat.DeletionSession, agree: refuse, want: []string{"preview"}, code: chat.CodeCancelled},
		"not now":               {kind: chat.DeletionSession, agree: agree, reason: "An answer is being written.", want: []string{"preview"}, code: chat.CodeConflict},
		"without confirmation":  {kind: chat.DeletionSession, want: []string{"preview", "forget s", "delete session x", "sessions ", "session s"}},
		"alone, unconfirmed":    {kind: chat.DeletionSession, alone: true, want: []string{"delete session x"}},
		"alone":                 {kind: chat.DeletionSession, alone: true, agree: refuse, want: []string{"preview"}, code: chat.CodeCancelled},
		"a session with a copy": {kind: chat.DeletionSession, copies: []chat.SessionID{"c"}, agree: agree, want: []string{"preview", "forget s", "forget c", "delete session x and c", "sessions ", "session s", "session c"}},
		"a turn with a copy":    {kind: chat.DeletionTurn, copies: []chat.SessionID{"c"}, agree: agree, want: []string{"preview", "forget s", "forget c", "delete turn x and c", "sessions ", "session s", "turn sx", "session c", "turn ctc"}},
		"something remains":     {kind: chat.DeletionSession, agree: agree, broken: half, want: []string{"preview", "forget s", "delete session x", "sessions ", "session s"}, code: chat.CodeInternal},
	} {
		k := &fakeStore{reason: c.reason, broken: c.broken}
		d := Deps{Store: k, Publish: k.publish, Forget: k.forget}
		if c.alone {
			d.Forget = nil
		}
		receipt, err := New(d).Delete(t.Context(), c.kind, "x", c.agree, c.copies...)
		if !slices.Equal(k.calls, c.want) {
			t.Errorf("%s: did %q, not %q", name, k.calls, c.want)
		}
		if (err != nil) != (c.code != "") || err != nil && chat.CodeOf(err) != c.code {
			t.Errorf("%s: %v, not %s", name, err, c.code)
		}
		if deleted := c.code == "" || c.broken != nil; deleted != (receipt.ID != "") {
			t.Errorf("%s: receipt %+v", name, receipt)
		}
	}
}

// TestDeletedDraftsArePublished: if a draft or a queued message repeated a deleted turn, a change is published for each
// branch of the session, because a window would save a draft that it still shows.
func TestDeletedDraftsArePublished(t *testing.T) {
	for name, c := range map[string]struct {
		unsent []chat.DeletedCount
		want   []string
	}{
		"neither":          {[]chat.DeletedCount{{Store: "turns", Count: 1}}, nil},
		"a draft":          {[]chat.DeletedCount{{Store: "drafts", Count: 1}}, []string{"draft ss1", "draft ss2"}},
		"a queued message": {[]chat.DeletedCount{{Store: "queued_messages", Count: 2}}, []string{"queue ss1", "queue ss2"}},
	} {
		k := &fakeStore{unsent: c.unsent}
		if _, err := New(Deps{Store: k, Publish: k.publish}).Delete(t.Context(), chat.DeletionTurn, "x", func(chat.DeletionPreview) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if got := k.calls[5:]; !slices.Equal(got, c.want) {
			t.Errorf("%s: published %q, not %q", name, got, c.want)
		}
	}
}

// TestWhatAnotherDeviceDeleted: a turn that another device deleted is deleted as one here, without a question; of one that is not here,
// what another session quotes of it. What cannot be deleted now stays.
func TestWhatAnotherDeviceDeleted(t *testing.T) {
	for name, c := range map[string]struct {
		absent bool
		reason string
		want   []string
		code   chat.Code
	}{
		"here":     {want: []string{"preview", "forget s", "delete x of y, 1", "sessions ", "session s", "turn sx"}},
		"not here": {absent: true, want: []string{"preview", "delete x of y, 1", "session y"}},
		"not now":  {reason: "An answer is being written.", want: []string{"preview"}, code: chat.CodeConflict},
	} {
		k := &fakeStore{reason: c.reason, absent: c.absent}
		receipt, err := New(Deps{Store: k, Publish: k.publish, Forget: k.forget}).DeleteTurnAs(t.Context(), "y", "x", make([]bundle.Parcel, 1))
		if !slices.Equal(k.calls, c.want) || (err != nil) != (c.code != "") || err != nil && chat.CodeOf(err) != c.code || (err == nil) != (receipt.ID != "") {
			t.Errorf("%s: did %q, not %q; %+v, %v", name, k.calls, c.want, receipt, err)
		}
	}
}
