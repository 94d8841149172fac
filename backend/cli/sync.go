package cli

import (
	"context"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/internal/seal"
	"contextinfinity/backend/vault"
)

func syncVerbs() []verb {
	return []verb{
		{
			use:   "sync",
			short: "Exchange sessions with your other computers through a folder, WebDAV or S3",
			long: `The folder of the vault is one that another program copies between your computers (Syncthing, Dropbox,
Nextcloud), a network drive, or a USB stick; or ADDRESS is a folder on a WebDAV server, https://HOST/PATH/, or in an
object store, s3:https://HOST/BUCKET/PREFIX. Everything in it is sealed with a passphrase. --vault chooses it once;
the first computer creates the vault there and gets a recovery code, the others give the same passphrase.
Afterwards sync alone takes what the others wrote, and writes what the vault lacks. Nothing is overwritten:
sessions that went on on several computers get branches. What is missing or damaged in the vault is named and waits,
the exit code is 3, and everything else is exchanged. A session is sent when its answers are complete. With --check
everything in the vault is read back, and nothing is changed.`,
			flags: []flag{
				nameFlag("vault", "the `ADDRESS` of the vault: a folder, which must exist, or that of a server"),
				textFlag("user", "the `NAME` of the user there, or the id of an S3 key"),
				nameFlag("password-file", "read the password, or the secret S3 key, from the first line of this `FILE`"),
				textFlag("password-env", "take the password from the variable `NAME` of the environment, each time"),
				boolFlag("check", "read back everything in the vault"),
				nameFlag(passphraseFlag.name, "read the passphrase or recovery code of the vault from the first line of this `FILE`"),
				dataPassphraseFlag,
			},
			prepare: func(ctx context.Context, r *run) error {
				switch {
				case r.on("check") && r.given("vault"):
					return usagef("--check and --vault exclude each other.")
				case r.given("user") && !r.given("vault"):
					return usagef("--user needs --vault.")
				case (r.given("password-file") || r.given("password-env")) && !r.given("user"):
					return usagef("--password-file and --password-env need --user.")
				case r.given("password-file") && r.given("password-env"):
					return usagef("--password-file and --password-env exclude each other.")
				}
				if err := r.bundleFlags(); err != nil || !r.given("vault") {
					return err
				}
				if err := r.readTarget(); err != nil || r.bundlePassphrase != "" {
					return err
				}
				return r.vaultPassphrase(ctx)
			},
			opensFor: opensWith("check", reads, writes),
			do:       syncVault,
			verbs: []verb{{
				use:   "status",
				short: "Show the vault, and whether something waits to be sent",
				opens: reads,
				do:    vaultStatus,
			}},
		},
		devicesVerb(),
	}
}

func devicesVerb() verb {
	return verb{
		use:   "devices",
		short: "List the computers that write to the vault",
		long: `FILES is the number of files that a computer wrote, READ how many of them were taken here, or sent from here.
WRITTEN is when the last one came to the folder.`,
		opens: reads,
		do: func(ctx context.Context, r *run) (reply, error) {
			status, err := r.s.Vault.Status(ctx)
			return reply{doc: fields{{"devices", deviceList(status)}}, text: func(o *output) { devicesTable(status).print(o) }}, err
		},
		verbs: []verb{{
			use:   "remove COMPUTER",
			short: "Exclude another computer from what follows",
			long: `What is written to the vault from now on is sealed with a new key, which COMPUTER does not have, and what it writes
counts no more. What it has, it keeps. Before that, change the password or key of the place (WebDAV, S3), or stop sharing
the folder with it. The vault gets a new recovery code; without --new-passphrase-file the passphrase stays, or a new one is
asked for in a terminal. Whoever may know the passphrase can come back with it. Your other computers ask for it: there,
connect the vault again. Update the program on all of them first. COMPUTER is a name, or the log in devices --json.`,
			flags: []flag{
				nameFlag(passphraseFlag.name, "read the passphrase or recovery code of the vault from the first line of this `FILE`"),
				nameFlag(newPassphraseFlag, "read the passphrase from now on from the first line of this `FILE`"),
				boolFlag("anyway", "remove it also if something that it had sent cannot be read, and counts no more then"),
				yesFlag,
				dataPassphraseFlag,
			},
			prepare: removalFlags,
			opens:   writes,
			do:      removeDevice,
		}},
	}
}

// readTarget reads where the vault is.
func (r *run) readTarget() (err error) {
	t := vault.Target{Address: r.text("vault"), User: r.text("user")}
	if !t.Remote() {
		t.Address = r.path(t.Address)
	}
	switch {
	case r.given("password-env"):
		t.Password = "${env:" + r.text("password-env") + "}"
	case r.given("password-file"):
		t.Password, err = r.passphraseIn(r.text("password-file"))
	case t.User != "":
		t.Password, err = r.asked("Password of "+line(t.User), "--password-file")
	}
	r.chosenVault = t
	return err
}

// vaultPassphrase asks for the passphrase of the vault, twice if there is none yet.
func (r *run) vaultPassphrase(ctx context.Context) error {
	found := true
	if r.in.terminal {
		setup, err := r.app.OpenSetup(ctx, r.options(true, silent{}))
		if err == nil {
			found, err = setup.FindVault(ctx, r.chosenVault)
		}
		if err != nil {
			return err
		}
	}
	ask := func() (string, error) { return r.asked("Passphrase of the vault", "--"+passphraseFlag.name) }
	if !found {
		ask = func() (string, error) { return r.chosenPassphrase("the vault", "") }
	}
	typed, err := ask()
	r.bundlePassphrase = typed
	return err
}

// asked is what is typed in the terminal; flag names a file instead.
func (r *run) asked(subject, flag string) (string, error) {
	if !r.in.terminal {
		return "", usageHint("name a file with it: "+flag+" FILE", "There is no terminal to ask; nothing was done.")
	}
	return r.secret(subject)
}

// removalFlags reads the two passphrases of the removal of a device, and asks for what is missing.
func removalFlags(_ context.Context, r *run) error {
	err := r.bundleFlags()
	if err == nil {
		err = r.confirm("Remove " + line(r.arg("COMPUTER")) + " from the vault? What it has, it keeps.")
	}
	asks := r.bundlePassphrase == ""
	if err == nil && asks {
		r.bundlePassphrase, err = r.asked("Passphrase or recovery code of the vault", "--"+passphraseFlag.name)
	}
	if file := r.text(newPassphraseFlag); err == nil && (asks || file != "") {
		r.newPassphrase, err = r.chosenPassphrase("the vault", file)
	}
	return err
}

func removeDevice(ctx context.Context, r *run) (reply, error) {
	status, err := r.s.Vault.Status(ctx)
	if err != nil {
		return reply{}, err
	}
	name := r.arg("COMPUTER")
	found := slices.DeleteFunc(deviceList(status), func(d vault.Device) bool {
		return d.This || d.Removed || d.Name != name && d.Log != name
	})
	if len(found) != 1 {
		return reply{}, chat.Errorf(chat.CodeNotFound, "cli.devices", "%d other computers in the vault have this name; nothing was changed.", len(found)).
			WithHint("contextinfinity devices lists them; devices --json has the log of each, which names it too")
	}
	code := seal.NewCode()
	r.notef("New recovery code of the vault, valid once the removal has succeeded: %s", code) // it may be interrupted afterwards
	renewed, err := r.s.Vault.Remove(ctx, vault.Removal{Device: found[0].Log, Secret: r.bundlePassphrase, Passphrase: r.newPassphrase, Code: code, Anyway: r.on("anyway")})
	return reply{doc: fields{{"removed", found[0].Log}, {"recovery_code", code}}, keepOnError: renewed, text: func(o *output) {
		o.printf("%s is removed; what it has, it keeps. New recovery code: %s\n", line(found[0].Name), code)
		o.printf("Keep it apart from your computers: the one before opens nothing new. It is not shown again.\n")
		o.printf("On your other computers, connect the vault again with its passphrase: sync --vault ADDRESS.\n")
	}}, err
}

func syncVault(ctx context.Context, r *run) (reply, error) {
	if r.on("check") {
		return checkVault(ctx, r)
	}
	var connected vault.Connected
	if r.given("vault") {
		var err error
		if connected, err = r.s.Vault.Connect(ctx, r.chosenVault, r.bundlePassphrase); err != nil {
			created := fields{{"created", connected.Created}, {"recovery_code", connected.Code}}
			return reply{doc: created, keepOnError: connected.Created, text: func(o *output) { printCode(o, connected) }}, err
		}
	}
	stop := r.watch("sync", nil)
	done, err := r.s.Vault.Sync(ctx)
	stop()
	doc := fields{{"created", connected.Created}}
	if connected.Created {
		doc = append(doc, field{"recovery_code", connected.Code})
	}
	doc = append(doc, fields{
		{"sent", fields{{"files", done.SentFiles}, {"events", done.SentEvents}, {"bytes", done.SentBytes}, {"values", done.SentValues}}},
		{"received", fields{
			{"files", done.ReceivedFiles}, {"events", done.ReceivedEvents}, {"turns", done.ReceivedTurns}, {"values", done.ReceivedValues},
			{"sessions", append([]chat.SessionID{}, done.Sessions...)},
			{"deleted", append([]chat.SessionID{}, done.Deleted...)},
			{"kept_as", append([]chat.SessionID{}, done.Kept...)},
			{"deleted_turns", done.DeletedTurns},
		}},
		{"running", append([]chat.SessionID{}, done.Running...)},
		{"deleted_here", done.DeletedHere},
		{"renamed", done.Departed},
		{"problems", lists.Map(done.Problems, r.describe)},
	}...)
	if err == nil {
		err = vaultProblems(done.Problems)
	}
	return reply{doc: doc, keepOnError: true, text: func(o *output) {
		printCode(o, connected)
		o.printf("Received: %s in %s. Sent: %s in %s, %s.\n", plural(done.ReceivedTurns, "turn"), plural(len(done.Sessions), "session"),
			plural(done.SentEvents, "event"), plural(done.SentFiles, "file"), size(int64(done.SentBytes)))
		o.printIf(done.ReceivedValues+done.SentValues > 0, "Assistants and saved prompts: %d were changed elsewhere, %d here.\n", done.ReceivedValues, done.SentValues)
		if n := len(done.Running); n > 0 {
			o.printf("%s: sent when the answers are complete.\n", plural(n, "session"))
		}
		if done.Departed {
			o.printf("A copy of this data writes to the vault too, or this computer was removed, so this data has a name of its own now. What was not sent yet went on there, as branches.\n")
		}
		if n := len(done.Deleted); n > 0 {
			o.printf("%s: permanently deleted here too, because another computer did it.\n", plural(n, "session"))
		}
		if n := len(done.Kept); n > 0 {
			o.printf("%s of these had been continued or restored here, and is kept as a session of its own.\n", plural(n, "session"))
		}
		if n := done.DeletedTurns; n > 0 {
			o.printf("Deleted the content of %s that was permanently deleted on another computer.\n", plural(n, "turn"))
		}
		o.printIf(done.DeletedHere > 0, "What others wrote in sessions that were permanently deleted here was not taken.\n")
		r.printProblems(o, done.Problems)
	}}, err
}

func printCode(o *output, c vault.Connected) {
	if c.Created {
		o.printf("The vault is created. Recovery code: %s\nKeep it apart from your computers: it opens the vault if the passphrase is lost. It is not shown again.\n", c.Code)
	}
}

func (r *run) printProblems(o *output, problems []error) {
	for _, p := range problems {
		e := r.describe(p)
		o.printf("%s\n", line(e.Message))
		o.printIf(e.Hint != "", "  %s\n", line(e.Hint))
	}
}

func vaultProblems(problems []error) error {
	if len(problems) == 0 {
		return nil
	}
	return problemsError(chat.Errorf(chat.CodeCorrupt, "cli.sync", "A part of the vault could not be used; nothing was deleted or overwritten."))
}

func checkVault(ctx context.Context, r *run) (reply, error) {
	stop := r.watch("sync", nil)
	done, err := r.s.Vault.Check(ctx)
	stop()
	if err == nil {
		err = vaultProblems(done.Problems)
	}
	doc := fields{
		{"devices", done.Devices}, {"files", done.Files}, {"events", done.Events}, {"bytes", done.Bytes},
		{"problems", lists.Map(done.Problems, r.describe)},
	}
	return reply{doc: doc, keepOnError: true, text: func(o *output) {
		o.printf("Read back: %s of %s, %s.\n", plural(done.Files, "file"), plural(done.Devices, "computer"), plural(done.Events, "event"))
		r.printProblems(o, done.Problems)
	}}, err
}

func vaultStatus(ctx context.Context, r *run) (reply, error) {
	status, err := r.s.Vault.Status(ctx)
	doc := fields{{"address", status.Address}, {"unsent", status.Unsent}, {"running", status.Running}, {"devices", deviceList(status)}, {"deletions", append([]vault.Deletion{}, status.Deletions...)}}
	return reply{doc: doc, text: func(o *output) {
		o.printf("Vault: %s\n", line(status.Address))
		devicesTable(status).print(o)
		for _, d := range status.Deletions {
			what := "session " + string(d.Session)
			if d.Of != "" {
				what = "content of session " + string(d.Session) + " (" + d.Of + ")"
			}
			o.printf("Deleted %s: in %s of the vault still", what, plural(d.Files, "file"))
			o.printIf(len(d.Waiting) > 0, ", and not deleted yet by %s", line(strings.Join(d.Waiting, ", ")))
			o.printf(".\n")
		}
		o.printIf(status.Unsent || status.Running > 0, "There are changes that were not sent yet.\n")
	}}, err
}

func deviceList(s vault.Status) []vault.Device { return append([]vault.Device{}, s.Devices...) }

func devicesTable(s vault.Status) *table {
	return tableOf("COMPUTER|THIS|REMOVED|>FILES|>READ|>SIZE|WRITTEN", s.Devices, func(d vault.Device) []any {
		written, _ := chat.ParseTime(d.Written) // of a device without files: none
		return []any{d.Name, d.This, d.Removed, d.Files, d.Known, size(d.Bytes), written}
	})
}
