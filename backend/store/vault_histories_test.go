package store

import (
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/test/testtier"
)

// TestDevicesConvergeThroughAVault: whatever several devices do to sessions, in whatever order and parts the files of a
// vault arrive, what is also carried as bundles, whichever of them is copied, removed or set back to a backup, and whichever session is
// deleted, they end with the same sessions, lanes and records, verify finds nothing, and the vault has no text of what is deleted.
func TestDevicesConvergeThroughAVault(t *testing.T) {
	t.Parallel()
	happened, n := map[string]int{}, testtier.Sizes(12, 60, 1000)
	for seed := range n {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			h := newHistory(t, int64(seed), happened)
			for range testtier.Size(32, 40) {
				h.step()
			}
			h.end()
		})
	}
	for _, what := range []string{"waited", "copied", "departed", "restored", "deleted", "kept", "turn deleted", "removed"} {
		if happened[what] == 0 && happened["played"] == n {
			t.Errorf("of what is to happen only this did: %v", happened)
		}
	}
}

// history is a random one of several devices with a vault.
type history struct {
	*testing.T
	seed      int64
	r, values *rand.Rand
	all       []*member
	kinds     int // of steps
	mayRemove bool
	byHand    bool              // bundles are carried too
	saved     map[string]string // backups, by the names of the devices
	// unknown are the texts that the only deletion did not know, while no device is set back.
	unknown  map[string]bool
	again    bool // it is not the only one
	happened map[string]int
}

func newHistory(t *testing.T, seed int64, happened map[string]int) *history {
	h := &history{
		T: t, seed: seed, r: rand.New(rand.NewSource(seed)), values: rand.New(rand.NewSource(seed)), mayRemove: seed%4 == 0,
		byHand: true, saved: map[string]string{}, unknown: map[string]bool{}, happened: happened,
	}
	devices := 2 + h.r.Intn(3)
	switch h.kinds = 14; {
	case seed%4 == 2 || seed%8 == 7:
		h.kinds = 19 // turns are deleted too
	case seed%4 == 3:
		h.kinds = 16 // sessions are deleted
	}
	if seed%4 == 3 {
		devices = testtier.Size(2, devices) // each session that comes or is kept takes time on each device
	}
	h.all, _ = members(t, devices, h.r.Intn(2) == 0)
	return h
}

// step is something that a device does.
func (h *history) step() {
	i := h.r.Intn(len(h.all))
	m := h.all[i]
	other := h.all[h.r.Intn(len(h.all))]
	if h.seed%3 == 1 && h.values.Intn(3) == 0 {
		m.valueStep(h.values)
	}
	kind := h.r.Intn(h.kinds)
	// The removed one comes back under another name. With copies of one name, of which one has the older key, it may not be
	// mergeable (docs/vault.md).
	if h.mayRemove && h.byHand && h.r.Intn(6) == 0 {
		if m.removesAny(h.r, h.all) {
			h.mayRemove = false
			h.happened["removed"]++
		}
		return
	}
	if h.seed%4 == 2 && kind > 13 { // no sessions
		kind = 16 + kind%3
	}
	switch kind {
	case 0, 1, 2, 3:
		if s := m.anyOf(h.r); s != "" {
			m.step(h.r, s)
		}
	case 4, 5, 6:
		carry(h.T, other.folder, m.folder, h.r)
	case 7:
		if s := other.anyOf(h.r); h.byHand && s != "" && !other.uncertified(s) {
			m.take(other.give(s))
		}
	case 12:
		if h.alone(m) {
			h.restore(i)
		}
	case 13: // bundles of a copy that has no name of its own yet diverge
		if h.r.Intn(4) == 0 && len(h.all) < 6 && h.alone(m) && (h.mayRemove || h.seed%4 != 0) {
			h.all, h.byHand = append(h.all, m.from(m.saved(), false)), false
			h.happened["copied"]++
		}
	case 14:
		if len(m.conversations()) < 2 {
			_, branch := m.session("another")
			m.full(branch.ID, fmt.Sprintf("question by %s %d", m.name, h.r.Intn(1_000_000)), "an answer")
		}
	case 15:
		h.deleteSession(m)
	case 16, 17:
		if s := m.anyOf(h.r); s != "" {
			m.stateWithText(h.r, s)
		}
	case 18:
		if s := m.anyOf(h.r); s != "" && m.deleteAnyTurn(h.r, s) {
			clear(h.unknown) // with the deletion of a turn too, it cannot be told
			h.happened["turn deleted"]++
			h.again = true
		}
	default:
		out := m.exchange()
		h.happened["waited"] += len(out.Problems)
		h.happened["kept"] += len(out.Kept)
		if out.Departed {
			h.happened["departed"]++
		}
	}
}

// alone reports whether no other device has the same name. What three with one name do, or one that is set back beside a copy, may
// not be mergeable (docs/vault.md).
func (h *history) alone(m *member) bool {
	return !slices.ContainsFunc(h.all, func(o *member) bool { return o != m && o.core.Device().ID == m.core.Device().ID })
}

// restore keeps a backup of a device, or sets it back to the one that it has.
func (h *history) restore(i int) {
	if h.seed%4 == 0 { // what only the log of before has would wait until that is removed
		return
	}
	m := h.all[i]
	if h.saved[m.name] == "" || h.r.Intn(2) == 0 {
		h.saved[m.name] = m.saved()
		return
	}
	m.ok(m.Store.Close())
	clear(h.unknown)
	h.all[i] = m.from(h.saved[m.name], true)
	delete(h.saved, m.name)
	h.happened["restored"]++
}

// uncertified reports whether what says so of a deletion in a session has not arrived, so there is no bundle of it.
func (d *device) uncertified(s chat.SessionID) bool {
	d.Helper()
	all, err := d.Uncertified(d.ctx)
	d.ok(err)
	return slices.Contains(all, s)
}

// deleteSession deletes a session that the vault has: others are deleted here only.
func (h *history) deleteSession(m *member) {
	s := m.anyOf(h.r)
	if !m.sent(s) {
		return
	}
	clear(h.unknown)
	names := map[string]bool{} // what two wrote under one name, a deletion cannot tell apart (docs/vault.md)
	for _, other := range h.all {
		maps.Copy(h.unknown, other.texts(s))
		names[other.core.Device().ID] = true
	}
	known := m.texts(s)
	maps.DeleteFunc(h.unknown, func(text string, _ bool) bool { return h.again || known[text] || len(names) < len(h.all) })
	m.erased(s)
	h.happened["deleted"]++
	h.again = true
}

// end exchanges everything, and checks what is the same everywhere, and what is gone.
func (h *history) end() {
	kept, departed := settle(h.T, h.all)
	h.happened["kept"] += kept
	h.happened["departed"] += departed
	h.happened["played"]++
	there := h.all[0].texts(h.all[0].allSessions()...)
	maps.Copy(there, h.all[0].valueTexts())
	if left := left(h.all, there); len(left) > 0 {
		h.Errorf("the vaults have of what is deleted: %q", left)
	}
	for text := range h.unknown {
		if !there[text] {
			h.Errorf("what a deletion did not know is gone: %q", text)
		}
	}
	for _, m := range h.all {
		m.ok(m.Store.Close())
	}
}
