package cli

import (
	"context"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
)

func (c *call) folderCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "folder SESSION [FOLDER]", Short: "Put a session into a folder, or take it out", Args: atMost("SESSION", "FOLDER"),
		Long: "Without FOLDER, the session is removed from its folder. A folder exists as long as it contains a session.",
	}
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		folder, done := "", "Taken out"
		if len(args) > 1 {
			if err := checkText("cli.sessions_folder", "folder", args[1], true); err != nil {
				return reply{}, err
			}
			name, err := chat.FolderName(args[1])
			if err != nil {
				return reply{}, err
			}
			if folder = name; folder != "" {
				done = "Put into " + line(folder)
			}
		}
		return c.changeSession(ctx, args[0], done, func(s *Services, id chat.SessionID) error {
			return s.Sessions.SetFolder(ctx, []chat.SessionID{id}, folder)
		})
	})
	cmd.ValidArgsFunction = c.completeSession
	return cmd
}

type duplicateReply struct {
	Session chat.Session `json:"session"`
	Turns   int          `json:"turns"`
	LeftOut int          `json:"left_out"` // turns that are still open
}

func (c *call) duplicateCommand() *cobra.Command {
	var branch, title string
	cmd := &cobra.Command{
		Use: "duplicate SESSION", Short: "Copy a branch's history into a new session", Args: exactly("SESSION"),
		Long: "Nothing is shared with the original: later changes to one do not affect the other. A turn that is still open is left out.",
	}
	cmd.Flags().StringVar(&branch, "branch", "", "the branch, instead of the active one")
	cmd.Flags().StringVar(&title, "title", "", "the copy's title")
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		if err := checkText("cli.sessions_duplicate", "title", title, true); err != nil {
			return reply{}, err
		}
		return c.writing(ctx, silent{}, func(s *Services) (reply, error) {
			_, b, err := s.place(ctx, args[0], branch)
			if err != nil {
				return reply{}, err
			}
			copied, err := s.Sessions.Duplicate(ctx, b.ID, title)
			if err != nil {
				return reply{}, err
			}
			doc := duplicateReply{copied.Session, copied.Turns, copied.LeftOut}
			return reply{doc: doc, text: doc.print}, nil
		})
	})
	cmd.ValidArgsFunction = c.completeSession
	return cmd
}

func (r duplicateReply) print(o *output) {
	o.printf("Copied %s: %s  %s\n", plural(r.Turns, "turn"), r.Session.ID, line(titleOf(r.Session.Title)))
	if r.LeftOut > 0 {
		o.printf("%d turn that is still open was left out.\n", r.LeftOut)
	}
}

type titleReply struct {
	Session chat.Session `json:"session"`
	Title   string       `json:"suggested"` // empty: nothing was said yet
	Set     bool         `json:"set"`
}

func (c *call) titleCommand() *cobra.Command {
	var set bool
	cmd := &cobra.Command{
		Use: "title SESSION", Short: "Suggest a title from the conversation, without calling a model", Args: exactly("SESSION"),
	}
	cmd.Flags().BoolVar(&set, "set", false, "give the session this title")
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		do := func(s *Services) (reply, error) { return s.title(ctx, args[0], set) }
		if set {
			return c.writing(ctx, silent{}, do)
		}
		return c.reading(ctx, do)
	})
	cmd.ValidArgsFunction = c.completeSession
	return cmd
}

func (s *Services) title(ctx context.Context, typed string, set bool) (reply, error) {
	session, err := s.session(ctx, typed)
	if err != nil {
		return reply{}, err
	}
	doc := titleReply{Session: session}
	if doc.Title, err = s.Sessions.SuggestTitle(ctx, session.ID); err != nil {
		return reply{}, err
	}
	if doc.Set = set && doc.Title != ""; doc.Set {
		if err := s.Sessions.RenameSession(ctx, session.ID, doc.Title); err != nil {
			return reply{}, err
		}
		if doc.Session, err = s.Sessions.Session(ctx, session.ID); err != nil {
			return reply{}, err
		}
	}
	return reply{doc: doc, text: func(o *output) {
		if doc.Title == "" {
			o.printf("There are no turns yet.\n")
			return
		}
		o.printf("%s\n", line(doc.Title))
	}}, nil
}
