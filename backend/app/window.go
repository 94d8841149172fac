package app

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"contextinfinity/backend/api"
	"contextinfinity/backend/autostart"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/cli"
	"contextinfinity/backend/config"
	"contextinfinity/backend/desktop"
	"contextinfinity/backend/internal/atomicfile"
	"contextinfinity/backend/projects"
	"contextinfinity/backend/secrets"
	"contextinfinity/backend/services"
	"contextinfinity/backend/tokens"
)

// systemKeys opens the keyring; tests have their own.
var systemKeys = secrets.New

// window opens the data directory and returns the window with the services that its page uses. If the directory cannot
// be opened, the page says why.
func window(o cli.OpenOptions, h handover, icon []byte) desktop.Window {
	hub := api.NewHub()
	o.Publish, o.Serve = hub, true
	core := &api.Core{Hub: hub, Version: version, Documents: documentReader()}
	keys := systemKeys()
	done := runPending(context.Background(), o, h.Reseal, keys)
	a, err := openForWindow(o, keys, core)
	if chat.CodeOf(err) == chat.CodeLocked {
		var w desktop.Window
		if w, err = openAdditional(o, icon, err); err == nil {
			return w
		}
	}
	additional := newWindows(core)
	if err != nil {
		core.Set = &services.Set{Setup: openSetup(o, keys).Setup}
		core.Fatal = chat.AsError(err)
	} else {
		a.provide(core)
		if !a.readOnly {
			a.startBackground(hub, additional)
		}
		a.notifyAnswers(hub)
		handleOpen(hub, o)
		done.show(a)
	}
	core.Autostart = startAtSignIn(o)
	folder := newDataFolder(core.Setup, a, o.DataDir)
	core.Data, core.Sealer = folder, folder
	core.Shell = api.Shell{
		PickFiles:  pickFiles,
		PickTarget: pickTarget,
		PickFolder: pickFolder,
		Reveal:     desktop.Reveal,
		OpenURL:    desktop.OpenURL,
		Picture:    desktop.ClipboardPicture,
		Copied:     desktop.ClipboardFiles,
	}
	core.Keys.Warm(config.ProviderAnthropic, config.ProviderOpenAI)
	tokens.New().Warm()
	core.DataDir = core.Config.Config().DataDir
	desktop.NarrowWebFiles(core.DataDir)
	w := bind(core, icon)
	if a != nil && !a.readOnly {
		a.keepQuickKey(core, startQuietly(o, core.Log, "--quick"))
		a.watchUpdates(hub)
		a.lockWhenUnused(core)
		additional.offer(o, &w)
		w.Work = a.newTrayWork(hub)
	}
	w.Ready, w.Hidden = hub.Attach, o.Hidden && (core.Fatal == nil || h.Hidden)
	w.Theme = core.Config.Config().Appearance.Theme
	keepExtent(&w, core, a != nil && !a.readOnly)
	w.Settings = func() desktop.Settings {
		c := core.Config.Config()
		return desktop.Settings{
			CloseToTray:   c.Desktop.CloseToTray,
			Notifications: c.Desktop.Notifications,
			Language:      c.UI.Language,
		}
	}
	w.Request = func(request desktop.WindowRequest) { hub.RequestWindow(windowRequest(request)) }
	w.Close = func() {
		hub.Attach(nil)
		desktop.NarrowWebFiles(core.DataDir)
		if a == nil {
			return
		}
		if err := a.close(); err != nil {
			core.Log.Error("the program did not shut down cleanly", "err", err)
		}
	}
	return w
}

// keepExtent begins a window as it was closed, and writes down how it is closed.
func keepExtent(w *desktop.Window, core *api.Core, writes bool) {
	path := filepath.Join(core.DataDir, "window.json")
	if text, err := os.ReadFile(path); err == nil && json.Unmarshal(text, &w.Last) != nil {
		w.Last = desktop.Extent{}
	}
	if !writes {
		return
	}
	w.Remember = func(now desktop.Extent) {
		text, err := json.Marshal(now)
		if err == nil {
			err = atomicfile.Write(path, text, 0o600)
		}
		if err != nil {
			core.Log.Warn("the size of the window cannot be kept", "err", err)
		}
	}
}

// openForWindow opens the data with its tasks. Data that is not writable is opened read-only, and core.ReadOnly says
// why. After an error nothing is open.
func openForWindow(o cli.OpenOptions, keys *secrets.Store, core *api.Core) (*app, error) {
	a, err := openApp(context.Background(), o, keys)
	if chat.IsUnwritable(err) {
		if readOnly, openErr := openReadOnly(o, keys); openErr == nil {
			core.ReadOnly = readOnlyReason(readOnly, err)
			a, err = readOnly, nil
		}
	}
	if err != nil {
		return nil, err
	}
	if err := a.openTasks(context.Background()); err != nil {
		return nil, errors.Join(err, a.close())
	}
	return a, nil
}

// provide sets what the window's services use.
func (a *app) provide(core *api.Core) {
	core.Set = &a.Set
	core.Access = a.programAccess()
	core.WarmServers = a.warmServers
	a.Servers.Questions.Attended = core.Hub.Attached // questions of servers are shown while there is a window
	core.Hub.Listen(func(c chat.Change) {
		if c.Kind == chat.ChangeTurn {
			a.Jobs.Wake()
		}
	})
}

// startBackground starts the window's background work, and serves other starts of the program and other programs.
func (a *app) startBackground(hub *api.Hub, additional *windows) {
	a.Jobs.Start()
	a.Reconciler.Start()
	a.VaultSchedule.Start()
	a.warm()
	a.warmServers()
	a.warmWhenEnabled()
	a.resumeTools()
	a.run(func(ctx context.Context) { a.Projects.Run(ctx, projects.Every) })
	a.watchConfig()
	a.serve(func(request cli.OpenOptions) { raise(); handleOpen(hub, request) }, additional)
	a.serveHTTP()
}

// openAdditional handles a start whose data another process has open: it opens an additional window of that process, or
// brings that process's window to the front.
func openAdditional(o cli.OpenOptions, icon []byte, locked error) (desktop.Window, error) {
	elsewhere := desktop.Window{ShownElsewhere: true}
	switch {
	case o.Hidden: // at sign-in: the running program is not disturbed
		return elsewhere, nil
	case o.NewWindow || o.Quick:
		cfg, _ := config.Open(config.Options{Path: o.ConfigPath, DataDir: o.DataDir, Set: o.Set})
		w, err := joinWindow(o, icon, cfg.Config().DataDir, locked)
		w.Theme = cfg.Config().Appearance.Theme
		return w, err
	}
	return elsewhere, raiseOther(o, locked)
}

// startAtSignIn returns a function that returns the autostart entry, which starts this program hidden with the same
// data, or an error that says why there is none.
func startAtSignIn(o cli.OpenOptions) func() (*autostart.Entry, error) {
	args := append([]string{"--hidden"}, dataFlags(o)...)
	return func() (*autostart.Entry, error) { return autostart.New(args...) }
}

// openReadOnly opens data read-only, so that the window can show and export it.
func openReadOnly(o cli.OpenOptions, keys *secrets.Store) (*app, error) {
	o.ReadOnly = true
	return openApp(context.Background(), o, keys)
}

// readOnlyReason returns why the data is read-only. cause is the error of opening it for writing.
func readOnlyReason(a *app, cause error) string {
	if note := a.Store.Note(); note != "" {
		return note
	}
	return chat.AsError(cause).Message
}

// watchUpdates checks for newer versions once a day if that is enabled.
func (a *app) watchUpdates(hub *api.Hub) {
	wake := make(chan struct{}, 1)
	unsubscribe := a.Config.Subscribe(func(*config.Config) {
		select {
		case wake <- struct{}{}:
		default: // a check is already pending
		}
	})
	a.run(func(ctx context.Context) {
		defer unsubscribe()
		a.Updates.Run(ctx, wake, func() { hub.Change(chat.Change{Kind: chat.ChangeSettings}) })
	})
}

func bind(core *api.Core, icon []byte) desktop.Window {
	return desktop.Window{
		Handler:     api.DragHandler(core.DragFile),
		Icon:        icon,
		FormatError: core.FormatError,
		Ready:       func(func(string, any)) {},
		Close:       func() {},
		Bind:        api.Bound(core),
	}
}

// show shows the window, and restarts the program afterwards if that was requested.
func (f Frontend) show(w desktop.Window) error {
	if w.ShownElsewhere {
		return nil
	}
	err := f.Show(w)
	next := restartRequested.Load()
	if err != nil || next == nil {
		return err
	}
	return restart(*next)
}
