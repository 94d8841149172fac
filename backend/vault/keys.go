package vault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	return fmt.Sprintf("keys/%d", n)
}

// renewal is what is sealed in keys/N.
type renewal struct {
	Removed []string            `json:"removed"` // names of devices
	Logs    map[string]position `json:"logs"`    // how far logs were read: up to there, they may be sealed with older keys
}

const opRemove = "vault.remove"

// errOlder means that a file is sealed with an older key, and was not known when the newest was made.
var errOlder = errors.New("it is sealed with an older key")

// keys returns the keys, oldest first.
func (s state) keys() (keys []seal.Key) {
	for k := range slices.Chunk(s.Key, len(seal.Key{})) {
		keys = append(keys, seal.Key(k))
	}
	return keys
}

func (x *exchange) removed(device string) bool { return slices.Contains(x.box.renewal.Removed, device) }

// newest reads the lock of the newest key, and what is sealed in it. The key must be the newest one that is remembered.
func (x *exchange) newest() (err error) {
	n, address := len(x.box.keys), x.state.Address
	if n > 1 {
		if x.lock, err = getLock(x.ctx, x.box.place, address, n); errors.Is(err, ErrMissing) {
			err = setBack(address, n)
		}
		if err != nil {
			return err
		}
	}
	_, err = getLock(x.ctx, x.box.place, address, n+1)
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
	if !ok || json.Unmarshal(raw, &r) != nil {
		err = damagedLock(address, keyName(n), nil)
	}
	return r, err
}

// getLock reads the lock of a key. Errors are ErrMissing, and those for people.
func getLock(ctx context.Context, place Place, address string, n int) (l lockFile, err error) {
	raw, err := place.Get(ctx, keyName(n))
	if err == nil {
		return readLock(address, keyName(n), raw)
	}
	if !errors.Is(err, ErrMissing) {
		err = placeError(opSync, address, err)
	}
	return l, err
}

// locks reads those of all keys; first is that of vault.json.
func locks(ctx context.Context, place Place, address string, first lockFile) ([]lockFile, error) {
	for all := []lockFile{first}; ; {
		l, err := getLock(ctx, place, address, len(all)+1)
		if errors.Is(err, ErrMissing) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
}

// unlock returns the keys of all locks, oldest first, and what is sealed in the newest, for its passphrase or code.
func unlock(address string, all []lockFile, secret string) (keys []seal.Key, now renewal, err error) {
	n := len(all)
	key, err := all[n-1].Lock.Open(secret)
	if errors.Is(err, seal.ErrPassphrase) {
		e := chat.WrapError(chat.CodeSealed, opConnect, err, "The passphrase does not open the vault; nothing was changed.")
		if n > 1 {
			e = e.WithHint("it may have become another one when a computer was removed, and the recovery code did")
		}
		return nil, now, e
	}
	if err != nil {
		return nil, now, damagedLock(address, keyName(n), err)
	}
	now, err = all[n-1].open(address, key, n)
	for keys = []seal.Key{key}; n > 1; n-- {
		older, ok := keys[0].Unwrap(all[n-1].Older)
		if !ok || older.ID() != all[n-2].Lock.Key || all[n-1].ID != all[0].ID {
			return nil, now, damagedLock(address, keyName(n), nil)
		}
		keys = slices.Insert(keys, 0, older)
	}
	return keys, now, err
}

// takeKeys remembers the keys of a vault, once what is known here, and would count no more because others did not know it when they made the
// newest key, is sealed again.
func (v *Vault) takeKeys(ctx context.Context, place Place, s *state, keys []seal.Key, now renewal) error {
	before := s.keys()
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
	x.box.keys, x.box.renewal = slices.Concat(s.keys(), keys), renewal{Logs: s.Logs}
	if err := x.listLogs(); err != nil {
		return err
	}
	for device, known := range s.Logs {
		for at := positionIn(now.Logs, device); at.Number < known.Number; {
			f, err := x.follow(device, at, apart)
			if err == nil {
				err = x.reseal(device, f)
			}
			if err != nil && !x.named(device, at.Number+1, known.Number, err) {
				return placeError(opConnect, s.Address, err)
			}
			if err != nil { // what follows waits, and that is said
				break
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

// Remove excludes another device, by its name in the vault: what is written from now on is sealed with a new key, which it does not have. What
// the device has and had sent stays. secret is the vault's passphrase or recovery code; passphrase is the one from now on, empty: it stays.
// code is the new recovery code. renewed: it is valid, also after an error.
func (v *Vault) Remove(ctx context.Context, device, secret, passphrase, code string) (renewed bool, err error) {
	ctx, done, err := v.use(ctx, opRemove)
	if err != nil {
		return false, err
	}
	defer done()
	x, err := v.open(ctx)
	if err != nil {
		return false, err
	}
	if x.logs[device] == nil || device == x.own || x.removed(device) {
		return false, chat.Errorf(chat.CodeNotFound, opRemove, "There is no such other computer in the vault; nothing was changed.")
	}
	if _, err := x.lock.Lock.Open(secret); err != nil {
		return false, chat.WrapError(chat.CodeSealed, opRemove, err, "The passphrase does not open the vault; nothing was changed.")
	}
	if passphrase == "" {
		if passphrase = secret; !x.lock.Lock.OpensPassphrase(secret) {
			return false, chat.Errorf(chat.CodeInvalid, opRemove, "With the recovery code a new passphrase is needed; nothing was changed.")
		}
	}
	if x, err = v.syncNoted(ctx); err != nil { // what the device wrote until now counts
		return false, err
	}
	if x.box.renewal.Logs != nil { // what waits for it to have the newest key counts too: it will not have it
		x.box.renewal.Logs[device] = position{Number: x.last(device) + 1}
		if err := x.receive(device); err != nil {
			return false, placeError(opRemove, x.state.Address, err)
		}
	}
	return x.remove(device, passphrase, code)
}

// remove makes a new key.
func (x *exchange) remove(device, passphrase, code string) (renewed bool, err error) {
	key, n := seal.NewKey(), len(x.box.keys)+1
	now := renewal{Removed: append(slices.Clone(x.box.renewal.Removed), device), Logs: x.state.Logs}
	raw, err := chat.MarshalJSON(now)
	if err != nil {
		return false, err
	}
	l := lockFile{Version: formatVersion, ID: x.state.ID, Older: key.Wrap(x.box.newest()), Renewal: key.SealObject(keyName(n), raw)}
	if l.Lock, err = seal.NewLock(key, passphrase, code); err != nil {
		return false, err
	}
	text, err := json.MarshalIndent(l, "", "  ")
	if err == nil {
		err = x.box.place.PutNew(x.ctx, keyName(n), append(text, '\n'))
	}
	if errors.Is(err, ErrExists) {
		return false, chat.WrapError(chat.CodeConflict, opRemove, err, "Another computer removed one at the same time. Nothing was changed here.").
			WithHint("connect the vault again with the passphrase that was given there, and then remove this one")
	}
	if err != nil {
		return false, placeError(opRemove, x.state.Address, err)
	}
	x.state.Key, x.state.Sent = append(slices.Clone(x.state.Key), key[:]...), position{}
	x.ctx = context.WithoutCancel(x.ctx) // otherwise it would be asked for what it has
	return true, x.put(x.ctx, x.state, nil)
}
