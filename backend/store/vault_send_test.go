package store

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

// TestWhatIsDamagedIsNotSent: a session with damage is named and stays here, and everything else is sent.
func TestWhatIsDamagedIsNotSent(t *testing.T) {
	for what, damage := range map[string]string{
		"a hash":                `UPDATE events SET hash = zeroblob(32) WHERE session_id = @s AND type = 'turn_finalized'`,
		"the hash before":       `UPDATE events SET prev_hash = zeroblob(32) WHERE session_id = @s AND type = 'turn_finalized'`,
		"a payload":             `UPDATE events SET payload = substr(payload, 1, 5) WHERE session_id = @s AND type = 'turn_accepted'`,
		"what a payload says":   `UPDATE events SET payload = (SELECT payload FROM events WHERE type = 'turn_finalized' LIMIT 1) WHERE session_id = @s AND type = 'turn_accepted'`,
		"an event that is gone": `DELETE FROM events WHERE session_id = @s AND type = 'turn_prepared'`,
		"a manifest":            `UPDATE turns SET manifest = NULL WHERE session_id = @s`,
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
