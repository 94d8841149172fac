package app

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/cli"
	"contextinfinity/backend/config"
	"contextinfinity/backend/evaluation"
	"contextinfinity/backend/ipc"
	"contextinfinity/backend/services"
	"contextinfinity/backend/store"
	"contextinfinity/backend/turn"
	"contextinfinity/backend/vault"
)

const (
	// openTimeout is how long to wait for a program that has recorded its address but does not listen yet, because it
	// is still opening the data.
	openTimeout = 5 * time.Second
	// lockTimeout is how long to wait for a program that holds the lock but has not recorded its address: it may have
	// taken the lock just now.
	lockTimeout = 200 * time.Millisecond
	// verbTimeout is how long to wait for a verb that has the data open and serves no other process. Most verbs take
	// less, but an answer may stream for minutes.
	verbTimeout = 10 * time.Second
	// configInterval is how often a running program checks whether its configuration file has changed.
	configInterval = time.Second
)

// openStore opens the data. It waits for a verb that has the data open and will soon end. It does not wait for a
// long-running program, which has recorded its address and handles the request itself.
func openStore(ctx context.Context, o store.Options, opts cli.OpenOptions) (*store.Store, error) {
	for start := time.Now(); ; {
		s, err := store.Open(ctx, o)
		waited := time.Since(start)
		if chat.CodeOf(err) != chat.CodeLocked || o.ReadOnly || store.WriterAddress(o.DataDir) != "" || waited > max(verbTimeout, opts.WriterTimeout) {
			return s, err
		}
		if waited > verbTimeout && opts.OnWait != nil {
			opts.OnWait()
			opts.OnWait = nil
		}
		select {
		case <-ctx.Done():
			return s, err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// address returns the address on which this program will listen; empty if it will not. It creates the data directory,
// because the path must exist to be resolved.
func (a *app) address(o cli.OpenOptions) string {
	if !o.Serve || o.ReadOnly {
		return ""
	}
	dir := a.Config.Config().DataDir
	if err := store.MakeDir(dir); err != nil {
		return "" // the store's error describes the problem
	}
	address, err := ipc.Address(dir)
	if err != nil {
		a.Log.Warn("commands of other processes will not be accepted", "err", err)
		return ""
	}
	return address
}

// serve starts to handle the requests of other starts of the program. toFront and additional are nil without a window.
func (a *app) serve(toFront func(cli.OpenOptions), additional *windows) {
	address := store.WriterAddress(a.Config.Config().DataDir)
	if address == "" {
		return
	}
	l, err := ipc.Listen(address)
	if err != nil {
		a.Log.Warn("commands of other processes are not accepted", "err", err)
		return
	}
	server := ipc.Serve(l, ipc.Options{
		Version: version, Log: a.Log,
		Check:  func(c ipc.Request) error { return a.checkRequest(c, toFront != nil) },
		Window: func(c ipc.Request, conn net.Conn, signals <-chan os.Signal) { additional.serve(c, conn, signals) },
		Run: func(c ipc.Request, s ipc.Streams) int {
			if len(c.Args) == 0 {
				toFront(cli.OpenOptions{Files: c.Paths(), NewChat: c.NewChat})
				return 0
			}
			return a.runVerb(c, s)
		},
	})
	a.onClose(func(ctx context.Context) error { // only part of closeTimeout, so that the other steps have time
		ctx, cancel := context.WithTimeout(ctx, closeTimeout/2)
		defer cancel()
		server.Stop(ctx)
		return nil
	})
}

// watchConfig applies changes that an editor, or `config set` in a terminal, makes while the program runs.
func (a *app) watchConfig() {
	a.run(func(ctx context.Context) {
		a.Config.Watch(ctx, configInterval, func() { a.fanout.Change(chat.Change{Kind: chat.ChangeSettings}) })
	})
}

// checkRequest refuses a request that would behave differently here than in its own process.
func (a *app) checkRequest(c ipc.Request, window bool) error {
	const op = "ipc.check"
	if len(c.Args) == 0 {
		if window {
			return nil
		}
		return chat.Errorf(chat.CodeLocked, op, "A conversation in a terminal (pid %d) has this data open.", os.Getpid()).
			WithHint("leave it first, or continue there")
	}
	if own := realPath(a.Config.Path()); c.Config != own {
		return chat.Errorf(chat.CodeConflict, op, "The program that has this data open is configured by %s, this command by %s; nothing was done.", own, c.Config).
			WithHint("use the same configuration, or close that program")
	}
	return nil
}

// runVerb runs a verb of another start of the program with this program's services. It reads the configuration file
// again first, because `config set` may just have changed it.
func (a *app) runVerb(c ipc.Request, s ipc.Streams) int {
	if a.Config.Refresh() {
		a.fanout.Change(chat.Change{Kind: chat.ChangeSettings})
	}
	var mu sync.Mutex
	var cancels []func()
	open := func(ctx context.Context, o cli.OpenOptions) (*cli.Services, error) {
		cancel := a.fanout.subscribe(o.Publish)
		mu.Lock()
		cancels = append(cancels, cancel)
		mu.Unlock()
		s := &cli.Services{Set: &a.Set, Close: func() error { cancel(); return nil }}
		var err error
		if o.Reconcile {
			s.Recovery, err = a.Reconciler.Reconcile(ctx)
		}
		return s, err
	}
	t := cli.Terminals(c.Terminals)
	code := cli.Run(context.Background(), cli.App{
		Version:   version,
		Commit:    commit,
		In:        s.In,
		Out:       s.Out,
		Err:       s.Err,
		Redact:    a.Keys.Redactor().Redact,
		Documents: documentReader(),
		Dir:       c.Dir,
		Signals:   s.Signals,
		Terminals: &t,
		Open:      open,
		OpenSetup: func(context.Context, cli.OpenOptions) (*services.Setup, error) { return &a.Setup, nil },
		OpenBench: func(ctx context.Context, o cli.OpenOptions) (*evaluation.Bench, error) {
			return openBench(ctx, o, a.Keys.Store)
		},
	}, c.ArgStrings())
	mu.Lock()
	defer mu.Unlock()
	for _, cancel := range cancels {
		cancel() // a verb may have ended without closing
	}
	a.Jobs.Wake()
	a.fanout.Change(chat.Change{Kind: chat.ChangeSessions}) // the verb may have changed sessions
	return code
}

// handOver lets the program that has the data open run a command line.
func handOver(ctx context.Context, o cli.OpenOptions, h cli.Handover) (int, bool, error) {
	cfg, _ := config.Open(config.Options{Path: o.ConfigPath, DataDir: o.DataDir, Set: o.Set})
	request := ipc.NewRequest(h.Args)
	request.Config, request.Terminals = realPath(cfg.Path()), ipc.Terminals(h.Terminals)
	var err error
	if request.Dir, err = os.Getwd(); err != nil {
		return 0, false, chat.WrapError(chat.CodeInvalid, "ipc.ask", err, "The working directory no longer exists; nothing was done.")
	}
	var code int
	served, err := askServer(ctx, cfg.Config().DataDir, func(address string) (err error) {
		code, err = ipc.Send(ctx, address, version, request, ipc.ClientIO{
			In: h.In, Out: h.Out, Err: h.Err, Interrupts: h.Interrupts, Server: store.WriterPid(cfg.Config().DataDir),
		})
		return err
	})
	return code, served, err
}

// raiseOther brings the window of the program that has the data open to the front, and passes it the files of this
// start. If that program accepts no requests, raiseOther returns the lock's error.
func raiseOther(o cli.OpenOptions, locked error) error {
	cfg, _ := config.Open(config.Options{Path: o.ConfigPath, DataDir: o.DataDir, Set: o.Set})
	ctx := context.Background()
	served, err := askServer(ctx, cfg.Config().DataDir, func(address string) error {
		_, err := ipc.Send(ctx, address, version, ipc.ToFront(o.Files, o.NewChat), ipc.ClientIO{})
		return err
	})
	if err == nil && !served {
		return locked
	}
	return err
}

// askServer calls send with the address of the program that has a data directory open, once it listens. The result is
// false if no program listens.
func askServer(ctx context.Context, dir string, send func(address string) error) (served bool, err error) {
	for start := time.Now(); ; {
		wait := lockTimeout
		if address := store.WriterAddress(dir); address != "" {
			if err := send(address); !errors.Is(err, ipc.ErrNoServer) {
				return true, err
			}
			wait = openTimeout
		}
		if time.Since(start) > wait {
			return false, nil
		}
		select {
		case <-ctx.Done():
			return true, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// realPath returns the canonical path of a file.
func realPath(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return path
}

// fanout publishes to the program's own window or verb, and to the verbs that it runs for other processes.
type fanout struct {
	main     turn.Publisher
	schedule *vault.Schedule // learns what may have to be sent; nil while the program opens the data

	mu          sync.RWMutex
	subscribers []*subscriber
}

type subscriber struct{ turn.Publisher }

func (f *fanout) subscribe(p turn.Publisher) (cancel func()) {
	s := &subscriber{p}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.subscribers = append(f.subscribers, s)
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.subscribers = slices.DeleteFunc(f.subscribers, func(other *subscriber) bool { return other == s })
	}
}

// Frame implements turn.Publisher.
func (f *fanout) Frame(frame chat.Frame) {
	f.main.Frame(frame)
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, s := range f.subscribers {
		s.Frame(frame)
	}
}

// schedules passes a change on to the schedule of exchanges.
func (f *fanout) schedules(c chat.Change) {
	switch {
	case f.schedule == nil:
	case c.Kind == chat.ChangeVault || c.Kind == chat.ChangeJobs: // a vault may have been chosen, or a pause has ended
		f.schedule.Changed()
	case c.Kind == chat.ChangeTurn || c.Kind == chat.ChangeHead || c.Kind == chat.ChangeSession || c.Kind == chat.ChangePins || c.Kind == chat.ChangeLibrary:
		f.schedule.Written()
	}
}

// Change implements turn.Publisher.
func (f *fanout) Change(c chat.Change) {
	f.main.Change(c)
	f.schedules(c)
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, s := range f.subscribers {
		s.Change(c)
	}
}
