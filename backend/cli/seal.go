package cli

import (
	"context"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/seal"
	"contextinfinity/backend/services"
)

const opSealing = "cli.seal"

const (
	newPassphraseFlag = "new-passphrase-file"
	signInFlag        = "sign-in"
)

// keepEarlier says what a new passphrase or code does not change.
const keepEarlier = "Backups that exist, and the header of the database, keep the earlier one until contextinfinity keys rotate."

// notErased says what nobody can promise about files that were removed.
const notErased = "What was removed can still be found by experts on the disk (an SSD cannot overwrite), in snapshots of the\n" +
	"file system, and in copies in a cloud.\n"

func sealVerbs() []verb {
	return []verb{
		{
			use:   "encrypt",
			short: "Seal the data with a passphrase, or with your sign-in",
			long: `Everything that this program stores is sealed: the database, its log, answers that are arriving, and
the backups in the data directory. Files that you exported, the configuration, and copies elsewhere stay as
they are; the reply names the copies. A recovery code is printed: it opens the data, and each backup, if the
passphrase is lost. WITHOUT THE PASSPHRASE AND THE CODE EVERYTHING IS LOST.

No other program may have the data open. The passphrase is asked for, or read from --passphrase-file.
Afterwards every verb needs it, in the same way, unless the window is open. With --sign-in there is no passphrase: the
system's keyring keeps the key, whoever signs in to this account opens the data, and the code opens it if the keyring
is gone. An interrupted run leaves the data as it was, or sealed; backups that were left plain are sealed at the next
start. If backups could not be converted, encrypt tries it again.`,
			flags: []flag{boolFlag(signInFlag, "keep the key in the system's keyring instead of a passphrase"), yesFlag},
			do:    encryptData,
		},
		{
			use:   "decrypt",
			short: "Store the data plain again",
			long: `The database, answers that are arriving and the backups in the data directory are stored plain again.
No other program may have the data open. An interrupted run can be repeated.`,
			flags: []flag{yesFlag},
			do:    decryptData,
		},
	}
}

// keyVerbs are about the key of sealed data.
func keyVerbs() []verb {
	return []verb{
		{
			use:   "rotate",
			short: "Seal the data with a new key",
			long: `The data and the backups in the data directory are sealed again, with a new key and a new recovery code,
which is printed. The passphrase, or the sign-in, stays. Copies elsewhere keep the old key, and open with the passphrase or code of
their time.`,
			flags: []flag{yesFlag},
			do:    rotateKey,
		},
		{
			use:   "recovery",
			short: "Replace the recovery code of sealed data",
			long: `A new recovery code is printed. The data key stays the same: whoever has the earlier code and a copy of the
files, or a backup that exists, can open them with it. After a code or a passphrase became known to others, use keys
rotate.`,
			flags: []flag{yesFlag},
			do:    replaceCode,
		},
		{
			use:   "passphrase",
			short: "Replace the passphrase of sealed data",
			long: `The new passphrase is asked for, or read from --new-passphrase-file. The data key stays the same: whoever has
the earlier passphrase and a copy of the files, or a backup that exists, can open them with it; keys rotate
ends that. Data that opened with your sign-in asks for the passphrase from now on. With the recovery code in --passphrase-file this sets a new passphrase after the earlier one was
lost.`,
			flags: []flag{nameFlag(newPassphraseFlag, "read the new passphrase from the first line of this `FILE`")},
			do:    replacePassphrase,
		},
		{
			use:   "sign-in",
			short: "Open sealed data with your sign-in instead of a passphrase",
			long: `The system's keyring keeps the key: whoever signs in to this account opens the data, without a passphrase. The
recovery code stays. Also after the keyring was replaced: it keeps the key again. keys passphrase undoes it.`,
			do: useSignIn,
		},
	}
}

// openSetup opens what works without the data.
func (r *run) openSetup(ctx context.Context) (err error) {
	r.setup, err = r.app.OpenSetup(ctx, r.options(false, silent{}))
	return err
}

func encryptData(ctx context.Context, r *run) (reply, error) {
	given := r.call.passphrase
	r.call.passphrase = "" // it is the new one, unless the data is sealed
	if r.on(signInFlag) && given != "" {
		return reply{}, usagef("--sign-in and a passphrase exclude each other.")
	}
	if err := r.openSetup(ctx); err != nil {
		return reply{}, err
	}
	lock, sealed, err := r.setup.Archive().SealedWith()
	switch {
	case err != nil:
		return reply{}, err
	case sealed && r.on(signInFlag) && !lock.SignIn():
		return reply{}, chat.Errorf(chat.CodeConflict, opSealing, "The data is sealed already, with a passphrase; nothing was changed.").
			WithHint("contextinfinity keys sign-in opens it with your sign-in instead")
	case sealed:
		r.call.passphrase = given
		return sealLeft(ctx, r)
	case given == "" && !r.on(signInFlag):
		if given, err = r.chosenPassphrase("the data", ""); err != nil {
			return reply{}, err
		}
	}
	return r.sealWith(ctx, given)
}

// sealLeft converts what an earlier encrypt has left.
func sealLeft(ctx context.Context, r *run) (reply, error) {
	if _, _, err := r.opensData(ctx); err != nil {
		return reply{}, err
	}
	stop := r.watch("encrypt", nil)
	done, err := r.setup.Archive().SealLeft(ctx)
	stop()
	if err == nil && done.Backups+len(done.Left) == 0 {
		const problem = "The data is sealed already; nothing was changed."
		err = chat.Errorf(chat.CodeConflict, opSealing, problem).
			WithHint("contextinfinity keys passphrase replaces the passphrase, and keys sign-in does without")
	}
	if err != nil {
		return reply{}, err
	}
	return resealed(fields{{"sealed", true}}, done, "The data is sealed."), leftError(done)
}

// sealWith seals the data with a new key. Without a passphrase the keyring keeps it.
func (r *run) sealWith(ctx context.Context, passphrase string) (reply, error) {
	key, code := seal.NewKey(), seal.NewCode()
	err := r.showCode(code, "Seal the data with a new key?")
	if err != nil {
		return reply{}, err
	}
	lock, err := seal.NewLock(key, passphrase, code)
	if err != nil {
		return reply{}, err
	}
	seal.Use(lock, key)
	return r.reseal(ctx, "encrypt", fields{{"sealed", true}, {"recovery_code", code}}, "The data is sealed.")
}

// showCode prints a recovery code before anything depends on it, and asks for its last group where somebody can type it.
func (r *run) showCode(code, question string) error {
	if err := r.mustBeAsked("This needs confirmation, which is not possible here; nothing was changed."); err != nil {
		return err
	}
	if !r.json {
		r.out.printf("Recovery code: %s\nKeep it apart from this computer: it opens the data if the passphrase or the keyring "+
			"is lost. It is not shown again.\n", code)
	}
	if r.on("yes") {
		return nil
	}
	r.note.printf("%s Type the last group of the code to continue: ", question)
	typed, err := r.in.lines.ReadString('\n')
	if chat.CodeOf(err) == chat.CodeCancelled {
		return err
	}
	if last := code[strings.LastIndexByte(code, '-')+1:]; !strings.EqualFold(strings.TrimSpace(typed), last) {
		return chat.Errorf(chat.CodeCancelled, opSealing, "That is not the last group; nothing was changed.")
	}
	return nil
}

// reseal stores everything as the lock in use says.
func (r *run) reseal(ctx context.Context, label string, doc fields, text string) (reply, error) {
	stop := r.watch(label, nil)
	done, err := r.setup.Archive().Reseal(ctx)
	stop()
	if err != nil {
		return reply{}, err
	}
	return resealed(doc, done, text), leftError(done)
}

// resealed is the reply after the data was converted.
func resealed(doc fields, s services.Sealing, text string) reply {
	doc = append(doc, fields{
		{"backups", s.Backups},
		{"left", append([]string{}, s.Left...)},
		{"outside", append([]string{}, s.Outside...)},
	}...)
	return reply{doc: doc, keepOnError: true, text: func(o *output) {
		o.printf("%s %s converted.\n", text, plural(s.Backups, "backup"))
		printCopies(o, "These could not be converted, and are as they were; delete them, or keep them in mind:", s.Left)
		printCopies(o, "These copies are elsewhere, and were not changed:", s.Outside)
		o.printf(notErased)
	}}
}

func printCopies(o *output, about string, paths []string) {
	if len(paths) == 0 {
		return
	}
	o.printf("%s\n", about)
	o.printEach("  %s\n", paths)
}

// leftError is the error for copies that could not be converted.
func leftError(s services.Sealing) error {
	if len(s.Left) == 0 {
		return nil
	}
	return problemsError(chat.Errorf(chat.CodeCorrupt, opSealing, "Some copies could not be converted."))
}

// opensData returns an error unless the data is sealed and its key is known.
func (r *run) opensData(ctx context.Context) (seal.Lock, seal.Key, error) {
	if err := r.openSetup(ctx); err != nil {
		return seal.Lock{}, seal.Key{}, err
	}
	return r.setup.Archive().Lock()
}

func decryptData(ctx context.Context, r *run) (reply, error) {
	_, _, err := r.opensData(ctx)
	if err == nil {
		err = r.confirm("Store the data plain again?")
	}
	if err != nil {
		return reply{}, err
	}
	seal.UseNone()
	return r.reseal(ctx, "decrypt", fields{{"sealed", false}}, "The data is plain.")
}

func rotateKey(ctx context.Context, r *run) (reply, error) {
	lock, _, err := r.opensData(ctx)
	switch {
	case err != nil:
		return reply{}, err
	case lock.SignIn():
		return r.sealWith(ctx, "")
	case !lock.OpensPassphrase(r.call.passphrase):
		const problem = "A new key needs the passphrase, not the recovery code; nothing was changed."
		return reply{}, chat.Errorf(chat.CodeInvalid, opSealing, problem).
			WithHint("contextinfinity keys passphrase sets a new one first")
	}
	return r.sealWith(ctx, r.call.passphrase)
}

func replaceCode(ctx context.Context, r *run) (reply, error) {
	_, _, err := r.opensData(ctx)
	code := seal.NewCode()
	if err == nil {
		err = r.showCode(code, "Replace the recovery code?")
	}
	if err == nil {
		err = r.setup.Archive().SetCode(code)
	}
	return sentence(fields{{"recovery_code", code}}, "The recovery code is replaced. "+keepEarlier), err
}

func replacePassphrase(ctx context.Context, r *run) (reply, error) {
	if _, _, err := r.opensData(ctx); err != nil {
		return reply{}, err
	}
	next, err := r.chosenPassphrase("the data", r.text(newPassphraseFlag))
	if err == nil {
		err = r.setup.Archive().SetPassphrase(next)
	}
	return sentence(fields{{"replaced", true}}, "The passphrase is replaced. "+keepEarlier), err
}

func useSignIn(ctx context.Context, r *run) (reply, error) {
	_, _, err := r.opensData(ctx)
	if err == nil {
		err = r.setup.Archive().SetPassphrase("")
	}
	return sentence(fields{{"sign_in", true}}, "The data opens with your sign-in. "+keepEarlier), err
}
