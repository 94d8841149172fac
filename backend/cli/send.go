package cli

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"contextinfinity/backend/answers"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/jobs"
	"contextinfinity/backend/tools"
	"contextinfinity/backend/turn"
)

// sendFlags are the flags of send; the decisions about a turn share some.
type sendFlags struct {
	session    string
	branch     string
	fresh      bool
	project    string // of a new session
	model      string
	models     []string // of send, which accepts several
	wait       string
	incomplete string
	images     []string
	documents  []string
	allow      []string // tools that run without asking, for this message
	assistant  string   // the new session gets its settings
	prompt     string   // a saved prompt whose text is sent
	vars       []string // NAME=VALUE, for its variables
	waitTurn   time.Duration
}

func (c *call) sendCommand() *cobra.Command {
	var f sendFlags
	cmd := &cobra.Command{
		Use:   "send [TEXT|-]",
		Short: "Send a message and print the answer as it arrives",
		Long: `Sends TEXT, or what is piped in, byte for byte, and streams the answer to stdout.
Without --session or --new it goes to the session used last.

While an answer of the branch is running, the message waits for it, at most --wait-turn, and says
so on stderr. Messages that come from several commands at once are sent in the order of their arrival.

Ctrl-C stops the answer: the text so far is kept and marked stopped, and the exit
code is 1 (code "cancelled"). A second Ctrl-C quits immediately; the partial answer is
recovered at the next start.

With --model given two to four times, all of them answer side by side, each on a branch of
its own: contextinfinity answers. They are printed one after the other, each when it is complete; the active
branch is that of the first. The exit code is 0 only when the answer is final, and 4
when it waits for your decision about tool calls: contextinfinity tools waiting.`,
		Args: atMost("TEXT"),
	}
	cmd.Flags().StringVar(&f.session, "session", "", "the session to continue")
	cmd.Flags().BoolVar(&f.fresh, "new", false, "start a new session")
	cmd.Flags().StringVar(&f.project, "project", "", "with --new: the project of the session")
	cmd.Flags().StringVar(&f.branch, "branch", "", "the branch, instead of the session's active one")
	cmd.Flags().StringVar(&f.incomplete, "incomplete", string(turn.IncompleteDiscard),
		"what to do with an incomplete or unsent turn before it: keep, discard, fail")
	cmd.Flags().StringArrayVar(&f.images, "image", nil, "attach an image `FILE` (may be repeated)")
	cmd.Flags().StringArrayVar(&f.documents, "attach", nil, "attach a document `FILE`: text, Markdown, source code, PDF, Word, Excel, PowerPoint, OpenDocument or EPUB (may be repeated)")
	cmd.Flags().StringArrayVar(&f.allow, "allow", nil, "run this `TOOL` without asking, for this message only (may be repeated)")
	cmd.Flags().StringArrayVar(&f.models, "model", nil, "a configured model, instead of the session's (two to four: all of them answer)")
	cmd.Flags().StringVar(&f.assistant, "assistant", "", "start a new session with this assistant")
	cmd.Flags().StringVar(&f.prompt, "prompt", "", "send this saved prompt instead of TEXT")
	cmd.Flags().StringArrayVar(&f.vars, "var", nil, "with --prompt: a value for a variable, `NAME=VALUE`; NAME=- reads it from stdin (may be repeated)")
	cmd.Flags().DurationVar(&f.waitTurn, "wait-turn", 10*time.Minute,
		"how long to wait for a running answer of the branch, or for another command that is writing; 0s fails at once")
	c.followFlags(&f, cmd)
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) { return c.send(ctx, f, args) })
	_ = cmd.RegisterFlagCompletionFunc("session", c.completeSession)
	_ = cmd.RegisterFlagCompletionFunc("assistant", c.completeAssistant)
	_ = cmd.RegisterFlagCompletionFunc("prompt", c.completePrompt)
	return cmd
}

// answerFlags adds the flags of verbs that get an answer for an existing turn.
func (c *call) answerFlags(f *sendFlags, cmd *cobra.Command) {
	c.followFlags(f, cmd)
	cmd.Flags().StringVar(&f.model, "model", "", "a configured model, instead of the session's")
}

// followFlags adds the flags for following an answer, to send and to those verbs.
func (c *call) followFlags(f *sendFlags, cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.events, "events", false,
		"print a JSON line for each event of the answer, with how much of it is durable: accepted, frame, settled")
	cmd.Flags().StringVar(&f.wait, "wait", string(jobs.LevelFinalized),
		"run background work until the turn is finalized, committed or indexed")
	_ = cmd.RegisterFlagCompletionFunc("wait", cobra.FixedCompletions(levels, cobra.ShellCompDirectiveNoFileComp))
}

func (c *call) checkSend(f sendFlags) error {
	switch {
	case c.json && c.events:
		return usagef("--json and --events exclude each other.")
	case f.assistant != "" && (f.session != "" || f.branch != ""):
		return usageHint("contextinfinity assistants apply NAME SESSION gives a session the settings of an assistant", "--assistant starts a new session, and excludes --session and --branch.")
	case len(f.vars) > 0 && f.prompt == "":
		return usagef("--var needs --prompt.")
	case f.session != "" && f.fresh:
		return usagef("--session and --new exclude each other.")
	case c.events && len(f.models) > 1:
		return usagef("--events shows one answer as it arrives, and cannot be combined with several models.")
	case f.project != "" && !f.fresh:
		return usagef("--project needs --new; an existing session is moved with: contextinfinity sessions folder.")
	case f.branch != "" && f.fresh:
		return usagef("--branch and --new exclude each other.")
	case f.waitTurn < 0:
		return usagef("--wait-turn must be a time such as 30s or 10m, not %s.", f.waitTurn)
	case !slices.Contains(levels, f.wait):
		return usagef("--wait must be one of %s, not %q.", strings.Join(levels, ", "), f.wait)
	}
	return nil
}

func (f *sendFlags) policy() (turn.IncompletePolicy, error) {
	p := turn.IncompletePolicy(f.incomplete)
	switch p {
	case turn.IncompleteKeep, turn.IncompleteDiscard, turn.IncompleteRefuse:
		return p, nil
	}
	return p, usagef("--incomplete must be one of keep, discard, fail, not %q.", f.incomplete)
}

func (c *call) send(ctx context.Context, f sendFlags, args []string) (reply, error) {
	if len(f.models) > 0 {
		f.model = f.models[0]
	}
	if err := c.checkSend(f); err != nil {
		return reply{}, err
	}
	policy, err := f.policy()
	if err != nil {
		return reply{}, err
	}
	text, err := c.sendText(ctx, args, f)
	if err != nil {
		return reply{}, err
	}
	content, err := c.message(text, f.images, len(f.documents) > 0)
	if err != nil {
		return reply{}, err
	}
	files, err := c.readAttachments(ctx, f.documents)
	if err != nil {
		return reply{}, err
	}
	st := c.newStream()
	o := c.options(false, st)
	o.WriterTimeout, o.OnWait = f.waitTurn, func() { c.notef("another command is writing; this message waits for it") }
	return c.opened(ctx, o, func(s *Services) (reply, error) {
		m := turn.Message{Content: content, Model: f.model, Incomplete: policy}
		if m.Branch, err = c.target(ctx, s, f, titleOfMessage(text, files)); err != nil {
			return reply{}, err
		}
		if err := s.attach(ctx, &m.Content, m.Branch, files); err != nil {
			return reply{}, err
		}
		return c.sendInLine(ctx, s, st, m, f)
	})
}

// sendInLine sends a message when no answer of its branch is running, and follows its answers. Tools are not allowed
// for it earlier, because the running answer must not use them.
func (c *call) sendInLine(ctx context.Context, s *Services, st *stream, m turn.Message, f sendFlags) (reply, error) {
	var h *turn.Handle
	var several []answers.Sent
	release := func() {}
	defer func() { release() }()
	waits := func() { c.notef("an answer is still running on this branch; this message waits for it") }
	err := s.Turns.SendInOrder(ctx, m.Branch, f.waitTurn, waits, func() (err error) {
		release()
		if release, err = s.allow(ctx, m.Branch, f.allow); err != nil {
			return err
		}
		if len(f.models) > 1 {
			several, err = c.askSeveral(ctx, s, m, f.models)
		} else {
			h, err = c.start(ctx, s, st, m)
		}
		return err
	})
	if err != nil {
		return reply{}, err
	}
	if len(several) > 0 {
		return c.followSeveral(ctx, s, several, f)
	}
	t, answer, err := c.follow(ctx, s, st, h, nil)
	if err != nil {
		return sentSoFar(t), err
	}
	return c.answered(ctx, s, t, answer, jobs.Level(f.wait))
}

// allow lets tools run without asking in the session of a branch, until release is called.
func (s *Services) allow(ctx context.Context, branch chat.BranchID, names []string) (release func(), err error) {
	none := func() {}
	if len(names) == 0 {
		return none, nil
	}
	b, err := s.Sessions.Branch(ctx, branch)
	if err != nil {
		return none, err
	}
	s.Tools.Ensure(ctx)
	p, err := s.Tools.Panel(ctx)
	if err != nil {
		return none, err
	}
	for i, name := range names {
		d, err := tool(p, name)
		switch {
		case err != nil:
			return none, err
		case d.Pinned != tools.PinnedAccepted:
			return none, chat.Errorf(chat.CodeConflict, "tools.allow", "%s is not offered to models. Nothing was sent.", clip(name, 80)).
				WithHint("review it, then accept it: contextinfinity tools show %s", d.Name)
		case d.AsksEachCall:
			return none, chat.Errorf(chat.CodeInvalid, "tools.allow", "%s needs your approval for each call, because it is not confined. Nothing was sent.", d.Name)
		}
		names[i] = d.Name
	}
	return s.Tools.AllowFor(b.SessionID, names), nil
}

// sendText reads the text of the message; with images or documents it is optional.
func (c *call) sendText(ctx context.Context, args []string, f sendFlags) (string, error) {
	if f.prompt != "" {
		if len(args) > 0 {
			return "", usagef("--prompt is sent instead of TEXT; omit one of them.")
		}
		return c.filledPrompt(ctx, f.prompt, f.vars)
	}
	if len(args) == 0 && len(f.images)+len(f.documents) > 0 && c.in.terminal {
		return "", nil
	}
	return c.argument(args, "message")
}

// sentSoFar is the reply if send could not follow an answer to its end.
func sentSoFar(t chat.Turn) reply {
	if t.ID == "" {
		return reply{}
	}
	return reply{keepOnError: true, doc: turnReply{
		SessionID: t.SessionID, BranchID: t.BranchID, TurnID: t.ID, Seq: t.Seq, Phase: t.Phase, Outcome: t.Outcome,
		Model: t.Model, Provider: t.Provider,
	}}
}

// target finds the branch to send to, and creates a session if requested or if there is none. The model is checked
// first, so that no empty session is left behind.
func (c *call) target(ctx context.Context, s *Services, f sendFlags, title string) (chat.BranchID, error) {
	switch {
	case f.session != "":
		_, b, err := s.place(ctx, f.session, f.branch)
		return b.ID, err
	case f.branch != "":
		b, err := s.anyBranch(ctx, f.branch)
		return b.ID, err
	case !f.fresh && f.assistant == "":
		if last, ok, err := s.recent(ctx); ok || err != nil {
			return last.ActiveBranch, err
		}
	}
	folder := ""
	if f.project != "" {
		p, err := s.project(ctx, f.project)
		if err != nil {
			return "", err
		}
		folder = p.Name
	}
	_, b, err := s.newSession(ctx, chat.NewSession{Title: title, Folder: folder}, f.model, f.assistant)
	return b.ID, err
}

// newSession creates a session with a model, and with the settings of an assistant if one is named.
func (s *Services) newSession(ctx context.Context, n chat.NewSession, model, assistant string) (session chat.Session, branch chat.Branch, err error) {
	var a chat.Assistant
	if assistant != "" {
		if a, err = s.Library.AssistantNamed(ctx, assistant); err != nil {
			return session, branch, err
		}
	}
	if _, err := s.Models.Resolve(ctx, cmp.Or(model, a.Model)); err != nil {
		return session, branch, err
	}
	if a.ID != "" {
		session, branch, err = s.Library.Start(ctx, n.Title, a.ID)
		if err == nil && n.Folder != "" {
			err = s.Sessions.SetFolder(ctx, []chat.SessionID{session.ID}, n.Folder)
		}
	} else {
		session, branch, err = s.Sessions.CreateSession(ctx, n)
	}
	if err == nil && model != "" {
		err = s.Sessions.SetSessionModel(ctx, session.ID, model)
	}
	return session, branch, err
}

// deliver sends a message and shows its answer.
func (c *call) deliver(ctx context.Context, s *Services, st *stream, m turn.Message) (chat.Turn, chat.Message, error) {
	h, err := c.start(ctx, s, st, m)
	if err != nil {
		return chat.Turn{}, chat.Message{}, err
	}
	return c.follow(ctx, s, st, h, nil)
}

// start sends a message, whose answer st then shows.
func (c *call) start(ctx context.Context, s *Services, st *stream, m turn.Message) (*turn.Handle, error) {
	before, _, err := s.Store.LastTurn(ctx, m.Branch)
	if err != nil {
		return nil, err
	}
	st.subscribe()
	h, err := s.Turns.Send(ctx, m)
	if err != nil {
		st.unsubscribe()
		return nil, withChoices(err, before)
	}
	c.noteCleared(before, m.Incomplete)
	return h, nil
}

// withChoices names the turn that blocks a branch, and the ways to resolve it.
func withChoices(err error, blocking chat.Turn) error {
	if chat.CodeOf(err) != chat.CodeIncomplete {
		return err
	}
	e := *chat.AsError(err)
	verbs := "continue, retry, keep or discard"
	if blocking.Unsent() {
		verbs = "resend or discard"
	}
	return e.WithHint("%s turn %s, or send with --incomplete keep or discard", verbs, blocking.ID)
}

// noteCleared reports what happened to the turn that blocked the branch.
func (c *call) noteCleared(t chat.Turn, p turn.IncompletePolicy) {
	switch {
	case t.ID == "" || !t.Incomplete() && !t.Unsent():
	case p == turn.IncompleteKeep && t.Incomplete():
		c.notef("the incomplete answer of turn #%d was kept", t.Seq)
	case t.Incomplete():
		c.notef("the incomplete answer of turn #%d was discarded; it can still be read", t.Seq)
	default:
		c.notef("turn #%d, which was never sent, was discarded; it can still be read", t.Seq)
	}
}
