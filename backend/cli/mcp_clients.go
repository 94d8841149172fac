package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
)

// clientRow is another program in lists.
type clientRow struct {
	Name      string           `json:"name"`
	Scope     chat.ClientScope `json:"scope"`
	Sessions  []chat.SessionID `json:"sessions"`
	Folders   []string         `json:"folders"`
	Remember  bool             `json:"remember"`
	Token     bool             `json:"token"`
	Claims    string           `json:"claims"`
	Notes     chat.SessionID   `json:"notes_session,omitempty"`
	CreatedAt time.Time        `json:"created_at"`
	SeenAt    *time.Time       `json:"seen_at"`
}

type clientsReply struct {
	Clients []clientRow `json:"clients"`
}

func clientOf(c chat.Client) clientRow {
	return clientRow{
		Name: c.Name, Scope: c.Scope, Sessions: append([]chat.SessionID{}, c.Sessions...), Folders: append([]string{}, c.Folders...),
		Remember: c.Remember, Token: c.TokenAt != nil, Claims: c.Claims, Notes: c.Notes, CreatedAt: c.CreatedAt, SeenAt: c.SeenAt,
	}
}

// sees describes what the program may see.
func (r clientRow) sees() string {
	switch r.Scope {
	case chat.ClientAsked:
		return "nothing yet: it has asked for access"
	case chat.ClientAll:
		return "all sessions"
	case chat.ClientChosen:
		var parts []string
		if n := len(r.Sessions); n > 0 {
			parts = append(parts, plural(n, "session"))
		}
		if n := len(r.Folders); n > 0 {
			parts = append(parts, "folder "+strings.Join(r.Folders, ", "))
		}
		if len(parts) > 0 {
			return strings.Join(parts, " and ")
		}
	}
	return "nothing"
}

func clientsAnswer(list []chat.Client) reply {
	rows := lists.Map(list, clientOf)
	return reply{doc: clientsReply{rows}, text: func(o *output) {
		if len(rows) == 0 {
			o.printf("No program has asked. docs/guide/programs.md shows what to paste into one.\n")
			return
		}
		t := newTable("PROGRAM", "SEES", "NOTES", "TOKEN", "LAST ACCESS", "CALLS ITSELF")
		for _, r := range rows {
			seen := "never"
			if r.SeenAt != nil {
				seen = local(*r.SeenAt)
			}
			t.add(r.Name, clip(r.sees(), 48), yesNo(r.Remember), yesNo(r.Token), seen, clip(r.Claims, 32))
		}
		t.print(o)
	}}
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

func (c *call) mcpClientsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "clients", Short: "List the programs that use this memory, and decide what they may see", Args: exactly()}
	cmd.RunE = c.run(func(ctx context.Context, _ []string) (reply, error) {
		return c.readingAny(ctx, clientsAnswer(nil), func(s *Services) (reply, error) {
			list, err := s.Store.Clients(ctx)
			return clientsAnswer(list), err
		})
	})
	cmd.AddCommand(c.mcpAllowCommand(), c.mcpRefuseCommand(), c.mcpForgetCommand(), c.mcpTokenCommand(), c.mcpRevokeCommand())
	return cmd
}

type allowFlags struct {
	all      bool
	sessions []string
	folders  []string
	remember bool
}

func (c *call) mcpAllowCommand() *cobra.Command {
	var f allowFlags
	cmd := &cobra.Command{
		Use: "allow NAME", Short: "Let a program see sessions, or write notes", Args: exactly("NAME"),
		Long: `--all, or --session and --folder, replace what the program was allowed to see before; without them,
that does not change. Archived sessions are never shown. --remember lets it write notes into its own session;
--remember=false ends that.`,
	}
	cmd.Flags().BoolVar(&f.all, "all", false, "all sessions that are not archived")
	cmd.Flags().StringArrayVar(&f.sessions, "session", nil, "this session (may be repeated)")
	cmd.Flags().StringArrayVar(&f.folders, "folder", nil, "all sessions in this folder (may be repeated)")
	cmd.Flags().BoolVar(&f.remember, "remember", false, "it may write notes")
	_ = cmd.RegisterFlagCompletionFunc("session", c.completeSession)
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		chosen := len(f.sessions)+len(f.folders) > 0
		switch {
		case f.all && chosen:
			return reply{}, usagef("--all excludes --session and --folder.")
		case !f.all && !chosen && !cmd.Flags().Changed("remember"):
			return reply{}, usagef("What may it see? --all, --session ID or --folder NAME; or --remember, to let it write notes.")
		}
		return c.changeClient(ctx, args[0], func(s *Services, old chat.Client) (chat.ClientChoice, error) {
			choice := chat.ClientChoice{Name: args[0], Scope: old.Scope, Sessions: old.Sessions, Folders: old.Folders, Remember: old.Remember}
			if choice.Scope == chat.ClientAsked || choice.Scope == "" {
				choice.Scope = chat.ClientNone
			}
			if cmd.Flags().Changed("remember") {
				choice.Remember = f.remember
			}
			if f.all {
				choice.Scope, choice.Sessions, choice.Folders = chat.ClientAll, nil, nil
			}
			if chosen {
				choice.Scope, choice.Sessions, choice.Folders = chat.ClientChosen, nil, f.folders
			}
			for _, typed := range f.sessions {
				session, _, err := s.place(ctx, typed, "")
				if err != nil {
					return choice, err
				}
				choice.Sessions = append(choice.Sessions, session.ID)
			}
			return choice, nil
		})
	})
	return cmd
}

func (c *call) mcpRefuseCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "refuse NAME", Short: "Show a program nothing, and accept no notes from it", Args: exactly("NAME")}
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		return c.changeClient(ctx, args[0], func(*Services, chat.Client) (chat.ClientChoice, error) {
			return chat.ClientChoice{Name: args[0], Scope: chat.ClientNone}, nil
		})
	})
	return cmd
}

// changeClient changes what a program may see. An unknown program is added.
func (c *call) changeClient(ctx context.Context, name string, choose func(*Services, chat.Client) (chat.ClientChoice, error)) (reply, error) {
	return c.writing(ctx, silent{}, func(s *Services) (reply, error) {
		old, err := s.Store.Client(ctx, name)
		if err != nil && chat.CodeOf(err) != chat.CodeNotFound {
			return reply{}, err
		}
		choice, err := choose(s, old)
		if err != nil {
			return reply{}, err
		}
		if err := s.Store.AllowClient(ctx, choice); err != nil {
			return reply{}, err
		}
		current, err := s.Store.Client(ctx, name)
		row := clientOf(current)
		return reply{doc: row, text: func(o *output) {
			notes := "may not write notes"
			if row.Remember {
				notes = "may write notes"
			}
			o.printf("%s sees %s. It %s.\n", line(row.Name), row.sees(), notes)
		}}, err
	})
}

type messageReply struct {
	Name    string `json:"name"`
	Message string `json:"message"`
}

// onClient is a verb about one program that prints a sentence.
func (c *call) onClient(use, short, done string, do func(context.Context, *Services, string) error) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: exactly("NAME")}
	cmd.RunE = c.writes(func(ctx context.Context, s *Services, args []string) (reply, error) {
		doc := messageReply{args[0], fmt.Sprintf(done, args[0])}
		return reply{doc: doc, text: func(o *output) { o.printf("%s\n", line(doc.Message)) }}, do(ctx, s, args[0])
	})
	return cmd
}

func (c *call) mcpForgetCommand() *cobra.Command {
	return c.onClient("forget NAME", "Remove a program from the list, with its token", "%s was removed from the list. If it connects again, it asks again.",
		func(ctx context.Context, s *Services, name string) error { return s.Store.ForgetClient(ctx, name) })
}

func (c *call) mcpRevokeCommand() *cobra.Command {
	return c.onClient("revoke NAME", "End a program's access over HTTP", "The token of %s is no longer valid.",
		func(ctx context.Context, s *Services, name string) error { return s.Programs.RevokeToken(ctx, name) })
}

type tokenReply struct {
	Name  string `json:"name"`
	Token string `json:"token"`
}

func (c *call) mcpTokenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "token NAME", Short: "Create a program's token for HTTP, which replaces the previous one", Args: exactly("NAME"),
		Long: "The token is printed only once, because only its hash is kept. mcp clients allow decides what the program may see.",
	}
	cmd.RunE = c.writes(func(ctx context.Context, s *Services, args []string) (reply, error) {
		token, err := s.Programs.MakeToken(ctx, args[0])
		return reply{doc: tokenReply{args[0], token}, text: func(o *output) { o.printf("%s\n", token) }}, err
	})
	return cmd
}

// accessRow is one access of a program.
type accessRow struct {
	ID      int64      `json:"id"`
	At      time.Time  `json:"at"`
	Client  string     `json:"client"`
	Tool    string     `json:"tool"`
	Query   string     `json:"query"`
	Outcome string     `json:"outcome"`
	Shown   []shownRow `json:"shown"`
	More    int        `json:"more"`
}

type shownRow struct {
	Session chat.SessionID `json:"session_id"`
	Title   string         `json:"session_title"`
	Turn    chat.TurnID    `json:"turn_id,omitempty"`
}

type accessReply struct {
	Accesses []accessRow `json:"accesses"`
}

func accessAnswer(list []chat.ClientAccess) reply {
	rows := make([]accessRow, len(list))
	for i, a := range list {
		rows[i] = accessRow{a.ID, a.At, a.Client, a.Tool, a.Query, a.Outcome, make([]shownRow, len(a.Shown)), a.More}
		for j, x := range a.Shown {
			rows[i].Shown[j] = shownRow{x.Session, x.Title, x.Turn}
		}
	}
	return reply{doc: accessReply{rows}, text: func(o *output) {
		if len(rows) == 0 {
			o.printf("No program has read anything.\n")
			return
		}
		for _, r := range rows {
			o.printf("%s  %s  %s  %s  %s\n", local(r.At), o.bold(line(r.Client)), line(r.Tool), r.Outcome, clip(line(r.Query), 80))
			for _, x := range r.Shown {
				o.printf("    %s  %s %s\n", clip(titleOf(x.Title), 48), x.Session, x.Turn)
			}
			if r.More > 0 {
				o.printf("    and %d more\n", r.More)
			}
		}
	}}
}

func (c *call) mcpAccessCommand() *cobra.Command {
	q := chat.AccessQuery{}
	var clearAll bool
	cmd := &cobra.Command{Use: "access", Short: "Show what other programs read, newest first", Args: exactly()}
	cmd.Flags().StringVar(&q.Client, "client", "", "only of this program")
	cmd.Flags().Int64Var(&q.Before, "before", 0, "only entries older than this one")
	cmd.Flags().IntVar(&q.Limit, "limit", 50, "at most this many (500 at once)")
	cmd.Flags().BoolVar(&clearAll, "clear", false, "empty the record instead")
	cmd.RunE = c.run(func(ctx context.Context, _ []string) (reply, error) {
		if q.Limit < 1 {
			return reply{}, usagef("--limit must be at least 1.")
		}
		if clearAll {
			return c.writing(ctx, silent{}, func(s *Services) (reply, error) {
				return accessAnswer(nil), s.Store.ClearAccesses(ctx)
			})
		}
		return c.readingAny(ctx, accessAnswer(nil), func(s *Services) (reply, error) {
			list, err := s.Store.Accesses(ctx, q)
			return accessAnswer(list), err
		})
	})
	return cmd
}
