// Package seal is what is encrypted how (docs/encryption.md): files with a passphrase, in the public format of age, which
// the stock program age opens, and the files of a data directory, in units that can be read and replaced one by one. It
// reads and writes no file by itself.
package seal

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"filippo.io/age"
)

// Extension is added to the name of a file that is sealed with a passphrase.
const Extension = ".age"

// ageMagic is the first line of every age file, up to its version.
const ageMagic = "age-encryption.org/"

// maxWork limits the work that a file may demand before its passphrase is checked: 1 GB of memory, and four times the
// work of a file that age or this program writes.
const maxWork = 20

// Work is the binary logarithm of scrypt's cost: about a second, 256 MB. Tests use less.
var Work = 18

// The reasons for which a file cannot be opened.
var (
	ErrPassphrase = errors.New("the passphrase is not the right one")
	ErrRecipients = errors.New("it is sealed for keys, not with a passphrase")
	ErrDamaged    = errors.New("it is damaged or cut off")
)

// IsSealed reports whether a file with these first bytes is an age file.
func IsSealed(head []byte) bool { return bytes.HasPrefix(head, []byte(ageMagic)) }

// WithPassphrase returns a writer that encrypts to w. Close writes the end, and does not close w.
func WithPassphrase(w io.Writer, passphrase string) (io.WriteCloser, error) {
	return encryptTo(w, passphrase, Work)
}

func encryptTo(w io.Writer, passphrase string, work int) (io.WriteCloser, error) {
	to, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return nil, err
	}
	to.SetWorkFactor(work)
	return age.Encrypt(w, to)
}

// OpenWithPassphrase decrypts a file of a number of bytes: any part of it, when it is read. Nothing is written. It
// returns the decrypted size. Errors are those above; a part that was changed is an error when it is read.
func OpenWithPassphrase(r io.ReaderAt, size int64, passphrase string) (io.ReaderAt, int64, error) {
	as, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return nil, 0, errors.Join(ErrPassphrase, err)
	}
	as.SetMaxWorkFactor(maxWork)
	plain, size, err := age.DecryptReaderAt(r, size, as)
	if err == nil {
		return plain, size, nil
	}
	none, ok := errors.AsType[*age.NoIdentityMatchError](err)
	switch {
	case !ok:
		return nil, 0, errors.Join(ErrDamaged, err)
	case slices.Contains(none.StanzaTypes, "scrypt"):
		return nil, 0, errors.Join(ErrPassphrase, err)
	}
	return nil, 0, errors.Join(ErrRecipients, err)
}
