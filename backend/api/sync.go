package api

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/tasks"
	"contextinfinity/backend/vault"
)

// Sync keeps the sessions of several computers together, through a vault.
type Sync struct {
	c    *Core
	mu   sync.Mutex
	code string // shown, and not yet valid
	// asking is the context of what asks a place; stop ends it.
	asking context.Context
	stop   context.CancelFunc
}

// NewSync returns the service.
func NewSync(c *Core) *Sync { return &Sync{c: c} }

// View returns what is known, without asking the vault.
func (s *Sync) View() (SyncView, error) {
	l, err := s.c.Vault.Latest(s.c.ctx())
	v := SyncView{
		Connected: l.Connected,
		Address:   l.Address,
		User:      l.User,
		Automatic: s.c.Config.Config().Sync.Automatic,
		Paused:    s.c.Reconciler.Paused(),
		Attention: l.Attention(time.Now()),
		Busy:      l.Busy,
		Read:      l.Read,
		All:       l.All,
		Turns:     l.Report.ReceivedTurns,
		Waiting:   len(l.Report.Running),
		Problems:  lists.Map(l.Report.Problems, func(p error) ErrorView { return errorView(chat.AsError(p)) }),
		Devices:   lists.Map(l.Devices, syncDevice),
	}
	if !l.Exchanged.IsZero() {
		v.ExchangedAt = l.Exchanged.UnixMilli()
	}
	if l.Err != nil {
		view := errorView(chat.AsError(l.Err))
		v.Error = &view
	}
	return v, err
}

func syncDevice(d vault.Device) SyncDevice {
	v := SyncDevice{Name: d.Name, Log: d.Log, This: d.This, Removed: d.Removed, Files: d.Files, Known: d.Known}
	if d.This {
		v.Known = d.Files
	}
	if at, err := chat.ParseTime(d.Written); err == nil {
		v.WrittenAt = at.UnixMilli()
	}
	return v
}

func (p SyncPlace) target() vault.Target {
	return vault.Target{Address: strings.TrimSpace(p.Address), User: strings.TrimSpace(p.User), Password: p.Password}
}

// Find reports whether there is a vault in a place; otherwise Connect creates one.
//
// Errors: CodeNotFound (no such folder, or parts of a vault without its vault.json), CodeUnavailable, CodeAuth, CodeInvalid.
func (s *Sync) Find(place SyncPlace) (bool, error) {
	return s.find(s.ask(), place)
}

func (s *Sync) find(ctx context.Context, place SyncPlace) (bool, error) {
	if strings.TrimSpace(place.Address) == "" {
		return false, chat.Errorf(chat.CodeInvalid, "sync.find", "No folder and no address was given.")
	}
	return s.c.Vault.Find(ctx, place.target())
}

// ask returns a context that Cancel ends.
func (s *Sync) ask() context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asking == nil || s.asking.Err() != nil {
		s.asking, s.stop = context.WithCancel(s.c.ctx())
	}
	return s.asking
}

// Cancel ends a running Find, Connect or Remove.
func (s *Sync) Cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop != nil {
		s.stop()
	}
}

// NewCode makes a recovery code, which Connect makes valid if it creates a vault, and Remove.
func (s *Sync) NewCode() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.code = s.c.Sealer.NewCode()
	return s.code
}

// Connect chooses the vault in a place, or creates it there with a passphrase and the code of NewCode, and exchanges in the
// background. secret is the vault's passphrase or recovery code.
//
// Errors: those of Find, CodeInvalid (no passphrase, no code), CodeSealed (it is neither of them), CodeCorrupt, CodeNewer.
func (s *Sync) Connect(place SyncPlace, secret string) (created bool, err error) {
	secret, err = given(secret)
	if err != nil {
		return false, err
	}
	ctx := s.ask()
	found, err := s.find(ctx, place)
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	code := s.code
	s.mu.Unlock()
	if code == "" && !found {
		return false, chat.Errorf(chat.CodeInvalid, "sync.connect", "There is no new recovery code; nothing was changed.")
	}
	out, err := s.c.Vault.ConnectWith(ctx, place.target(), secret, code)
	if err == nil {
		s.c.VaultSchedule.Now()
	}
	return out.Created, err
}

// Remove excludes another computer, by its log, from what is written to the vault from now on: that has a new key, the
// passphrase and the code of NewCode. secret is the passphrase or recovery code until now; anyway: what cannot be read of what
// the computer had sent counts no more.
//
// Errors: those of Find, CodeInvalid (no passphrase, no code), CodeSealed (it is neither of them), CodeConflict (another computer did the same),
// CodeCorrupt (something cannot be read).
func (s *Sync) Remove(log, secret, passphrase string, anyway bool) error {
	secret, err := given(secret)
	if err == nil {
		passphrase, err = given(passphrase)
	}
	if err == nil {
		err = s.writable("sync.remove")
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	code := s.code
	s.mu.Unlock()
	if code == "" {
		return chat.Errorf(chat.CodeInvalid, "sync.remove", "There is no new recovery code; nothing was changed.")
	}
	_, err = s.c.Vault.Remove(s.ask(), vault.Removal{Device: log, Secret: secret, Passphrase: passphrase, Code: code, Anyway: anyway})
	return err
}

// Now exchanges in the background.
func (s *Sync) Now() error {
	if err := s.writable("sync.now"); err != nil {
		return err
	}
	s.c.Vault.TryAll()
	s.c.VaultSchedule.Now()
	return nil
}

func (s *Sync) writable(op string) error {
	if s.c.ReadOnly != "" {
		return chat.Errorf(chat.CodeLocked, op, "The data is open read-only, so nothing can be exchanged.")
	}
	return nil
}

// Check reads back everything in the vault. It changes nothing.
func (s *Sync) Check() (TaskView, error) {
	return viewOf(s.c.Tasks.Start(tasks.Spec{Kind: tasks.CheckVault, Title: chat.Say("Check the vault")}, s.checking))
}

func (s *Sync) checking(ctx context.Context, _ *tasks.Progress) (tasks.Result, error) {
	done, err := s.c.Vault.Check(ctx)
	if err != nil {
		return tasks.Result{}, err
	}
	report := CheckReport{Problems: len(done.Problems), Findings: []chat.Phrase{}}
	for _, p := range done.Problems[:min(len(done.Problems), maxFindings)] {
		report.Findings = append(report.Findings, chat.AsError(p).Said())
	}
	raw, err := json.Marshal(report)
	return tasks.Result{Report: raw}, err
}

// Disconnect forgets the vault. It stays as it is, and so does everything here.
func (s *Sync) Disconnect() error { return s.c.Vault.Disconnect(s.c.ctx()) }
