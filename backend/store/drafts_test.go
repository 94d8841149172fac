package store

import (
	"testing"

	"contextinfinity/backend/chat"
)

// A draft can be removed from the queue only while it is still the queued one. A newer draft stays queued, and a
// replaced one is not restored.
func TestReleaseDraft(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("t")
	save := func(text string, queued bool) chat.Draft {
		f.ok(f.SaveDraft(f.ctx, chat.Draft{BranchID: b.ID, Message: chat.UserText(text), Queued: queued}))
		d, _, err := f.Draft(f.ctx, b.ID)
		f.ok(err)
		return d
	}
	old := save("one", true)
	waits := save("two", true)
	for name, c := range map[string]struct {
		draft    chat.Draft
		released bool
	}{
		"another took its place": {old, false},
		"of another branch":      {chat.Draft{BranchID: "none", Message: chat.UserText("two")}, false},
		"other words":            {chat.Draft{BranchID: b.ID, Message: chat.UserText("three"), UpdatedAt: waits.UpdatedAt}, false},
	} {
		got, err := f.ReleaseDraft(f.ctx, c.draft)
		if now, _, _ := f.Draft(f.ctx, b.ID); err != nil || got != c.released || !now.Queued || now.Message.RenderedText() != "two" {
			t.Errorf("%s: released %v, %v, now %+v", name, got, err, now)
		}
	}
	if got, err := f.ReleaseDraft(f.ctx, waits); err != nil || !got {
		t.Errorf("%v, %v", got, err)
	}
	if now, _, _ := f.Draft(f.ctx, b.ID); now.Queued || now.Message.RenderedText() != "two" {
		t.Errorf("%+v", now)
	}
	if got, err := f.ReleaseDraft(f.ctx, waits); err != nil || got {
		t.Errorf("twice: %v, %v", got, err)
	}
}
