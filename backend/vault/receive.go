package vault

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/transfer/bundle"
)

// batchSize is how much of a log is read before it is merged, in bytes.
const batchSize = 16 << 20

// receiveAll reads all logs, until none brings anything: one may wait for what another brings.
func (x *exchange) receiveAll() error {
	deleted := 0
	for {
		before := x.report.ReceivedEvents + len(x.report.Deleted) + x.learned
		x.report.Problems, x.report.DeletedHere = nil, 0
		for _, device := range x.others() {
			if err := x.receive(device); err != nil {
				return err
			}
		}
		deleted = max(deleted, x.report.DeletedHere)
		if x.report.ReceivedEvents+len(x.report.Deleted)+x.learned == before {
			x.report.DeletedHere = deleted
			return nil
		}
	}
}

// receive reads what is new in a log, and again the files with parts that wait, if they may fit now.
func (x *exchange) receive(device string) error {
	at, last := x.at(device), x.last(device)
	if last < at.Number {
		x.problem(chat.Errorf(chat.CodeCorrupt, opSync, "%s: the vault has %d files of this device, and had %d: it was emptied or set back. Nothing was deleted here; what this device writes waits.",
			x.nameOf(device), last, at.Number).WithHint("wait until the folder is synchronized completely, or restore it"))
		return nil
	}
	again, stop, err := x.waitingFiles(device, last)
	if err != nil {
		return err
	}
	for next := at; !stop && (len(again) > 0 || next.Number < last); again = nil {
		batch := again
		for size := 0; size < batchSize && next.Number < last; {
			f, err := x.follow(device, next, x.leave())
			if err == nil && f.late && f.deletes() {
				err = errDeletes
			}
			if err != nil {
				if stop = x.named(device, next.Number+1, last, err); !stop {
					return err
				}
				break
			}
			batch = append(batch, f)
			size += f.size
			next = position{f.Number, f.sum()}
		}
		if err := x.put(x.ctx, x.state, x.existing(batch)); err != nil {
			return err
		}
		trials, err := x.apply(device, batch)
		if err != nil {
			return err
		}
		x.report.ReceivedFiles += x.passed(device, next, batch, trials)
		if err := x.put(x.ctx, x.state, nil); err != nil {
			return err
		}
		x.progress(len(batch))
		x.arrived()
	}
	parts := 0
	for _, w := range x.state.Waiting[device] {
		parts += w.Parts
	}
	if parts > 0 {
		x.problem(chat.Errorf(chat.CodeConflict, opSync, "%s: %d parts of sessions wait for others that are not here yet. Everything else of this device was taken.", x.nameOf(device), parts).
			WithHint("wait until the folder is synchronized completely, or synchronize the other devices"))
	}
	return nil
}

// trial is the last attempt to apply a file with parts that wait.
type trial struct {
	parts    int    // that wait
	object   string // the file, which may be written again
	at       time.Time
	with     map[chat.SessionID]string // what was here of their sessions; empty: it depends on something else too
	problems []error                   // are repeated until the next attempt
}

// tryEvery is how often a file that waits is tried although nothing is known that has changed.
const tryEvery = time.Hour

// TryAll makes the next exchange read all files that wait.
func (v *Vault) TryAll() { v.tried.Clear() }

// here describes what is here of a session, as far as parts of it may wait for that.
func (x *exchange) here(session chat.SessionID) (string, error) {
	lanes, err := x.Store.Lanes(x.ctx, session)
	deleted, err2 := x.Store.DeletedHere(x.ctx, session)
	return fmt.Sprint(lanes, deleted), errors.Join(err, err2)
}

// due reports whether a file that waits may fit now: it was written again, or what is here of its sessions has changed since the
// last attempt. What that attempt reported still holds otherwise.
func (x *exchange) due(device string, number int64) (bool, error) {
	last, known := x.tried.Load(logName(device, number))
	if !known {
		return true, nil
	}
	t := last.(trial)
	if x.Now().Sub(t.at).Abs() >= tryEvery || t.object != x.logs[device][number].Name {
		return true, nil
	}
	for session, before := range t.with {
		if now, err := x.here(session); err != nil || now != before {
			return true, err
		}
	}
	x.report.Problems = append(x.report.Problems, t.problems...)
	return false, nil
}

// waitingFiles reads the files of a log that have parts that wait and may fit now; stop: one cannot be read, which was reported.
func (x *exchange) waitingFiles(device string, last int64) (files []file, stop bool, err error) {
	for _, w := range x.state.Waiting[device] {
		if due, err := x.due(device, w.Number); err != nil {
			return nil, true, err
		} else if !due {
			continue
		}
		f, err := x.read(device, w.Number, x.leave())
		if err == nil && !bytes.Equal(f.sum(), w.Sum) {
			err = errExchanged
		}
		if err != nil && !x.named(device, w.Number, last, err) {
			return nil, true, err
		}
		if err != nil {
			return nil, true, nil
		}
		files = append(files, f)
	}
	return files, false, nil
}

// passed notes how far a log was read, and which of its files have parts that wait. complete counts those that have none.
func (x *exchange) passed(device string, at position, batch []file, trials []trial) (complete int) {
	x.state.Logs[device] = at
	list := slices.DeleteFunc(x.state.Waiting[device], func(w waiting) bool {
		return slices.ContainsFunc(batch, func(f file) bool { return f.Number == w.Number })
	})
	for i, f := range batch {
		name := logName(device, f.Number)
		if trials[i].parts == 0 {
			x.tried.Delete(name)
			complete++
		} else {
			x.tried.Store(name, trials[i])
			list = append(list, waiting{position{f.Number, f.sum()}, trials[i].parts})
		}
	}
	// A part may need one in an earlier file of its log.
	slices.SortFunc(list, func(a, b waiting) int { return cmp.Compare(a.Number, b.Number) })
	if x.state.Waiting[device] = list; len(list) == 0 {
		delete(x.state.Waiting, device)
	}
	return complete
}

// existing returns the segments of files, without those of sessions that were deleted here.
func (x *exchange) existing(batch []file) []bundle.Segment {
	var out []bundle.Segment
	for _, f := range batch {
		for _, s := range f.segments {
			if deleted, err := x.Store.DeletedHere(x.ctx, s.Session); err == nil && !deleted && len(s.Parcels) > 0 {
				s.In = logName(x.box.deviceName(f.Device), f.Number)
				out = append(out, s)
			}
		}
	}
	return out
}

// part is what a file of a batch has of a session.
type part struct {
	file int
	bundle.Segment
}

// apply merges the segments of some files, session by session. trials say for each file what is not here afterwards.
func (x *exchange) apply(device string, batch []file) (trials []trial, err error) {
	parts := map[chat.SessionID][]part{}
	var order []chat.SessionID
	for i, f := range batch {
		trials = append(trials, trial{object: x.logs[device][f.Number].Name, at: x.Now(), with: map[chat.SessionID]string{}})
		for _, s := range f.segments {
			if parts[s.Session] == nil {
				order = append(order, s.Session)
			}
			parts[s.Session] = append(parts[s.Session], part{i, s})
		}
	}
	for _, session := range order {
		if err := x.applySession(device, session, batch, parts[session], trials); err != nil {
			return nil, err
		}
	}
	return trials, nil
}

// applySession carries out a session's deletion, or merges its parts as far as what they follow is here.
func (x *exchange) applySession(device string, session chat.SessionID, batch []file, parts []part, trials []trial) error {
	here, err := x.here(session) // before the attempt: what changes meanwhile is a reason for another one
	if err != nil {
		return err
	}
	for _, p := range parts {
		if p.Of != "" {
			if err := x.putGone(bundle.Gone{Session: session, Of: p.Of, At: p.At, Answered: []string{device}}); err != nil {
				return err
			}
		}
	}
	if slices.ContainsFunc(parts, func(p part) bool { return p.Of != "" }) { // the event may be here, from a bundle or another log
		if err := x.deleteBefore(session, nil); err != nil {
			if !x.ofSession(device, session, err) {
				return err
			}
			for _, p := range parts {
				trials[p.file].parts++
				trials[p.file].with[session] = ""
			}
			return nil
		}
	}
	parts = slices.DeleteFunc(parts, func(p part) bool { return p.Of != "" })
	if len(parts) == 0 {
		return nil
	}
	if i := slices.IndexFunc(parts, func(p part) bool { return p.Deleted }); i >= 0 {
		if err := x.delete(device, parts[i].Segment); err != nil { // perhaps an answer of another session is being written
			if !x.ofSession(device, session, err) {
				return err
			}
			t := &trials[parts[i].file]
			t.parts++
			t.with[session] = ""
			return nil
		}
	}
	deleted, err := x.Store.DeletedHere(x.ctx, session)
	if err != nil {
		return err
	}
	if deleted {
		return x.leaveOut(device, session, batch, parts)
	}
	have, err := x.Store.Lanes(x.ctx, session)
	if err != nil {
		return err
	}
	fits, err := x.mergeParts(device, session, parts, have)
	if err != nil {
		if !x.ofSession(device, session, err) {
			return err
		}
		t := &trials[parts[0].file]
		t.problems = append(t.problems, x.report.Problems[len(x.report.Problems)-1])
		if slices.ContainsFunc(parts, func(p part) bool { return slices.ContainsFunc(p.Parcels, deletes) }) { // perhaps an answer is being written
			here = ""
		}
	}
	for _, p := range parts[fits:] {
		trials[p.file].parts++
		trials[p.file].with[session] = here
	}
	return nil
}

// leaveOut notes which files have parts of a session that was deleted here.
func (x *exchange) leaveOut(device string, session chat.SessionID, batch []file, parts []part) error {
	gone := bundle.Gone{Session: session}
	for _, p := range parts {
		if len(p.Parcels) > 0 {
			gone.Files = append(gone.Files, logName(device, batch[p.file].Number))
			x.report.DeletedHere++
		}
	}
	return x.putGone(gone)
}

// mergeParts merges the first parts that follow what is here (have), and returns their number; 0 after an error.
func (x *exchange) mergeParts(device string, session chat.SessionID, parts []part, have map[string]int64) (fits int, err error) {
	var parcels []bundle.Parcel
	events := 0
	for _, p := range parts {
		if !covers(have, p.Knew) {
			break
		}
		fits++
		if slices.ContainsFunc(p.Parcels, deletes) {
			if err := x.merge(device, session, parcels, events); err != nil {
				return 0, err
			}
			parcels, events = nil, 0
			if err := x.deleteBefore(session, p.Parcels); err != nil {
				return 0, err
			}
		}
		for _, parcel := range p.Parcels {
			if e := parcel.Event; e.Number() > have[e.Lane] {
				have[e.Lane] = e.Number()
				events++
			}
		}
		for _, parcel := range p.Parcels {
			if deletes(parcel) { // these served the deletion
				parcel.Contents = nil
			}
			parcels = append(parcels, parcel)
		}
	}
	if err := x.merge(device, session, parcels, events); err != nil {
		return 0, err
	}
	return fits, nil
}

// merge adds events to a session, and counts them.
func (x *exchange) merge(device string, session chat.SessionID, parcels []bundle.Parcel, events int) error {
	if len(parcels) == 0 {
		return nil
	}
	out, err := x.Store.Receive(x.ctx, session, parcels)
	if err == nil && events > 0 {
		x.report.ReceivedEvents += events
		x.report.ReceivedTurns += out.Turns
		x.report.Sessions = append(x.report.Sessions, session)
		x.progress(0)
	}
	return err
}

// arrived passes on which sessions got events since the last call.
func (x *exchange) arrived() {
	if came := x.report.Sessions[x.reported:]; len(came) > 0 && x.Changed != nil {
		x.Changed(slices.Clone(came))
	}
	x.reported = len(x.report.Sessions)
}

// ofPart reports whether an error concerns some data only, so that all other data is exchanged.
func ofPart(err error) bool {
	return slices.Contains([]chat.Code{chat.CodeCorrupt, chat.CodeInvalid, chat.CodeConflict, chat.CodeNotFound, chat.CodeNewer}, chat.CodeOf(err))
}

// ofSession reports an error about a session as a problem; false: it affects all.
func (x *exchange) ofSession(device string, session chat.SessionID, err error) bool {
	if !ofPart(err) {
		return false
	}
	x.problem(chat.WrapError(chat.CodeOf(err), opSync, err, "%s: what it wrote in session %s waits. %v", x.nameOf(device), session, err))
	return true
}

// covers reports whether all that a device knew is here.
func covers(have, knew map[string]int64) bool {
	for lane, number := range knew {
		if have[lane] < number {
			return false
		}
	}
	return true
}
