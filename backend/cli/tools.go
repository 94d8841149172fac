package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/tools"
)

// toolsReply is the output of `tools`.
type toolsReply struct {
	Mode        string          `json:"mode"`
	Tools       []toolRow       `json:"tools"`
	Permissions []permissionRow `json:"permissions"`
	Problems    []problemRow    `json:"problems"`
}

// toolRow is a tool with the decisions about it.
type toolRow struct {
	Name   string `json:"name"` // as models get it
	Source string `json:"source"`
	Tool   string `json:"tool"`
	Title  string `json:"title,omitempty"`
	State  string `json:"state"` // accepted, new, changed, gone
	// Decision is empty (ask), always or never; From says why.
	Decision     chat.ToolDecision `json:"decision"`
	From         string            `json:"decision_from"`
	Effects      bool              `json:"effects"`
	AsksEachCall bool              `json:"asks_each_call,omitempty"`
	Hash         string            `json:"definition_hash"`
}

type permissionRow struct {
	Source    string            `json:"source"`
	Tool      string            `json:"tool"` // empty: all tools of the source
	SessionID chat.SessionID    `json:"session_id,omitempty"`
	Decision  chat.ToolDecision `json:"decision"`
	CreatedAt time.Time         `json:"created_at"`
}

type problemRow struct {
	Source  string `json:"source"`
	Tool    string `json:"tool"`
	Message string `json:"message"`
}

func (c *call) toolsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "tools", Short: "List the tools that models may call, and decide about them and their calls", Args: exactly(),
		Long: `Lists the tools of this program and of its servers: whether they are offered to models, and what
applies to their calls. A server's tool is offered once you have accepted its current definition; each call
then waits for you, unless you allowed the tool. The name of a server, given as NAME, means all its tools.`,
	}
	cmd.RunE = c.withTools(func(ctx context.Context, s *Services, p tools.Panel, _ []string) (reply, error) {
		doc := s.toolsReply(p)
		return reply{doc: doc, text: doc.print}, nil
	})
	cmd.AddCommand(
		c.toolShowCommand(), c.toolAcceptCommand(), c.toolPermitCommand(true), c.toolPermitCommand(false), c.toolForgetCommand(),
		c.toolMarkCommand(), c.toolPermissionsCommand(), c.callsWaitingCommand(), c.callDecideCommand(), c.callResolveCommand(), c.callCancelCommand(),
	)
	return cmd
}

// withTools makes a verb about tools the body of a command. It opens the data for writing, because the servers run in
// the process that has it open.
func (c *call) withTools(f func(context.Context, *Services, tools.Panel, []string) (reply, error)) func(*cobra.Command, []string) error {
	return c.writes(func(ctx context.Context, s *Services, args []string) (reply, error) {
		s.Tools.Ensure(ctx)
		p, err := s.Tools.Panel(ctx)
		if err != nil {
			return reply{}, err
		}
		return f(ctx, s, p, args)
	})
}

func (s *Services) toolsReply(p tools.Panel) toolsReply {
	doc := toolsReply{Mode: s.Config.Config().Tools.Mode, Tools: lists.Map(p.Definitions, toolRowOf), Permissions: permissionRows(p)}
	doc.Problems = lists.Map(p.Problems, func(x tools.Problem) problemRow { return problemRow(x) })
	return doc
}

func toolRowOf(d tools.Definition) toolRow {
	return toolRow{
		Name: d.Name, Source: d.Source, Tool: d.Tool, Title: d.Title, State: d.Pinned, Decision: d.Decision, From: d.From,
		Effects: d.Effects, AsksEachCall: d.AsksEachCall, Hash: d.Hash,
	}
}

func permissionRows(p tools.Panel) []permissionRow {
	return lists.Map(p.Permissions, func(x chat.ToolPermission) permissionRow {
		return permissionRow{x.Source, x.Tool, x.Session, x.Decision, x.CreatedAt}
	})
}

func (r toolsReply) print(o *output) {
	if r.Mode != "enabled" {
		o.printf("Tools are off (tools.mode = %s). Turn them on with: contextinfinity config set tools.mode enabled\n", r.Mode)
	}
	t := newTable("NAME", "SOURCE", "STATE", "CALLS", "EFFECTS")
	for _, x := range r.Tools {
		t.add(x.Name, x.Source, x.state(), x.calls(), map[bool]string{true: "may have some", false: "none"}[x.Effects])
	}
	t.print(o)
	for _, p := range r.Problems {
		o.printf("%s\n", o.dim("note: "+line(strings.TrimPrefix(p.Source+" "+p.Tool+": ", " ")+p.Message)))
	}
}

var stateWords = map[string]string{
	tools.PinnedAccepted: "offered", tools.PinnedNew: "new: review it", tools.PinnedChanged: "changed: review it", tools.PinnedGone: "not available now",
}

// state describes whether a tool is offered to models.
func (r toolRow) state() string {
	if r.State == tools.PinnedAccepted && r.Decision == chat.DecisionNever {
		return "not offered"
	}
	return stateWords[r.State]
}

// calls describes which decision applies to a tool's calls in all sessions.
func (r toolRow) calls() string {
	switch {
	case r.Decision == chat.DecisionNever:
		return "never"
	case r.AsksEachCall:
		return "ask each time"
	case r.Decision == chat.DecisionAlways && r.From == tools.FromConfig:
		return "allowed by tools.allow"
	case r.Decision == chat.DecisionAlways:
		return "allowed"
	}
	return "ask"
}

// tool finds a tool by the name that models see, or as SOURCE.TOOL.
func tool(p tools.Panel, name string) (tools.Definition, error) {
	for _, d := range p.Definitions {
		if d.Name == name || d.Source+"."+d.Tool == name {
			return d, nil
		}
	}
	return tools.Definition{}, chat.Errorf(chat.CodeNotFound, "tools.find", "There is no tool %s.", clip(name, 80)).
		WithHint("contextinfinity tools lists them")
}

// toolOrSource finds a tool, or a source with all its tools.
func toolOrSource(p tools.Panel, name string) (d tools.Definition, isSource bool, err error) {
	if d, err = tool(p, name); err == nil {
		return d, false, nil
	}
	known := slices.ContainsFunc(p.Definitions, func(d tools.Definition) bool { return d.Source == name }) ||
		slices.ContainsFunc(p.Permissions, func(x chat.ToolPermission) bool { return x.Source == name })
	if !known {
		return d, false, err
	}
	d.Source = name
	return d, true, nil
}

// toolDetail is the document of `tools show`.
type toolDetail struct {
	toolRow
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"arguments_schema"`
	Annotations json.RawMessage `json:"annotations,omitempty"`
	// Accepted is the previously accepted definition.
	Accepted *chat.ToolDefinition `json:"accepted_before,omitempty"`
}

func (c *call) toolShowCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "show NAME", Short: "Show the complete definition of a tool, as models see it", Args: exactly("NAME")}
	cmd.RunE = c.withTools(func(ctx context.Context, _ *Services, p tools.Panel, args []string) (reply, error) {
		d, err := tool(p, args[0])
		if err != nil {
			return reply{}, err
		}
		doc := detailOf(d)
		return reply{doc: doc, text: doc.print}, nil
	})
	return cmd
}

func detailOf(d tools.Definition) toolDetail {
	doc := toolDetail{toolRow: toolRowOf(d), Description: d.Description, Schema: d.Schema, Annotations: d.Annotations}
	if d.Before != nil {
		doc.Accepted = &d.Before.ToolDefinition
	}
	return doc
}

// print prints the untrusted texts of a definition as plain text.
func (d toolDetail) print(o *output) {
	o.printf("%s\n", o.bold(line(d.Name)))
	o.printf("of %s, %s, calls: %s\n", line(d.Source), d.state(), d.calls())
	d.printDefinition(o)
}

// printDefinition prints everything that the user accepts or approves about a tool.
func (d toolDetail) printDefinition(o *output) {
	if d.Title != "" {
		o.printf("Title: %s\n", line(d.Title))
	}
	o.text("\n" + d.Description + "\n\nArguments:\n" + display.JSON(d.Schema) + "\n")
	if len(d.Annotations) > 0 {
		o.text("\nHints of its server, which are not relied on:\n" + display.JSON(d.Annotations) + "\n")
	}
	if d.Accepted != nil {
		o.text("\nWhat was accepted before:\n" + d.Accepted.Description + "\n" + display.JSON(d.Accepted.Schema) + "\n")
	}
}

type acceptReply struct {
	Accepted []toolDetail `json:"accepted"`
}

func (c *call) toolAcceptCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "accept NAME", Short: "Offer a tool, or all tools of a server, to models with their current definitions", Args: exactly("NAME"),
		Long: `Accepts the definition of a tool, and prints it. The tool is then offered to models; its calls still
wait for you. If its server changes the definition, it is not offered until you accept it again. Read it
first: contextinfinity tools show NAME. With --hash and the definition_hash of tools show NAME --json, any
other definition is refused.`,
	}
	hash := cmd.Flags().String("hash", "", "accept only the definition with this hash")
	cmd.RunE = c.withTools(func(ctx context.Context, s *Services, p tools.Panel, args []string) (reply, error) {
		named, isSource, err := toolOrSource(p, args[0])
		if err != nil {
			return reply{}, err
		}
		switch {
		case *hash != "" && isSource:
			return reply{}, usageHint("name one tool", "--hash is for one tool, and %s is a server.", clip(args[0], 60))
		case *hash != "" && named.Hash != *hash:
			return reply{}, chat.Errorf(chat.CodeConflict, "tools.accept", "The definition of %s is not the one that --hash names. Nothing was changed.", clip(args[0], 60)).
				WithHint("review it again: contextinfinity tools show NAME")
		}
		doc := acceptReply{Accepted: []toolDetail{}}
		for _, d := range p.Definitions {
			selected := d.Source == named.Source && (isSource || d.Tool == named.Tool)
			if !selected || d.Pinned != tools.PinnedNew && d.Pinned != tools.PinnedChanged {
				continue
			}
			if err := s.Tools.Accept(ctx, d.Source, d.Tool, d.Hash); err != nil {
				return reply{}, err
			}
			d.Pinned = tools.PinnedAccepted
			doc.Accepted = append(doc.Accepted, detailOf(d))
		}
		return reply{doc: doc, text: doc.print}, nil
	})
	return cmd
}

func (r acceptReply) print(o *output) {
	if len(r.Accepted) == 0 {
		o.printf("Nothing to accept: it is offered already, or does not exist.\n")
	}
	for _, d := range r.Accepted {
		d.print(o)
	}
}

// permitReply is a decision for later calls.
type permitReply struct {
	Source    string            `json:"source"`
	Tool      string            `json:"tool"` // empty: all tools of the source
	SessionID chat.SessionID    `json:"session_id,omitempty"`
	Decision  chat.ToolDecision `json:"decision"`
}

func (c *call) toolPermitCommand(allow bool) *cobra.Command {
	cmd := &cobra.Command{Use: "allow NAME", Short: "Run the calls of a tool, or of a server's tools, without asking", Args: exactly("NAME")}
	if !allow {
		cmd.Use, cmd.Short = "deny NAME", "Never run a tool, or a server's tools, and do not offer them"
	}
	session := cmd.Flags().String("session", "", "in this session only")
	cmd.RunE = c.withTools(func(ctx context.Context, s *Services, p tools.Panel, args []string) (reply, error) {
		d, _, err := toolOrSource(p, args[0])
		if err != nil {
			return reply{}, err
		}
		doc := permitReply{Source: d.Source, Tool: d.Tool, Decision: chat.DecisionNever}
		if doc.SessionID, err = s.sessionIfNamed(ctx, *session); err != nil {
			return reply{}, err
		}
		if allow {
			doc.Decision = chat.DecisionAlways
			if doc.SessionID != "" {
				doc.Decision = chat.DecisionSession
			}
		}
		err = s.Tools.Permit(ctx, chat.ToolPermission{Source: doc.Source, Tool: doc.Tool, Session: doc.SessionID, Decision: doc.Decision, Definition: d.Hash})
		return reply{doc: doc, text: doc.print}, err
	})
	_ = cmd.RegisterFlagCompletionFunc("session", c.completeSession)
	return cmd
}

func (s *Services) sessionIfNamed(ctx context.Context, typed string) (chat.SessionID, error) {
	if typed == "" {
		return "", nil
	}
	found, err := s.session(ctx, typed)
	return found.ID, err
}

func (r permitReply) print(o *output) {
	subject := "All tools of " + r.Source
	if r.Tool != "" {
		subject = fmt.Sprintf("%s of %s", r.Tool, r.Source)
	}
	scope := "in all sessions"
	if r.SessionID != "" {
		scope = "in session " + string(r.SessionID)
	}
	rule := "run without asking"
	if r.Decision == chat.DecisionNever {
		rule = "never run"
	}
	o.printf("%s: %s, %s. Undo it with: contextinfinity tools forget\n", line(subject), rule, scope)
}

func (c *call) toolForgetCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "forget NAME", Short: "Forget what was allowed or denied; later calls ask again", Args: exactly("NAME")}
	session := cmd.Flags().String("session", "", "what was decided for this session only")
	cmd.RunE = c.withTools(func(ctx context.Context, s *Services, p tools.Panel, args []string) (reply, error) {
		d, _, err := toolOrSource(p, args[0])
		if err != nil {
			return reply{}, err
		}
		doc := permitReply{Source: d.Source, Tool: d.Tool}
		if doc.SessionID, err = s.sessionIfNamed(ctx, *session); err != nil {
			return reply{}, err
		}
		err = s.Tools.Forget(ctx, doc.Source, doc.Tool, doc.SessionID)
		return reply{doc: doc, text: func(o *output) { o.printf("Forgotten: later calls ask again.\n") }}, err
	})
	_ = cmd.RegisterFlagCompletionFunc("session", c.completeSession)
	return cmd
}

func (c *call) toolMarkCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "mark-read-only NAME", Short: "Mark a server's tool as having no effects", Args: exactly("NAME"),
		Long: `A call that was interrupted by a crash or a timeout is never run again automatically if its tool may
have effects: you decide. A tool without effects is run again. The server's own hint is ignored; your mark
applies to the current definition.`,
	}
	undo := cmd.Flags().Bool("undo", false, "take it back")
	cmd.RunE = c.withTools(func(ctx context.Context, s *Services, p tools.Panel, args []string) (reply, error) {
		d, err := tool(p, args[0])
		if err != nil {
			return reply{}, err
		}
		hash := d.Hash
		if *undo {
			hash = ""
		}
		if err := s.Tools.MarkReadOnly(ctx, d.Source, d.Tool, hash); err != nil {
			return reply{}, err
		}
		d.Effects = *undo
		return reply{doc: toolRowOf(d), text: func(o *output) {
			o.printf("%s: %s.\n", line(d.Name), map[bool]string{true: "it may have effects", false: "marked as having no effects"}[*undo])
		}}, nil
	})
	return cmd
}

type permissionsReply struct {
	Permissions []permissionRow `json:"permissions"`
	Allow       []string        `json:"tools_allow"` // of the configuration
}

func (c *call) toolPermissionsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "permissions", Short: "List what was allowed and denied for later calls", Args: exactly()}
	cmd.RunE = c.run(func(ctx context.Context, _ []string) (reply, error) {
		none := permissionsReply{Permissions: []permissionRow{}, Allow: []string{}}
		return c.readingAny(ctx, reply{doc: none, text: none.print}, func(s *Services) (reply, error) {
			p, err := s.Tools.Panel(ctx)
			doc := permissionsReply{Permissions: permissionRows(p), Allow: append([]string{}, p.Allow...)}
			return reply{doc: doc, text: doc.print}, err
		})
	})
	return cmd
}

func (r permissionsReply) print(o *output) {
	if len(r.Permissions)+len(r.Allow) == 0 {
		o.printf("Nothing was allowed or denied for later calls.\n")
		return
	}
	t := newTable("SOURCE", "TOOL", "DECISION", "SESSION", "SINCE")
	for _, p := range r.Permissions {
		t.add(p.Source, cmp.Or(p.Tool, "(all)"), string(p.Decision), string(p.SessionID), local(p.CreatedAt))
	}
	for _, name := range r.Allow {
		t.add("", name, "always", "", "tools.allow")
	}
	t.print(o)
}
