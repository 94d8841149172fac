package vault

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/transfer/bundle"
)

const (
	// fileSize is the size of a file of a log, in bytes before compression, from which on the next one is begun.
	fileSize = 4 << 20
	// batchSize is how much of a log is read before it is merged, in bytes.
	batchSize = 16 << 20
)

// Report is what an exchange did.
type Report struct {
	SentFiles      int
	SentEvents     int
	SentBytes      int // as stored in the vault
	ReceivedFiles  int
	ReceivedEvents int
	ReceivedTurns  int
	Sessions       []chat.SessionID // got events
	Running        []chat.SessionID // are sent when their answers are complete
	DeletedHere    int              // parts of sessions that were permanently deleted here: they are not brought back
	Deleted        []chat.SessionID // were deleted here, because another device deleted them
	Kept           []chat.SessionID // are what was deleted elsewhere, and had been continued or restored here: under new ids
	Departed       bool             // a copy of this data, or what it is a copy of, writes too: it has a name of its own now
	Problems       []error          // each says what waits; everything else went on
}

// Sync reads what the other devices wrote, and writes what the vault lacks. It may be interrupted at any point, and
// continues there. An error means that nothing more could be done; problems are in the report.
func (v *Vault) Sync(ctx context.Context) (Report, error) {
	ctx, done, err := v.use(ctx, opSync)
	if err != nil {
		return Report{}, err
	}
	defer done()
	if _, err := v.state(ctx); chat.CodeOf(err) == chat.CodeNotFound { // no news for anyone
		return Report{}, err
	}
	v.note(func(l *Latest) { l.Busy = true })
	x, err := v.sync(ctx)
	var devices []Device
	if x == nil {
		x = &exchange{}
	} else {
		devices = x.devices()
	}
	v.note(func(l *Latest) { l.ended(x.report, devices, err, v.Now()) })
	return x.report, err
}

func (v *Vault) sync(ctx context.Context) (*exchange, error) {
	x, err := v.open(ctx)
	if err != nil {
		return nil, err
	}
	if err = x.exchange(); errors.Is(err, errCopied) {
		for _, do := range []func(*exchange) error{(*exchange).depart, (*exchange).exchange} {
			before := x
			if x, err = v.open(ctx); err != nil {
				return before, err
			}
			x.report, x.reported, x.held = before.report, before.reported, before.held
			if err = do(x); err != nil || !x.report.Departed {
				break
			}
		}
	}
	x.report.Problems = append(x.report.Problems, x.held...)
	if err == nil {
		err = x.remember()
	}
	slices.Sort(x.report.Sessions)
	x.report.Sessions = slices.Compact(x.report.Sessions)
	if err != nil {
		err = placeError(opSync, x.state.Address, err)
	}
	return x, err
}

// exchange receives, sends, and removes what was deleted from the vault.
func (x *exchange) exchange() error {
	x.begun()
	if err := x.introduce(); err != nil {
		return err
	}
	if err := x.receiveAll(); err != nil {
		return err
	}
	if err := x.send(); err != nil {
		return err
	}
	return x.erase()
}

func (x *exchange) problem(err *chat.Error) { x.report.Problems = append(x.report.Problems, err) }

// others are the devices with logs that are not this one's.
func (x *exchange) others() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(x.logs)), func(device string) bool { return device == x.own })
}

// last returns the highest number of a file that is there.
func (x *exchange) last(device string) (n int64) {
	for number := range x.logs[device] {
		n = max(n, number)
	}
	return n
}

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

// at returns how far a log is known.
func (x *exchange) at(device string) position {
	if p, ok := x.state.Logs[device]; ok {
		return p
	}
	return position{Sum: make([]byte, sha256.Size)}
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
			f, err := x.follow(device, next)
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
	parts    int // that wait
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

// due reports whether a file that waits may fit now: what is here of its sessions has changed since the last attempt. What
// that attempt reported still holds otherwise.
func (x *exchange) due(name string) (bool, error) {
	last, known := x.tried.Load(name)
	if !known {
		return true, nil
	}
	t := last.(trial)
	if x.Now().Sub(t.at).Abs() >= tryEvery {
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
		if due, err := x.due(logName(device, w.Number)); err != nil {
			return nil, true, err
		} else if !due {
			continue
		}
		f, err := x.read(device, w.Number)
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
	if x.state.Waiting[device] = list; len(list) == 0 {
		delete(x.state.Waiting, device)
	}
	return complete
}

// errExchanged means that a file does not follow from the one before.
var errExchanged = errors.New("it does not follow from the file before it")

// follow reads the file after a position.
func (x *exchange) follow(device string, at position) (file, error) {
	f, err := x.read(device, at.Number+1)
	if err == nil && !bytes.Equal(f.Before, at.Sum) {
		err = errExchanged
	}
	return f, err
}

// named reports a file that cannot be read as a problem; false: the error is one of the place or of this device, and affects all.
func (x *exchange) named(device string, number, last int64, err error) bool {
	const hint = "wait until the folder is synchronized completely, or take the file from another copy of the folder"
	_, whole := errors.AsType[placeFault](err)
	switch {
	case x.ctx.Err() != nil, whole:
		return false
	case errors.Is(err, ErrMissing):
		x.problem(chat.Errorf(chat.CodeNotFound, opSync, "%s: file %d of %d, or a document that it names, is missing in the vault. What this device wrote from there on waits; nothing else is affected.",
			x.nameOf(device), number, last).WithHint(hint))
	case errors.Is(err, errNewer):
		x.problem(chat.Errorf(chat.CodeNewer, opSync, "%s: file %d was written by a newer version of this program. What this device wrote from there on waits.",
			x.nameOf(device), number).WithHint("update the program on this computer"))
	default:
		x.problem(chat.WrapError(chat.CodeCorrupt, opSync, err, "%s: file %d of %d is damaged, or is not the one that belongs there (%v). What this device wrote from there on waits; nothing else is affected.",
			x.nameOf(device), number, last, err).WithHint(hint))
	}
	return true
}

// existing returns the segments of files, without those of sessions that were deleted here.
func (x *exchange) existing(batch []file) []bundle.Segment {
	var out []bundle.Segment
	for _, f := range batch {
		for _, s := range f.segments {
			if deleted, err := x.Store.DeletedHere(x.ctx, s.Session); err == nil && !deleted && !s.Deleted {
				s.In = logName(x.box.deviceName(f.Device), f.Number)
				out = append(out, s)
			}
		}
	}
	return out
}

// apply merges the segments of some files, session by session, as far as what they follow is here. trials say for each
// file what is not here afterwards.
func (x *exchange) apply(device string, batch []file) (trials []trial, err error) {
	type part struct {
		file int
		bundle.Segment
	}
	parts := map[chat.SessionID][]part{}
	var order []chat.SessionID
	for i, f := range batch {
		for _, s := range f.segments {
			if parts[s.Session] == nil {
				order = append(order, s.Session)
			}
			parts[s.Session] = append(parts[s.Session], part{i, s})
		}
	}
	trials = make([]trial, len(batch))
	for i := range trials {
		trials[i] = trial{at: x.Now(), with: map[chat.SessionID]string{}}
	}
	for _, session := range order {
		here, err := x.here(session) // before the attempt: what changes meanwhile is a reason for another one
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(parts[session], func(p part) bool { return p.Deleted }); i >= 0 {
			err := x.delete(device, parts[session][i].Segment)
			if err != nil && !x.ofSession(device, session, err) {
				return nil, err
			}
			if err != nil { // perhaps an answer of another session is being written
				t := &trials[parts[session][i].file]
				t.parts++
				t.with[session] = ""
				continue
			}
		}
		deleted, err := x.Store.DeletedHere(x.ctx, session)
		if err != nil {
			return nil, err
		}
		if deleted {
			gone := bundle.Gone{Session: session}
			for _, p := range parts[session] {
				if len(p.Parcels) > 0 {
					gone.Files = append(gone.Files, logName(device, batch[p.file].Number))
					x.report.DeletedHere++
				}
			}
			if err := x.putGone(gone); err != nil {
				return nil, err
			}
			continue
		}
		have, err := x.Store.Lanes(x.ctx, session)
		if err != nil {
			return nil, err
		}
		var parcels []bundle.Parcel
		fits, events := 0, 0
		for _, p := range parts[session] {
			if !covers(have, p.Knew) {
				break
			}
			fits++
			for _, parcel := range p.Parcels {
				if e := parcel.Event; e.Number() > have[e.Lane] {
					have[e.Lane] = e.Number()
					events++
				}
			}
			parcels = append(parcels, p.Parcels...)
		}
		if err := x.merge(device, session, parcels, events); err != nil {
			if !x.ofSession(device, session, err) {
				return nil, err
			}
			fits = 0
			t := &trials[parts[session][0].file]
			t.problems = append(t.problems, x.report.Problems[len(x.report.Problems)-1])
		}
		for _, p := range parts[session][fits:] {
			trials[p.file].parts++
			trials[p.file].with[session] = here
		}
	}
	return trials, nil
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

// ofSession reports an error about a session as a problem; false: it affects all.
func (x *exchange) ofSession(device string, session chat.SessionID, err error) bool {
	switch chat.CodeOf(err) {
	case chat.CodeCorrupt, chat.CodeInvalid, chat.CodeConflict, chat.CodeNotFound, chat.CodeNewer:
	default:
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
		segments := slices.DeleteFunc(slices.Clone(unsent.Segments), func(s bundle.Segment) bool { return len(s.Parcels) == 0 && !s.Deleted })
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
		if !s.Deleted {
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
	f := file{segments: segments, fileHead: fileHead{
		Version: formatVersion, Device: id, Number: at.Number + 1, Before: at.Sum, Written: chat.FormatTime(x.Now()),
	}}
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
	x.state.Came, x.state.Exchanged = chat.FormatTime(x.Now()), ""
	text, err := chat.MarshalJSON(x.state)
	if err == nil {
		err = x.Store.NewVault(x.ctx, text)
	}
	if err != nil {
		return err
	}
	for _, device := range slices.Sorted(maps.Keys(x.logs)) {
		for at, last := x.at(device), x.last(device); at.Number < last; {
			f, err := x.follow(device, at)
			if err != nil {
				x.report.Problems = nil
				if !x.named(device, at.Number+1, last, err) {
					return err
				}
				return nil
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
	if x.report.Departed = departed; !departed {
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
		if s.Deleted {
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

// resume takes up a log whose last files were written by an exchange that was interrupted before it could remember them.
// ready: it is complete up to its end. errCopied: other data writes it too.
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
		f, err := x.read(x.own, at.Number)
		switch {
		case err == nil && !bytes.Equal(f.sum(), at.Sum):
			return false, errCopied
		case err != nil && !x.named(x.own, at.Number, at.Number, err):
			return false, err
		case err != nil:
			return false, nil
		}
	}
	for last := x.last(x.own); at.Number < last; at = x.at(x.own) {
		f, err := x.follow(x.own, at)
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
