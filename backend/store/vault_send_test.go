package store

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/vault"
)

// TestWhatIsDamagedIsNotSent: damage is named, it and what follows it in a session stay here, and everything else is sent.
func TestWhatIsDamagedIsNotSent(t *testing.T) {
	for what, damage := range map[string]string{
		"a hash":                 `UPDATE events SET hash = zeroblob(32) WHERE session_id = @s AND type = 'turn_finalized'`,
		"the hash before":        `UPDATE events SET prev_hash = zeroblob(32) WHERE session_id = @s AND type = 'turn_finalized'`,
		"a payload":              `UPDATE events SET payload = substr(payload, 1, 5) WHERE session_id = @s AND type = 'turn_accepted'`,
		"what a payload says":    `UPDATE events SET payload = (SELECT payload FROM events WHERE type = 'turn_finalized' LIMIT 1) WHERE session_id = @s AND type = 'turn_accepted'`,
		"a payload that is gone": `UPDATE events SET payload = NULL WHERE session_id = @s AND type = 'turn_accepted'`,
		"an event that is gone":  `DELETE FROM events WHERE session_id = @s AND type = 'turn_prepared'`,
		"a manifest":             `UPDATE turns SET manifest = NULL WHERE session_id = @s`,
	} {
		t.Run(what, func(t *testing.T) {
			all, sound := members(t, 2, true)
			a, b := all[0], all[1]
			damaged, branch := a.session("damaged")
			a.full(branch.ID, "a question", "an answer")
			a.full(sound.ActiveBranch, "sound", "said")
			a.ok(a.core.DB.Writer.Exec(strings.ReplaceAll(damage, "@s", "'"+string(damaged.ID)+"'")).Error)
			out, err := a.vault.Sync(a.ctx)
			a.ok(err)
			if len(out.Problems) != 1 || !strings.Contains(fmt.Sprint(out.Problems), "damaged") {
				t.Errorf("problems: %v", out.Problems)
			}
			carry(t, a.folder, b.folder, nil)
			b.sync()
			if got := b.conversations(); !slices.Equal(got, []chat.SessionID{sound.ID}) {
				t.Errorf("B has %v", got)
			}
		})
	}
}

// TestOnlyTheLastContextIsSent: a turn whose context was assembled again arrives with the manifest that it has.
func TestOnlyTheLastContextIsSent(t *testing.T) {
	all, s := members(t, 2, true)
	a, b := all[0], all[1]
	turn := a.accept(s.ActiveBranch, "a question")
	a.ok(a.Prepare(a.ctx, chat.Preparation{TurnID: turn.ID, Manifest: manifestOf(1)}))
	a.finalize(turn, "an answer") // which assembles it again
	a.sync()
	carry(t, a.folder, b.folder, nil)
	b.sync()
	want, err := a.Manifest(a.ctx, turn.ID)
	a.ok(err)
	if got, err := b.Manifest(b.ctx, turn.ID); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%.60q, %v", got, err)
	}
	b.verifyClean()
}

// putting does something before each put.
type putting struct {
	vault.Place
	before func(name string)
}

func (p putting) PutNew(ctx context.Context, name string, content []byte) error {
	p.before(name)
	return p.Place.PutNew(ctx, name, content)
}

// TestTwoCopiesWriteAtOnce: of two copies of data that write the same file of a log, the later one is refused, and becomes another device.
func TestTwoCopiesWriteAtOnce(t *testing.T) {
	all, s := members(t, 1, true)
	a := all[0]
	a.sync()
	a.full(s.ActiveBranch, "not sent yet", "said")
	b := a.from(a.saved(), false)
	a.full(s.ActiveBranch, "in the original", "said there")
	b.full(s.ActiveBranch, "in the copy", "said in the copy")
	open, first := b.place, true
	b.place = func(at vault.Target) (vault.Place, error) {
		place, err := open(at)
		return putting{place, func(name string) {
			if first && strings.HasPrefix(name, "log/") {
				first = false
				a.sync()
			}
		}}, err
	}
	b.begin()
	if out := b.sync(); !out.Departed || first {
		t.Errorf("%+v", out)
	}
	settle(t, []*member{a, b})
	words := []string{"not sent yet", "in the original", "in the copy"}
	for _, m := range []*member{a, b} {
		if got := m.said(s.ID, words...); !slices.Equal(got, words) {
			t.Errorf("%s has %q", m.name, got)
		}
	}
}

// TestAFileOfACopyDoesNotFollow: a file of a log that follows another one than is known here is not taken.
func TestAFileOfACopyDoesNotFollow(t *testing.T) {
	all, s := members(t, 2, true)
	a, b := all[0], all[1]
	a.sync()
	c := a.from(a.saved(), false)
	c.folder = t.TempDir()
	carry(t, a.folder, c.folder, nil)
	c.place = func(vault.Target) (vault.Place, error) { return vault.Places{}.Open(vault.Target{Address: c.folder}) }
	a.ok(a.RenameSession(a.ctx, s.ID, "by the original"))
	a.sync()
	carry(t, a.folder, b.folder, nil)
	b.sync()
	for _, title := range []string{"by the copy", "by the copy again"} {
		c.ok(c.RenameSession(c.ctx, s.ID, title))
		c.sync()
	}
	logs := added(nil, objects(t, c.folder), "log/"+a.log()+"/")
	last := logs[len(logs)-1]
	b.ok(os.WriteFile(filepath.Join(b.folder, last), objects(t, c.folder)[last], 0o600))
	out, err := b.vault.Sync(b.ctx)
	b.ok(err)
	if len(out.Problems) != 1 || !strings.Contains(fmt.Sprint(out.Problems), "does not follow from the file before it") || out.ReceivedEvents > 0 {
		t.Errorf("%+v, of %v", out, logs)
	}
	if got, err := b.Session(b.ctx, s.ID); err != nil || got.Title != "by the original" {
		t.Errorf("%q, %v", got.Title, err)
	}
}
