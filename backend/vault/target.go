package vault

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/secrets"
)

// Target says where a vault is, and as whom that place is used.
type Target struct {
	// Address is a folder, https://HOST/PATH/ for WebDAV, or s3:https://HOST/BUCKET/PREFIX; there, ?region=REGION may
	// follow. http:// is for this computer only.
	Address string `json:"address"`
	// User is the name, or the id of an S3 key; empty: none is needed.
	User string `json:"user"`
	// Password is the password, or the secret S3 key, or ${env:NAME}, a variable of the environment. It is kept in the
	// keyring, and never printed.
	Password string `json:"-"`
}

// Remote reports whether the address is not a folder.
func (t Target) Remote() bool { return strings.Contains(t.Address, "://") }

// Format hides the password from every verb.
func (t Target) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "%s, user %q", t.Address, t.User) }

var environment = regexp.MustCompile(`^\$\{env:([A-Za-z_][A-Za-z0-9_]{0,127})\}$`)

// check completes a target that is to be connected; env is the variable that its password comes from.
func (v *Vault) check(t *Target) (env string, err error) {
	if !t.Remote() {
		if t.User != "" || t.Password != "" {
			return "", chat.Errorf(chat.CodeInvalid, opConnect, "A folder has no user and no password; nothing was changed.")
		}
		if info, err := os.Stat(t.Address); err != nil || !info.IsDir() {
			return "", chat.WrapError(chat.CodeNotFound, opConnect, err, "There is no folder %s; nothing was changed.", t.Address).
				WithHint("create it first, or connect the drive")
		}
		if t.Address, err = filepath.Abs(t.Address); err != nil {
			return "", chat.WrapError(chat.CodeInvalid, opConnect, err, "The path cannot be used.")
		}
		return "", nil
	}
	if t.User != "" && t.Password == "" { // it is connected again
		t.Password, _ = v.Secrets.Text(account(t.Address, t.User))
	}
	if (t.User == "") != (t.Password == "") {
		return "", chat.Errorf(chat.CodeInvalid, opConnect, "A user and a password belong together; nothing was changed.")
	}
	if found := environment.FindStringSubmatch(t.Password); found != nil {
		t.Password, err = v.variable(found[1])
		return found[1], err
	}
	if strings.HasPrefix(t.Password, "${env:") {
		return "", chat.Errorf(chat.CodeInvalid, opConnect, "This is not the name of a variable of the environment; nothing was changed.")
	}
	v.Secrets.Redactor().Add(t.Password)
	if t.Password != "" && !v.Secrets.KeyringOK() {
		return "", noKeyring()
	}
	return "", nil
}

func noKeyring() error {
	return chat.Errorf(chat.CodeUnavailable, opConnect, "No keyring is available on this system, so the password of the vault cannot be kept; nothing was changed.").
		WithHint("name a variable of the environment instead: ${env:NAME}")
}

func (v *Vault) variable(name string) (string, error) {
	key, _ := v.Secrets.Get("", name)
	if key.IsZero() {
		return "", chat.Errorf(chat.CodeAuth, opSync, "The password of the vault comes from the variable %s, which is not set. Nothing was changed.", name).
			WithHint("set %s where this program is started", name)
	}
	return key.Reveal(), nil
}

// account is the name of a password in the keyring.
func account(address, user string) string { return "vault/" + user + "@" + address }

// keep stores the password of a target in the keyring.
func (v *Vault) keep(t Target, env string) error {
	if t.Password == "" || env != "" {
		return nil
	}
	source, err := v.Secrets.SetText(account(t.Address, t.User), t.Password)
	if err == nil && source != secrets.SourceKeyring {
		err = noKeyring()
	}
	return err
}

// forget removes the password of the place before from the keyring, unless it is still used.
func (v *Vault) forget(before, now state) {
	old := account(before.Address, before.User)
	if before.User != "" && before.Env == "" && (now.Env != "" || old != account(now.Address, now.User)) {
		_ = v.Secrets.Remove(old) // otherwise it stays in a keyring that does not answer
	}
}

// reach returns the place of the vault that is remembered.
func (v *Vault) reach(s state) (_ Place, err error) {
	t := Target{Address: s.Address, User: s.User}
	switch {
	case s.Env != "":
		if t.Password, err = v.variable(s.Env); err != nil {
			return nil, err
		}
	case s.User != "":
		var ok bool
		if t.Password, ok = v.Secrets.Text(account(s.Address, s.User)); !ok {
			return nil, chat.Errorf(chat.CodeAuth, opSync, "The keyring does not have the password of %s for %s. Nothing was changed here or there.", s.User, s.Address).
				WithHint("unlock the keyring, or give it again: Settings, Several computers, or contextinfinity sync --vault ADDRESS --user USER --password-file FILE")
		}
	}
	return v.Place(t)
}
