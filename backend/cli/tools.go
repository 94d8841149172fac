package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/tools"
)

func toolsVerb() verb {
	return verb{
		use:   "tools",
		short: "List the tools that models may call, and decide about them and their calls",
		long: `Lists the tools of this program and of its servers: whether they are offered to models, and what
applies to their calls. A server's tool is offered once you have accepted its current definition; each call
then waits for you, unless you allowed the tool. The name of a server, given as NAME, means all its tools.`,
		opens: looks,
		do:    withTools(listTools),
		verbs: slices.Concat(toolVerbs(), callVerbs()),
	}
}

func toolVerbs() []verb {
	session := nameFlag("session", "in this session only")
	return []verb{
		{
			use:   "show NAME",
			short: "Show the complete definition of a tool, as models see it",
			opens: looks,
			do: withTools(func(_ context.Context, r *run, p tools.Panel) (reply, error) {
				d, err := tool(p, r.args[0])
				return reply{doc: toolDetail(d), text: func(o *output) { printTool(o, d) }}, err
			}),
		},
		{
			use:   "accept NAME",
			short: "Offer a tool, or all tools of a server, to models with their current definitions",
			long: `Accepts the definition of a tool, and prints it. The tool is then offered to models; its calls still
wait for you. If its server changes the definition, it is not offered until you accept it again. Read it
first: contextinfinity tools show NAME. With --hash and the definition_hash of tools show NAME --json, any
other definition is refused.`,
			flags: []flag{nameFlag("hash", "accept only the definition with this hash")},
			opens: writes,
			do:    withTools(acceptTools),
		},
		{
			use:   "allow NAME",
			short: "Run the calls of a tool, or of a server's tools, without asking",
			flags: []flag{session},
			opens: writes,
			do: withTools(func(ctx context.Context, r *run, p tools.Panel) (reply, error) {
				if r.session.ID != "" {
					return permit(ctx, r, p, chat.DecisionSession)
				}
				return permit(ctx, r, p, chat.DecisionAlways)
			}),
		},
		{
			use:   "deny NAME",
			short: "Never run a tool, or a server's tools, and do not offer them",
			flags: []flag{session},
			opens: writes,
			do: withTools(func(ctx context.Context, r *run, p tools.Panel) (reply, error) {
				return permit(ctx, r, p, chat.DecisionNever)
			}),
		},
		{
			use:   "forget NAME",
			short: "Forget what was allowed or denied; later calls ask again",
			flags: []flag{nameFlag("session", "what was decided for this session only")},
			opens: writes,
			do: withTools(func(ctx context.Context, r *run, p tools.Panel) (reply, error) {
				d, _, err := toolOrSource(p, r.args[0])
				if err == nil {
					err = r.s.Tools.Forget(ctx, d.Source, d.Tool, r.session.ID)
				}
				doc := permission(chat.ToolPermission{Source: d.Source, Tool: d.Tool, Session: r.session.ID})
				return sentence(doc, "Forgotten: later calls ask again."), err
			}),
		},
		{
			use:   "mark-read-only NAME",
			short: "Mark a server's tool as having no effects",
			long: `A call that was interrupted by a crash or a timeout is never run again automatically if its tool may
have effects: you decide. A tool without effects is run again. The server's own hint is ignored; your mark
applies to the current definition.`,
			flags: []flag{boolFlag("undo", "take it back")},
			opens: writes,
			do:    withTools(markReadOnly),
		},
		shows(verb{use: "permissions", short: "List what was allowed and denied for later calls"},
			func(ctx context.Context, r *run) (tools.Panel, error) { return r.s.Tools.Panel(ctx) }, permissionList),
	}
}

// withTools gives a verb the tools. Such verbs open the data for writing, because the servers run in the process that
// has it open.
func withTools(do func(context.Context, *run, tools.Panel) (reply, error)) func(context.Context, *run) (reply, error) {
	return func(ctx context.Context, r *run) (reply, error) {
		r.s.Tools.Ensure(ctx)
		p, err := r.s.Tools.Panel(ctx)
		if err != nil {
			return reply{}, err
		}
		return do(ctx, r, p)
	}
}

func listTools(_ context.Context, r *run, p tools.Panel) (reply, error) {
	mode := r.s.Config.Config().Tools.Mode
	doc := fields{
		{"mode", mode},
		{"tools", lists.Map(p.Definitions, toolRow)},
		{"permissions", lists.Map(p.Permissions, permissionRow)},
		{"problems", lists.Map(p.Problems, problemRow)},
	}
	t := tableOf("NAME|SOURCE|STATE|CALLS|EFFECTS", p.Definitions, func(d tools.Definition) []any {
		effects := map[bool]string{true: "may have some", false: "none"}[d.Effects]
		return []any{d.Name, d.Source, stateOfTool(d), callsOf(d), effects}
	})
	return reply{doc: doc, text: func(o *output) {
		if mode != "enabled" {
			const hint = "Turn them on with: contextinfinity config set tools.mode enabled"
			o.printf("Tools are off (tools.mode = %s). %s\n", mode, hint)
		}
		t.print(o)
		for _, x := range p.Problems {
			subject := strings.TrimPrefix(x.Source+" "+x.Tool+": ", " ")
			o.printf("%s\n", o.dim("note: "+line(subject+x.Message)))
		}
	}}, nil
}

func problemRow(p tools.Problem) fields {
	return fields{{"source", p.Source}, {"tool", p.Tool}, {"message", p.Message}}
}

// toolRow is a tool with the decisions about it.
func toolRow(d tools.Definition) fields {
	return fields{
		{"name", d.Name}, // as models get it
		{"source", d.Source},
		{"tool", d.Tool},
		{"title,omitempty", d.Title},
		{"state", d.Pinned},       // accepted, new, changed, gone
		{"decision", d.Decision},  // empty (ask), always or never
		{"decision_from", d.From}, // why
		{"effects", d.Effects},
		{"asks_each_call,omitempty", d.AsksEachCall},
		{"definition_hash", d.Hash},
	}
}

// toolDetail is a tool with its definition.
func toolDetail(d tools.Definition) fields {
	var before *chat.ToolDefinition // the previously accepted one
	if d.Before != nil {
		before = &d.Before.ToolDefinition
	}
	return append(toolRow(d), fields{
		{"description", d.Description},
		{"arguments_schema", d.Schema},
		{"annotations,omitempty", d.Annotations},
		{"accepted_before,omitempty", before},
	}...)
}

var stateWords = map[string]string{
	tools.PinnedAccepted: "offered",
	tools.PinnedNew:      "new: review it",
	tools.PinnedChanged:  "changed: review it",
	tools.PinnedGone:     "not available now",
}

// stateOfTool describes whether a tool is offered to models.
func stateOfTool(d tools.Definition) string {
	if d.Pinned == tools.PinnedAccepted && d.Decision == chat.DecisionNever {
		return "not offered"
	}
	return stateWords[d.Pinned]
}

// callsOf describes which decision applies to a tool's calls in all sessions.
func callsOf(d tools.Definition) string {
	switch {
	case d.Decision == chat.DecisionNever:
		return "never"
	case d.AsksEachCall:
		return "ask each time"
	case d.Decision == chat.DecisionAlways && d.From == tools.FromConfig:
		return "allowed by tools.allow"
	case d.Decision == chat.DecisionAlways:
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

// printTool prints the untrusted texts of a definition as plain text.
func printTool(o *output, d tools.Definition) {
	o.printf("%s\n", o.bold(line(d.Name)))
	o.printf("of %s, %s, calls: %s\n", line(d.Source), stateOfTool(d), callsOf(d))
	printDefinition(o, d)
}

// printDefinition prints everything that the user accepts or approves about a tool.
func printDefinition(o *output, d tools.Definition) {
	o.printIf(d.Title != "", "Title: %s\n", line(d.Title))
	o.visible("\n" + d.Description + "\n\nArguments:\n" + display.JSON(d.Schema) + "\n")
	if len(d.Annotations) > 0 {
		o.visible("\nHints of its server, which are not relied on:\n" + display.JSON(d.Annotations) + "\n")
	}
	if d.Before != nil {
		o.visible("\nWhat was accepted before:\n" + d.Before.Description + "\n" + display.JSON(d.Before.Schema) + "\n")
	}
}

func acceptTools(ctx context.Context, r *run, p tools.Panel) (reply, error) {
	named, isSource, err := toolOrSource(p, r.args[0])
	hash, name := r.text("hash"), clip(r.args[0], 60)
	switch {
	case err != nil:
		return reply{}, err
	case hash != "" && isSource:
		return reply{}, usageHint("name one tool", "--hash is for one tool, and %s is a server.", name)
	case hash != "" && named.Hash != hash:
		const problem = "The definition of %s is not the one that --hash names. Nothing was changed."
		return reply{}, chat.Errorf(chat.CodeConflict, "tools.accept", problem, name).
			WithHint("review it again: contextinfinity tools show NAME")
	}
	var accepted []tools.Definition
	for _, d := range p.Definitions {
		selected := d.Source == named.Source && (isSource || d.Tool == named.Tool)
		if !selected || d.Pinned != tools.PinnedNew && d.Pinned != tools.PinnedChanged {
			continue
		}
		if err := r.s.Tools.Accept(ctx, d.Source, d.Tool, d.Hash); err != nil {
			return reply{}, err
		}
		d.Pinned = tools.PinnedAccepted
		accepted = append(accepted, d)
	}
	return reply{doc: fields{{"accepted", lists.Map(accepted, toolDetail)}}, text: func(o *output) {
		o.printIf(len(accepted) == 0, "Nothing to accept: it is offered already, or does not exist.\n")
		for _, d := range accepted {
			printTool(o, d)
		}
	}}, nil
}

// permit decides about later calls of a tool, or of all tools of a source.
func permit(ctx context.Context, r *run, p tools.Panel, decision chat.ToolDecision) (reply, error) {
	d, _, err := toolOrSource(p, r.args[0])
	if err != nil {
		return reply{}, err
	}
	x := chat.ToolPermission{
		Source:     d.Source,
		Tool:       d.Tool,
		Session:    r.session.ID,
		Decision:   decision,
		Definition: d.Hash,
	}
	subject, scope, rule := "All tools of "+x.Source, "in all sessions", "run without asking"
	if x.Tool != "" {
		subject = fmt.Sprintf("%s of %s", x.Tool, x.Source)
	}
	if x.Session != "" {
		scope = "in session " + string(x.Session)
	}
	if decision == chat.DecisionNever {
		rule = "never run"
	}
	const undo = "Undo it with: contextinfinity tools forget"
	return sentence(permission(x), "%s: %s, %s. %s", line(subject), rule, scope, undo), r.s.Tools.Permit(ctx, x)
}

// permission is a decision for later calls. Without a tool it applies to all tools of the source.
func permission(x chat.ToolPermission) fields {
	return fields{
		{"source", x.Source},
		{"tool", x.Tool},
		{"session_id,omitempty", x.Session},
		{"decision", x.Decision},
	}
}

func permissionRow(x chat.ToolPermission) fields {
	return append(permission(x), field{"created_at", x.CreatedAt})
}

func markReadOnly(ctx context.Context, r *run, p tools.Panel) (reply, error) {
	d, err := tool(p, r.args[0])
	if err != nil {
		return reply{}, err
	}
	hash, done := d.Hash, "marked as having no effects"
	if d.Effects = r.on("undo"); d.Effects {
		hash, done = "", "it may have effects"
	}
	return sentence(toolRow(d), "%s: %s.", line(d.Name), done), r.s.Tools.MarkReadOnly(ctx, d.Source, d.Tool, hash)
}

func permissionList(p tools.Panel) reply {
	t := tableOf("SOURCE|TOOL|DECISION|SESSION|SINCE", p.Permissions, func(x chat.ToolPermission) []any {
		return []any{x.Source, cmp.Or(x.Tool, "(all)"), x.Decision, x.Session, x.CreatedAt}
	})
	for _, name := range p.Allow { // of the configuration
		t.add("", name, "always", "", "tools.allow")
	}
	doc := fields{{"permissions", lists.Map(p.Permissions, permissionRow)}, {"tools_allow", p.Allow}}
	return listed(doc, "Nothing was allowed or denied for later calls.", t)
}
