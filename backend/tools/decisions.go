package tools

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/untrusted"
)

// Panel is the current state of all tools: their definitions, the decisions about them, and problems.
type Panel struct {
	Definitions []Definition
	Permissions []chat.ToolPermission
	Allow       []string // tools.allow
	Problems    []Problem
}

// Definition is a tool with the user's decisions about it.
type Definition struct {
	chat.ToolDefinition
	Hash    string
	BuiltIn bool
	Pinned  string // PinnedAccepted, PinnedNew, PinnedChanged, PinnedGone
	// Before is the accepted definition of a changed tool.
	Before *chat.PinnedDefinition
	// Decision applies to all sessions: DecisionNone (ask), DecisionAlways or DecisionNever; From says why.
	Decision chat.ToolDecision
	From     string
	// AsksEachCall: each call needs approval, whatever was decided.
	AsksEachCall bool
}

// Panel lists all tools in the order in which models get them; removed ones come last.
func (r *Registry) Panel(ctx context.Context) (Panel, error) {
	v, err := r.view(ctx)
	if err != nil {
		return Panel{}, err
	}
	_, omitted := v.offer("")
	p := Panel{Permissions: v.list, Allow: slices.Clone(v.settings.Allow), Problems: slices.Concat(v.problems, omitted)}
	present := map[toolKey]bool{}
	for _, o := range v.tools {
		key := toolKey{o.Source, o.Tool}
		present[key] = true
		d := Definition{ToolDefinition: o.ToolDefinition, Hash: o.hash, BuiltIn: o.builtin, Pinned: v.pinnedState(o), AsksEachCall: v.asksEachCall(o.Source, o.Tool)}
		if d.Pinned == PinnedChanged {
			before := v.pinned[key]
			d.Before = &before
		}
		d.Decision, d.From = v.globalDecision(d)
		p.Definitions = append(p.Definitions, d)
	}
	var gone []Definition
	for key, pinned := range v.pinned {
		if !present[key] {
			d := Definition{ToolDefinition: pinned.ToolDefinition, Hash: pinned.Hash, Pinned: PinnedGone}
			d.Name, d.Effects = offeredName(d.Source, d.Tool), true
			d.Decision, d.From = v.globalDecision(d)
			gone = append(gone, d)
		}
	}
	slices.SortFunc(gone, func(a, b Definition) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Tool, b.Tool))
	})
	p.Definitions = append(p.Definitions, gone...)
	return p, nil
}

// globalDecision returns the decision about a tool that applies to all sessions, and its origin.
func (v *view) globalDecision(d Definition) (chat.ToolDecision, string) {
	switch {
	case v.permissions[permissionKey{d.Source, d.Tool, ""}].Decision == chat.DecisionNever:
		return chat.DecisionNever, FromTool
	case v.permissions[permissionKey{d.Source, "", ""}].Decision == chat.DecisionNever:
		return chat.DecisionNever, FromServer
	case d.AsksEachCall:
		return chat.DecisionNone, ""
	}
	return v.permissionFor("", d.ToolDefinition)
}

// Definition returns a tool's current definition, and whether there is one.
func (r *Registry) Definition(ctx context.Context, source, tool string) (Definition, bool, error) {
	p, err := r.Panel(ctx)
	if err != nil {
		return Definition{}, false, err
	}
	for _, d := range p.Definitions {
		if d.Source == source && d.Tool == tool && d.Pinned != PinnedGone {
			return d, true, nil
		}
	}
	return Definition{}, false, nil
}

// unchanged returns a tool if its definition is still the one that the user saw.
func (r *Registry) unchanged(ctx context.Context, op, source, tool, hash string) (Definition, error) {
	d, ok, err := r.Definition(ctx, source, tool)
	switch {
	case err != nil:
		return d, err
	case !ok:
		return d, chat.Errorf(chat.CodeNotFound, op, "The tool %s of %s is not available now. Nothing was changed.", shownName(tool), source).
			WithHint("its server may not be running")
	case d.Hash != hash:
		return d, chat.Errorf(chat.CodeConflict, op, "The definition of %s is not the one that was shown. Nothing was changed.", shownName(tool)).
			WithHint("look at it again")
	}
	return d, nil
}

// Accept accepts a definition as it was shown: from now on it is offered to models.
func (r *Registry) Accept(ctx context.Context, source, tool, hash string) error {
	d, err := r.unchanged(ctx, "tools.accept", source, tool, hash)
	if err != nil || d.BuiltIn {
		return err
	}
	if err := r.store.AcceptDefinitions(ctx, []chat.ToolDefinition{d.ToolDefinition}); err != nil {
		return err
	}
	r.notify()
	return nil
}

// Permit stores a decision for later calls. A permission names the definition it applies to; a prohibition applies to
// any later definition.
func (r *Registry) Permit(ctx context.Context, p chat.ToolPermission) error {
	const op = "tools.permit"
	if p.Decision.Allows() && p.Tool != "" {
		d, err := r.unchanged(ctx, op, p.Source, p.Tool, p.Definition)
		switch {
		case err != nil:
			return err
		case d.Pinned != PinnedAccepted:
			return chat.Errorf(chat.CodeConflict, op, "The definition of %s was not accepted yet. Nothing was changed.", shownName(p.Tool)).
				WithHint("accept it first: contextinfinity tools accept %s", d.Name)
		case d.AsksEachCall:
			return chat.Errorf(chat.CodeInvalid, op, "%s needs your approval for each call, because it is not confined. Nothing was changed.", d.Name).
				WithHint("allow the call once")
		}
	} else {
		p.Definition = ""
	}
	if err := r.store.PutToolPermission(ctx, p); err != nil {
		return err
	}
	r.notify()
	return nil
}

// Forget deletes a decision: later calls ask again.
func (r *Registry) Forget(ctx context.Context, source, tool string, session chat.SessionID) error {
	if err := r.store.DeleteToolPermission(ctx, source, tool, session); err != nil {
		return err
	}
	r.notify()
	return nil
}

// MarkReadOnly marks a server's tool, with its current definition, as having no effects: a call with an unknown
// outcome may then be repeated automatically. An empty hash removes the mark.
func (r *Registry) MarkReadOnly(ctx context.Context, source, tool, hash string) error {
	if hash != "" {
		d, err := r.unchanged(ctx, "tools.mark", source, tool, hash)
		if err != nil {
			return err
		}
		if d.BuiltIn {
			return chat.Errorf(chat.CodeInvalid, "tools.mark", "%s is built in, so its effects are known. Nothing was changed.", d.Name)
		}
	}
	if err := r.store.MarkTool(ctx, chat.ReadOnlyMark{Source: source, Tool: tool}, hash); err != nil {
		return err
	}
	r.notify()
	return nil
}

// Preview returns what a call would change; empty if its source cannot show that. It uses the redacted arguments that
// would be sent, and says so. Invisible characters are shown by their code point.
func (r *Registry) Preview(ctx context.Context, source string, c Call) string {
	s, ok := r.source(source)
	if !ok {
		return ""
	}
	p, ok := s.(Previewer)
	if !ok {
		return ""
	}
	r.mu.RLock()
	redact := r.redact
	r.mu.RUnlock()
	raw := c.Arguments
	c.Arguments = redact(raw)
	text, err := p.Preview(ctx, c)
	if err != nil || text == "" {
		return ""
	}
	text = showInvisible(text)
	if shown := display.Start(text, maxPreview); len(shown) < len(text) {
		text = fmt.Sprintf("%s\n [Only the first %d of %d KB are shown.]", shown, len(shown)>>10, len(text)>>10)
	}
	if !bytes.Equal(raw, c.Arguments) {
		text = " [Secrets are removed from the arguments. This is what would be written.]\n" + text
	}
	return text
}

// maxPreview limits the size of a preview, in bytes.
const maxPreview = 64 << 10

// showInvisible replaces invisible characters by their code point, because they would be written too.
func showInvisible(text string) string {
	var b strings.Builder
	for _, r := range text {
		if char := string(r); r == '\n' || r == '\t' || untrusted.Visible(char) == char {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		}
	}
	return b.String()
}

// RedactArguments sets the function that removes secrets from the arguments of previews, the same as when a call
// begins.
func (r *Registry) RedactArguments(fn func(json.RawMessage) json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.redact = fn
}
