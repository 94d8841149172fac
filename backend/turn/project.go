package turn

import (
	"cmp"
	"context"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/prompt"
)

// projectOf is the project of a session; false: it has none.
func (e *Engine) projectOf(ctx context.Context, s chat.Session) (chat.Project, bool, error) {
	return e.past.ProjectIn(ctx, s.Folder)
}

// promptProject returns what a project adds to a context; nil without one.
func promptProject(p chat.Project, ok bool) *prompt.Project {
	if !ok {
		return nil
	}
	out := &prompt.Project{ID: string(p.ID), Name: p.Name, Instructions: p.Instructions, Files: p.Files > 0}
	if len(p.Facts) > 0 {
		out.Facts = p.Facts
	}
	return out
}

// scopeOf is the scope of a session's memory with a provider: the session's own setting; otherwise the project's
// sessions, or the configured scope if that is wider or there is no project. Recall sends nothing, so without
// a project it searches all sessions until the user has chosen a scope.
func (e *Engine) scopeOf(s chat.Session, inProject bool, provider string) chat.Scope {
	own, configured := s.MemoryScope, e.settings().Scope
	if own == chat.ScopeProject && !inProject { // it was removed from its project
		own = ""
	}
	switch {
	case own != "":
		return own
	case inProject && configured != chat.ScopeAll:
		return chat.ScopeProject
	case configured == "" && provider == recallModel:
		return chat.ScopeAll
	case configured == "", configured == chat.ScopeProject:
		return chat.ScopeLineage
	}
	return configured
}

// ProjectScope returns the project of a session, empty if it has none, and the scope of its memory with a model ("": the
// session's).
func (e *Engine) ProjectScope(ctx context.Context, s chat.Session, model string) (chat.Project, chat.Scope, error) {
	p, ok, err := e.projectOf(ctx, s)
	if err != nil {
		return p, "", err
	}
	m, unresolved := e.models.Resolve(ctx, cmp.Or(model, s.Model))
	if unresolved != nil { // sending says why; until then the scope is that of any provider
		return p, e.scopeOf(s, ok, ""), nil
	}
	return p, e.scopeOf(s, ok, m.Endpoint.Provider), nil
}

// MemoryScope is the scope of a session's memory for the tools that a model may use.
func (e *Engine) MemoryScope(ctx context.Context, id chat.SessionID) (chat.Scope, error) {
	s, err := e.past.Session(ctx, id)
	if err != nil {
		return "", err
	}
	_, inProject, err := e.projectOf(ctx, s)
	return e.scopeOf(s, inProject, ""), err
}

// toolsMode is the mode of a session's next step (SRD 12.1): its own, otherwise its project's, otherwise the
// configured one.
func (e *Engine) toolsMode(ctx context.Context, s chat.Session) (llm.ToolsMode, error) {
	if s.ToolsMode != "" {
		return llm.ToolsMode(s.ToolsMode), nil
	}
	p, ok, err := e.projectOf(ctx, s)
	if ok && p.ToolsMode != "" {
		return llm.ToolsMode(p.ToolsMode), err
	}
	return e.settings().ToolsMode, err
}

// offered returns the tools offered in a session now: the accepted ones, restricted to those that its project names, if
// any.
func (e *Engine) offered(ctx context.Context, id chat.SessionID) ([]chat.ToolDefinition, error) {
	defs, err := e.tools.Offer(ctx, id)
	if err != nil {
		return nil, err
	}
	s, err := e.past.Session(ctx, id)
	if err != nil {
		return nil, err
	}
	p, ok, err := e.projectOf(ctx, s)
	if err != nil || !ok {
		return defs, err
	}
	return slices.DeleteFunc(slices.Clone(defs), func(d chat.ToolDefinition) bool { return !p.Offers(d) }), nil
}
