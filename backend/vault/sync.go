package vault

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"slices"

	"contextinfinity/backend/chat"
)

// Report is what an exchange did.
type Report struct {
	SentFiles      int
	SentEvents     int
	SentBytes      int // as stored in the vault
	ReceivedFiles  int
	ReceivedEvents int
	ReceivedTurns  int
	SentValues     int              // assistants and saved prompts that were changed here
	ReceivedValues int              // and elsewhere
	Sessions       []chat.SessionID // got events
	Running        []chat.SessionID // are sent when their answers are complete
	DeletedHere    int              // parts of sessions that were permanently deleted here: they are not brought back
	Deleted        []chat.SessionID // were deleted here, because another device deleted them
	DeletedTurns   int              // were deleted here, because another device deleted them
	Kept           []chat.SessionID // are what was deleted elsewhere, and had been continued or restored here: under new ids
	Departed       bool             // a copy of this data, or what it is a copy of, writes too, or it was removed: it has a name of its own now
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
	x, err := v.syncNoted(ctx)
	return x.report, err
}

// syncNoted is sync, and says so.
func (v *Vault) syncNoted(ctx context.Context) (*exchange, error) {
	v.note(func(l *Latest) { l.Busy = true })
	x, err := v.sync(ctx)
	var devices []Device
	if x == nil {
		x = &exchange{}
	} else {
		devices = x.devices()
	}
	v.note(func(l *Latest) { l.ended(x.report, devices, err, v.Now()) })
	return x, err
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
	uncertified, err := x.Uncertified(x.ctx)
	if err != nil {
		return err
	}
	for _, session := range uncertified {
		x.problem(chat.Errorf(chat.CodeConflict, opSync, "Session %s: something in it was permanently deleted on another computer, and what says so there has not arrived. It is shown as deleted.", session).
			WithHint("wait until the folder is synchronized completely, or synchronize the other devices"))
	}
	if err := x.send(); err != nil {
		return err
	}
	if err := x.exchangeValues(); err != nil {
		return err
	}
	if err := x.erase(); err != nil || !x.removed(x.own) {
		return err
	}
	return errCopied // it has the new key, and comes back as another one; all that is its own was sent
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

// at returns how far a log is known.
func (x *exchange) at(device string) position { return positionIn(x.state.Logs, device) }

func positionIn(logs map[string]position, device string) position {
	if p, ok := logs[device]; ok {
		return p
	}
	return position{Sum: make([]byte, sha256.Size)}
}

// errExchanged means that a file does not follow from the one before.
var errExchanged = errors.New("it does not follow from the file before it")

// follow reads the file after a position.
func (x *exchange) follow(device string, at position, leave func(chat.SessionID, string) bool) (file, error) {
	f, err := x.read(device, at.Number+1, leave)
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
	case x.removed(device) && number > x.box.renewal.Logs[device].Number: // it does not count
	case errors.Is(err, ErrMissing):
		x.problem(chat.Errorf(chat.CodeNotFound, opSync, "%s: file %d of %d, or a document that it names, is missing in the vault. What this device wrote from there on waits; nothing else is affected.",
			x.nameOf(device), number, last).WithHint(hint))
	case errors.Is(err, errDeletes):
		x.problem(chat.Errorf(chat.CodeConflict, opSync, "%s: file %d of %d is sealed with an older key and deletes something permanently, which is not carried out: whoever has that computer may have written it.",
			x.nameOf(device), number, last).WithHint("connect the vault again on that computer, with its passphrase"))
	case errors.Is(err, errOlder):
		x.problem(chat.Errorf(chat.CodeConflict, opSync, "%s: file %d of %d is sealed with an older key of the vault. What this device wrote from there on waits until it has the new one; nothing else is affected.",
			x.nameOf(device), number, last).WithHint("connect the vault again on that computer, with its passphrase; or remove it, if it does not exist any more, or was restored or got another name since"))
	case errors.Is(err, errNewer):
		x.problem(chat.Errorf(chat.CodeNewer, opSync, "%s: file %d was written by a newer version of this program. What this device wrote from there on waits.",
			x.nameOf(device), number).WithHint("update the program on this computer"))
	default:
		x.problem(chat.WrapError(chat.CodeCorrupt, opSync, err, "%s: file %d of %d is damaged, or is not the one that belongs there (%v). What this device wrote from there on waits; nothing else is affected.",
			x.nameOf(device), number, last, err).WithHint(hint))
	}
	return true
}
