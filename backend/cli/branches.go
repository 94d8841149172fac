package cli

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/transfer/render"
)

type branchesReply struct {
	SessionID chat.SessionID     `json:"session_id"`
	Branches  []render.BranchRow `json:"branches"`
}

func (c *call) branchesCommand() *cobra.Command {
	var archived bool
	cmd := &cobra.Command{Use: "branches SESSION", Short: "List a session's branches, or archive one", Args: exactly("SESSION")}
	cmd.Flags().BoolVar(&archived, "archived", false, "include archived ones")
	cmd.RunE = c.reads(func(ctx context.Context, s *Services, args []string) (reply, error) {
		session, err := s.session(ctx, args[0])
		if err != nil {
			return reply{}, err
		}
		all, err := s.Sessions.Branches(ctx, session.ID)
		if err != nil {
			return reply{}, err
		}
		all = slices.DeleteFunc(all, func(b chat.BranchSummary) bool { return b.ArchivedAt != nil && !archived })
		doc := branchesReply{session.ID, render.BranchRows(session, all)}
		return reply{doc: doc, text: doc.print}, nil
	})
	cmd.ValidArgsFunction = c.completeSession
	cmd.AddCommand(c.archiveBranchCommand("archive", true), c.archiveBranchCommand("unarchive", false))
	return cmd
}

func (c *call) archiveBranchCommand(use string, archived bool) *cobra.Command {
	short, done := "Archive a branch; nothing is deleted", "Archived"
	if !archived {
		short, done = "Unarchive a branch", "Unarchived"
	}
	cmd := &cobra.Command{Use: use + " BRANCH", Short: short, Args: exactly("BRANCH")}
	cmd.RunE = c.writes(func(ctx context.Context, s *Services, args []string) (reply, error) {
		b, err := s.anyBranch(ctx, args[0])
		if err != nil {
			return reply{}, err
		}
		if err := s.Branches.Archive(ctx, b.ID, archived); err != nil {
			return reply{}, err
		}
		return s.branchReply(ctx, b, done)
	})
	return cmd
}

func (r branchesReply) print(o *output) {
	t := newTable("", "BRANCH", "LABEL", "FORKED AFTER", "TURNS", "PENDING", "HEAD", "UPDATED").numbers(3, 4, 5)
	for _, b := range r.Branches {
		mark, fork := "", ""
		if b.Active {
			mark = "*"
		}
		if b.Archived {
			mark = "-"
		}
		if b.Parent != "" {
			fork = "#" + decimal(b.ForkSeq)
		}
		t.add(mark, string(b.ID), clip(b.Label, 32), fork, count(b.Turns), count(b.Pending), headOf(b.HeadTurn, b.HeadState), local(b.UpdatedAt))
	}
	t.print(o)
}

// headOf formats a head for people: the last turn that it covers.
func headOf(turn int64, id chat.StateID) string { return "#" + decimal(turn) + " " + chat.ShortID(id) }

type branchReply struct {
	SessionID chat.SessionID `json:"session_id"`
	BranchID  chat.BranchID  `json:"branch_id"`
	Label     string         `json:"label"`
	Active    bool           `json:"active"`
	HeadState chat.StateID   `json:"head_state"`
	HeadSeq   int64          `json:"head_seq"`
	HeadTurn  int64          `json:"head_turn_seq"`
}

func (s *Services) branchReply(ctx context.Context, b chat.Branch, done string) (reply, error) {
	session, err := s.Sessions.Session(ctx, b.SessionID)
	if err != nil {
		return reply{}, err
	}
	covers, err := s.Inspecting.StateTurnSeq(ctx, b.HeadState)
	doc := branchReply{b.SessionID, b.ID, b.Label, session.ActiveBranch == b.ID, b.HeadState, b.HeadSeq, covers}
	return reply{doc: doc, text: func(o *output) {
		o.printf("%s %s (%s), head %s.\n", done, b.ID, line(b.Label), headOf(covers, b.HeadState))
	}}, err
}

func (c *call) forkCommand() *cobra.Command {
	var before, activate bool
	var label string
	cmd := &cobra.Command{
		Use:   "fork TURN",
		Short: "Start a branch after a turn",
		Long: `The new branch shares everything up to TURN. A turn that is still pending is
committed first. The session's active branch does not change unless --switch is given.`,
		Args: exactly("TURN"),
	}
	cmd.Flags().BoolVar(&before, "before", false, "leave the turn itself out, to ask it differently")
	cmd.Flags().BoolVar(&activate, "switch", false, "make the new branch the active one")
	cmd.Flags().StringVar(&label, "label", "", "the branch's name")
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		if err := checkText("cli.fork", "label", label, true); err != nil {
			return reply{}, err
		}
		return c.writing(ctx, silent{}, func(s *Services) (reply, error) {
			t, err := s.turn(ctx, args[0])
			if err != nil {
				return reply{}, err
			}
			fork := s.Branches.After
			if before {
				fork = s.Branches.Before
			}
			b, err := fork(ctx, t.ID, label, activate)
			if err != nil {
				return reply{}, err
			}
			return s.branchReply(ctx, b, "New branch")
		})
	})
	return cmd
}

func (c *call) rollbackCommand() *cobra.Command {
	var to, turn string
	cmd := &cobra.Command{
		Use:   "rollback SESSION --to STATE | --turn TURN",
		Short: "Go back to an earlier state on a new branch; nothing is deleted",
		Long: `With --turn instead of --to, the new branch ends with a turn of the active branch; a pending one is
committed first.`,
		Args: exactly("SESSION"),
	}
	cmd.Flags().StringVar(&to, "to", "", "the `STATE` to go back to (contextinfinity states lists them)")
	cmd.Flags().StringVar(&turn, "turn", "", "the `TURN` that the new branch ends with, instead of a state")
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		if turn != "" && to != "" {
			return reply{}, usagef("--to and --turn exclude each other.")
		}
		if turn != "" {
			return c.rollbackTo(ctx, args[0], turn)
		}
		if to == "" {
			return reply{}, usageHint("contextinfinity states "+clip(args[0], 26)+" lists them", "--to STATE is missing.")
		}
		return c.writing(ctx, silent{}, func(s *Services) (reply, error) {
			session, err := s.session(ctx, args[0])
			if err != nil {
				return reply{}, err
			}
			state, err := s.state(ctx, session.ID, to)
			if err != nil {
				return reply{}, err
			}
			b, err := s.Branches.Rollback(ctx, session.ID, state)
			if err != nil {
				return reply{}, err
			}
			return s.rolledBack(ctx, b, session.ActiveBranch)
		})
	})
	cmd.ValidArgsFunction = c.completeSession
	return cmd
}

// rolledBack describes the branch that a rollback created, and how many later turns stay on the previous one.
func (s *Services) rolledBack(ctx context.Context, created chat.Branch, previous chat.BranchID) (reply, error) {
	r, err := s.branchReply(ctx, created, "Rolled back; new branch")
	if err != nil {
		return r, err
	}
	branches, err := s.Sessions.Branches(ctx, created.SessionID)
	if err != nil {
		return r, err
	}
	var before, after chat.BranchSummary
	for _, b := range branches {
		switch b.ID {
		case previous:
			before = b
		case created.ID:
			after = b
		}
	}
	text := r.text
	r.text = func(o *output) {
		text(o)
		if later := before.Turns - after.Turns; later > 0 {
			o.printf("%s on %s; \"switch\" goes back to it.\n", display.Count(later, "later turn stays", "later turns stay"), line(before.Label))
		}
	}
	return r, nil
}

func (c *call) rollbackTo(ctx context.Context, typed, turn string) (reply, error) {
	return c.writing(ctx, silent{}, func(s *Services) (reply, error) {
		session, err := s.session(ctx, typed)
		if err != nil {
			return reply{}, err
		}
		t, err := s.turn(ctx, turn)
		if err != nil {
			return reply{}, err
		}
		b, err := s.Branches.RollbackTo(ctx, session.ActiveBranch, t.ID)
		if err != nil {
			return reply{}, err
		}
		return s.rolledBack(ctx, b, session.ActiveBranch)
	})
}

func (c *call) switchCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "switch SESSION BRANCH", Short: "Make a branch the active one", Args: exactly("SESSION", "BRANCH")}
	cmd.RunE = c.writes(func(ctx context.Context, s *Services, args []string) (reply, error) {
		session, b, err := s.place(ctx, args[0], args[1])
		if err != nil {
			return reply{}, err
		}
		if err := s.Branches.Switch(ctx, session.ID, b.ID); err != nil {
			return reply{}, err
		}
		return s.branchReply(ctx, b, "Switched to")
	})
	cmd.ValidArgsFunction = c.completeBranch
	return cmd
}

// stateRow is a state summary in the list of a branch.
type stateRow struct {
	ID        chat.StateID     `json:"state_id"`
	Seq       int64            `json:"state_seq"`
	Head      bool             `json:"head"`
	TurnSeq   int64            `json:"turn_seq"` // the last turn it covers, 0 for the root
	Origin    chat.StateOrigin `json:"origin"`
	Model     string           `json:"model"`
	Tokens    int              `json:"token_count_est"`
	Summary   string           `json:"summary"`
	CreatedAt time.Time        `json:"created_at"`
	chat.StateCheck
}

type statesReply struct {
	SessionID chat.SessionID `json:"session_id"`
	BranchID  chat.BranchID  `json:"branch_id"`
	States    []stateRow     `json:"states"`
}

func (c *call) statesCommand() *cobra.Command {
	var branch string
	cmd := &cobra.Command{
		Use: "states SESSION", Short: "List a branch's committed states and how each was checked, newest first", Args: exactly("SESSION"),
		Long: "A state is the summary of the turns so far that is sent to the model. contextinfinity rollback SESSION --to STATE goes back to one.",
	}
	cmd.Flags().StringVar(&branch, "branch", "", "the branch, instead of the active one")
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		return c.reading(ctx, func(s *Services) (reply, error) { return s.states(ctx, args[0], branch) })
	})
	cmd.ValidArgsFunction = c.completeSession
	return cmd
}

func (s *Services) states(ctx context.Context, typed, branch string) (reply, error) {
	session, b, err := s.place(ctx, typed, branch)
	if err != nil {
		return reply{}, err
	}
	all, err := s.Inspecting.StatesOf(ctx, b)
	if err != nil {
		return reply{}, err
	}
	doc := statesReply{SessionID: session.ID, BranchID: b.ID, States: []stateRow{}}
	for _, st := range all {
		doc.States = append(doc.States, stateRow{
			ID: st.ID, Seq: st.Seq, Head: st.Head, TurnSeq: st.Covers, Origin: st.Origin, Model: st.Model,
			Tokens: st.TokenCount, Summary: st.Summary, CreatedAt: st.CreatedAt, StateCheck: chat.CheckOf(st.Origin, st.Validation),
		})
	}
	return reply{doc: doc, text: doc.print}, nil
}

func (r statesReply) print(o *output) {
	t := newTable("", "STATE", "SEQ", "COVERS TO", "ORIGIN", "CHECK", "TOKENS", "CREATED").numbers(2, 3, 6)
	for _, st := range r.States {
		mark := ""
		if st.Head {
			mark = "*"
		}
		t.add(mark, string(st.ID), decimal(st.Seq), "#"+decimal(st.TurnSeq), string(st.Origin), checkWords(st.StateCheck), decimal(st.Tokens), local(st.CreatedAt))
	}
	t.print(o)
}

// checkWords describes a state summary's check in a table: "repaired: 2 added, 1 attempt".
func checkWords(c chat.StateCheck) string {
	attempts := display.Count(c.Tries, "attempt", "attempts")
	switch c.Result {
	case chat.CheckPassed:
		return "passed, " + attempts
	case chat.CheckRepaired:
		return "repaired: " + decimal(len(c.Added)) + " added, " + attempts
	case chat.CheckFailed:
		return "failed after " + attempts + ": " + clip(c.Reason, 40)
	}
	return ""
}
