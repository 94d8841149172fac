package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/cli"
	"contextinfinity/backend/config"
	"contextinfinity/backend/evaluation"
	"contextinfinity/backend/handover"
	"contextinfinity/backend/store"
	"contextinfinity/backend/turn"
)

// How long a start of the program waits until the one that has the data open listens: a longer time if it has
// recorded its address but is still opening, a shorter one otherwise, because it may have taken the lock just now.
const (
	openingTime = 5 * time.Second
	lockingTime = 200 * time.Millisecond
	// verbTime is how long to wait for a verb that has the data open and serves no other process: most take less. An
	// answer may stream for minutes.
	verbTime = 3 * time.Second
)

// openStore opens the data. It waits for a verb that will soon be done; a long-running program has recorded its
// address, and handles the request.
func openStore(ctx context.Context, o store.Options, by cli.OpenOptions) (*store.Store, error) {
	for begun := time.Now(); ; {
		s, err := store.Open(ctx, o)
		waited := time.Since(begun)
		if chat.CodeOf(err) != chat.CodeLocked || o.ReadOnly || store.WriterAddress(o.DataDir) != "" || waited > max(verbTime, by.Patience) {
			return s, err
		}
		if waited > verbTime && by.Waits != nil {
			by.Waits()
			by.Waits = nil
		}
		select {
		case <-ctx.Done():
			return s, err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// address is where this program will listen, empty if it will not. The directory is created, because the path must
// exist to be resolved.
func (a *app) address(o cli.OpenOptions) string {
	if !o.Serve || o.ReadOnly {
		return ""
	}
	dir := a.config.Config().DataDir
	if err := store.MakeDir(dir); err != nil {
		return "" // the store's error describes the problem
	}
	address, err := handover.Address(dir)
	if err != nil {
		a.log.Warn("commands of other processes will not be accepted", "err", err)
		return ""
	}
	return address
}

// serve handles the requests of other starts of the program from now on. toFront and further are nil without a
// window.
func (a *app) serve(toFront func(cli.OpenOptions), further *windows) {
	address := store.WriterAddress(a.config.Config().DataDir)
	if address == "" {
		return
	}
	l, err := handover.Listen(address)
	if err != nil {
		a.log.Warn("commands of other processes are not accepted", "err", err)
		return
	}
	a.server = handover.Serve(l, handover.Options{
		Version: version, Log: a.log,
		Check: func(c handover.Call) error { return a.checkCall(c, toFront != nil) },
		Run: func(c handover.Call, s handover.Streams) int {
			if c.Window {
				return further.serve(c, s)
			}
			if len(c.Args) == 0 {
				toFront(cli.OpenOptions{Files: c.Paths(), NewChat: c.NewChat})
				return 0
			}
			return a.carryOut(c, s)
		},
	})
}

// stopServing ends the calls of others and leaves time for the rest.
func (a *app) stopServing(ctx context.Context) {
	if a.server == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, closeTimeout/2)
	defer cancel()
	a.server.Stop(ctx)
}

// checkCall refuses a call that would behave differently here than in its own process.
func (a *app) checkCall(c handover.Call, window bool) error {
	const op = "handover.check"
	if len(c.Args) == 0 {
		if window {
			return nil
		}
		return chat.Errorf(chat.CodeLocked, op, "A conversation in a terminal (pid %d) has this data open.", os.Getpid()).
			WithHint("leave it first, or continue there")
	}
	if mine := realPath(a.config.Path()); c.Config != mine {
		return chat.Errorf(chat.CodeConflict, op, "The program that has this data open is configured by %s, this command by %s; nothing was done.", mine, c.Config).
			WithHint("use the same configuration, or close that program")
	}
	return nil
}

// carryOut runs a verb of another start of the program with this one's services, and with the configuration as the
// file has it now: `config set` may have changed it a moment ago.
func (a *app) carryOut(c handover.Call, s handover.Streams) int {
	if a.config.Refresh() {
		a.fanout.Change(chat.Change{Kind: chat.ChangeSettings})
	}
	var mu sync.Mutex
	var left []func()
	open := func(ctx context.Context, o cli.OpenOptions) (*cli.Services, error) {
		services := a.services()
		leave := a.fanout.join(o.Publish)
		mu.Lock()
		left = append(left, leave)
		mu.Unlock()
		services.Close = func() error { leave(); return nil }
		var err error
		if o.Reconcile {
			services.Recovery, err = a.upkeep.Reconcile(ctx)
		}
		return services, err
	}
	t := cli.Terminals(c.Terminals)
	code := cli.Run(context.Background(), cli.App{
		Version: version, Commit: commit, In: s.In, Out: s.Out, Err: s.Err, Redact: a.keys.Redactor().Redact, Documents: documentReader(),
		Dir: c.Dir, Signals: s.Signals, Terminals: &t, Open: open,
		OpenSetup: func(context.Context, cli.OpenOptions) (*cli.Setup, error) {
			return &cli.Setup{Config: a.config, Keys: verbKeys{a.setup}, Models: verbModels{a.catalog}}, nil
		},
		OpenBench: func(ctx context.Context, o cli.OpenOptions) (*evaluation.Bench, error) {
			return openBench(ctx, o, a.keys.Store)
		},
	}, c.Words())
	mu.Lock()
	defer mu.Unlock()
	for _, leave := range left {
		leave() // also for a verb that exited without closing
	}
	a.jobs.Wake()
	a.fanout.Change(chat.Change{Kind: chat.ChangeSessions}) // it may have changed sessions
	return code
}

// handOver lets the program that is the writer run a command line.
func handOver(ctx context.Context, o cli.OpenOptions, h cli.Handover) (int, bool, error) {
	cfg, _ := config.Open(config.Options{Path: o.ConfigPath, DataDir: o.DataDir, Set: o.Set})
	call := handover.NewCall(h.Args)
	call.Config, call.Terminals = realPath(cfg.Path()), handover.Terminals(h.Terminals)
	var err error
	if call.Dir, err = os.Getwd(); err != nil {
		return 0, false, chat.WrapError(chat.CodeInvalid, "handover.ask", err, "The working directory no longer exists; nothing was done.")
	}
	return ask(ctx, cfg.Config().DataDir, call, handover.Asker{In: h.In, Out: h.Out, Err: h.Err, Interrupts: h.Interrupts})
}

// raiseOther brings another program's window on this data to the front, and passes on this start's files. If that
// program accepts no requests, the lock's error is returned.
func raiseOther(o cli.OpenOptions, locked error) error {
	cfg, _ := config.Open(config.Options{Path: o.ConfigPath, DataDir: o.DataDir, Set: o.Set})
	_, served, err := ask(context.Background(), cfg.Config().DataDir, handover.ToFront(o.Files, o.NewChat), handover.Asker{})
	if err == nil && !served {
		return locked
	}
	return err
}

// ask sends a request to the writer of a data directory, once it listens. false: it does not.
func ask(ctx context.Context, dir string, call handover.Call, a handover.Asker) (int, bool, error) {
	for begun := time.Now(); ; {
		wait := lockingTime
		if address := store.WriterAddress(dir); address != "" {
			code, err := handover.Ask(ctx, address, version, call, a)
			if !errors.Is(err, handover.ErrNobody) {
				return code, true, err
			}
			wait = openingTime
		}
		if time.Since(begun) > wait {
			return 0, false, nil
		}
		select {
		case <-ctx.Done():
			return 0, true, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// realPath is the canonical path of a file.
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

// fanout publishes to the program's own window or verb, and to the verbs that it runs for others.
type fanout struct {
	main turn.Publisher

	mu     sync.RWMutex
	guests []*guest
}

type guest struct{ turn.Publisher }

func (f *fanout) join(p turn.Publisher) (leave func()) {
	g := &guest{p}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.guests = append(f.guests, g)
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.guests = slices.DeleteFunc(f.guests, func(other *guest) bool { return other == g })
	}
}

// Frame implements turn.Publisher.
func (f *fanout) Frame(frame chat.Frame) {
	f.main.Frame(frame)
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, g := range f.guests {
		g.Frame(frame)
	}
}

// Change implements turn.Publisher.
func (f *fanout) Change(c chat.Change) {
	f.main.Change(c)
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, g := range f.guests {
		g.Change(c)
	}
}
