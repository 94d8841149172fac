package seal

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
)

// HeaderSize is the size of the header with which every sealed file begins, in bytes: Magic, a line of JSON, spaces,
// and an HMAC-SHA256 of all that.
const HeaderSize = 4096

// Magic are the first bytes of a sealed file.
const Magic = "CINFSEAL\n"

// The reasons for which a file of the data directory cannot be opened.
var (
	ErrPlain = errors.New("it is not sealed")
	ErrNewer = errors.New("it was sealed by a newer version")
	ErrNoKey = errors.New("it is sealed, and its key is not known")
	// ErrSignIn is ErrNoKey of what opens with the key in the keyring.
	ErrSignIn = fmt.Errorf("%w: the keyring does not have it", ErrNoKey)
)

// Header is the beginning of a sealed file. It contains the lock of its key, so that the file can be opened wherever it
// is, with the passphrase or the recovery code.
type Header struct {
	Unit int    `json:"unit"` // bytes of content in a unit
	Salt []byte `json:"salt"` // of the keys of this file
	Lock Lock   `json:"lock"`
}

// NewHeader returns the header of a new file.
func NewHeader(l Lock, unit int) Header {
	h := Header{Unit: unit, Salt: make([]byte, 32), Lock: l}
	_, _ = rand.Read(h.Salt) // never fails
	return h
}

// IsHeader reports whether a file with these first bytes is sealed.
func IsHeader(head []byte) bool { return bytes.HasPrefix(head, []byte(Magic)) }

// Bytes returns the header as it is stored.
func (h Header) Bytes(k Key) []byte {
	text, err := json.Marshal(h)
	out := bytes.Repeat([]byte{' '}, HeaderSize)
	if err != nil || len(Magic)+len(text) > HeaderSize-sha256.Size {
		panic("a header that is too long") // NewLock makes none
	}
	copy(out[copy(out, Magic):], text)
	h.sum(out, k)
	return out
}

// sum writes the header's checksum to its end.
func (h Header) sum(out []byte, k Key) {
	key, err := hkdf.Key(sha256.New, k[:], h.Salt, "contextinfinity header", sha256.Size)
	if err != nil {
		panic(err) // only for a longer key
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(out[:HeaderSize-sha256.Size])
	mac.Sum(out[:HeaderSize-sha256.Size])
}

// ReadHeader reads a header without its key. Errors are ErrPlain, ErrNewer and ErrDamaged.
func ReadHeader(b []byte) (h Header, err error) {
	if !IsHeader(b) {
		return h, ErrPlain
	}
	if len(b) < HeaderSize {
		return h, ErrDamaged
	}
	err = json.Unmarshal(b[len(Magic):HeaderSize-sha256.Size], &h)
	switch {
	case err == nil && h.Lock.Version > lockVersion:
		return h, ErrNewer
	case err != nil || !h.Lock.Valid() || len(h.Salt) != 32 || h.Unit < 512 || h.Unit > 1<<16 || h.Unit&(h.Unit-1) != 0:
		return Header{}, errors.Join(ErrDamaged, err)
	}
	return h, nil
}

// OpenHeader reads a header and finds its key. Errors are those of ReadHeader and Unlock.
func OpenHeader(b []byte) (Header, Key, error) {
	h, err := ReadHeader(b)
	if err != nil {
		return h, Key{}, err
	}
	k, err := Unlock(h.Lock)
	if err != nil {
		return h, k, err
	}
	again := bytes.Clone(b[:HeaderSize])
	if h.sum(again, k); !hmac.Equal(again, b[:HeaderSize]) {
		return h, Key{}, ErrDamaged
	}
	return h, k, nil
}

// Sealer returns what seals the units of the file. Units of one purpose do not open as units of another.
func (h Header) Sealer(k Key, purpose string) *Sealer { return newSealer(k, h.Salt, purpose) }
