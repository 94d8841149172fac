package vault

import (
	"bytes"
	"errors"
	"maps"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/transfer/bundle"
)

// fileSize is the size of a file of a log, in bytes before compression, from which on the next one is begun.
const fileSize = 4 << 20

// send writes what the vault lacks to the log of this device.
func (x *exchange) send() error {
	ready, err := x.resume()
	if err != nil || !ready {
		return err
	}
	for {
		unsent, err := x.Store.Unsent(x.ctx, fileSize)
		if err != nil {
			return err
		}
		if x.report.Running = unsent.Running; !unsent.More {
			x.unreadable(unsent.Faults)
		}
		segments := slices.DeleteFunc(slices.Clone(unsent.Segments), func(s bundle.Segment) bool { return len(s.Parcels) == 0 && !s.Deleted && s.Of == "" })
		if segments, err = x.announce(segments); err != nil {
			return err
		}
		if len(segments) > 0 {
			if err := x.write(segments); err != nil {
				return err
			}
		}
		for i, s := range unsent.Segments {
			if len(s.Parcels) > 0 {
				unsent.Segments[i].In = logName(x.own, x.at(x.own).Number)
			}
		}
		if len(unsent.Segments) > 0 {
			if err := x.put(x.ctx, x.state, unsent.Segments); err != nil {
				return err
			}
		}
		if !unsent.More {
			return nil
		}
	}
}

// announce notes which sessions the next file will contain, so that one that is deleted while the file is written is
// deleted in the vault too. It returns the segments without those of sessions that were deleted before.
func (x *exchange) announce(segments []bundle.Segment) ([]bundle.Segment, error) {
	var begun []bundle.Segment
	for _, s := range segments {
		if len(s.Parcels) > 0 {
			begun = append(begun, bundle.Segment{Session: s.Session, In: logName(x.own, x.at(x.own).Number+1)})
		}
	}
	if len(begun) == 0 {
		return segments, nil
	}
	err := x.put(x.ctx, x.state, begun)
	segments = slices.DeleteFunc(segments, func(s bundle.Segment) bool {
		deleted, err2 := x.Store.DeletedHere(x.ctx, s.Session)
		err = errors.Join(err, err2)
		return deleted && !s.Deleted
	})
	return segments, err
}

// unreadable reports sessions that cannot be read.
func (x *exchange) unreadable(faults map[chat.SessionID]error) {
	for _, session := range slices.Sorted(maps.Keys(faults)) {
		err := faults[session]
		x.problem(chat.WrapError(chat.CodeCorrupt, opSync, err, "Session %s is damaged here, so it was not sent: %v", session, err).
			WithHint("contextinfinity verify says what is damaged"))
	}
}

// write adds a file to the log of this device.
func (x *exchange) write(segments []bundle.Segment) error {
	id, _ := x.Store.ThisDevice()
	at := x.at(x.own)
	f := file{segments: segments, inline: map[chat.SessionID]bool{}, fileHead: fileHead{
		Device: id, Number: at.Number + 1, Before: at.Sum, Written: chat.FormatTime(x.Now()),
	}}
	gone, err := x.Store.Gone(x.ctx)
	if err != nil {
		return err
	}
	for _, g := range gone { // a content that was deleted may be there still, and another device about to remove it
		f.inline[g.Session] = g.Of != ""
	}
	size, err := x.box.write(x.ctx, logName(x.own, f.Number), f)
	if errors.Is(err, ErrExists) {
		return errCopied
	}
	if err != nil {
		return err
	}
	x.state.Logs[x.own] = position{f.Number, f.sum()}
	x.logs[x.own][f.Number] = Object{logName(x.own, f.Number), int64(size), x.Now()}
	x.report.SentFiles++
	x.report.SentBytes += size
	for _, s := range segments {
		x.report.SentEvents += len(s.Parcels)
	}
	return nil
}

// errCopied means that other data writes the log of this device.
var errCopied = errors.New("other data writes under the same name")

// depart makes this data another device, once it is known what of its own part the vault has: all logs are read again.
func (x *exchange) depart() error {
	x.state.Logs, x.state.Waiting = map[string]position{}, map[string][]waiting{}
	x.state.Came, x.state.Exchanged, x.state.Met = chat.FormatTime(x.Now()), "", false
	text, err := chat.MarshalJSON(x.state)
	if err == nil {
		err = x.Store.NewVault(x.ctx, text)
	}
	if err != nil {
		return err
	}
	for _, device := range slices.Sorted(maps.Keys(x.logs)) {
		for at, last := x.at(device), x.last(device); at.Number < last; {
			f, err := x.follow(device, at, apart)
			if errors.Is(err, errOlder) { // it does not count, so it is sent again
				break
			}
			if err != nil {
				x.report.Problems = nil
				if !x.named(device, at.Number+1, last, err) {
					return err
				}
				if len(x.report.Problems) > 0 {
					return nil
				}
				break
			}
			if _, err := x.take(f); err != nil {
				return err
			}
			at = position{f.Number, f.sum()}
		}
	}
	departed, held, err := x.Store.Depart(x.ctx, text)
	if err != nil {
		return err
	}
	if x.report.Departed = departed; !departed && !x.removed(x.own) {
		x.held = append(x.held, chat.Errorf(chat.CodeConflict, opSync, "A copy of this data writes to the vault under the same name. Nothing was sent from here, because an answer is being written; afterwards this data gets a name of its own.").
			WithHint("synchronize again when it is complete"))
	}
	for _, session := range held {
		x.held = append(x.held, chat.Errorf(chat.CodeConflict, opSync, "Session %s: what was written here last changes a turn that a copy of this data has too, so it stays on this computer.", session).
			WithHint("export it here and import it on another computer: it becomes a copy"))
	}
	return nil
}

// take remembers what a file has of the events here. foreign: it has others too.
func (x *exchange) take(f file) (foreign bool, err error) {
	var known []bundle.Segment
	in := logName(x.box.deviceName(f.Device), f.Number)
	for _, s := range f.segments {
		if len(s.Parcels) == 0 {
			known, err := x.deletedHere(s)
			if err != nil {
				return false, err
			}
			foreign = foreign || !known
			continue
		}
		parcels, all, err := x.Store.Existing(x.ctx, s.Session, s.Parcels)
		if err != nil {
			return false, err
		}
		if deleted, err := x.Store.DeletedHere(x.ctx, s.Session); err != nil {
			return false, err
		} else if deleted {
			if err := x.putGone(bundle.Gone{Session: s.Session, Files: []string{in}}); err != nil {
				return false, err
			}
			continue
		}
		foreign = foreign || !all
		if len(parcels) > 0 {
			known = append(known, bundle.Segment{Session: s.Session, Parcels: parcels, In: in})
		}
	}
	return foreign, x.put(x.ctx, x.state, known)
}

// deletedHere reports whether what a segment deletes was deleted here.
func (x *exchange) deletedHere(s bundle.Segment) (bool, error) {
	if s.Deleted {
		return x.Store.DeletedHere(x.ctx, s.Session)
	}
	all, err := x.Store.Gone(x.ctx)
	return slices.ContainsFunc(all, func(g bundle.Gone) bool { return g.Session == s.Session && g.Of == s.Of }), err
}

// resume takes up a log whose last files were written by an exchange that was interrupted before it could remember them.
// ready: it is complete up to its end. errCopied: other data writes it too. What its files name is here, and may be gone there.
func (x *exchange) resume() (ready bool, err error) {
	at := x.at(x.own)
	for n := int64(1); n <= at.Number; n++ {
		if _, ok := x.logs[x.own][n]; !ok {
			x.problem(chat.Errorf(chat.CodeNotFound, opSync, "File %d of %d that this device wrote is missing in the vault: it was emptied or set back. Nothing was deleted here, and nothing more is sent.",
				n, at.Number).WithHint("restore the folder, or choose an empty one (Settings, Several computers, or contextinfinity sync --vault ADDRESS): everything is sent there"))
			return false, nil
		}
	}
	// Of two copies of the data, the folder may keep the file of the other. Another place keeps the first one.
	unsent, err := x.Store.Unsent(x.ctx, 0)
	if err != nil {
		return false, err
	}
	if folder := !(Target{Address: x.state.Address}).Remote(); at.Number > 0 && (folder || unsent.More) {
		f, err := x.read(x.own, at.Number, apart)
		switch {
		case errors.Is(err, errOlder), err == nil && !bytes.Equal(f.sum(), at.Sum):
			return false, errCopied
		case err != nil && !x.named(x.own, at.Number, at.Number, err):
			return false, err
		case err != nil:
			return false, nil
		}
	}
	x.box.late = x.own // written before this device knew of the new key
	defer func() { x.box.late = "" }()
	for last := x.last(x.own); at.Number < last; at = x.at(x.own) {
		f, err := x.follow(x.own, at, apart)
		if err != nil {
			if !x.named(x.own, at.Number+1, last, err) {
				return false, err
			}
			return false, nil
		}
		foreign, err := x.take(f)
		if err == nil && foreign {
			err = errCopied
		}
		if err == nil {
			err = x.reseal(x.own, f)
		}
		if err != nil {
			return false, err
		}
		x.state.Logs[x.own] = position{f.Number, f.sum()}
		if err := x.put(x.ctx, x.state, nil); err != nil {
			return false, err
		}
	}
	return true, nil
}
