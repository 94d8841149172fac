package cli

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/plainfile"
	"contextinfinity/backend/internal/seal"
)

// passphraseFlag reads a passphrase without a terminal. It is never an argument: other users of the system see those.
var passphraseFlag = nameFlag("passphrase-file", "read the passphrase from the first line of this `FILE`")

// dataPassphraseFlag is for the verbs whose --passphrase-file is that of a bundle.
var dataPassphraseFlag = nameFlag("data-passphrase-file", "open sealed data with the passphrase in this `FILE`")

// maxPassphrase limits a passphrase, in bytes.
const maxPassphrase = 1024

// readPassphrase reads what --passphrase-file names, for sealed data.
func (c *call) readPassphrase() (err error) {
	if c.passphraseFile != "" {
		c.passphrase, err = c.passphraseIn(c.passphraseFile)
	}
	return err
}

// chosenPassphrase returns the passphrase for something that is to be sealed: that of a file, or what is typed twice.
func (c *call) chosenPassphrase(subject, file string) (string, error) {
	if file != "" {
		return c.passphraseIn(file)
	}
	if !c.in.terminal {
		return "", usageHint("name a file with it: --passphrase-file FILE",
			"There is no terminal to ask for a passphrase; nothing was done.")
	}
	first, err := c.secret("New passphrase for " + subject + ", without which nobody can open it, you included")
	if err != nil {
		return "", err
	}
	again, err := c.secret("The same again")
	switch {
	case err != nil:
		return "", err
	case first == "":
		return "", usagef("The passphrase is empty; nothing was done.")
	case first != again:
		return "", usageHint("type it again", "The two passphrases differ; nothing was done.")
	case len(first) > maxPassphrase:
		return "", tooLongPassphrase()
	}
	return first, nil
}

// bundleFlags reads the passphrases of a verb that writes or reads bundles. Without one for the data, that of the bundle
// is tried.
func (r *run) bundleFlags() (err error) {
	if file := r.text(passphraseFlag.name); file != "" {
		if r.bundlePassphrase, err = r.passphraseIn(file); err != nil {
			return err
		}
		r.call.passphrase = r.bundlePassphrase
	}
	if file := r.text(dataPassphraseFlag.name); file != "" {
		r.call.passphrase, err = r.passphraseIn(file)
	}
	return err
}

// newBundlePassphrase reads the passphrase for a bundle that is to be sealed.
func (r *run) newBundlePassphrase() (err error) {
	if r.bundlePassphrase == "" {
		r.bundlePassphrase, err = r.chosenPassphrase("the bundle", "")
	}
	return err
}

// passphraseOfFiles reads the passphrase of the sealed files among the arguments, before anything is opened: a call
// that is handed over to another process is asked only once.
func (r *run) passphraseOfFiles() error {
	if err := r.bundleFlags(); err != nil || r.bundlePassphrase != "" || !r.in.terminal {
		return err // the import says if one is missing
	}
	for _, name := range r.args {
		if !beginsSealed(r.path(name)) {
			continue
		}
		typed, err := r.secret("Passphrase of " + line(name))
		r.bundlePassphrase = typed
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

// passphraseIn reads the first line of a file.
func (c *call) passphraseIn(name string) (string, error) {
	f, err := plainfile.Open(c.path(name))
	if err != nil {
		cause := err
		if p, ok := errors.AsType[*os.PathError](err); ok {
			cause = p.Err
		}
		return "", chat.WrapError(chat.CodeInvalid, "cli.passphrase", err,
			"The passphrase cannot be read from %s: %v. Nothing was done.", name, cause)
	}
	defer f.Close()
	text, err := bufio.NewReader(io.LimitReader(f, maxPassphrase+2)).ReadString('\n')
	if err != nil && err != io.EOF {
		return "", chat.WrapError(chat.CodeInvalid, "cli.passphrase", err,
			"The passphrase cannot be read from %s; nothing was done.", name)
	}
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return "", usageHint("write the passphrase on its first line", "%s has no passphrase; nothing was done.", line(name))
	case len(text) > maxPassphrase:
		return "", tooLongPassphrase()
	}
	return text, nil
}

func tooLongPassphrase() error {
	return usagef("A passphrase has at most %d bytes; nothing was done.", maxPassphrase)
}
