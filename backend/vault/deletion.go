package vault

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/transfer/bundle"
)

// A permanent deletion of a session that the vault has is sent in the log of the device that did it. Each device that reads it
// deletes the session by its own code, with a receipt of its own, and says so in its own log. Then the files with the
// session are written again without its content, by whichever device comes first: under a new name, because nothing in a
// vault is changed. The new file fits into its log, because the sums of files depend on no content.

// delete carries out a deletion of another device.
func (x *exchange) delete(device string, s bundle.Segment) error {
	have, err := x.Store.Lanes(x.ctx, s.Session)
	if err != nil {
		return err
	}
	if len(have) > 0 {
		if err := x.Deletable(x.ctx, s.Session); err != nil { // before a copy is made
			return err
		}
		known, err := x.knewHere(s, have)
		if err != nil {
			return err
		}
		var kept []chat.SessionID
		if !known {
			id, err := x.Store.Aside(x.ctx, s.Session)
			if err != nil {
				return err
			}
			kept = append(kept, id)
		}
		receipt, err := x.Delete(x.ctx, s.Session, have)
		if err != nil && receipt.ID == "" {
			return err
		}
		x.report.Kept = append(x.report.Kept, kept...)
		x.report.Deleted = append(x.report.Deleted, s.Session)
		if x.Changed != nil {
			x.Changed([]chat.SessionID{s.Session})
		}
	}
	return x.putGone(bundle.Gone{Session: s.Session, Knew: s.Knew, At: s.At, Answered: []string{device}})
}

// knewHere reports whether who deleted a session knew all that is here of it, and that it is here: no restore, copy of
// the data or bundle put it here after the deletion. What was put here since the last exchange counts as later, because
// clocks differ.
func (x *exchange) knewHere(s bundle.Segment, have map[string]int64) (bool, error) {
	came, err := x.Store.ByHand(x.ctx, s.Session)
	came = max(came, x.state.Came)
	return covers(s.Knew, have) && came <= s.At && came <= x.state.Exchanged, err
}

// putGone remembers more of a deletion, if it is more. What was deleted only here stays so.
func (x *exchange) putGone(more bundle.Gone) error {
	all, err := x.Store.Gone(x.ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(g bundle.Gone) bool { return g.Session == more.Session && g.Of == more.Of })
	if i < 0 && len(more.Answered) == 0 {
		return nil
	}
	if i < 0 {
		x.learned++
	}
	if i >= 0 && within(more.Files, all[i].Files) && within(more.Answered, all[i].Answered) && within(more.Contents, all[i].Contents) {
		return nil
	}
	return x.Store.PutGone(x.ctx, more)
}

func within(some, all []string) bool {
	return !slices.ContainsFunc(some, func(name string) bool { return !slices.Contains(all, name) })
}

// erase writes the files with deleted sessions again, without what these contained. It may end at any point: a file that was
// written again counts, and what is left is remembered.
func (x *exchange) erase() error {
	all, err := x.Store.Gone(x.ctx)
	if err != nil {
		return err
	}
	gone := map[chat.SessionID]bundle.Gone{}
	var parts []bundle.Gone
	files := map[string]bool{}
	for _, g := range all {
		if !g.Sent { // the others are told first
			continue
		}
		if g.Of == "" {
			gone[g.Session] = g
		} else if len(g.Files) > 0 {
			parts = append(parts, g)
		}
		for _, name := range g.Files {
			files[name] = true
		}
	}
	for _, name := range x.stale {
		if err := x.discard(name); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		device, number, _, _ := numberOf(name)
		o, here := x.logs[device][number]
		if !here {
			continue
		}
		if err := x.rewrite(name, o.Name, gone, parts); err != nil {
			return err
		}
	}
	return nil
}

// apart is true: no contents that are objects of their own are read.
func apart(chat.SessionID, string) bool { return true }

// discard deletes a file that was written again, if the one that counts can be read and is the same file.
func (x *exchange) discard(name string) error {
	device, number, _, _ := numberOf(name)
	b := x.box
	b.late = device // it may have been sealed again
	before, err := b.read(x.ctx, name, apart)
	if err == nil {
		var now file
		now, err = x.box.read(x.ctx, x.logs[device][number].Name, apart)
		if err == nil && bytes.Equal(now.sum(), before.sum()) {
			return x.box.place.Delete(x.ctx, name)
		}
	}
	if _, whole := errors.AsType[placeFault](err); whole {
		return err
	}
	return x.ctx.Err()
}

// strip removes the content of deleted sessions from a file.
func strip(f file, gone map[chat.SessionID]bundle.Gone) (changed bool) {
	for _, s := range f.segments {
		if _, deleted := gone[s.Session]; !deleted {
			continue
		}
		for i := range s.Parcels {
			p := &s.Parcels[i]
			changed = changed || p.Event.Payload != nil || len(p.Contents) > 0
			p.Event.Payload, p.Contents = nil, nil
		}
	}
	return changed
}

// unanswered reports whether a file has what a deletion did not know, and its device has not said yet that it kept it.
func (x *exchange) unanswered(device string, f file, gone map[chat.SessionID]bundle.Gone) bool {
	return device != x.own && !x.removed(device) && slices.ContainsFunc(f.segments, func(s bundle.Segment) bool {
		g, deleted := gone[s.Session]
		return deleted && !slices.Contains(g.Answered, device) && slices.ContainsFunc(s.Parcels, func(p bundle.Parcel) bool {
			return p.Event.Number() > g.Knew[p.Event.Lane]
		})
	})
}

// rewrite writes a file again without what was deleted.
func (x *exchange) rewrite(name, current string, gone map[chat.SessionID]bundle.Gone, parts []bundle.Gone) error {
	contents := map[chat.SessionID][]string{}
	f, err := x.box.read(x.ctx, current, func(session chat.SessionID, name string) bool {
		if _, deleted := gone[session]; deleted {
			contents[session] = append(contents[session], name)
		}
		return true // no contents that are objects of their own are read
	})
	device, number, again, _ := numberOf(current)
	if err != nil {
		if !x.named(device, number, max(number, x.last(device)), err) {
			return err
		}
		return nil
	}
	if x.unanswered(device, f, gone) {
		return nil
	}
	open := map[chat.SessionID]bool{}
	replaced, err := x.replace(name, f, parts, open)
	if err != nil {
		return err
	}
	if strip(f, gone) || replaced {
		for session, names := range contents { // so that they are known if the rest does not happen
			if err := x.Store.PutGone(x.ctx, bundle.Gone{Session: session, Contents: names}); err != nil {
				return err
			}
		}
		next := rewritten(device, number, again+1)
		if _, err := x.box.write(x.ctx, next, f); err != nil && !errors.Is(err, ErrExists) {
			return err
		}
		now, err := x.box.read(x.ctx, next, apart)
		if err == nil && !bytes.Equal(now.sum(), f.sum()) {
			err = errExchanged
		}
		if err != nil {
			if !x.named(device, number, max(number, x.last(device)), err) {
				return err
			}
			return nil
		}
		if err := x.box.place.Delete(x.ctx, current); err != nil {
			return err
		}
		x.logs[device][number] = Object{Name: next}
		clear(open)
		replaced, err := x.replace(name, now, parts, open)
		if err != nil {
			return err
		}
		if strip(now, gone) || replaced { // another device wrote it, which knew of fewer deletions
			return x.rewrite(name, next, gone, parts)
		}
	}
	return x.finish(name, open)
}

// finish removes the contents that only a file named whose deletions are carried out, and records that nothing is left in it. open
// are the sessions of which it may have more that is to be replaced.
func (x *exchange) finish(name string, open map[chat.SessionID]bool) error {
	all, err := x.Store.Gone(x.ctx)
	if err != nil {
		return err
	}
	for _, g := range all {
		if !g.Sent || !slices.Contains(g.Files, name) || g.Of != "" && open[g.Session] {
			continue
		}
		if len(g.Contents) > 0 && g.Of != "" && len(x.unansweredBy(g)) > 0 { // one of these may send a turn that names them too
			continue
		}
		contents, err := x.unnamed(g)
		if err != nil {
			return err
		}
		for _, content := range contents {
			if err := x.box.place.Delete(x.ctx, content); err != nil {
				return err
			}
		}
		if err := x.Store.Erased(x.ctx, g.Session, g.Of, name); err != nil {
			return err
		}
	}
	return nil
}

// unnamed returns the contents that only one file with what was deleted names.
func (x *exchange) unnamed(g bundle.Gone) ([]string, error) {
	if g.Of == "" || len(g.Contents) == 0 {
		return g.Contents, nil
	}
	if len(g.Files) > 1 { // the other files may name them
		return nil, nil
	}
	hashes, err := x.Store.Contents(x.ctx, g.Session)
	return slices.DeleteFunc(g.Contents, func(name string) bool {
		return slices.ContainsFunc(hashes, func(hash string) bool { return x.box.contentName(g.Session, hash) == name })
	}), err
}

// deletes reports whether an event records a permanent deletion.
func deletes(p bundle.Parcel) bool { return p.Event.Type == ledger.EventContentDeleted }

// deleteBefore deletes the turns that were deleted elsewhere, according to what is here of a session and to events that will be merged
// into it. So the event of such a deletion is taken only when it was carried out here, and what cannot be deleted now waits with what
// follows.
func (x *exchange) deleteBefore(session chat.SessionID, coming []bundle.Parcel) error {
	turns, err := x.Undeleted(x.ctx, session, coming)
	for _, turn := range turns {
		if err == nil {
			err = x.deleteTurn(session, turn, coming)
		}
	}
	return err
}

func (x *exchange) deleteTurn(session chat.SessionID, turn chat.TurnID, coming []bundle.Parcel) error {
	receipt, err := x.DeleteTurn(x.ctx, session, turn, coming)
	if receipt.ID != "" { // the rest is done at the next start
		x.report.DeletedTurns++
		err = nil
	}
	return err
}

// replace puts what permanent deletions left in place of events into a file, by its first name, and notes the contents that
// these do not name any more. open are the sessions of which the file may have more that is to be replaced.
func (x *exchange) replace(name string, f file, parts []bundle.Gone, open map[chat.SessionID]bool) (changed bool, err error) {
	for _, s := range f.segments {
		i := slices.IndexFunc(parts, func(g bundle.Gone) bool { return g.Session == s.Session && slices.Contains(g.Files, name) })
		if i < 0 || len(s.Parcels) == 0 {
			continue
		}
		now, unknown, err := x.Store.Replacements(x.ctx, s.Session, s.Parcels)
		if err != nil {
			return changed, err
		}
		open[s.Session] = open[s.Session] || unknown
		var left []string
		for i, p := range s.Parcels {
			r, ok := now[p.Event.Spot()]
			if !ok {
				continue
			}
			s.Parcels[i], changed = r, true
			for _, c := range p.Contents {
				if c.Left != "" {
					left = append(left, x.box.contentName(s.Session, c.Left))
				}
			}
		}
		if len(left) > 0 { // so that they are known if the rest does not happen
			if err := x.Store.PutGone(x.ctx, bundle.Gone{Session: s.Session, Of: parts[i].Of, Contents: left}); err != nil {
				return changed, err
			}
		}
	}
	return changed, nil
}

// Deletion is a permanent deletion that the vault and its devices have not carried out completely.
type Deletion struct {
	Session chat.SessionID `json:"session_id"`
	Of      string         `json:"of,omitempty"` // what was deleted in it, such as the content of a turn; empty: the session
	Waiting []string       `json:"waiting"`      // the names of devices that have not answered
	Files   int            `json:"files"`        // of the vault, that still contain it
}

// unansweredBy lists the devices that have not said that they carried out a deletion.
func (x *exchange) unansweredBy(g bundle.Gone) (devices []string) {
	for device := range x.logs {
		if device == x.own && !g.Sent || device != x.own && !x.removed(device) && !slices.Contains(g.Answered, device) {
			devices = append(devices, device)
		}
	}
	return devices
}

// deletions lists what is not carried out completely.
func (x *exchange) deletions() ([]Deletion, error) {
	all, err := x.Store.Gone(x.ctx)
	var out []Deletion
	for _, g := range all {
		d := Deletion{Session: g.Session, Of: g.Of, Waiting: []string{}, Files: len(g.Files)}
		for _, device := range x.unansweredBy(g) {
			d.Waiting = append(d.Waiting, x.nameOf(device))
		}
		slices.Sort(d.Waiting)
		if d.Files > 0 || len(d.Waiting) > 0 {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b Deletion) int { return cmp.Or(cmp.Compare(a.Session, b.Session), cmp.Compare(a.Of, b.Of)) })
	return out, err
}
