package api

import (
	"context"
	"strings"
	"sync"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/tasks"
)

// Sealer seals the data directory. What converts files is done by the next process: the program restarts for it.
type Sealer interface {
	SealingView() (SealingView, error)
	// Unlock opens sealed data with its passphrase or recovery code; an empty one asks the keyring again.
	Unlock(secret string) error
	// LockNow forgets what opens the data.
	LockNow()
	NewCode() string
	// Seal seals plain data, or renews the key of sealed data, whose passphrase it must be. Without a passphrase the keyring
	// keeps the key, and the data opens with the user's sign-in.
	Seal(passphrase, code string) error
	// Opens returns an error unless a secret is the passphrase or the recovery code of the sealed data. Data that opens with the
	// sign-in has no passphrase, and needs none.
	Opens(secret string) error
	Unseal() error
	// SealLeft seals the copies in the data directory that are plain or have an earlier key.
	SealLeft(context.Context) error
	// SetPassphrase replaces the passphrase, or has the keyring keep the key instead.
	SetPassphrase(passphrase string) error
	SetCode(code string) error
}

// SealingView is what is sealed.
type SealingView struct {
	Sealed bool `json:"sealed"`
	// SignIn: the keyring keeps the key, so that there is no passphrase.
	SignIn bool `json:"signIn"`
	// Left and Outside are paths: copies in the data directory that are not sealed with its key, and copies in other places,
	// which are never converted.
	Left    []string `json:"left"`
	Outside []string `json:"outside"`
}

// Sealing seals the data, changes what opens it, and opens it.
type Sealing struct {
	c    *Core
	mu   sync.Mutex
	code string // shown, and not yet valid
}

// NewSealing returns the service.
func NewSealing(c *Core) *Sealing { return &Sealing{c: c} }

// View returns what is sealed.
func (s *Sealing) View() (SealingView, error) { return s.c.Sealer.SealingView() }

// Unlock opens sealed data with its passphrase or recovery code, or, without one, with the keyring: the program restarts
// and opens it.
//
// Errors: CodeConflict if the data is open, CodeSealed (it is neither of them), CodeNewer, CodeCorrupt.
func (s *Sealing) Unlock(secret string) error {
	if s.c.Fatal == nil {
		return chat.Errorf(chat.CodeConflict, "sealing.unlock", "The conversations are open already.")
	}
	return s.c.Sealer.Unlock(strings.TrimSpace(secret))
}

// Lock restarts the program, which then asks for the passphrase. Answers that are arriving end, and what has arrived of
// them is kept.
//
// Errors: CodeConflict (the data opens with the sign-in).
func (s *Sealing) Lock() error {
	if err := s.c.ready(); err != nil {
		return err
	}
	switch v, err := s.c.Sealer.SealingView(); {
	case err != nil:
		return err
	case v.SignIn:
		return chat.Errorf(chat.CodeConflict, "sealing.lock", "The data opens with your sign-in, so locking it would protect nothing.").
			WithHint("set a passphrase first")
	}
	s.c.Sealer.LockNow()
	return nil
}

// Active is called while somebody uses the window, at least twice a minute.
func (s *Sealing) Active() {
	if s.c.Active != nil {
		s.c.Active()
	}
}

// NewCode makes a recovery code, which Seal or SetCode makes valid.
func (s *Sealing) NewCode() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.code = s.c.Sealer.NewCode()
	return s.code
}

// Seal seals plain data with a passphrase and the code of NewCode, or renews the key of sealed data, whose passphrase it
// must be: the program restarts and does it.
//
// Errors: CodeInvalid (no passphrase, no code), CodeSealed (another passphrase), CodeConflict (tasks are running).
func (s *Sealing) Seal(passphrase string) error {
	if err := s.idle(); err != nil {
		return err
	}
	code, err := s.takeCode()
	if err == nil {
		passphrase, err = given(passphrase)
	}
	if err != nil {
		return err
	}
	return s.c.Sealer.Seal(passphrase, code)
}

// SealSignIn is Seal without a passphrase: the keyring keeps the key, and whoever signs in opens the data.
//
// Errors: CodeInvalid (no code), CodeUnavailable (the keyring does not store the key), CodeSealed (the data has a
// passphrase), CodeConflict (tasks are running).
func (s *Sealing) SealSignIn() error {
	if err := s.idle(); err != nil {
		return err
	}
	code, err := s.takeCode()
	if err != nil {
		return err
	}
	return s.c.Sealer.Seal("", code)
}

// Unseal stores the data plain again: the program restarts and does it. Like everything that changes what opens the data, it
// needs the passphrase or the recovery code, unless the data opens with the sign-in: an open window alone is not enough.
//
// Errors: CodeSealed (the secret is neither of them), CodeConflict (tasks are running), CodeNotFound (it is not sealed).
func (s *Sealing) Unseal(secret string) error {
	err := s.idle()
	if err == nil {
		err = s.opened(secret)
	}
	if err != nil {
		return err
	}
	return s.c.Sealer.Unseal()
}

// SealLeft seals the copies in the data directory that are plain, or have an earlier key, because they could not be sealed
// with the data. The task fails if some still cannot be sealed.
//
// Errors: CodeConflict (the data is open read-only, or it is being done).
func (s *Sealing) SealLeft() (TaskView, error) {
	if err := s.c.ready(); err != nil {
		return TaskView{}, err
	}
	if s.c.ReadOnly != "" {
		return TaskView{}, chat.Errorf(chat.CodeConflict, "sealing.left", "The data is open read-only.").WithHint("%s", s.c.ReadOnly)
	}
	return viewOf(s.c.Tasks.Start(tasks.Spec{Kind: tasks.Seal, Title: chat.Say("Seal the data")},
		func(ctx context.Context, _ *tasks.Progress) (tasks.Result, error) {
			return tasks.Result{}, s.c.Sealer.SealLeft(ctx)
		}))
}

// SetPassphrase replaces the passphrase. Backups that exist keep the earlier one. For secret, see Unseal.
func (s *Sealing) SetPassphrase(secret, passphrase string) error {
	passphrase, err := given(passphrase)
	if err == nil {
		err = s.opened(secret)
	}
	if err != nil {
		return err
	}
	return s.c.Sealer.SetPassphrase(passphrase)
}

// SetSignIn has the keyring keep the key, so that the data opens with the sign-in and has no passphrase any more.
// For secret, see Unseal.
//
// Errors: CodeUnavailable (the keyring does not store it).
func (s *Sealing) SetSignIn(secret string) error {
	if err := s.opened(secret); err != nil {
		return err
	}
	return s.c.Sealer.SetPassphrase("")
}

// SetCode makes the code of NewCode valid. Backups that exist keep the earlier one. For secret, see Unseal.
func (s *Sealing) SetCode(secret string) error {
	code, err := s.takeCode()
	if err == nil {
		err = s.opened(secret)
	}
	if err != nil {
		return err
	}
	return s.c.Sealer.SetCode(code)
}

// idle returns an error while a restart would interrupt something, or if the data is not open.
func (s *Sealing) idle() error {
	if err := s.c.ready(); err != nil {
		return err
	}
	return s.c.idle("sealing.begin")
}

// opened returns an error unless the data is open, and a secret opens it.
func (s *Sealing) opened(secret string) error {
	if err := s.c.ready(); err != nil {
		return err
	}
	return s.c.Sealer.Opens(strings.TrimSpace(secret))
}

// takeCode returns the code that was shown.
func (s *Sealing) takeCode() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.code == "" {
		return "", chat.Errorf(chat.CodeInvalid, "sealing.code", "There is no new recovery code; nothing was changed.")
	}
	return s.code, nil
}

// maxPassphrase limits a passphrase, in bytes.
const maxPassphrase = 1024

// given returns a passphrase as the command line reads it.
func given(passphrase string) (string, error) {
	passphrase = strings.TrimSpace(passphrase)
	if passphrase == "" || len(passphrase) > maxPassphrase || strings.ContainsAny(passphrase, "\r\n") {
		return "", chat.Errorf(chat.CodeInvalid, "sealing.passphrase", "A passphrase is one line of at most %d bytes; nothing was changed.", maxPassphrase)
	}
	return passphrase, nil
}
