package vault

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"slices"

	"contextinfinity/backend/chat"
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
		if err := x.Store.Deletable(x.ctx, s.Session); err != nil { // before a copy is made
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
	i := slices.IndexFunc(all, func(g bundle.Gone) bool { return g.Session == more.Session })
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
	files := map[string]bool{}
	for _, g := range all {
		if !g.Sent { // the others are told first
			continue
		}
		gone[g.Session] = g
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
		if err := x.rewrite(name, o.Name, gone); err != nil {
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
	before, err := x.box.read(x.ctx, name, apart)
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
	return device != x.own && slices.ContainsFunc(f.segments, func(s bundle.Segment) bool {
		g, deleted := gone[s.Session]
		return deleted && !slices.Contains(g.Answered, device) && slices.ContainsFunc(s.Parcels, func(p bundle.Parcel) bool {
			return p.Event.Number() > g.Knew[p.Event.Lane]
		})
	})
}

// rewrite writes a file again without the content of deleted sessions.
func (x *exchange) rewrite(name, current string, gone map[chat.SessionID]bundle.Gone) error {
	contents := map[chat.SessionID][]string{}
	f, err := x.box.read(x.ctx, current, func(session chat.SessionID, name string) bool {
		if _, deleted := gone[session]; deleted {
			contents[session] = append(contents[session], name)
			return true
		}
		return false
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
	if strip(f, gone) {
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
		if strip(now, gone) { // another device wrote it, which knew of fewer deletions
			return x.rewrite(name, next, gone)
		}
	}
	all, err := x.Store.Gone(x.ctx)
	if err != nil {
		return err
	}
	for _, g := range all {
		if _, sent := gone[g.Session]; !sent || !slices.Contains(g.Files, name) {
			continue
		}
		for _, content := range g.Contents {
			if err := x.box.place.Delete(x.ctx, content); err != nil {
				return err
			}
		}
		if err := x.Store.Erased(x.ctx, g.Session, name); err != nil {
			return err
		}
	}
	return nil
}

// Deletion is a permanent deletion that the vault and its devices have not carried out completely.
type Deletion struct {
	Session chat.SessionID `json:"session_id"`
	Waiting []string       `json:"waiting"` // the names of devices that have not answered
	Files   int            `json:"files"`   // of the vault, that still contain it
}

// deletions lists what is not carried out completely.
func (x *exchange) deletions() ([]Deletion, error) {
	all, err := x.Store.Gone(x.ctx)
	var out []Deletion
	for _, g := range all {
		d := Deletion{Session: g.Session, Waiting: []string{}, Files: len(g.Files)}
		for device := range x.logs {
			if device == x.own && !g.Sent || device != x.own && !slices.Contains(g.Answered, device) {
				d.Waiting = append(d.Waiting, x.nameOf(device))
			}
		}
		slices.Sort(d.Waiting)
		if d.Files > 0 || len(d.Waiting) > 0 {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b Deletion) int { return cmp.Compare(a.Session, b.Session) })
	return out, err
}
