package vault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/seal"
)

// A device is removed by a new key: what follows is sealed with it. vault.json has the lock of the first key, with which names are made, and
// keys/N the lock of key N with the one before, so that the newest opens all. A device that does not have the newest key neither reads nor
// writes. What is sealed with an older key counts only as far as the device that made the newest had read it, so nobody who has only older
// keys adds anything; who had read more, or had written it, seals that again when it takes the new key.

// keyName names the object with the lock of key N.
func keyName(n int) string {
	if n == 1 {
		return lockName
	}
	return fmt.Sprintf("%s%d", keysDir, n)
}

// maxKeys is the highest N: so many locks are read.
const maxKeys = 1000

// renewal is what is sealed in keys/N.
type renewal struct {
	Keys    []byte              `json:"keys"`    // those before, oldest first, one after the other
	Removed []string            `json:"removed"` // names of devices
	Logs    map[string]position `json:"logs"`    // how far logs were read: up to there, they may be sealed with older keys
}

const opRemove = "vault.remove"

// errOlder means that a file is sealed with an older key, and was not known when the newest was made.
var errOlder = errors.New("it is sealed with an older key")

// errDeletes means that a file, which whoever has an older key may have written, deletes something permanently.
var errDeletes = errors.New("it deletes something permanently")

// keysIn returns keys that stand one after the other.
func keysIn(text []byte) (keys []seal.Key) {
	for k := range slices.Chunk(text, len(seal.Key{})) {
		keys = append(keys, seal.Key(k))
	}
	return keys
}

func (x *exchange) removed(device string) bool { return slices.Contains(x.box.renewal.Removed, device) }

// newest reads the lock of the newest key, and what is sealed in it. The key must be the newest one that is remembered.
func (x *exchange) newest() (err error) {
	n, address, id := len(x.box.keys), x.state.Address, x.state.ID
	if n > 1 {
		if x.lock, err = getLock(x.ctx, x.box.place, address, id, n); errors.Is(err, ErrMissing) {
			err = setBack(address, n)
		}
		if err != nil {
			return err
		}
	}
	_, err = getLock(x.ctx, x.box.place, address, id, n+1)
	switch {
	case err == nil || x.lock.Lock.Key != x.box.newest().ID():
		return chat.Errorf(chat.CodeConflict, opSync, "The key of the vault was renewed on another computer, which removed one. Nothing is exchanged until this computer has the new key.").
			WithHint("connect the vault again with its passphrase: Settings, Several computers, or contextinfinity sync --vault ADDRESS")
	case errors.Is(err, ErrMissing):
		x.box.renewal, err = x.lock.open(address, x.box.newest(), n)
	}
	return err
}

func setBack(address string, n int) error {
	return chat.Errorf(chat.CodeNotFound, opSync, "%s is missing in %s: the vault was set back to before a computer was removed. Nothing was changed here or there.", keyName(n), address).
		WithHint("wait until the folder is synchronized completely, or restore it")
}

// open returns what is sealed in keys/N.
func (l lockFile) open(address string, k seal.Key, n int) (r renewal, err error) {
	if n == 1 {
		return r, nil
	}
	raw, ok := k.OpenObject(keyName(n), l.Renewal)
	if !ok || json.Unmarshal(raw, &r) != nil || len(r.Keys) != (n-1)*len(k) {
		err = damagedLock(address, keyName(n), nil)
	}
	return r, err
}

// getLock reads the lock of key N of a vault. Errors are ErrMissing, and those for people.
func getLock(ctx context.Context, place Place, address, id string, n int) (l lockFile, err error) {
	if n > maxKeys {
		return l, ErrMissing
	}
	raw, err := place.Get(ctx, keyName(n))
	if err == nil {
		if l, err = readLock(address, keyName(n), raw); err == nil && l.ID != id {
			err = damagedLock(address, keyName(n), nil)
		}
		return l, err
	}
	if errors.Is(err, errTooLarge) {
		err = damagedLock(address, keyName(n), err)
	} else if !errors.Is(err, ErrMissing) {
		err = placeError(opSync, address, err)
	}
	return l, err
}

// newestLock returns the lock of the newest key; first is that of vault.json.
func newestLock(ctx context.Context, place Place, address string, first lockFile) (l lockFile, n int, err error) {
	for l, n = first, 1; ; n++ {
		next, err := getLock(ctx, place, address, first.ID, n+1)
		if errors.Is(err, ErrMissing) {
			return l, n, nil
		}
		if err != nil {
			return l, n, err
		}
		l = next
	}
}

// unlock returns the keys, oldest first, and what is sealed in the lock of the newest, for its passphrase or code.
func unlock(address string, first, l lockFile, n int, secret string) (keys []seal.Key, now renewal, err error) {
	key, err := l.Lock.Open(secret)
	if errors.Is(err, seal.ErrPassphrase) {
		e := chat.WrapError(chat.CodeSealed, opConnect, err, "The passphrase does not open the vault; nothing was changed.")
		if n > 1 {
			e = e.WithHint("it may have become another one when a computer was removed, and the recovery code did; if none of yours removed one, somebody else made %s: delete it in the place", keyName(n))
		}
		return nil, now, e
	}
	if err != nil {
		return nil, now, damagedLock(address, keyName(n), err)
	}
	now, err = l.open(address, key, n)
	// Those between may be of others: a program that synchronizes folders may have kept one that was made at the same time.
	keys = append(keysIn(now.Keys), key)
	if err == nil && keys[0].ID() != first.Lock.Key {
		err = damagedLock(address, keyName(n), nil)
	}
	return keys, now, err
}

// takeKeys remembers the keys of a vault, once what is known here, and would count no more because others did not know it when they made the
// newest key, is sealed again.
func (v *Vault) takeKeys(ctx context.Context, place Place, s *state, keys []seal.Key, now renewal) error {
	before := keysIn(s.Key)
	if len(keys) < len(before) {
		return setBack(s.Address, len(before))
	}
	if len(before) > 0 && !slices.Equal(keys, before) {
		if err := v.resealKnown(ctx, place, *s, keys, now); err != nil {
			return err
		}
		s.Sent = position{} // values are sent again
	}
	s.Key = nil
	for _, k := range keys {
		s.Key = append(s.Key, k[:]...)
	}
	return nil
}

func (v *Vault) resealKnown(ctx context.Context, place Place, s state, keys []seal.Key, now renewal) error {
	x := newExchange(v, ctx, place, s)
	// Of two keys that were made at the same time one counts, and files of the other may be known.
	x.box.keys, x.box.renewal = slices.Concat(keysIn(s.Key), keys), renewal{Logs: s.Logs}
	if err := x.listLogs(); err != nil {
		return err
	}
	for device, known := range s.Logs {
		for at := positionIn(now.Logs, device); at.Number < known.Number; {
			f, err := x.follow(device, at, apart)
			switch {
			case err == nil:
				err = x.reseal(device, f)
			case x.named(device, at.Number+1, known.Number, err):
				p := x.report.Problems[0]
				err = chat.WrapError(chat.CodeOf(p), opConnect, p, "The new key was not taken, because what perhaps only this computer has of the vault could not be sealed again. %v", p).
					WithHint("wait until the folder is synchronized completely, or restore it; if the file is lost, choose an empty place on each computer: everything is sent there")
			}
			if err != nil {
				return placeError(opConnect, s.Address, err)
			}
			at = position{f.Number, f.sum()}
		}
	}
	return nil
}

// reseal writes a file under its next name if it is sealed with an older key. Two devices that do it do the same.
func (x *exchange) reseal(device string, f file) error {
	_, _, again, _ := numberOf(x.logs[device][f.Number].Name)
	next := rewritten(device, f.Number, again+1)
	if !f.older {
		return nil
	}
	if _, err := x.box.write(x.ctx, next, f); err != nil && !errors.Is(err, ErrExists) {
		return err
	}
	x.logs[device][f.Number] = Object{Name: next}
	return nil
}

// Removal says how a device is removed.
type Removal struct {
	Device     string // its name in the vault
	Secret     string // the vault's passphrase or recovery code
	Passphrase string // from now on; empty: it stays
	Code       string // the new recovery code
	Anyway     bool   // also if something that the device had sent cannot be read: that counts no more
}

// Remove excludes another device: what is written from now on is sealed with a new key, which it does not have. What the device has and had
// sent stays. renewed: the new code is valid, or may be, also after an error.
func (v *Vault) Remove(ctx context.Context, r Removal) (renewed bool, err error) {
	ctx, done, err := v.use(ctx, opRemove)
	if err != nil {
		return false, err
	}
	defer done()
	x, err := v.open(ctx)
	if err != nil {
		return false, err
	}
	if x.logs[r.Device] == nil || r.Device == x.own || x.removed(r.Device) {
		return false, chat.Errorf(chat.CodeNotFound, opRemove, "There is no such other computer in the vault; nothing was changed.")
	}
	if _, err := x.lock.Lock.Open(r.Secret); err != nil {
		return false, chat.WrapError(chat.CodeSealed, opRemove, err, "The passphrase does not open the vault; nothing was changed.")
	}
	if r.Passphrase == "" {
		if r.Passphrase = r.Secret; !x.lock.Lock.OpensPassphrase(r.Secret) {
			return false, chat.Errorf(chat.CodeInvalid, opRemove, "With the recovery code a new passphrase is needed; nothing was changed.")
		}
	}
	if x, err = v.syncNoted(ctx); err != nil { // what the device wrote until now counts
		return false, err
	}
	if len(x.state.Logs) == 0 && len(x.held) > 0 { // it is about to become another device
		return false, x.held[0]
	}
	if err := x.takeLast(r.Device, r.Anyway); err != nil {
		return false, placeError(opRemove, x.state.Address, err)
	}
	if renewed, err = x.remove(r); err == nil {
		_, _ = v.syncNoted(ctx) // what is here of the removed device is in the vault with the new key; what fails is noted, and tried again
	}
	return renewed, err
}

// takeLast takes what waits for a device to have the newest key, which it will not have. Without anyway, what cannot be taken is an error.
func (x *exchange) takeLast(device string, anyway bool) error {
	x.box.late, x.report.Problems, x.refused = device, nil, refused{}
	err := x.receive(device)
	if err == nil {
		if _, _, err = x.takeValues(device); ofPart(err) {
			x.problem(chat.AsError(err))
			err = nil
		}
	}
	if err != nil || anyway || x.at(device).Number >= x.last(device) && x.state.Values[device] >= slices.Max(append(x.snapshots[device], 0)) {
		return err
	}
	why := ""
	for _, p := range x.report.Problems {
		why += " " + p.Error()
	}
	return chat.Errorf(chat.CodeCorrupt, opRemove, "Something that this computer had sent cannot be taken, and would not count any more. It was not removed.%s", why).
		WithHint("wait until the folder is synchronized completely; or remove it anyway: devices remove --anyway")
}

// remove makes a new key.
func (x *exchange) remove(r Removal) (renewed bool, err error) {
	key, n := seal.NewKey(), len(x.box.keys)+1
	if n > maxKeys {
		return false, chat.Errorf(chat.CodeTooLarge, opRemove, "The vault has no room for another key; nothing was changed.").WithHint("choose an empty place on each computer: everything is sent there")
	}
	now := renewal{Keys: x.state.Key, Removed: append(slices.Clone(x.box.renewal.Removed), r.Device), Logs: maps.Clone(x.state.Logs)}
	for device, at := range x.box.renewal.Logs { // this device may not have read it yet
		if at.Number > x.at(device).Number {
			now.Logs[device] = at
		}
	}
	raw, err := chat.MarshalJSON(now)
	if err != nil {
		return false, err
	}
	l := lockFile{Version: formatVersion, ID: x.state.ID, Renewal: key.SealObject(keyName(n), raw)}
	if l.Lock, err = seal.NewLock(key, r.Passphrase, r.Code); err != nil {
		return false, err
	}
	text, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return false, err
	}
	err = x.box.place.PutNew(x.ctx, keyName(n), append(text, '\n'))
	cancelled := x.ctx.Err() != nil
	x.ctx = context.WithoutCancel(x.ctx) // otherwise this device would be asked for what it has
	if err != nil {                      // it may be there all the same
		there, err2 := getLock(x.ctx, x.box.place, x.state.Address, x.state.ID, n)
		switch {
		case err2 == nil && there.Lock.Key == key.ID():
		case err2 == nil || errors.Is(err, ErrExists):
			return false, chat.WrapError(chat.CodeConflict, opRemove, err, "Another computer removed one at the same time. Nothing was changed here.").
				WithHint("connect the vault again with the passphrase that was given there, and then remove this one")
		default:
			return cancelled || !errors.Is(err2, ErrMissing), placeError(opRemove, x.state.Address, err)
		}
	}
	x.state.Key, x.state.Sent = append(slices.Clone(x.state.Key), key[:]...), position{}
	x.TryAll()
	return true, x.put(x.ctx, x.state, nil)
}
