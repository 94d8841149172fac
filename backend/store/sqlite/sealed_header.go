package sqlite

import (
	"errors"
	"io"
	"os"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/seal"
)

// headerAt reads the header of a file. Errors are those of seal.OpenHeader, and of the file.
func headerAt(path string) (seal.Header, seal.Key, error) {
	head, err := firstBytes(path, seal.HeaderSize)
	if err != nil {
		return seal.Header{}, seal.Key{}, err
	}
	return seal.OpenHeader(head)
}

func firstBytes(path string, n int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, n)
	n, err = io.ReadFull(f, head)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil
	}
	return head[:n], err
}

// isPlain reports whether a file is not sealed, or not there.
func isPlain(err error) bool { return errors.Is(err, seal.ErrPlain) || errors.Is(err, os.ErrNotExist) }

// IsSealed reports whether a file is a sealed database.
func IsSealed(path string) bool {
	head, err := firstBytes(path, len(seal.Magic))
	return err == nil && seal.IsHeader(head)
}

// LockOf returns the lock of a sealed database, and its key.
func LockOf(path string) (seal.Lock, seal.Key, bool, error) {
	h, k, err := headerAt(path)
	if isPlain(err) {
		return seal.Lock{}, k, false, nil
	}
	return h.Lock, k, err == nil, HeaderError(path, err)
}

// LockAt returns the lock of a database without opening it; false: it is not sealed.
func LockAt(path string) (seal.Lock, bool, error) {
	head, err := firstBytes(path, seal.HeaderSize)
	if err != nil {
		return seal.Lock{}, false, nil //nolint:nilerr // it is not there, or opening it says what is wrong
	}
	h, err := seal.ReadHeader(head)
	return h.Lock, err == nil, HeaderError(path, err)
}

// Prepare is called before SQLite opens a database. It returns an error with CodeSealed for one that is sealed with a
// key that is not known: SQLite would take it for another program's, and delete its log, which it cannot read.
func Prepare(path string) error {
	registerSealed()
	if !IsSealed(path) {
		return nil
	}
	_, _, err := headerAt(path)
	return HeaderError(path, err)
}

// HeaderError explains why a sealed database cannot be opened.
func HeaderError(path string, err error) error {
	switch {
	case err == nil || isPlain(err):
		return nil
	case errors.Is(err, seal.ErrSignIn):
		return chat.WrapError(chat.CodeSealed, "store.open", err, "The data in %s opens with your sign-in, but the system keyring did not give its key: "+
			"it is locked or missing, or was replaced. The data is not damaged; nothing was read or changed.", path).
			WithHint("unlock the keyring and try again, or name a file with the recovery code: --passphrase-file FILE")
	case errors.Is(err, seal.ErrNoKey):
		return chat.WrapError(chat.CodeSealed, "store.open", err, "The data in %s is sealed; nothing was read or changed.", path).
			WithHint("name a file with its passphrase or recovery code: --passphrase-file FILE (--data-passphrase-file of export, import and sync)")
	case errors.Is(err, seal.ErrPassphrase):
		return chat.WrapError(chat.CodeSealed, "store.open", err, "The passphrase does not open %s; nothing was read or changed.", path).
			WithHint("check the passphrase and the layout of the keyboard, or use the recovery code; an older backup has the passphrase of its time")
	case errors.Is(err, seal.ErrNewer):
		return chat.WrapError(chat.CodeNewer, "store.open", err, "The data in %s was sealed by a newer version of ContextInfinity; nothing was read or changed.", path).
			WithHint("install the newer version")
	case err != nil:
		return chat.WrapError(chat.CodeCorrupt, "store.open", err, "The data in %s is sealed, and the header of the file is damaged; nothing was changed.", path).
			WithHint("restore a backup (contextinfinity backups, contextinfinity restore)")
	}
	return nil
}
