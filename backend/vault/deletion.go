package vault

import (
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
		if x.state.Restored || !covers(s.Knew, have) {
			kept, err := x.Store.Aside(x.ctx, s.Session)
			if err != nil {
				return err
			}
			x.report.Kept = append(x.report.Kept, kept)
		}
		receipt, err := x.Delete(x.ctx, s.Session)
		if err != nil && receipt.ID == "" {
			return err
		}
		x.report.Deleted = append(x.report.Deleted, s.Session)
		if x.Changed != nil {
			x.Changed([]chat.SessionID{s.Session})
		}
	}
	return x.putGone(bundle.Gone{Session: s.Session, Knew: s.Knew, Answered: []string{device}})
}

// putGone remembers more of a deletion, if it is more.
func (x *exchange) putGone(more bundle.Gone) error {
	all, err := x.Store.Gone(x.ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(g bundle.Gone) bool { return g.Session == more.Session })
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
		gone[g.Session] = g
		for _, name := range g.Files {
			files[name] = g.Sent || files[name]
		}
	}
	for _, name := range x.stale {
		if err := x.box.place.Delete(x.ctx, name); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		device, number, _, _ := numberOf(name)
		o, here := x.logs[device][number]
		if own := device == x.own && number > x.last(device); !files[name] || !here && !own {
			continue
		}
		if !here { // it was written just now
			o.Name = name
		}
		if err := x.rewrite(name, o.Name, gone); err != nil {
			return err
		}
	}
	return nil
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
	changed := false
	for i := range f.segments {
		s := &f.segments[i]
		if _, deleted := gone[s.Session]; !deleted {
			continue
		}
		for j := range s.Parcels {
			p := &s.Parcels[j]
			changed = changed || p.Event.Payload != nil || len(p.Contents) > 0
			p.Event.Payload, p.Contents = nil, nil
		}
	}
	if changed {
		for session, names := range contents { // so that they are known if the rest does not happen
			if err := x.Store.PutGone(x.ctx, bundle.Gone{Session: session, Contents: names}); err != nil {
				return err
			}
		}
		next := rewritten(device, number, again+1)
		if _, err := x.box.write(x.ctx, next, f); err != nil && !errors.Is(err, ErrExists) {
			return err
		}
		if err := x.box.place.Delete(x.ctx, current); err != nil {
			return err
		}
		if x.logs[device] != nil {
			x.logs[device][number] = Object{Name: next}
		}
	}
	all, err := x.Store.Gone(x.ctx)
	if err != nil {
		return err
	}
	for _, g := range all {
		if !slices.Contains(g.Files, name) {
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
