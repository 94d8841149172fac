package vault

import (
	"context"
	"errors"
	"time"

	"contextinfinity/backend/chat"
)

const (
	// rememberEvery is how old what is stored of the last exchange may be, if nothing was exchanged.
	rememberEvery = time.Hour
	// A place may be out of reach, and files may be missing, for some time before that is news: a laptop is on a train, and
	// a program that synchronizes folders has no order.
	reachPatience   = time.Hour
	problemPatience = 10 * time.Minute
)

// Latest is what this run knows of its vault. It is returned at once, also during an exchange.
type Latest struct {
	Connected bool
	Address   string
	User      string // of the place; empty: none is needed
	// Exchanged is the end of the last exchange without an error; zero: there was none.
	Exchanged time.Time

	Busy bool  // an exchange runs
	Read int64 // files of others that it has read
	All  int64 // files of others that it has to read

	// Of the exchange that runs, otherwise of the last one of this run.
	Report  Report
	Err     error    // it ended with this
	Devices []Device // empty: not known yet

	troubled time.Time // since when exchanges have had problems; zero: the last one had none
}

// Attention reports whether something is not as it should be and may not pass by itself.
func (l Latest) Attention(now time.Time) bool {
	switch {
	case !l.Connected:
		return false
	case l.Err == nil:
		return !l.troubled.IsZero() && now.Sub(l.troubled) >= problemPatience
	case chat.CodeOf(l.Err) == chat.CodeUnavailable, chat.CodeOf(l.Err) == chat.CodeNotFound: // perhaps a drive that is not there
		return now.Sub(l.Exchanged) >= reachPatience
	}
	return true
}

// Latest returns what is known without asking the vault.
func (v *Vault) Latest(ctx context.Context) (Latest, error) {
	s, err := v.state(ctx)
	v.mu.Lock()
	l := v.latest
	v.mu.Unlock()
	if chat.CodeOf(err) == chat.CodeNotFound {
		return Latest{Busy: l.Busy}, nil
	}
	if remembered, err := chat.ParseTime(s.Exchanged); err == nil && remembered.After(l.Exchanged) {
		l.Exchanged = remembered
	}
	l.Connected, l.Address, l.User = true, s.Address, s.User
	return l, err
}

// note changes what Latest returns.
func (v *Vault) note(change func(*Latest)) {
	v.mu.Lock()
	change(&v.latest)
	v.mu.Unlock()
	if v.Noted != nil {
		v.Noted()
	}
}

// begun says what the exchange will do.
func (x *exchange) begun() {
	all := int64(0)
	for _, device := range x.others() {
		if !x.removed(device) { // its later files do not count
			all += max(0, x.last(device)-x.at(device).Number)
		}
	}
	devices := x.devices()
	x.note(func(l *Latest) { l.Read, l.All, l.Report, l.Devices = 0, all, Report{}, devices })
}

// progress says what the exchange has done so far; read is the number of files since the last call.
func (x *exchange) progress(read int) {
	report := x.report
	report.Sessions, report.Running, report.Problems = nil, nil, nil
	x.note(func(l *Latest) { l.Read, l.Report = min(l.Read+int64(read), l.All), report })
}

// ended is the end of an exchange. One that was interrupted says nothing.
func (l *Latest) ended(report Report, devices []Device, err error, now time.Time) {
	l.Busy = false
	if errors.Is(err, context.Canceled) {
		return
	}
	l.Report, l.Err = report, err
	if len(devices) > 0 {
		l.Devices = devices
	}
	if err == nil {
		l.Exchanged = now
	}
	switch {
	case len(report.Problems) == 0:
		l.troubled = time.Time{}
	case l.troubled.IsZero():
		l.troubled = now
	}
}

// remember stores when this exchange was, if it did something or the last one is long ago.
func (x *exchange) remember() error {
	now := x.Now()
	last, err := chat.ParseTime(x.state.Exchanged)
	if err == nil && now.Sub(last).Abs() < rememberEvery && x.report.SentFiles+x.report.ReceivedFiles == 0 {
		return nil
	}
	x.state.Exchanged = chat.FormatTime(now)
	return x.put(x.ctx, x.state, nil)
}

// Disconnect forgets the vault, and the password of its place. What it has stays there, and what came from it stays here. A
// running exchange is ended.
func (v *Vault) Disconnect(ctx context.Context) error {
	done, err := v.useAlone(ctx, "vault.disconnect")
	if err != nil {
		return err
	}
	defer done()
	before, err := v.state(ctx)
	if chat.CodeOf(err) == chat.CodeNotFound {
		return nil
	}
	if err == nil {
		err = v.Store.NewVault(ctx, nil)
	}
	if err == nil {
		v.forget(before, state{})
		v.note(func(l *Latest) { *l = Latest{} })
	}
	return err
}
