package cli

import (
	"bufio"
	"io"
	"os"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/plainfile"
	"contextinfinity/backend/internal/seal"
)

// passphraseFlag reads a passphrase without a terminal. It is never an argument: other users of the system see those.
var passphraseFlag = nameFlag("passphrase-file", "read the passphrase from the first line of this `FILE`")

// maxPassphrase limits a passphrase, in bytes.
const maxPassphrase = 1024

// newPassphrase reads the passphrase for something that is to be sealed: from its file, or typed twice.
func (r *run) newPassphrase(subject string) error {
	if r.given(passphraseFlag.name) {
		return r.passphraseFromFile()
	}
	if !r.in.terminal {
		return usageHint("name a file with it: --passphrase-file FILE",
			"There is no terminal to ask for a passphrase; nothing was done.")
	}
	first, err := r.secret("New passphrase for " + subject + ", without which nobody can open it, you included")
	if err != nil {
		return err
	}
	again, err := r.secret("The same again")
	switch {
	case err != nil:
		return err
	case first == "":
		return usagef("The passphrase is empty; nothing was done.")
	case first != again:
		return usageHint("type it again", "The two passphrases differ; nothing was done.")
	case len(first) > maxPassphrase:
		return tooLongPassphrase()
	}
	r.passphrase = first
	return nil
}

// passphraseOfFiles reads the passphrase of the sealed files among the arguments, before anything is opened: a call
// that is handed over to another process is asked only once.
func (r *run) passphraseOfFiles() error {
	if r.given(passphraseFlag.name) {
		return r.passphraseFromFile()
	}
	if !r.in.terminal {
		return nil // the import says that it is missing
	}
	for _, name := range r.args {
		if !beginsSealed(r.path(name)) {
			continue
		}
		typed, err := r.secret("Passphrase of " + line(name))
		r.passphrase = typed
		return err
	}
	return nil
}

func beginsSealed(path string) bool {
	f, err := plainfile.Open(path)
	if err != nil {
		return false // the import reports it
	}
	defer f.Close()
	head := make([]byte, 64)
	n, _ := io.ReadFull(f, head)
	return seal.IsSealed(head[:n])
}

func (r *run) passphraseFromFile() error {
	name := r.text(passphraseFlag.name)
	f, err := plainfile.Open(r.path(name))
	if err != nil {
		cause := err
		if p, ok := err.(*os.PathError); ok {
			cause = p.Err
		}
		return chat.WrapError(chat.CodeInvalid, "cli.passphrase", err,
			"The passphrase cannot be read from %s: %v. Nothing was done.", name, cause)
	}
	defer f.Close()
	text, err := bufio.NewReader(io.LimitReader(f, maxPassphrase+2)).ReadString('\n')
	if err != nil && err != io.EOF {
		return chat.WrapError(chat.CodeInvalid, "cli.passphrase", err,
			"The passphrase cannot be read from %s; nothing was done.", name)
	}
	r.passphrase = strings.TrimSpace(text)
	switch {
	case r.passphrase == "":
		return usageHint("write the passphrase on its first line", "%s has no passphrase; nothing was done.", line(name))
	case len(r.passphrase) > maxPassphrase:
		return tooLongPassphrase()
	}
	return nil
}

func tooLongPassphrase() error {
	return usagef("A passphrase has at most %d bytes; nothing was done.", maxPassphrase)
}
