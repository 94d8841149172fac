package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"contextinfinity/backend/chat"
)

// Store stores the decisions about tools.
type Store interface {
	ToolPermissions(context.Context) ([]chat.ToolPermission, error)
	PutToolPermission(context.Context, chat.ToolPermission) error
	DeleteToolPermission(ctx context.Context, source, tool string, session chat.SessionID) error
	PinnedDefinitions(context.Context) ([]chat.PinnedDefinition, error)
	AcceptDefinitions(context.Context, []chat.ToolDefinition) error
	ToolMarks(context.Context) (map[chat.ReadOnlyMark]string, error)
	MarkTool(ctx context.Context, m chat.ReadOnlyMark, hash string) error
}

// Settings are the configured part of the policy.
type Settings struct {
	// Allow is tools.allow: names as models get them, "server.tool", or a server's name.
	Allow []string
}

// AskEachCall is implemented by sources with tools that always need approval, whatever was decided, such as an
// unconfined command.
type AskEachCall interface {
	AsksEachCall(tool string) bool
}

// AllowedByDefault is implemented by sources with tools that run without approval unless the user decides otherwise:
// those that read the program's own memory.
type AllowedByDefault interface {
	AllowedByDefault(tool string) bool
}

// Previewer is implemented by sources that can show what a call would change, as a line diff for the user who
// approves it. An empty text means no preview.
type Previewer interface {
	Preview(ctx context.Context, c Call) (string, error)
}

// Complaining is implemented by sources that report problems with tools they cannot offer.
type Complaining interface {
	Problems() []Problem
}

// Registry holds all tools and the decisions about them. It implements turn.Tools and is safe for concurrent use.
type Registry struct {
	store    Store
	settings func() Settings

	mu      sync.RWMutex
	builtin []Source
	servers []Source
	granted map[chat.SessionID]map[string]int // names allowed for one message, see AllowFor
	changed func()
	needed  func(context.Context)
	redact  func(json.RawMessage) json.RawMessage
	checked map[string]checked // by source, see check
}

// NewRegistry returns a registry without sources.
func NewRegistry(store Store, settings func() Settings) *Registry {
	return &Registry{store: store, settings: settings, granted: map[chat.SessionID]map[string]int{}, changed: func() {}, redact: func(raw json.RawMessage) json.RawMessage { return raw }, needed: func(context.Context) {}, checked: map[string]checked{}}
}

// OnChange sets a function that is called after offered tools, accepted definitions or permissions changed.
func (r *Registry) OnChange(fn func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changed = fn
}

// OnNeed sets a function that is called before tools are offered. It starts servers that are not running, and waits a
// limited time for them.
func (r *Registry) OnNeed(fn func(context.Context)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.needed = fn
}

// Ensure starts the servers whose tools will be listed.
func (r *Registry) Ensure(ctx context.Context) {
	r.mu.RLock()
	fn := r.needed
	r.mu.RUnlock()
	fn(ctx)
}

// SetBuiltin sets the program's own sources. Their definitions need no acceptance.
func (r *Registry) SetBuiltin(sources ...Source) {
	r.set(func() { r.builtin = slices.Clone(sources) })
}

// SetServers sets the servers' sources. It must also be called when a server's definitions changed.
func (r *Registry) SetServers(sources []Source) {
	sorted := slices.SortedFunc(slices.Values(sources), func(a, b Source) int { return cmp.Compare(a.Name(), b.Name()) })
	r.set(func() { r.servers = sorted })
}

func (r *Registry) set(do func()) {
	r.mu.Lock()
	do()
	r.mu.Unlock()
	r.notify()
}

// Changed reports that a source or the configuration changed the offered tools.
func (r *Registry) Changed() { r.notify() }

func (r *Registry) notify() {
	r.mu.RLock()
	fn := r.changed
	r.mu.RUnlock()
	fn()
}

// sources returns all sources, the program's own first.
func (r *Registry) sources() (builtin, servers []Source) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.builtin, r.servers
}

// Source implements turn.Tools. The source's definitions are those that are offered to models and shown to the user, so
// that hashes agree everywhere.
func (r *Registry) Source(name string) (Source, bool) {
	s, ok := r.source(name)
	if !ok {
		return nil, false
	}
	return asOffered{s, r}, true
}

func (r *Registry) source(name string) (Source, bool) {
	builtin, servers := r.sources()
	for _, s := range slices.Concat(builtin, servers) {
		if s.Name() == name {
			return s, true
		}
	}
	return nil, false
}

// asOffered is a source with the registry's definitions.
type asOffered struct {
	Source
	r *Registry
}

// CallLimit implements TimeLimited; it is 0 if the source itself does not implement it.
func (s asOffered) CallLimit(c Call) time.Duration {
	if own, ok := s.Source.(TimeLimited); ok {
		return own.CallLimit(c)
	}
	return 0
}

// Definitions implements Source. If the decisions cannot be read, it returns none.
func (s asOffered) Definitions() []chat.ToolDefinition {
	v, err := s.r.view(context.Background())
	if err != nil {
		return nil
	}
	var out []chat.ToolDefinition
	for _, o := range v.tools {
		if o.Source == s.Name() {
			out = append(out, o.ToolDefinition)
		}
	}
	return out
}

// Offer implements turn.Tools: the definitions that are accepted and not forbidden, within the limits of providers.
func (r *Registry) Offer(ctx context.Context, session chat.SessionID) ([]chat.ToolDefinition, error) {
	r.Ensure(ctx)
	v, err := r.view(ctx)
	if err != nil {
		return nil, err
	}
	offered, _ := v.offer(session)
	return offered, nil
}

// Decision implements turn.Tools. Prohibitions come before permissions, and specific ones before general ones: never
// for the tool, never for its server, the session, always, the configuration, the program's default. A permission
// applies to the definition that it was given for.
func (r *Registry) Decision(ctx context.Context, session chat.SessionID, d chat.ToolDefinition) (chat.ToolDecision, error) {
	v, err := r.view(ctx)
	if err != nil {
		return chat.DecisionNone, err
	}
	if v.isNever(session, d.Source, d.Tool) {
		return chat.DecisionNever, nil
	}
	if v.asksEachCall(d.Source, d.Tool) || !v.isCurrent(d) {
		return chat.DecisionNone, nil
	}
	if r.isGranted(session, d.Name) {
		return chat.DecisionOnce, nil
	}
	decision, _ := v.permissionFor(session, d)
	return decision, nil
}

// AllowFor allows tools, by the names that models get, in a session until release is called. Tools that always need
// approval are not affected.
func (r *Registry) AllowFor(session chat.SessionID, names []string) (release func()) {
	r.addGrants(session, names, 1)
	return sync.OnceFunc(func() { r.addGrants(session, names, -1) })
}

// addGrants changes how often each name is allowed in a session.
func (r *Registry) addGrants(session chat.SessionID, names []string, delta int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.granted[session] == nil {
		r.granted[session] = map[string]int{}
	}
	counts := r.granted[session]
	for _, n := range names {
		if counts[n] += delta; counts[n] <= 0 {
			delete(counts, n)
		}
	}
	if len(counts) == 0 {
		delete(r.granted, session)
	}
}

func (r *Registry) isGranted(session chat.SessionID, name string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.granted[session][name] > 0
}

// view reads the data that decisions are based on.
func (r *Registry) view(ctx context.Context) (*view, error) {
	v := &view{settings: r.settings(), marks: nil, pinned: map[toolKey]chat.PinnedDefinition{}, permissions: map[permissionKey]chat.ToolPermission{}, sources: map[string]Source{}}
	var err error
	if v.marks, err = r.store.ToolMarks(ctx); err != nil {
		return nil, err
	}
	permissions, err := r.store.ToolPermissions(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range permissions {
		v.permissions[permissionKey{p.Source, p.Tool, p.Session}] = p
		v.list = append(v.list, p)
	}
	pinned, err := r.store.PinnedDefinitions(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range pinned {
		if p.Current {
			v.pinned[toolKey{p.Source, p.Tool}] = p
		}
	}
	builtin, servers := r.sources()
	v.collect(builtin, servers, r.check)
	return v, nil
}

// toolKey identifies a tool, permissionKey a decision about a tool or a source.
type (
	toolKey       struct{ source, tool string }
	permissionKey struct {
		source, tool string
		session      chat.SessionID
	}
)

// view is the state of the policy at one moment.
type view struct {
	settings    Settings
	marks       map[chat.ReadOnlyMark]string
	pinned      map[toolKey]chat.PinnedDefinition // current ones
	permissions map[permissionKey]chat.ToolPermission
	list        []chat.ToolPermission
	sources     map[string]Source
	builtin     map[string]bool

	tools    []offered // usable ones, in their stable order
	problems []Problem
}

// offered is a usable definition.
type offered struct {
	chat.ToolDefinition
	hash    string
	builtin bool
}

// Problem is a tool that is not offered, with the reason.
type Problem struct{ Source, Tool, Message string }

func (v *view) isNever(session chat.SessionID, source, tool string) bool {
	for _, k := range []permissionKey{{source, tool, ""}, {source, tool, session}, {source, "", ""}, {source, "", session}} {
		if v.permissions[k].Decision == chat.DecisionNever {
			return true
		}
	}
	return false
}

// isCurrent reports whether a definition is the source's current one, and accepted.
func (v *view) isCurrent(d chat.ToolDefinition) bool {
	hash := d.Hash()
	return slices.ContainsFunc(v.tools, func(o offered) bool {
		return o.Source == d.Source && o.Tool == d.Tool && o.hash == hash && v.pinnedState(o) == PinnedAccepted
	})
}

func (v *view) asksEachCall(source, tool string) bool {
	s, ok := v.sources[source].(AskEachCall)
	return ok && s.AsksEachCall(tool)
}

// Origins of a decision.
const (
	FromTool    = "tool"
	FromServer  = "server"
	FromConfig  = "config"
	FromBuiltin = "builtin"
)

// permissionFor returns the decision that lets a tool run without approval, and its origin.
func (v *view) permissionFor(session chat.SessionID, d chat.ToolDefinition) (chat.ToolDecision, string) {
	hash := d.Hash()
	isAllowed := func(tool string, scope chat.SessionID) bool {
		p, ok := v.permissions[permissionKey{d.Source, tool, scope}]
		return ok && p.Decision.Allows() && (tool == "" || p.Definition == hash)
	}
	switch {
	case session != "" && isAllowed(d.Tool, session):
		return chat.DecisionSession, FromTool
	case session != "" && isAllowed("", session):
		return chat.DecisionSession, FromServer
	case isAllowed(d.Tool, ""):
		return chat.DecisionAlways, FromTool
	case isAllowed("", ""):
		return chat.DecisionAlways, FromServer
	case v.inConfig(d):
		return chat.DecisionAlways, FromConfig
	}
	if s, ok := v.sources[d.Source].(AllowedByDefault); ok && v.builtin[d.Source] && s.AllowedByDefault(d.Tool) {
		return chat.DecisionAlways, FromBuiltin
	}
	return chat.DecisionNone, ""
}

// inConfig reports whether tools.allow names a tool.
func (v *view) inConfig(d chat.ToolDefinition) bool {
	return slices.ContainsFunc(v.settings.Allow, func(name string) bool {
		name = strings.TrimSpace(name)
		return name != "" && (name == d.Name || name == d.Source+"."+d.Tool || name == d.Source && !v.builtin[d.Source])
	})
}

// States of a definition.
const (
	PinnedAccepted = "accepted"
	PinnedNew      = "new"     // never accepted
	PinnedChanged  = "changed" // another definition was accepted
	PinnedGone     = "gone"    // accepted, but no longer offered by its source
)

func (v *view) pinnedState(o offered) string {
	p, ok := v.pinned[toolKey{o.Source, o.Tool}]
	switch {
	case o.builtin || ok && p.Hash == o.hash:
		return PinnedAccepted
	case ok:
		return PinnedChanged
	}
	return PinnedNew
}

// offer returns the definitions for a session's models, and a problem for each one that exceeds the limits.
func (v *view) offer(session chat.SessionID) ([]chat.ToolDefinition, []Problem) {
	var out []chat.ToolDefinition
	var omitted []Problem
	size := 0
	for _, o := range v.tools {
		if v.pinnedState(o) != PinnedAccepted || v.isNever(session, o.Source, o.Tool) {
			continue
		}
		n := sizeOf(o.ToolDefinition)
		if len(out) >= MaxOffered || size+n > MaxOfferedBytes {
			omitted = append(omitted, Problem{o.Source, o.Tool, tooMany})
			continue
		}
		size += n
		out = append(out, o.ToolDefinition)
	}
	return out, omitted
}
