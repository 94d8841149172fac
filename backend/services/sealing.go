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
		err = s.keepKey(k)
	}
	return l, err
}

// keepKey gives a key to the keyring. It is noted before, so that it is removed again if nothing comes to need it.
func (s Setup) keepKey(k seal.Key) error {
	if err := s.Archive().NoteKeys(k.ID()); err != nil {
		return err
	}
	return s.Keys.KeepDataKey(k)
}

// TidyKeyring removes from the keyring the keys that were noted and that nothing needs. What fails is tried again at the
// next start.
func (s Setup) TidyKeyring() {
	if err := s.forgetKeys(); err != nil {
		s.Log.Warn("a key that is not used any more is still in the keyring", "err", err)
	}
}

func (s Setup) forgetKeys() error { return s.Archive().ForgetKeys(s.Keys.ForgetDataKey) }

// SetPassphrase replaces the passphrase of sealed data, which does not open with the sign-in then. Without a passphrase
// the keyring keeps the key instead.
func (s Setup) SetPassphrase(data interface {
	ChangeLock(func(*seal.Lock, seal.Key) error) error
}, passphrase string) error {
	err := data.ChangeLock(func(l *seal.Lock, k seal.Key) error {
		var err error
		switch {
		case passphrase == "":
			err = s.keepKey(k)
		case l.SignIn():
			err = s.Archive().NoteKeys(l.Key)
		}
		if err != nil {
			return err
		}
		return l.SetPassphrase(k, passphrase)
	})
	if err != nil {
		return err
	}
	if err := s.forgetKeys(); err != nil && passphrase != "" {
		return chat.WrapError(chat.CodeUnavailable, "keys.forget", err,
			"The passphrase is in force, but the system keyring still has the key: whoever signs in can open the data with it.").
			WithHint("unlock the keyring and set the passphrase again")
	}
	return nil
}

// Reseal gives the data the key that seal.Use has made current, or stores it plain (store.Archive.Reseal). Then the
// keyring has no key that nothing needs.
func (s Setup) Reseal(ctx context.Context) (store.Sealing, error) {
	archive := s.Archive()
	was, from, err := archive.Lock()
	switch {
	case chat.CodeOf(err) == chat.CodeNotFound: // it is plain
		err = nil
	case err == nil && was.SignIn():
		err = archive.NoteKeys(was.Key)
	}
	if next, key, sealed := seal.Current(); err == nil && sealed && next.SignIn() {
		err = s.keepKey(key) // again: the start of another process could have removed it, because nothing needed it yet
	}
	if err != nil {
		return store.Sealing{}, err
	}
	result, err := archive.Reseal(ctx, from, was.Key != "")
	s.TidyKeyring()
	return result, err
}

// SealLeft converts the backups that Reseal has left (store.Archive.SealLeft).
func (s Setup) SealLeft(ctx context.Context) (store.Sealing, error) {
	result, err := s.Archive().SealLeft(ctx)
	s.TidyKeyring()
	return result, err
}
