package cli

import (
	"context"
	"fmt"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
)

func clientsVerb() verb {
	return shows(verb{
		use:   "clients",
		short: "List the programs that use this memory, and decide what they may see",
		verbs: []verb{
			{
				use:   "allow NAME",
				short: "Let a program see sessions, or write notes",
				long: `--all, or --session and --folder, replace what the program was allowed to see before; without them,
that does not change. Archived sessions are never shown. --remember lets it write notes into its own session;
--remember=false ends that.`,
				flags: []flag{
					boolFlag("all", "all sessions that are not archived"),
					nameListFlag("session", "this session (may be repeated)"),
					listFlag("folder", "all sessions in this folder (may be repeated)"),
					boolFlag("remember", "it may write notes"),
				},
				prepare: checkAllowed,
				opens:   writes,
				do:      allowClient,
			},
			{
				use:   "refuse NAME",
				short: "Show a program nothing, and accept no notes from it",
				opens: writes,
				do: func(ctx context.Context, r *run) (reply, error) {
					return r.changeClient(ctx, chat.ClientChoice{Name: r.args[0], Scope: chat.ClientNone})
				},
			},
			{
				use:   "forget NAME",
				short: "Remove a program from the list, with its token",
				opens: writes,
				do: func(ctx context.Context, r *run) (reply, error) {
					const done = "%s was removed from the list. If it connects again, it asks again."
					return messageAbout(r.args[0], done), r.s.Store.ForgetClient(ctx, r.args[0])
				},
			},
			{
				use:   "revoke NAME",
				short: "End a program's access over HTTP",
				opens: writes,
				do: func(ctx context.Context, r *run) (reply, error) {
					const done = "The token of %s is no longer valid."
					return messageAbout(r.args[0], done), r.s.Programs.RevokeToken(ctx, r.args[0])
				},
			},
			{
				use:   "token NAME",
				short: "Create a program's token for HTTP, which replaces the previous one",
				long: "The token is printed only once, because only its hash is kept. mcp clients allow decides what the " +
					"program may see.",
				opens: writes,
				do: func(ctx context.Context, r *run) (reply, error) {
					token, err := r.s.Programs.MakeToken(ctx, r.args[0])
					return sentence(fields{{"name", r.args[0]}, {"token", token}}, "%s", token), err
				},
			},
		},
	}, func(ctx context.Context, r *run) ([]chat.Client, error) { return r.s.Store.Clients(ctx) }, clientList)
}

// messageAbout replies with a sentence about a program.
func messageAbout(name, format string) reply {
	message := fmt.Sprintf(format, name)
	return sentence(fields{{"name", name}, {"message", message}}, "%s", line(message))
}

func clientList(all []chat.Client) reply {
	t := tableOf("PROGRAM|SEES|NOTES|TOKEN|LAST ACCESS|CALLS ITSELF", all, func(c chat.Client) []any {
		seen := "never"
		if c.SeenAt != nil {
			seen = local(*c.SeenAt)
		}
		return []any{c.Name, clip(sees(c), 48), c.Remember, c.TokenAt != nil, seen, clip(c.Claims, 32)}
	})
	const empty = "No program has asked. docs/guide/programs.md shows what to paste into one."
	return listed(fields{{"clients", lists.Map(all, clientRow)}}, empty, t)
}

// clientRow is another program.
func clientRow(c chat.Client) fields {
	return fields{
		{"name", c.Name},
		{"scope", c.Scope},
		{"sessions", c.Sessions},
		{"folders", c.Folders},
		{"remember", c.Remember},
		{"token", c.TokenAt != nil},
		{"claims", c.Claims},
		{"notes_session,omitempty", c.Notes},
		{"created_at", c.CreatedAt},
		{"seen_at", c.SeenAt},
	}
}

// sees describes what a program may see.
func sees(c chat.Client) string {
	switch c.Scope {
	case chat.ClientAsked:
		return "nothing yet: it has asked for access"
	case chat.ClientAll:
		return "all sessions"
	case chat.ClientChosen:
		var parts []string
		if n := len(c.Sessions); n > 0 {
			parts = append(parts, plural(n, "session"))
		}
		if len(c.Folders) > 0 {
			parts = append(parts, "folder "+strings.Join(c.Folders, ", "))
		}
		if len(parts) > 0 {
			return strings.Join(parts, " and ")
		}
	}
	return "nothing"
}

func checkAllowed(_ context.Context, r *run) error {
	chosen := len(r.list("session"))+len(r.list("folder")) > 0
	switch {
	case r.on("all") && chosen:
		return usagef("--all excludes --session and --folder.")
	case !r.on("all") && !chosen && !r.given("remember"):
		const question = "What may it see? --all, --session ID or --folder NAME; or --remember, to let it write notes."
		return usagef(question)
	}
	return nil
}

func allowClient(ctx context.Context, r *run) (reply, error) {
	old, err := r.s.Store.Client(ctx, r.args[0])
	if err != nil && chat.CodeOf(err) != chat.CodeNotFound { // an unknown program is added
		return reply{}, err
	}
	choice := chat.ClientChoice{
		Name:     r.args[0],
		Scope:    old.Scope,
		Sessions: old.Sessions,
		Folders:  old.Folders,
		Remember: old.Remember,
	}
	if choice.Scope == chat.ClientAsked || choice.Scope == "" {
		choice.Scope = chat.ClientNone
	}
	if r.given("remember") {
		choice.Remember = r.on("remember")
	}
	sessions, folders := r.list("session"), r.list("folder")
	switch {
	case r.on("all"):
		choice.Scope, choice.Sessions, choice.Folders = chat.ClientAll, nil, nil
	case len(sessions)+len(folders) > 0:
		choice.Scope, choice.Sessions, choice.Folders = chat.ClientChosen, nil, folders
	}
	for _, typed := range sessions {
		session, err := r.s.session(ctx, typed)
		if err != nil {
			return reply{}, err
		}
		choice.Sessions = append(choice.Sessions, session.ID)
	}
	return r.changeClient(ctx, choice)
}

// changeClient changes what a program may see.
func (r *run) changeClient(ctx context.Context, choice chat.ClientChoice) (reply, error) {
	if err := r.s.Store.AllowClient(ctx, choice); err != nil {
		return reply{}, err
	}
	c, err := r.s.Store.Client(ctx, choice.Name)
	notes := map[bool]string{true: "may write notes", false: "may not write notes"}[c.Remember]
	return sentence(clientRow(c), "%s sees %s. It %s.", line(c.Name), sees(c), notes), err
}

func accessVerb() verb {
	return verb{
		use:   "access",
		short: "Show what other programs read, newest first",
		flags: []flag{
			textFlag("client", "only of this program"),
			numberFlag("before", 0, 0, "only entries older than this one"),
			numberFlag("limit", 1, 50, "at most this many (500 at once)"),
			boolFlag("clear", "empty the record instead"),
		},
		opensFor: writesWith("clear"),
		none:     func(*run) reply { return accessList(nil) },
		do: func(ctx context.Context, r *run) (reply, error) {
			if r.on("clear") {
				return accessList(nil), r.s.Store.ClearAccesses(ctx)
			}
			all, err := r.s.Store.Accesses(ctx, chat.AccessQuery{
				Client: r.text("client"),
				Before: int64(r.number("before")),
				Limit:  r.number("limit"),
			})
			return accessList(all), err
		},
	}
}

func accessList(all []chat.ClientAccess) reply {
	return reply{doc: fields{{"accesses", lists.Map(all, accessRow)}}, text: func(o *output) {
		o.printIf(len(all) == 0, "No program has read anything.\n")
		for _, a := range all {
			client, query := o.bold(line(a.Client)), clip(a.Query, 80)
			o.printf("%s  %s  %s  %s  %s\n", local(a.At), client, line(a.Tool), a.Outcome, query)
			for _, x := range a.Shown {
				o.printf("    %s  %s %s\n", clip(titleOf(x.Title), 48), x.Session, x.Turn)
			}
			o.printIf(a.More > 0, "    and %d more\n", a.More)
		}
	}}
}

// accessRow is one access of a program.
func accessRow(a chat.ClientAccess) fields {
	return fields{
		{"id", a.ID},
		{"at", a.At},
		{"client", a.Client},
		{"tool", a.Tool},
		{"query", a.Query},
		{"outcome", a.Outcome},
		{"shown", lists.Map(a.Shown, func(x chat.ShownTurn) fields {
			return fields{{"session_id", x.Session}, {"session_title", x.Title}, {"turn_id,omitempty", x.Turn}}
		})},
		{"more", a.More},
	}
}
