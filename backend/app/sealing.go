package app

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"contextinfinity/backend/api"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/desktop"
	"contextinfinity/backend/internal/seal"
	"contextinfinity/backend/services"
	"contextinfinity/backend/store"
	"contextinfinity/backend/tasks"
)

const opSealing = "sealing.begin"

// SealingView implements api.Sealer.
func (d dataFolder) SealingView() (api.SealingView, error) {
	v := api.SealingView{Left: []string{}, Outside: append([]string{}, d.Outside()...)}
	lock, sealed, err := d.SealedWith()
	v.Sealed, v.SignIn = sealed, sealed && lock.SignIn()
	if err != nil || !sealed {
		return v, err
	}
	v.Left, err = d.LeftCopies()
	return v, err
}

// Unlock implements api.Sealer.
func (d dataFolder) Unlock(secret string) error {
	seal.Offer(secret)
	err := store.Unlock(d.dir, d.Keys.DataKey)
	if err == nil {
		_, _, err = d.Lock()
	}
	if err != nil && chat.CodeOf(err) != chat.CodeNotFound { // not found: it is not sealed any more
		seal.Offer("")
		return err
	}
	d.Restart()
	return nil
}

// LockNow implements api.Sealer.
func (d dataFolder) LockNow() { restartWith(handover{}) }

// NewCode implements api.Sealer.
func (dataFolder) NewCode() string { return seal.NewCode() }

// Seal implements api.Sealer.
func (d dataFolder) Seal(passphrase, code string) error {
	switch lock, _, err := d.Lock(); {
	case chat.CodeOf(err) == chat.CodeNotFound: // it is plain
	case err != nil:
		return err
	case lock.SignIn() && passphrase == "":
	case !lock.OpensPassphrase(passphrase):
		return chat.Errorf(chat.CodeSealed, opSealing, "This is not the passphrase of the data; nothing was changed.")
	}
	key := seal.NewKey()
	lock, err := seal.NewLock(key, passphrase, code)
	if err == nil && lock.SignIn() {
		err = d.app.Store.KeepKey(key) // a keyring that does not store it is better known before the restart
	}
	if err != nil {
		return err
	}
	restartTo(reseal{Lock: lock, Key: key, Secret: passphrase})
	return nil
}

// Opens implements api.Sealer.
func (d dataFolder) Opens(secret string) error {
	lock, _, err := d.Lock()
	if err != nil || lock.SignIn() {
		return err
	}
	_, err = lock.Open(secret)
	if errors.Is(err, seal.ErrPassphrase) {
		return chat.Errorf(chat.CodeSealed, opSealing, "This is neither the passphrase nor the recovery code of the data; nothing was changed.").
			WithHint("check Caps Lock and the layout of the keyboard")
	}
	if err != nil {
		return chat.Errorf(chat.CodeSealed, opSealing, "The lock cannot be opened with it: the lock file is damaged; nothing was changed.").
			WithHint("use the other one of passphrase and recovery code, or restore lock.json from a backup")
	}
	return nil
}

// Unseal implements api.Sealer.
func (dataFolder) Unseal() error {
	restartTo(reseal{})
	return nil
}

// SealLeft implements api.Sealer.
func (d dataFolder) SealLeft(ctx context.Context) error {
	result, err := d.app.Store.SealLeft(ctx)
	if err != nil {
		return err
	}
	return leftError(result)
}

// leftError is the error for copies that could not be converted; nil: there are none.
func leftError(s services.Sealing) error {
	if len(s.Left) == 0 {
		return nil
	}
	return chat.Errorf(chat.CodeCorrupt, opSealing, "These copies of the data could not be converted, and are as they were: %s", strings.Join(s.Left, ", ")).
		WithHint("delete them, or keep them in mind")
}

// SetPassphrase implements api.Sealer.
func (d dataFolder) SetPassphrase(passphrase string) error {
	err := d.app.Store.SetPassphrase(passphrase)
	if err == nil {
		seal.Offer(passphrase)
	}
	return err
}

// SetCode implements api.Sealer.
func (d dataFolder) SetCode(code string) error {
	return d.app.Store.SetCode(code)
}

// reseal is what the next process does before it opens the data: it seals it with another key, or stores it plain if
// there is none.
type reseal struct {
	Lock   seal.Lock `json:"lock"`
	Key    seal.Key  `json:"key"`
	Secret string    `json:"secret"` // the passphrase of the lock, if it has one
}

// run converts the data. After an error it is as before, or the next start continues.
func (r *reseal) run(ctx context.Context, s services.Setup) *pendingResult {
	done := &pendingResult{Spec: tasks.Spec{Kind: tasks.Seal, Title: chat.Say("Seal the data")}}
	if r.Lock.Key == "" {
		done.Title = chat.Say("Store the data plain")
		seal.UseNone()
	} else {
		seal.Use(r.Lock, r.Key)
	}
	result, err := s.Archive().Reseal(ctx)
	if err == nil {
		err = leftError(result)
	}
	if done.err = err; r.Secret != "" {
		seal.Offer(r.Secret)
	}
	seal.UseNone() // what is on the disk decides
	if err := store.Unlock(s.Config.Config().DataDir, s.Keys.DataKey); done.err == nil {
		done.err = err
	}
	return done
}

// lockWhenUnused locks sealed data that nobody has used for as long as the setting says. It waits for running answers.
func (a *app) lockWhenUnused(core *api.Core) {
	const check = 10 * time.Second
	var used atomic.Int64
	core.Active = func() { used.Store(time.Now().UnixNano()); a.VaultSchedule.Used() }
	core.Active()
	a.run(func(ctx context.Context) {
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(check):
			}
			minutes := a.Config.Config().Desktop.LockMinutes
			if unusedFor(used.Load(), time.Now(), minutes) && len(a.Turns.Running()) == 0 && locksNow() {
				core.Sealer.LockNow()
				return
			}
		}
	})
}

// unusedFor reports whether a number of minutes has passed since the last use; 0: never.
func unusedFor(used int64, now time.Time, minutes int) bool {
	return minutes > 0 && now.Sub(time.Unix(0, used)) >= time.Duration(minutes)*time.Minute
}

// locksNow reports whether the data is sealed, and locking it protects it: the keyring would open it again.
func locksNow() bool {
	lock, _, sealed := seal.Current()
	return sealed && !lock.SignIn()
}

// restartTo restarts the program with what opens the data, to convert it.
func restartTo(r reseal) {
	h := handedOver()
	h.Reseal = &r
	restartWith(h)
}

// restartWith restarts the program once its window has closed.
func restartWith(h handover) {
	visible, _ := desktop.Watched()
	h.Hidden = !visible
	restartRequested.Store(&h)
	desktop.Quit()
}
