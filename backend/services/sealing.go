package services

import (
	"context"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/seal"
	"contextinfinity/backend/store"
)

// NewLock locks a new key with a passphrase and a recovery code. Without a passphrase the keyring keeps the key, and the
// data opens with the user's sign-in.
func (s Setup) NewLock(k seal.Key, passphrase, code string) (seal.Lock, error) {
	l, err := seal.NewLock(k, passphrase, code)
	if err == nil && l.SignIn() {
		err = s.Keys.KeepDataKey(k)
	}
	return l, err
}

// SetPassphrase replaces the passphrase of sealed data, which does not open with the sign-in then. Without a passphrase
// the keyring keeps the key instead.
func (s Setup) SetPassphrase(data interface {
	ChangeLock(func(*seal.Lock, seal.Key) error) error
}, passphrase string) error {
	var was seal.Lock
	err := data.ChangeLock(func(l *seal.Lock, k seal.Key) error {
		if was = *l; passphrase == "" {
			if err := s.Keys.KeepDataKey(k); err != nil {
				return err
			}
		}
		return l.SetPassphrase(k, passphrase)
	})
	if err != nil || passphrase == "" {
		return err
	}
	// The keyring may also have a key that an earlier call could not remove.
	if err := s.Keys.ForgetDataKey(was.Key); err != nil && was.SignIn() {
		return chat.WrapError(chat.CodeUnavailable, "keys.forget", err,
			"The passphrase is in force, but the system keyring still has the key: whoever signs in can open the data with it.").
			WithHint("unlock the keyring and set the passphrase again")
	}
	return nil
}

// Reseal gives the data the key that seal.Use has made current, or stores it plain (store.Archive.Reseal). Then the
// keyring has no key that opens nothing any more: the one of before is kept while backups are left that need it.
func (s Setup) Reseal(ctx context.Context) (store.Sealing, error) {
	archive := s.Archive()
	was, from, err := archive.Lock()
	if err != nil && chat.CodeOf(err) != chat.CodeNotFound {
		return store.Sealing{}, err
	}
	next, _, _ := seal.Current()
	result, err := archive.Reseal(ctx, from, was.Key != "")
	now, _, _ := archive.Lock()
	for _, l := range []seal.Lock{was, next} {
		if l.Key == "" || !l.SignIn() || l.Key == now.Key || l.Key == was.Key && len(result.Left) > 0 {
			continue
		}
		if err := s.Keys.ForgetDataKey(l.Key); err != nil {
			s.Log.Warn("a key that is not used any more is still in the keyring", "key", l.Key, "err", err)
		}
	}
	return result, err
}
