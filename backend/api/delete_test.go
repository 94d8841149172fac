package api

import (
	"context"
	"slices"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/deletion"
	"contextinfinity/backend/tasks"
)

// The receipt lists the same records as the preview, including a task about the session. Every kind of record has a
// label.
func TestTheReceiptListsTheSameAsThePreview(t *testing.T) {
	d := newFixture(t)
	addCommitted(t, d.store, d.session, "Always answer in German. Never use tables.")
	done, err := d.core.Tasks.Start(tasks.Spec{Kind: tasks.Export, Title: chat.Quote("Export German"), Session: d.session.ID},
		func(context.Context, *tasks.Progress) (tasks.Result, error) {
			return tasks.Result{Path: "/elsewhere"}, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	d.awaitTask(done.ID)
	d.core.Deletion = deletion.New(deletion.Deps{Store: d.store, Publish: d.core.Hub.Change, Forget: d.core.Tasks.Forget})
	turn, _, err := d.store.LastTurn(t.Context(), d.session.ActiveBranch)
	if err != nil {
		t.Fatal(err)
	}
	storage := NewStorage(d.core)
	for _, x := range []struct{ kind, id string }{{chat.DeletionTurn, string(turn.ID)}, {chat.DeletionSession, string(d.session.ID)}} {
		preview, err := storage.PreviewDeletion(x.kind, x.id, nil)
		if err != nil {
			t.Fatal(err)
		}
		receipt, err := storage.Delete(x.kind, x.id, chat.ConfirmWord, nil)
		if err != nil || !slices.Equal(receipt.Parts, preview.Parts) {
			t.Errorf("%s: %+v, %v, the preview was %+v", x.kind, receipt.Parts, err, preview.Parts)
		}
		for _, p := range receipt.Parts {
			if p.Label == p.Store {
				t.Errorf("%s has no label", p.Store)
			}
		}
		if x.kind == chat.DeletionTurn && !slices.ContainsFunc(receipt.Parts, func(p DeletedPart) bool { return p.Store == "settings" && p.Count == 1 }) {
			t.Errorf("without the task: %+v", receipt.Parts)
		}
	}
	if list := d.core.Tasks.List(); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}
