package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/untrusted"
)

type instructionsReply struct {
	Session  chat.SessionID `json:"session_id"`
	Source   string         `json:"source"`
	Own      string         `json:"system_prompt"` // the system prompt in use; empty: the default instructions
	Imported string         `json:"imported"`      // instructions that came with the import; empty: none
	Adopted  bool           `json:"adopted"`
}

func (c *call) instructionsCommand() *cobra.Command {
	var adopt, yes bool
	cmd := &cobra.Command{
		Use: "instructions SESSION", Short: "Show a session's instructions and those that came with its import", Args: exactly("SESSION"),
		Long: `Prints the system prompt of a session, and the instructions that came with an imported conversation:
its system prompt or custom instructions. They are kept but not used, because they come from the imported
file. With --adopt they become the session's system prompt, which comes first in every request; you see them
and are asked first, unless --yes is given.`,
	}
	cmd.Flags().BoolVar(&adopt, "adopt", false, "make the imported instructions the session's system prompt")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		if !adopt {
			return c.reading(ctx, func(s *Services) (reply, error) {
				doc, err := s.instructions(ctx, args[0])
				return reply{doc: doc, text: doc.print}, err
			})
		}
		if !yes && (c.json || !c.in.terminal) {
			return reply{}, usageHint("add --yes", "--adopt asks for confirmation, which is not possible here; nothing was changed.")
		}
		return c.writing(ctx, silent{}, func(s *Services) (reply, error) { return c.adopt(ctx, s, args[0], yes) })
	})
	cmd.ValidArgsFunction = c.completeSession
	return cmd
}

func (s *Services) instructions(ctx context.Context, typed string) (instructionsReply, error) {
	session, branch, err := s.place(ctx, typed, "")
	if err != nil {
		return instructionsReply{}, err
	}
	first, err := s.Store.Lineage(ctx, chat.LineageQuery{Branch: branch.ID, Limit: 1})
	doc := instructionsReply{Session: session.ID, Source: session.Source, Own: session.SystemPrompt}
	if len(first) > 0 {
		doc.Imported = untrusted.Visible(chat.ImportedInstructions(first[0])) // exactly what the user reads is adopted
	}
	doc.Adopted = doc.Imported != "" && doc.Own == doc.Imported
	return doc, err
}

// adopt makes the imported instructions the session's system prompt, after the user has seen them.
func (c *call) adopt(ctx context.Context, s *Services, typed string, yes bool) (reply, error) {
	const op = "cli.instructions"
	doc, err := s.instructions(ctx, typed)
	if err != nil {
		return reply{}, err
	}
	if doc.Imported == "" {
		return reply{}, chat.Errorf(chat.CodeInvalid, op, "No instructions came with this session; nothing was changed.")
	}
	if err := s.Turns.CheckInstructions(ctx, doc.Session, doc.Imported); err != nil {
		return reply{}, err
	}
	if !yes {
		doc.print(c.note)
		if err := c.ask(op, "Make the imported instructions the session's system prompt, sent first in every request? [y/N] "); err != nil {
			return reply{}, err
		}
	}
	if err := s.Sessions.SetSystemPrompt(ctx, doc.Session, doc.Imported); err != nil {
		return reply{}, err
	}
	doc.Own, doc.Adopted = doc.Imported, true
	return reply{doc: doc, text: func(o *output) {
		o.printf("The imported instructions are the session's system prompt now, from the next message on.\n")
	}}, nil
}

func (r instructionsReply) print(o *output) {
	if r.Own == "" {
		o.printf("System prompt: the default instructions.\n")
	} else {
		o.printf("System prompt:\n%s\n", block(r.Own))
	}
	if r.Imported == "" {
		o.printf("There are no imported instructions.\n")
		return
	}
	if r.Adopted {
		o.printf("These are the instructions that came with the import (%s).\n", line(r.Source))
		return
	}
	o.printf("Instructions that came with the import (%s), which are not used unless you adopt them:\n%s\n", line(r.Source), block(r.Imported))
}

// block indents a text of several lines, so that it cannot be mistaken for output of this program.
func block(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, l := range lines {
		lines[i] = "    " + harmless(l)
	}
	return strings.Join(lines, "\n")
}
