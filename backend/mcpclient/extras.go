package mcpclient

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
)

// Prompt is a prompt that a server offers.
type Prompt struct {
	Server      string     `json:"server"`
	Name        string     `json:"name"`
	Title       string     `json:"title"`
	Description string     `json:"description"`
	Arguments   []Argument `json:"arguments"`
}

// Argument is an argument of a prompt.
type Argument struct {
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
}

// PromptResult is a prompt with its arguments filled in.
type PromptResult struct {
	Description string
	Messages    []PromptMessage
}

// PromptMessage is a message of a prompt.
type PromptMessage struct {
	Role   string // "user", "assistant"
	Blocks chat.Blocks
}

// Resource is a resource that a server offers. Template: its URI has placeholders in braces.
type Resource struct {
	Server      string `json:"server"`
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	MediaType   string `json:"mediaType"`
	Bytes       int64  `json:"bytes"` // 0: unknown
	Template    bool   `json:"template"`
}

// each requests a list of every server that is ready, or becomes ready in time, one after the other. A failure is
// written to the server's log, and the other servers are still asked.
func (m *Manager) each(ctx context.Context, kind string, offers func(*mcp.ServerCapabilities) bool, list func(context.Context, *session) error) {
	m.Ensure(ctx)
	for _, s := range m.all() {
		ss := s.current()
		if ss == nil {
			continue
		}
		if caps := ss.conn.InitializeResult().Capabilities; caps == nil || !offers(caps) {
			continue
		}
		err := ss.within(ctx, func(ctx context.Context) error { return list(ctx, ss) })
		if err != nil && ctx.Err() == nil {
			s.log.add(FromProgram, fmt.Sprintf("Its list of %s could not be read: %s", kind, s.describeError(err)))
		}
	}
}

// within limits a request to the duration of a list and of the session.
func (ss *session) within(ctx context.Context, request func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, ss.s.m.limits.List)
	defer cancel()
	defer context.AfterFunc(ss.life, cancel)()
	return guard(func() error { return request(ctx) })
}

// Prompts returns the prompts of all servers.
func (m *Manager) Prompts(ctx context.Context) []Prompt {
	out := []Prompt{}
	m.each(ctx, "prompts", hasPrompts, func(ctx context.Context, ss *session) error {
		found, err := ss.listPrompts(ctx)
		out = append(out, found...)
		return err
	})
	return out
}

func hasPrompts(c *mcp.ServerCapabilities) bool   { return c.Prompts != nil }
func hasResources(c *mcp.ServerCapabilities) bool { return c.Resources != nil }

// listPrompts returns the prompts of one server; with an error, those that were read before it.
func (ss *session) listPrompts(ctx context.Context) ([]Prompt, error) {
	limits := ss.s.m.limits
	var out []Prompt
	seen := map[string]bool{}
	_, err := pages(limits.Pages, func(cursor string) (string, error) {
		r, err := ss.conn.ListPrompts(ctx, &mcp.ListPromptsParams{Cursor: cursor})
		if err != nil {
			return "", err
		}
		for _, p := range r.Prompts {
			if p == nil || len(out) >= limits.Prompts || !usableName(p.Name) || seen[p.Name] {
				continue
			}
			seen[p.Name] = true
			out = append(out, ss.s.promptOf(p))
		}
		return r.NextCursor, nil
	}, func() bool { return len(out) >= limits.Prompts })
	return out, err
}

// count counts a server's prompts and resources in the background.
func (ss *session) count() {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	caps := ss.conn.InitializeResult().Capabilities
	if ss.closed || caps == nil {
		return
	}
	ss.work.Go(func() {
		var prompts []Prompt
		var resources []Resource
		// Lists that cannot be read count as zero; the caller gets the error.
		if hasPrompts(caps) {
			_ = ss.within(ss.life, func(ctx context.Context) (err error) { prompts, err = ss.listPrompts(ctx); return err })
		}
		if hasResources(caps) {
			_ = ss.within(ss.life, func(ctx context.Context) (err error) { resources, err = ss.listResources(ctx); return err })
		}
		ss.mu.Lock()
		ss.prompts, ss.resources = len(prompts), len(resources)
		ss.mu.Unlock()
		if len(prompts)+len(resources) > 0 && ss.life.Err() == nil {
			ss.s.m.changed(ss.s.name)
		}
	})
}

func (ss *session) counts() (prompts, resources int) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	return ss.prompts, ss.resources
}

func usableName(name string) bool { return name != "" && len(name) <= 256 && clean(name) == name }

// maxArguments limits the arguments of a prompt.
const maxArguments = 50

func (s *server) promptOf(p *mcp.Prompt) Prompt {
	out := Prompt{Server: s.name, Name: p.Name, Title: display.Shorten(clean(s.redact(p.Title)), 200), Description: display.Shorten(s.redact(text(p.Description)), 2000)}
	for _, a := range p.Arguments {
		if a != nil && len(out.Arguments) < maxArguments && usableName(a.Name) {
			out.Arguments = append(out.Arguments, Argument{a.Name, display.Shorten(clean(s.redact(a.Title)), 200), display.Shorten(s.redact(text(a.Description)), 1000), a.Required})
		}
	}
	return out
}

// GetPrompt returns a prompt with its arguments filled in.
func (m *Manager) GetPrompt(ctx context.Context, server, name string, args map[string]string) (PromptResult, error) {
	var out PromptResult
	err := m.request(ctx, "mcp.prompt", server, func(ctx context.Context, ss *session) error {
		r, err := ss.conn.GetPrompt(ctx, &mcp.GetPromptParams{Name: name, Arguments: args})
		if err != nil {
			return err
		}
		out.Description = display.Shorten(ss.s.redact(text(r.Description)), 2000)
		for _, msg := range r.Messages {
			if msg == nil || len(out.Messages) >= maxMessages {
				continue
			}
			role := "user"
			if msg.Role == "assistant" {
				role = "assistant"
			}
			out.Messages = append(out.Messages, PromptMessage{role, ss.s.redacted(blocksOf([]mcp.Content{msg.Content}))})
		}
		return nil
	})
	return out, err
}

// maxMessages limits the messages of a prompt.
const maxMessages = 100

// request sends one request to one server, which is started if necessary.
func (m *Manager) request(ctx context.Context, op, name string, send func(context.Context, *session) error) error {
	s, err := m.find(op, name)
	if err != nil {
		return err
	}
	ss, err := s.ready(ctx)
	if err != nil {
		return err
	}
	if err = ss.within(ctx, func(ctx context.Context) error { return send(ctx, ss) }); err == nil {
		return nil
	}
	if wire, ok := serverError(err); ok {
		return chat.Errorf(chat.CodeProvider, op, "The server %s refused: %s", name, display.Shorten(clean(s.redact(wire.Message)), maxErrorText))
	}
	return chat.WrapError(chat.CodeUnavailable, op, err, "The server %s: %s", name, s.describeError(err))
}

// Resources returns the resources of all servers, and their templates.
func (m *Manager) Resources(ctx context.Context) []Resource {
	out := []Resource{}
	m.each(ctx, "resources", hasResources, func(ctx context.Context, ss *session) error {
		found, err := ss.listResources(ctx)
		out = append(out, found...)
		return err
	})
	return out
}

// listResources returns the resources of one server; with an error, those that were read before it.
func (ss *session) listResources(ctx context.Context) ([]Resource, error) {
	limits := ss.s.m.limits
	var out []Resource
	seen := map[string]bool{}
	full := func() bool { return len(out) >= limits.Resources }
	add := func(r Resource) {
		if full() || r.URI == "" || len(r.URI) > 4096 || clean(r.URI) != r.URI || seen[r.URI] {
			return
		}
		seen[r.URI] = true
		r.Server, r.Name, r.Title = ss.s.name, display.Shorten(clean(ss.s.redact(r.Name)), 300), display.Shorten(clean(ss.s.redact(r.Title)), 300)
		r.Description, r.MediaType = display.Shorten(ss.s.redact(text(r.Description)), 1000), display.Shorten(clean(r.MediaType), 100)
		out = append(out, r)
	}
	_, err := pages(limits.Pages, func(cursor string) (string, error) {
		r, err := ss.conn.ListResources(ctx, &mcp.ListResourcesParams{Cursor: cursor})
		if err != nil {
			return "", err
		}
		for _, x := range r.Resources {
			if x != nil {
				add(Resource{URI: x.URI, Name: x.Name, Title: x.Title, Description: x.Description, MediaType: x.MIMEType, Bytes: max(x.Size, 0)})
			}
		}
		return r.NextCursor, nil
	}, full)
	if err != nil {
		return out, err
	}
	_, err = pages(limits.Pages, func(cursor string) (string, error) {
		r, err := ss.conn.ListResourceTemplates(ctx, &mcp.ListResourceTemplatesParams{Cursor: cursor})
		if err != nil {
			return "", err
		}
		for _, x := range r.ResourceTemplates {
			if x != nil {
				add(Resource{URI: x.URITemplate, Name: x.Name, Title: x.Title, Description: x.Description, MediaType: x.MIMEType, Template: true})
			}
		}
		return r.NextCursor, nil
	}, full)
	if _, refused := serverError(err); refused {
		return out, nil // templates are optional
	}
	return out, err
}

// ReadResource returns a resource's current content: texts and images.
func (m *Manager) ReadResource(ctx context.Context, server, uri string) (chat.Blocks, error) {
	var out chat.Blocks
	err := m.request(ctx, "mcp.resource", server, func(ctx context.Context, ss *session) error {
		r, err := ss.conn.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			return err
		}
		for _, c := range r.Contents {
			out = append(out, resourceBlock(c))
		}
		out = ss.s.redacted(out)
		return nil
	})
	if err == nil && len(out) == 0 {
		return nil, chat.Errorf(chat.CodeNotFound, "mcp.resource", "The resource %s is empty.", strings.TrimSpace(display.Shorten(clean(uri), 200)))
	}
	return out, err
}
