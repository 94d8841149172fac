package mcpclient

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/tools"
)

// Deps are the dependencies of a Manager.
type Deps struct {
	// Servers returns the configured servers.
	Servers func() []config.MCPServer
	// Secret and SetSecret access a server's secrets in the keyring; an empty one is removed.
	Secret    func(server, name string) (string, bool)
	SetSecret func(server, name, value string) error
	// Environ and Getenv read the program's environment.
	Environ func() []string
	Getenv  func(string) string
	// Redact removes all known secrets from a text; nil: only those of the server.
	Redact func(string) string
	// Open shows a page in the browser.
	Open func(url string) error
	// Elicit asks the user; nil: servers learn that no user can be asked.
	Elicit Elicitor
	// Changed is called after every change of a server; it must not block.
	Changed func(server string)
	Version string
	Limits  Limits
	Now     func() time.Time
}

// Manager manages the MCP servers. It is safe for concurrent use.
type Manager struct {
	loginPath func() string // the PATH of the login shell, which is asked once
	deps      Deps
	limits    Limits

	mu      sync.Mutex
	servers map[string]*server
	stopped bool
	ending  sync.WaitGroup // replaced or removed servers that are ending
}

// NewManager returns a manager of the configured servers. It starts none of them.
func NewManager(deps Deps) *Manager {
	if deps.Now == nil {
		deps.Now = time.Now
	}
	if deps.Changed == nil {
		deps.Changed = func(string) {}
	}
	m := &Manager{deps: deps, limits: deps.Limits.withDefaults(), servers: map[string]*server{}}
	m.loginPath = sync.OnceValue(func() string { return askLoginPath(deps.Environ()) })
	m.Reload()
	return m
}

func (m *Manager) changed(name string) { m.deps.Changed(name) }

// Reload applies the current configuration: servers with changed settings are stopped, and start again when needed.
func (m *Manager) Reload() {
	var obsolete []*server
	var names []string
	m.mu.Lock()
	if m.stopped {
		m.mu.Unlock()
		return
	}
	configured := map[string]bool{}
	for _, cfg := range m.deps.Servers() {
		configured[cfg.Name] = true
		old := m.servers[cfg.Name]
		if old != nil && reflect.DeepEqual(old.config(), cfg) {
			continue
		}
		if old != nil {
			obsolete = append(obsolete, old)
		}
		s := newServer(m, cfg)
		if old != nil {
			s.log = old.log // it may show why the settings were changed
			s.log.alsoRedact(s.redact)
		}
		m.servers[cfg.Name] = s
		names = append(names, cfg.Name)
	}
	for name, s := range m.servers {
		if !configured[name] {
			delete(m.servers, name)
			obsolete, names = append(obsolete, s), append(names, name)
		}
	}
	for _, s := range obsolete {
		m.ending.Go(s.stop)
	}
	m.mu.Unlock()
	for _, name := range names {
		m.changed(name)
	}
}

func (s *server) config() config.MCPServer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cfg
}

// Stop ends all servers and their child processes, and returns when none is left. No server starts afterwards.
func (m *Manager) Stop() {
	m.mu.Lock()
	m.stopped = true
	all := m.sorted()
	m.mu.Unlock()
	var wg sync.WaitGroup
	for _, s := range all {
		wg.Go(s.stop)
	}
	wg.Wait()
	m.ending.Wait()
}

// sorted returns the servers by name. mu must be held.
func (m *Manager) sorted() []*server {
	out := make([]*server, 0, len(m.servers))
	for _, s := range m.servers {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b *server) int {
		if a.name < b.name {
			return -1
		}
		return 1
	})
	return out
}

func (m *Manager) all() []*server {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sorted()
}

func (m *Manager) find(op, name string) (*server, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.servers[name]; s != nil {
		return s, nil
	}
	return nil, chat.Errorf(chat.CodeNotFound, op, "No MCP server of that name is configured.")
}

// Ensure starts the enabled servers, and waits for those that are starting: up to Patience from the start of each,
// and until ctx ends.
func (m *Manager) Ensure(ctx context.Context) {
	limit := m.limits.StartWait
	for _, s := range m.all() {
		s.mu.Lock()
		idle := s.state == StateIdle
		s.mu.Unlock()
		if idle {
			s.start(nil)
		}
	}
	for _, s := range m.all() {
		s.mu.Lock()
		state, settled, remaining := s.state, s.settled, limit-m.deps.Now().Sub(s.started)
		s.mu.Unlock()
		if state != StateStarting || remaining <= 0 {
			continue
		}
		timer := time.NewTimer(remaining)
		select {
		case <-settled:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// Sources returns the enabled servers, running or not.
func (m *Manager) Sources() []tools.Source {
	var out []tools.Source
	for _, s := range m.all() {
		if s.config().Enabled {
			out = append(out, s)
		}
	}
	return out
}

// Statuses returns the states of all configured servers, sorted by name.
func (m *Manager) Statuses() []Status {
	return lists.Map(m.all(), (*server).status)
}

// Logs returns the last lines of a server, oldest first, and the number of dropped lines.
func (m *Manager) Logs(name string) (lines []Line, dropped int, err error) {
	s, err := m.find("mcp.logs", name)
	if err != nil {
		return nil, 0, err
	}
	lines, dropped = s.log.read()
	return lines, dropped, nil
}

// Restart ends a server and starts it at once. It returns when the server is ready or has failed, which is not an
// error of Restart.
func (m *Manager) Restart(ctx context.Context, name string) error {
	s, err := m.find("mcp.restart", name)
	if err != nil {
		return err
	}
	if !s.config().Enabled {
		return chat.Errorf(chat.CodeInvalid, "mcp.restart", "The server %s is switched off; nothing was started.", name)
	}
	s.stop()
	return s.await(ctx, nil)
}

// Reset ends a server whose secrets have changed. It starts with the new ones when needed, even if it had failed
// permanently.
func (m *Manager) Reset(name string) {
	s, err := m.find("mcp.reset", name)
	if err != nil {
		return
	}
	s.stop()
	s.mu.Lock()
	if s.done == nil && s.state != StateOff {
		s.state, s.lastError = StateIdle, chat.Phrase{}
	}
	s.mu.Unlock()
	m.changed(name)
}

// await starts a server and waits until the start has succeeded or failed.
func (s *server) await(ctx context.Context, in *signIn) error {
	select {
	case <-s.start(in):
		return nil
	case <-ctx.Done():
		return chat.WrapError(chat.CodeCancelled, "mcp.start", ctx.Err(), "The server is still starting.")
	}
}

// SignIn opens the page for signing in to a server, and returns when that is done.
func (m *Manager) SignIn(ctx context.Context, name string) error {
	return m.SignInWith(ctx, name, m.deps.Open)
}

// SignInWith is like SignIn, but opens the page with the given function.
func (m *Manager) SignInWith(ctx context.Context, name string, open func(url string) error) error {
	const op = "mcp.sign_in"
	s, err := m.find(op, name)
	if err != nil {
		return err
	}
	cfg := s.config()
	switch {
	case !cfg.HTTP():
		return chat.Errorf(chat.CodeInvalid, op, "The server %s is a program on this computer and needs no sign-in.", name)
	case !cfg.Enabled:
		return chat.Errorf(chat.CodeInvalid, op, "The server %s is switched off; switch it on first.", name)
	case open == nil:
		return chat.Errorf(chat.CodeUnavailable, op, "There is no browser to sign in with.")
	}
	s.stop()
	in, err := newSignIn(cfg.OAuthPort, open)
	if err != nil {
		return chat.WrapError(chat.CodeUnavailable, op, err, "%s", err)
	}
	defer in.close()
	if err := s.await(ctx, in); err != nil {
		s.stop()
		return err
	}
	if st := s.status(); st.State != StateReady {
		return chat.Errorf(chat.CodeAuth, op, "%s", st.Full())
	}
	return nil
}

// SignedIn reports whether tokens of a server are stored.
func (m *Manager) SignedIn(name string) bool {
	_, ok := m.deps.Secret(name, grantName)
	return ok
}

// SignOut deletes the tokens of a server, and stops the server, because its connection has them in memory.
func (m *Manager) SignOut(name string) error {
	s, err := m.find("mcp.sign_out", name)
	if err != nil {
		return err
	}
	s.stop()
	return m.deps.SetSecret(name, grantName, "")
}
