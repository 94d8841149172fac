package seal

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"io"
	"strings"
)

// Key seals the files of a data directory. It is random; no file is sealed with it directly.
type Key [32]byte

// NewKey returns a random key.
func NewKey() (k Key) {
	_, _ = rand.Read(k[:]) // never fails
	return k
}

// ID names a key without telling it: 16 hexadecimal digits.
func (k Key) ID() string {
	sum := sha256.Sum256(append([]byte("contextinfinity key id\n"), k[:]...))
	return hex.EncodeToString(sum[:8])
}

// Lock is a locked key: two small age files, each of which contains the key. Either opens it. Without the one for the
// passphrase, the keyring of the system has the key, and the data opens with the user's sign-in.
type Lock struct {
	Version    int    `json:"version"`
	Key        string `json:"key"`        // its ID
	Passphrase []byte `json:"passphrase"` // opened by the passphrase; empty: the key is in the keyring
	Recovery   []byte `json:"recovery"`   // opened by the recovery code
}

// lockVersion is the version of Lock and of the headers that contain one.
const lockVersion = 1

// maxLocked limits each of the age files of a Lock, in bytes; they have about 210.
const maxLocked = 1024

// NewLock locks a key. An empty passphrase: the key is in the keyring.
func NewLock(k Key, passphrase, code string) (Lock, error) {
	l := Lock{Version: lockVersion, Key: k.ID()}
	err := errors.Join(l.SetPassphrase(k, passphrase), l.SetRecovery(k, code))
	return l, err
}

// SignIn reports whether the key is in the keyring, so that there is no passphrase.
func (l Lock) SignIn() bool { return len(l.Passphrase) == 0 }

// SetPassphrase replaces the passphrase. An empty one removes it: the key is in the keyring.
func (l *Lock) SetPassphrase(k Key, passphrase string) (err error) {
	if passphrase == "" {
		l.Passphrase = nil
		return nil
	}
	l.Passphrase, err = lockKey(k, passphrase, Work)
	return err
}

// codeWork is enough for a recovery code, which cannot be guessed.
const codeWork = 10

// SetRecovery replaces the recovery code, as NewCode returned it.
func (l *Lock) SetRecovery(k Key, code string) (err error) {
	l.Recovery, err = lockKey(k, code, codeWork)
	return err
}

func lockKey(k Key, secret string, work int) ([]byte, error) {
	var out bytes.Buffer
	w, err := encryptTo(&out, secret, work)
	if err == nil {
		_, err = w.Write(k[:])
	}
	if err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
}

// Open returns the key for a passphrase or a recovery code. Errors are ErrPassphrase and ErrDamaged.
func (l Lock) Open(secret string) (Key, error) {
	if code, ok := asCode(secret); ok {
		if k, err := l.openWith(l.Recovery, code); err == nil {
			return k, nil
		}
	}
	return l.openWith(l.Passphrase, secret)
}

func (l Lock) openWith(locked []byte, secret string) (k Key, err error) {
	if len(locked) == 0 { // there is no passphrase
		return k, ErrPassphrase
	}
	r, size, err := OpenWithPassphrase(bytes.NewReader(locked), int64(len(locked)), secret)
	if err != nil {
		return k, err
	}
	if _, err := io.ReadFull(io.NewSectionReader(r, 0, size), k[:]); err != nil || size != int64(len(k)) || k.ID() != l.Key {
		return Key{}, errors.Join(ErrDamaged, err)
	}
	return k, nil
}

// OpensPassphrase reports whether a text is the passphrase, and not the recovery code.
func (l Lock) OpensPassphrase(passphrase string) bool {
	_, err := l.openWith(l.Passphrase, passphrase)
	return err == nil
}

// OpensCode reports whether a text is the recovery code.
func (l Lock) OpensCode(text string) bool {
	code, ok := asCode(text)
	if ok {
		_, err := l.openWith(l.Recovery, code)
		ok = err == nil
	}
	return ok
}

// Wrap seals another key with this one.
func (k Key) Wrap(other Key) []byte {
	out := make([]byte, len(other)+Overhead)
	newSealer(k, nil, "previous key").Seal(out, other[:], 'k', 0)
	return out
}

// Unwrap returns a key that Wrap sealed.
func (k Key) Unwrap(sealed []byte) (other Key, ok bool) {
	if len(sealed) != len(other)+Overhead {
		return other, false
	}
	ok = newSealer(k, nil, "previous key").Open(other[:], sealed, 'k', 0)
	return other, ok
}

// Valid reports whether a lock that was read has the form of one.
func (l Lock) Valid() bool {
	id, err := hex.DecodeString(l.Key)
	return err == nil && len(id) == 8 && l.Version == lockVersion && len(l.Passphrase) <= maxLocked && len(l.Recovery) <= maxLocked
}

// A recovery code is 160 random bits as eight groups of four letters and digits. It is the passphrase of its age file
// exactly as it is shown.
const (
	codeLength = 32
	codeGroup  = 4
)

var codeLetters = base32.StdEncoding.WithPadding(base32.NoPadding)

// NewCode returns a recovery code.
func NewCode() string {
	raw := make([]byte, codeLength*5/8)
	_, _ = rand.Read(raw) // never fails
	return grouped(codeLetters.EncodeToString(raw))
}

func grouped(letters string) string {
	var groups []string
	for ; letters != ""; letters = letters[codeGroup:] {
		groups = append(groups, letters[:codeGroup])
	}
	return strings.Join(groups, "-")
}

// asCode returns a typed code as it was shown: letters may be small, and spaces and hyphens anywhere. Digits that a code
// does not have are read as the letters that look like them.
func asCode(typed string) (string, bool) {
	letters := strings.Map(func(r rune) rune {
		switch {
		case r == '-' || r == ' ' || r == '\t':
			return -1
		case r == '0':
			return 'O'
		case r == '1':
			return 'I'
		case r == '8':
			return 'B'
		}
		return r
	}, strings.ToUpper(strings.TrimSpace(typed)))
	if _, err := codeLetters.DecodeString(letters); err != nil || len(letters) != codeLength {
		return "", false
	}
	return grouped(letters), true
}
