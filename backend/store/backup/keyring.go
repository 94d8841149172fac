package backup

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"contextinfinity/backend/internal/atomicfile"
	"contextinfinity/backend/internal/faultfs"
	"contextinfinity/backend/internal/seal"
	"contextinfinity/backend/store/sqlite"
)

// Keyring is the keyring of the system, which keeps the key of data that opens with the user's sign-in.
type Keyring interface {
	KeepDataKey(k seal.Key) error
	ForgetDataKey(id string) error
}

// noKeyring is for an Archive that changes no lock.
type noKeyring struct{}

func (noKeyring) KeepDataKey(seal.Key) error { return nil }
func (noKeyring) ForgetDataKey(string) error { return nil }

// keyringFile names the keys that the system's keyring may have although nothing needs them. They are written down before
// the keyring gets them, or before nothing needs them any more: what a crash, or a keyring that refuses, leaves there is
// removed at a later start. Only who holds the writer's lock of the data notes, keeps and forgets keys: another one would
// take the key of a change that is being made.
const keyringFile = "keyring.json"

// notedKeys is the content of keyringFile.
type notedKeys struct {
	Dir  string   `json:"dir"` // a copy of the data directory must not remove the keys of the original
	Keys []string `json:"keys"`
}

func (a *Archive) noteKey(id string) error {
	noted, err := a.noted()
	if err != nil && !errors.Is(err, fs.ErrNotExist) || slices.Contains(noted, id) {
		return err
	}
	return a.writeNoted(append(noted, id))
}

func (a *Archive) keepKey(k seal.Key) error {
	if err := a.noteKey(k.ID()); err != nil {
		return err
	}
	return a.keyring.KeepDataKey(k)
}

// forgetKeys removes from the keyring the keys that were noted, except the one by which the data opens with the sign-in.
// It returns those that the keyring still has, which stay noted. Backups that could not be converted need none: they open
// with sealedLock.Previous, or with their code.
func (a *Archive) forgetKeys() (kept []string, err error) {
	noted, err := a.noted()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	l, _, err := readLock(a.dir)
	if err != nil {
		return nil, err
	}
	var failed error
	for _, id := range noted {
		if id == l.Key && l.SignIn() {
			continue
		}
		if err := a.keyring.ForgetDataKey(id); err != nil {
			kept, failed = append(kept, id), errors.Join(failed, err)
		}
	}
	return kept, errors.Join(failed, a.writeNoted(kept))
}

// tidyKeyring is forgetKeys; what fails is tried again at the next start.
func (a *Archive) tidyKeyring() {
	if _, err := a.forgetKeys(); err != nil {
		a.log.Warn("a key that is not used any more is still in the keyring", "err", err)
	}
}

// TidyKeyring removes from the keyring the keys of an interrupted change. A keyring that is locked delays it.
func (b *Backups) TidyKeyring() error {
	return b.whileOpen(func() error { b.Archive.tidyKeyring(); return nil })
}

// KeepKey gives a key that Reseal is about to install to the keyring, to see whether it stores one.
func (b *Backups) KeepKey(k seal.Key) error {
	return b.whileOpen(func() error { return b.Archive.keepKey(k) })
}

// noted returns no keys if the file cannot be understood, or came here with a copy of another data directory.
func (a *Archive) noted() ([]string, error) {
	text, err := os.ReadFile(filepath.Join(a.dir, keyringFile))
	var n notedKeys
	if err != nil || json.Unmarshal(text, &n) != nil || n.Dir != sqlite.Resolved(a.dir) {
		return nil, err
	}
	return n.Keys, nil
}

func (a *Archive) writeNoted(ids []string) error {
	path := filepath.Join(a.dir, keyringFile)
	if len(ids) == 0 {
		return faultfs.Remove(faultfs.Config, path)
	}
	text, err := json.Marshal(notedKeys{sqlite.Resolved(a.dir), ids})
	if err != nil {
		return err
	}
	return atomicfile.Write(path, text, 0o600)
}
