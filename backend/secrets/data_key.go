package secrets

import (
	"encoding/base64"
	"errors"
	"sync/atomic"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/seal"
)

// dataKeyName is the name under which the keyring has a key of sealed data.
func dataKeyName(id string) string { return "data-key-" + id }

// KeepDataKey stores a key of sealed data in the keyring, and reads it back. A key that the keyring stores too late, after
// somebody unlocked it, is removed again.
//
// Errors: CodeUnavailable (there is no keyring, or it does not respond, or it is locked).
func (s *Store) KeepDataKey(k seal.Key) error {
	name, text := dataKeyName(k.ID()), base64.StdEncoding.EncodeToString(k[:])
	s.redactor.Add(text)
	var settled atomic.Bool // by the keyring, or by the end of the time
	err := s.call(func() error {
		ring := s.opts.Keyring
		if stored, err := ring.Get(Service, name); err == nil && stored == text {
			return nil
		}
		if err := ring.Set(Service, name, text); err != nil {
			return err
		}
		stored, err := ring.Get(Service, name)
		if err == nil && stored != text {
			err = errors.New("the system keyring has stored something else")
		}
		if err != nil || !settled.CompareAndSwap(false, true) {
			_ = ring.Delete(Service, name)
		}
		return err
	})
	if err == nil || errors.Is(err, errNoResponse) && !settled.CompareAndSwap(false, true) {
		return nil
	}
	return chat.WrapError(chat.CodeUnavailable, "keys.keep", s.redactor.Error(err),
		"The system keyring did not store the key; nothing was changed.").
		WithHint("unlock the keyring and try again, or choose a passphrase instead")
}

// DataKey returns a key that KeepDataKey stored. It is not found either if the keyring is gone or locked, does not
// respond in time, or has something else under that name.
func (s *Store) DataKey(id string) (seal.Key, bool) {
	found := make(chan seal.Key, 1)
	err := s.call(func() error {
		text, err := s.opts.Keyring.Get(Service, dataKeyName(id))
		if err != nil {
			return err
		}
		s.redactor.Add(text)
		var k seal.Key
		raw, err := base64.StdEncoding.DecodeString(text)
		if copy(k[:], raw); err != nil || len(raw) != len(k) || k.ID() != id {
			return errors.New("the system keyring has something else")
		}
		found <- k
		return nil
	})
	if err != nil {
		return seal.Key{}, false
	}
	return <-found, true
}

// ForgetDataKey removes a key of sealed data from the keyring.
func (s *Store) ForgetDataKey(id string) error { return s.Remove(dataKeyName(id)) }
