package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
)

func (c *call) sessionsCommand() *cobra.Command {
	var q chat.SessionQuery
	cmd := &cobra.Command{Use: "sessions", Short: "List sessions, or arrange them", Args: exactly()}
	cmd.Flags().BoolVar(&q.Archived, "archived", false, "list the archived sessions instead")
	cmd.Flags().StringVar(&q.Title, "title", "", "only those whose title contains this")
	cmd.Flags().IntVar(&q.Limit, "limit", 0, "at most this many (0: all)")
	cmd.RunE = c.run(func(ctx context.Context, _ []string) (reply, error) { return c.sessions(ctx, q) })
	cmd.AddCommand(c.renameCommand(), c.archiveCommand("archive", true), c.archiveCommand("unarchive", false),
		c.folderCommand(), c.scopeCommand(), c.duplicateCommand(), c.titleCommand(), c.instructionsCommand())
	return cmd
}

// sessionRow is a session in lists.
type sessionRow struct {
	ID           chat.SessionID `json:"session_id"`
	Title        string         `json:"title"`
	ActiveBranch chat.BranchID  `json:"active_branch"`
	Branches     int            `json:"branches"`
	Turns        int            `json:"turns"`
	Pending      int            `json:"pending"`
	LastPhase    chat.Phase     `json:"last_phase"`
	LastOutcome  chat.Outcome   `json:"last_outcome"`
	Interrupted  bool           `json:"interrupted"` // the newest answer is neither final nor running
	Unanswered   bool           `json:"unanswered"`  // the newest message was imported without an answer
	Model        string         `json:"model"`
	Source       string         `json:"source"`
	Pinned       bool           `json:"pinned"`
	Folder       string         `json:"folder"`
	CreatedAt    time.Time      `json:"created_at"`
	UpdatedAt    time.Time      `json:"updated_at"`
	ArchivedAt   *time.Time     `json:"archived_at"`
}

func rowOf(s chat.SessionSummary) sessionRow {
	return sessionRow{
		ID: s.ID, Title: s.Title, ActiveBranch: s.ActiveBranch, Branches: s.Branches, Turns: s.Turns, Pending: s.Pending,
		LastPhase: s.LastPhase, LastOutcome: s.LastOutcome, Interrupted: s.Interrupted, Unanswered: s.Unanswered, Model: s.Model, Source: s.Source, Pinned: s.Pinned, Folder: s.Folder,
		CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt, ArchivedAt: s.ArchivedAt,
	}
}

type sessionsReply struct {
	Sessions []sessionRow `json:"sessions"`
}

func (c *call) sessions(ctx context.Context, q chat.SessionQuery) (reply, error) {
	if q.Limit < 0 {
		return reply{}, usagef("--limit must not be negative.")
	}
	return c.readingAny(ctx, sessionsAnswer(nil), func(s *Services) (reply, error) {
		found, err := s.Sessions.Sessions(ctx, q)
		return sessionsAnswer(found), err
	})
}

func sessionsAnswer(found []chat.SessionSummary) reply {
	rows := lists.Map(found, rowOf)
	return reply{doc: sessionsReply{rows}, text: func(o *output) {
		if len(rows) == 0 {
			o.printf("No sessions.\n")
			return
		}
		printSessions(o, rows)
	}}
}

func printSessions(o *output, rows []sessionRow) {
	t := newTable("SESSION", "TITLE", "TURNS", "BRANCHES", "PENDING", "STATUS", "UPDATED").numbers(2, 3, 4)
	for _, r := range rows {
		t.add(string(r.ID), clip(titleOf(r.Title), 48), count(r.Turns), count(r.Branches), count(r.Pending), r.status(), local(r.UpdatedAt))
	}
	t.print(o)
}

func titleOf(title string) string {
	if strings.TrimSpace(title) == "" {
		return "(untitled)"
	}
	return chat.BoundTitle(title)
}

// status is a notable state of a session's newest turn, as one word.
func (r sessionRow) status() string {
	switch {
	case r.LastOutcome == chat.OutcomeIncomplete:
		return "incomplete"
	case r.Interrupted:
		return "interrupted"
	case r.Unanswered:
		return "no answer"
	case r.LastPhase == chat.PhaseFailed:
		return "failed"
	case r.LastPhase == chat.PhaseAccepted || r.LastPhase == chat.PhaseContextPrepared:
		return "not sent"
	case r.LastPhase == chat.PhaseResponding:
		return "responding"
	}
	return ""
}

func (c *call) renameCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "rename SESSION TITLE", Short: "Change a session's title", Args: exactly("SESSION", "TITLE")}
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		if err := checkText("cli.sessions_rename", "title", args[1], false); err != nil {
			return reply{}, err
		}
		return c.changeSession(ctx, args[0], "Renamed", func(s *Services, id chat.SessionID) error {
			return s.Sessions.RenameSession(ctx, id, args[1])
		})
	})
	cmd.ValidArgsFunction = c.completeSession
	return cmd
}

func (c *call) archiveCommand(use string, archived bool) *cobra.Command {
	short, done := "Archive a session; nothing is deleted", "Archived"
	if !archived {
		short, done = "Unarchive a session", "Unarchived"
	}
	cmd := &cobra.Command{Use: use + " SESSION", Short: short, Args: exactly("SESSION")}
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		return c.changeSession(ctx, args[0], done, func(s *Services, id chat.SessionID) error {
			return s.Sessions.ArchiveSession(ctx, id, archived)
		})
	})
	cmd.ValidArgsFunction = c.completeSession
	return cmd
}

type sessionReply struct {
	Session chat.Session `json:"session"`
}

func (c *call) changeSession(ctx context.Context, typed, done string, change func(*Services, chat.SessionID) error) (reply, error) {
	return c.writing(ctx, silent{}, func(s *Services) (reply, error) {
		session, err := s.session(ctx, typed)
		if err != nil {
			return reply{}, err
		}
		if err := change(s, session.ID); err != nil {
			return reply{}, err
		}
		if session, err = s.Sessions.Session(ctx, session.ID); err != nil {
			return reply{}, err
		}
		return reply{doc: sessionReply{session}, text: func(o *output) {
			o.printf("%s: %s  %s\n", done, session.ID, line(titleOf(session.Title)))
		}}, nil
	})
}
