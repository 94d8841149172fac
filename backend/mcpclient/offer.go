package mcpclient

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/scrub"
	"contextinfinity/backend/tools"
)

// offer is the tools that a server offers.
type offer struct {
	tools    []chat.ToolDefinition
	problems []tools.Problem
}

// list requests the tools, with limits on pages, number and time.
func (ss *session) list(ctx context.Context) (offer, error) {
	caps := ss.conn.InitializeResult().Capabilities
	if caps == nil || caps.Tools == nil {
		return offer{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, ss.s.m.limits.List)
	defer cancel()
	c := &collector{s: ss.s, count: map[string]int{}}
	complete, err := pages(ss.s.m.limits.Pages, func(cursor string) (string, error) {
		r, err := ss.conn.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
		if err != nil {
			return "", err
		}
		for _, t := range r.Tools {
			c.add(t)
		}
		return r.NextCursor, nil
	}, func() bool { return len(c.out.tools) >= ss.s.m.limits.Tools })
	if err != nil {
		return offer{}, fmt.Errorf("its list of tools: %w", err)
	}
	switch {
	case !complete:
		c.problem("", "Its list of tools is endless: the first %d are offered.", len(c.out.tools))
	case c.omitted > 0:
		c.problem("", "It has more than %d tools: %d of them are left out.", ss.s.m.limits.Tools, c.omitted)
	}
	return c.out, nil
}

// pages follows the cursors of a list, for at most limit pages. complete reports whether it reached the end.
func pages(limit int, page func(cursor string) (next string, err error), full func() bool) (complete bool, err error) {
	cursor := ""
	for range limit {
		next, err := page(cursor)
		if err != nil {
			return false, err
		}
		if next == "" {
			return true, nil
		}
		if full() || next == cursor {
			return false, nil
		}
		cursor = next
	}
	return false, nil
}

// collector checks the tools that a server offers.
type collector struct {
	s       *server
	out     offer
	count   map[string]int // occurrences of each name
	bytes   int
	omitted int // tools beyond the limit
}

// maxProblems limits the unusable tools that are named.
const maxProblems = 50

func (c *collector) problem(subject, format string, args ...any) {
	if len(c.out.problems) < maxProblems {
		c.out.problems = append(c.out.problems, tools.Problem{Source: c.s.name, Tool: display.Shorten(clean(subject), 100), Message: c.s.redact(fmt.Sprintf(format, args...))})
	}
}

func (c *collector) add(t *mcp.Tool) {
	limits := c.s.m.limits
	name := t.Name
	if name == "" || len(name) > 256 || clean(name) != name {
		c.problem(name, "It has a name that cannot be used.")
		return
	}
	c.count[name]++
	switch n := c.count[name]; {
	case n == 2:
		c.refuse(name)
		return
	case n > 2:
		return
	case len(c.out.tools) >= limits.Tools:
		c.omitted++
		return
	}
	d, problem := c.definition(t)
	size := sizeOf(d)
	switch {
	case problem != "":
		c.problem(name, "%s", problem)
	case len(d.Description) > limits.Description || len(d.Title) > 1000:
		c.problem(name, "Its description is longer than %d KiB.", limits.Description>>10)
	case len(d.Schema) > limits.Schema || len(d.Annotations) > limits.Schema:
		c.problem(name, "Its schema is larger than %d KiB.", limits.Schema>>10)
	case c.bytes+size > limits.Definitions:
		c.problem(name, "All its definitions together are larger than %d KiB.", limits.Definitions>>10)
	default:
		c.bytes += size
		c.out.tools = append(c.out.tools, d)
	}
}

// refuse removes a tool whose name is duplicated.
func (c *collector) refuse(name string) {
	c.problem(name, "The server offers several tools of this name, so it is not clear which one would run. None of them is offered.")
	c.out.tools = slices.DeleteFunc(c.out.tools, func(d chat.ToolDefinition) bool {
		same := d.Tool == name
		if same {
			c.bytes -= sizeOf(d)
		}
		return same
	})
}

func sizeOf(d chat.ToolDefinition) int {
	return len(d.Description) + len(d.Schema) + len(d.Annotations) + len(d.Title)
}

func (c *collector) definition(t *mcp.Tool) (d chat.ToolDefinition, problem string) {
	d = chat.ToolDefinition{Source: c.s.name, Tool: t.Name, Title: c.s.redact(text(t.Title)), Description: c.s.redact(text(t.Description)), Effects: true}
	schema, ok := t.InputSchema.(map[string]any)
	if !ok {
		return d, "It has no schema for its arguments, or one that is not an object."
	}
	if kind, ok := schema["type"]; ok && kind != "object" {
		return d, "Its arguments are not an object."
	}
	var err error
	if d.Schema, err = chat.MarshalJSON(schema); err != nil {
		return d, "Its schema cannot be read."
	}
	d.Schema = scrub.JSON(d.Schema, c.s.plainRedact)
	if t.Annotations != nil {
		if d.Title == "" {
			d.Title = c.s.redact(text(t.Annotations.Title))
		}
		if d.Annotations, err = chat.MarshalJSON(t.Annotations); err != nil {
			return d, "Its annotations cannot be read."
		}
		d.Annotations = scrub.JSON(d.Annotations, c.s.plainRedact)
	}
	return d, ""
}

// changed schedules listing the tools again, once for several announced changes.
func (ss *session) changed() {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.closed || ss.debounce != nil {
		return
	}
	ss.debounce = time.AfterFunc(ss.s.m.limits.Debounce, func() {
		ss.mu.Lock()
		if ss.closed {
			ss.mu.Unlock()
			return
		}
		ss.debounce = nil // a later announcement may not be covered by the list below
		ss.work.Add(1)
		ss.mu.Unlock()
		defer ss.work.Done()
		ss.relist()
	})
}

// relist requests the tools again. If that fails, none are offered, because the earlier definitions may be outdated.
func (ss *session) relist() {
	ss.listing.Lock()
	defer ss.listing.Unlock()
	ss.mu.Lock()
	ss.stale = !ss.ready
	notReady := ss.stale
	ss.mu.Unlock()
	if notReady {
		return // done once the session is ready
	}
	found, err := ss.list(ss.life)
	if err != nil {
		if ss.life.Err() != nil {
			return
		}
		message := fmt.Sprintf("It reported that its tools changed, but they could not be read: %s", ss.s.describeError(err))
		ss.s.log.add(FromProgram, message)
		found = offer{problems: []tools.Problem{{Source: ss.s.name, Message: message}}}
	}
	ss.mu.Lock()
	same := sameTools(ss.offer.tools, found.tools) && len(ss.offer.problems) == len(found.problems)
	ss.offer = found
	ss.mu.Unlock()
	if !same {
		ss.s.log.add(FromProgram, fmt.Sprintf("Its tools changed: it offers %d now.", len(found.tools)))
		ss.s.m.changed(ss.s.name)
	}
}

// setReady marks the session as ready, and handles a change that was announced before.
func (ss *session) setReady() {
	ss.mu.Lock()
	ss.ready = true
	stale := ss.stale
	ss.mu.Unlock()
	if stale {
		ss.changed()
	}
}

func sameTools(a, b []chat.ToolDefinition) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Hash() != b[i].Hash() {
			return false
		}
	}
	return true
}

func (ss *session) offered() offer {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	return ss.offer
}
