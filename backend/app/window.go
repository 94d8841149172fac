package app

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	answers "contextinfinity/backend/answers"
	"contextinfinity/backend/api"
	"contextinfinity/backend/autostart"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/cli"
	"contextinfinity/backend/config"
	"contextinfinity/backend/desktop"
	"contextinfinity/backend/inspecting"
	"contextinfinity/backend/secrets"
	"contextinfinity/backend/tokens"
)

// window opens the data directory and returns the window with the services that its page uses. If the directory cannot
// be opened, the page says why.
func window(o cli.OpenOptions, page Page) desktop.Window {
	hub := api.NewHub()
	o.Publish, o.Serve = hub, true
	core := &api.Core{Hub: hub, Counter: counter{}, Version: version, Documents: documentReader()}
	keys := secrets.New()
	done := runPending(context.Background(), o)
	a, err := openForWindow(o, keys, core)
	if chat.CodeOf(err) == chat.CodeLocked {
		var w desktop.Window
		if w, err = openAdditional(o, page, err); err == nil {
			return w
		}
	}
	var s setup
	additional := newWindows(core)
	if err != nil {
		s = openSetup(o, keys)
		core.Fatal = chat.AsError(err)
	} else {
		s = a.setup
		a.provide(core)
		if !a.readOnly {
			a.startBackground(hub, additional)
		}
		a.notifyAnswers(hub)
		handleOpen(hub, o)
		done.show(a)
	}
	core.Autostart, core.Updates = startAtSignIn(o), s.updates()
	core.Data = newDataFolder(s, a, o.DataDir)
	core.Shell = api.Shell{PickFiles: pickFiles, PickTarget: pickTarget, PickFolder: pickFolder, Reveal: desktop.Reveal, Picture: desktop.ClipboardPicture, Copied: desktop.ClipboardFiles}
	s.keys.Warm(config.ProviderAnthropic, config.ProviderOpenAI)
	tokens.New().Warm()
	core.Log, core.DataDir = s.log, s.config.Config().DataDir
	desktop.NarrowWebFiles(core.DataDir)
	w := bind(core, s, page)
	if a != nil && !a.readOnly {
		a.keepQuickKey(core, startQuietly(o, s, "--quick"))
		a.watchUpdates(core)
		additional.offer(o, s, &w)
		w.Work = a.newTrayWork(hub)
	}
	w.Ready, w.Hidden = hub.Attach, o.Hidden && core.Fatal == nil
	w.Settings = func() desktop.Settings {
		c := s.config.Config()
		return desktop.Settings{CloseToTray: c.Desktop.CloseToTray, Notifications: c.Desktop.Notifications, Language: c.UI.Language}
	}
	w.Request = func(request desktop.WindowRequest) { hub.RequestWindow(windowRequest(request)) }
	w.Close = func() {
		hub.Attach(nil)
		desktop.NarrowWebFiles(core.DataDir)
		if a == nil {
			return
		}
		if err := a.close(); err != nil {
			s.log.Error("the program did not shut down cleanly", "err", err)
		}
	}
	return w
}

// openForWindow opens the data with its tasks. Data that is not writable is opened read-only, and core.ReadOnly says
// why. After an error nothing is open.
func openForWindow(o cli.OpenOptions, keys *secrets.Store, core *api.Core) (*app, error) {
	a, err := openApp(context.Background(), o, keys)
	if unwritable(err) {
		if readOnly, openErr := openReadOnly(o, keys); openErr == nil {
			core.ReadOnly = readOnlyReason(readOnly, err)
			a, err = readOnly, nil
		}
	}
	if err != nil {
		return nil, err
	}
	if err := a.openTasks(context.Background(), core.Hub); err != nil {
		return nil, errors.Join(err, a.close())
	}
	return a, nil
}

// provideStores sets the parts of core that read and change stored data.
func (a *app) provideStores(core *api.Core) {
	core.Sessions, core.Pins, core.Deletion = a.sessions, a.pins, a.deletion()
	core.History, core.Drafts, core.Chunks, core.Queue = a.store, a.store, a.store, a.jobList()
	core.Inspecting = inspecting.New(a.store, a.turns)
	core.Figures, core.Calls, core.Settings = a.store, a.store, a.store
}

// provide sets the dependencies of the window's services.
func (a *app) provide(core *api.Core) {
	a.provideStores(core)
	core.Turns, core.Jobs, core.Branches = a.turns, a.jobs, a.branches
	core.Answers = answers.New(a.store, a.turns, a.branches)
	core.Reconciler, core.Tasks, core.Cost = a.reconciler, a.tasks, a.catalog.Cost
	core.Importer, core.Exporter = api.Imports(a.imports), api.Exports(a.exporter())
	core.Retrieval = api.Retrieval{Engine: a.engine, Vectors: a.vectors, Connect: a.connect, Retrieves: a.retrieves}
	core.Tools = a.toolPorts()
	core.Programs = a.programAccess()
	core.Library, core.Projects = a.library, a.projects
	core.Servers = a.serverPorts()
	a.servers.watch(core.Hub)
	core.Hub.Listen(func(c chat.Change) {
		if c.Kind == chat.ChangeTurn {
			a.jobs.Wake()
		}
	})
}

// startBackground starts the window's background work, and serves other starts of the program and other programs.
func (a *app) startBackground(hub *api.Hub, additional *windows) {
	a.jobs.Start()
	a.reconciler.Start()
	a.warm()
	a.warmServers()
	a.warmWhenEnabled()
	a.resumeTools()
	a.watchProjects()
	a.watchConfig()
	a.serve(func(request cli.OpenOptions) { raise(); handleOpen(hub, request) }, additional)
	a.serveHTTP()
}

// openAdditional handles a start whose data another process has open: it opens an additional window of that process, or
// brings that process's window to the front.
func openAdditional(o cli.OpenOptions, page Page, locked error) (desktop.Window, error) {
	elsewhere := desktop.Window{ShownElsewhere: true}
	switch {
	case o.Hidden: // at sign-in: the running program is not disturbed
		return elsewhere, nil
	case o.NewWindow || o.Quick:
		cfg, _ := config.Open(config.Options{Path: o.ConfigPath, DataDir: o.DataDir, Set: o.Set})
		return joinWindow(o, page, cfg.Config().DataDir, locked)
	}
	return elsewhere, raiseOther(o, locked)
}

// startAtSignIn returns a function that returns the autostart entry, which starts this program hidden with the same
// data, or an error that says why there is none.
func startAtSignIn(o cli.OpenOptions) func() (*autostart.Entry, error) {
	args := append([]string{"--hidden"}, dataFlags(o)...)
	return func() (*autostart.Entry, error) { return autostart.New(args...) }
}

// unwritable reports whether data could not be opened because its location is not writable.
func unwritable(err error) bool {
	return err != nil && (chat.CodeOf(err) == chat.CodeNoSpace || errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission))
}

// openReadOnly opens data read-only, so that the window can show and export it.
func openReadOnly(o cli.OpenOptions, keys *secrets.Store) (*app, error) {
	o.ReadOnly = true
	return openApp(context.Background(), o, keys)
}

// readOnlyReason returns why the data is read-only. cause is the error of opening it for writing.
func readOnlyReason(a *app, cause error) string {
	if note := a.store.Note(); note != "" {
		return note
	}
	return chat.AsError(cause).Message
}

// retrieves returns whether turns get memory, and its scope.
func (s setup) retrieves() (bool, chat.Scope) {
	c := s.config.Config()
	return c.Context.Infinity && c.Budget.MaxRetrievalTokens > 0, chat.Scope(c.Retrieval.Scope)
}

func bind(core *api.Core, s setup, page Page) desktop.Window {
	return desktop.Window{
		Assets: page.Assets, Handler: api.DragHandler(core.DragFile), Icon: page.Icon, FormatError: core.FormatError,
		Ready: func(func(string, any)) {}, Close: func() {},
		Bind: services(core, s),
	}
}

// services returns the services that a page may call: if the data could not be opened, only those of the page that
// reports it. The page's types are generated from the services named here (internal/pagetypes).
func services(core *api.Core, s setup) []any {
	always := []any{
		api.NewTransfer(core),
		api.NewStorage(core),
		api.NewSettings(core, s.config, s.catalog, s.keys, desktop.OpenURL),
	}
	if core.Fatal != nil {
		return always
	}
	return append(always,
		api.NewSessions(core),
		api.NewChat(core),
		api.NewInspect(core),
		api.NewMemory(core),
		api.NewBranches(core),
		api.NewSearch(core),
		api.NewWork(core),
		api.NewTools(core),
		api.NewLibrary(core),
		api.NewProjects(core),
		api.NewEmbedders(core, s.config, s.catalog.EmbedderOptions),
		api.NewServers(core, s.config),
		api.NewPrograms(core, s.config),
	)
}

func openWindow(w desktop.Window) error {
	if w.ShownElsewhere {
		return nil
	}
	if err := desktop.Run(w); err != nil || !restartRequested.Load() {
		return err
	}
	return restart()
}
