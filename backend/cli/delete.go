package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
)

func (c *call) deleteCommand() *cobra.Command {
	var hard, yes, copies bool
	var turn string
	cmd := &cobra.Command{
		Use: "delete SESSION|--turn TURN --hard", Short: "Delete a session or one turn permanently",
		Long: `Everything stored about it is deleted: messages, summaries, memory, journals, and
the requests of other sessions that quoted it. A receipt lists what was removed and which backups still
contain it; you have to remove those yourself. It cannot be undone. You are asked to type "delete", unless
--yes is given. With --turn TURN the turn keeps its place, and shows [erased].
Other sessions that contain the same messages (copies) are named and not changed. With --copies they are
deleted in the same step: the whole copies, including messages that only they contain, or with --turn the same turn
in them. Each is named before you confirm, and has a receipt of its own.
To archive a session instead: contextinfinity sessions archive SESSION`,
		Args: func(cmd *cobra.Command, args []string) error {
			if turn != "" {
				return exactly()(cmd, args)
			}
			return exactly("SESSION")(cmd, args)
		},
	}
	cmd.Flags().BoolVar(&hard, "hard", false, "delete permanently")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&copies, "copies", false, "also delete the copies, which are listed first")
	cmd.Flags().StringVar(&turn, "turn", "", "delete only this `TURN`, instead of a session")
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		if !hard {
			return reply{}, usageHint("add --hard, or archive it: contextinfinity sessions archive SESSION",
				"delete is permanent and needs --hard; nothing was deleted.")
		}
		if !yes && (c.json || !c.in.terminal) {
			return reply{}, usageHint("add --yes", "delete is permanent and cannot ask for confirmation here; nothing was deleted.")
		}
		return c.writing(ctx, silent{}, func(s *Services) (reply, error) {
			kind, id, err := s.deletable(ctx, turn, args)
			if err != nil {
				return reply{}, err
			}
			var included []chat.Copy
			if copies {
				if included, err = s.Deletion.DeletableCopies(ctx, kind, id); err != nil {
					return reply{}, err
				}
			}
			return c.deletePermanently(ctx, s, kind, id, yes, included...)
		})
	})
	cmd.ValidArgsFunction = c.completeSession
	return cmd
}

// deletePermanently deletes permanently, together with the copies. It asks for confirmation unless yes is set.
func (c *call) deletePermanently(ctx context.Context, s *Services, kind, id string, yes bool, copies ...chat.Copy) (reply, error) {
	agree := c.agreeToDelete
	if yes {
		agree = nil
		c.nameIncluded(kind, copies)
	}
	receipt, err := s.Deletion.Delete(ctx, kind, id, agree, lists.Map(copies, func(x chat.Copy) chat.SessionID { return x.Session })...)
	if err != nil && receipt.ID == "" {
		return reply{}, err
	}
	return reply{doc: receiptReply{receipt}, text: func(o *output) { printReceipt(o, receipt) }, keepOnError: true}, err
}

// deletable returns what to delete: the named turn, otherwise the session.
func (s *Services) deletable(ctx context.Context, turn string, args []string) (kind, id string, err error) {
	if turn != "" {
		t, err := s.turn(ctx, turn)
		return chat.DeletionTurn, string(t.ID), err
	}
	session, err := s.session(ctx, args[0])
	return chat.DeletionSession, string(session.ID), err
}

// agreeToDelete shows what would be deleted, and asks to type a confirmation.
func (c *call) agreeToDelete(p chat.DeletionPreview) error {
	const op = "cli.delete"
	c.note.printf("%s would be permanently deleted:\n", line(p.Name()))
	for _, e := range p.Deleted {
		c.note.printf("  %8d  %s\n", e.Count, e.Store)
	}
	for _, title := range p.Sessions {
		c.note.printf("Requests of %q that quoted it are deleted too.\n", clip(titleOf(title), 48))
	}
	c.nameIncluded(p.Kind, p.Included)
	for _, x := range p.Copies {
		c.note.printf("Not touched: the copy %q, which contains the same messages (%s).\n", clip(titleOf(x.Title), 48), deleteCopy(p.Kind, x))
	}
	if len(p.Copies) > 0 {
		c.note.printf("With --copies they are deleted too.\n")
	}
	for _, b := range p.Backups {
		c.note.printf("%s still contains it.\n", line(b))
	}
	c.note.printf("To delete it permanently, type %s: ", chat.ConfirmWord)
	typed, err := c.in.lines.ReadString('\n')
	if err != nil && err != io.EOF {
		return chat.WrapError(chat.CodeInvalid, op, err, "The answer could not be read; nothing was deleted.")
	}
	if !chat.Confirms(typed) {
		return chat.Errorf(chat.CodeCancelled, op, "%q was not typed. Nothing was deleted.", chat.ConfirmWord)
	}
	return nil
}

// nameIncluded names the copies that are deleted too. A copy of a session may have turns of its own, which are lost.
func (c *call) nameIncluded(kind string, copies []chat.Copy) {
	for _, x := range copies {
		title := clip(titleOf(x.Title), 48)
		if kind == chat.DeletionTurn {
			c.note.printf("Deleted too: the same turn in the copy %q (session %s).\n", title, x.Session)
			continue
		}
		own := ""
		if x.Own > 0 {
			own = fmt.Sprintf(", %d of them only there", x.Own)
		}
		c.note.printf("Deleted too: the whole copy %q (session %s) with %s%s.\n", title, x.Session, plural(x.Turns, "turn"), own)
	}
}

// deleteCopy returns the command that deletes a copy too.
func deleteCopy(kind string, x chat.Copy) string {
	if kind == chat.DeletionTurn {
		return "delete --turn " + string(x.Turn) + " --hard"
	}
	return "delete " + string(x.Session) + " --hard"
}

type receiptReply struct {
	Receipt chat.Receipt `json:"receipt"`
}

type receiptsReply struct {
	Receipts []chat.Receipt `json:"receipts"`
}

func printReceipt(o *output, r chat.Receipt) {
	o.printf("Permanently deleted: %s %s. Receipt %s, %s.\n", r.Kind, r.Subject, r.ID, local(r.At))
	t := newTable("RECORDS", "STORE").numbers(0)
	for _, e := range r.Deleted {
		t.add(decimal(e.Count), e.Store)
	}
	t.print(o)
	for _, x := range r.Copies {
		name := "a copy that has been deleted since"
		if !x.Gone {
			name = fmt.Sprintf("the copy %q, which contains the same messages (%s)", clip(titleOf(x.Title), 48), deleteCopy(r.Kind, x))
		}
		o.printf("Not touched: %s.\n", line(name))
	}
	if len(r.Backups) > 0 {
		o.printf("These copies of the data still contain it:\n")
	}
	for _, b := range r.Backups {
		o.printf("  %s\n", line(b))
	}
	for _, x := range r.Included {
		o.printf("\n")
		printReceipt(o, x)
	}
}

func (c *call) receiptsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "receipts", Short: "List what was permanently deleted", Args: exactly()}
	cmd.RunE = c.run(func(ctx context.Context, _ []string) (reply, error) {
		none := reply{doc: receiptsReply{[]chat.Receipt{}}, text: func(o *output) { o.printf("Nothing has been permanently deleted yet.\n") }}
		return c.readingAny(ctx, none, func(s *Services) (reply, error) {
			list, err := s.Deletion.Receipts(ctx)
			if err != nil || len(list) == 0 {
				return none, err
			}
			return reply{doc: receiptsReply{list}, text: func(o *output) {
				for i, r := range list {
					if i > 0 {
						o.printf("\n")
					}
					printReceipt(o, r)
				}
			}}, nil
		})
	})
	return cmd
}
