package cli

import (
	"cmp"
	"context"
	"time"

	"contextinfinity/backend/answers"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/jobs"
	"contextinfinity/backend/tools"
	"contextinfinity/backend/turn"
)

func sendVerb() verb {
	return verb{
		use:   "send [TEXT|-]",
		short: "Send a message and print the answer as it arrives",
		long: `Sends TEXT, or what is piped in, byte for byte, and streams the answer to stdout.
Without --session or --new it goes to the session used last.

While an answer of the branch is running, the message waits for it, at most --wait-turn, and says
so on stderr. Messages that come from several commands at once to a running window or chat are sent in the order of
their arrival.

Ctrl-C stops the answer: the text so far is kept and marked stopped, and the exit
code is 1 (code "cancelled"). A second Ctrl-C quits immediately; the partial answer is
recovered at the next start.

With --model given two to four times, all of them answer side by side, each on a branch of
its own: contextinfinity answers. They are printed one after the other, each when it is complete; the active
branch is that of the first. The exit code is 0 only when the answer is final, and 4
when it waits for your decision about tool calls: contextinfinity tools waiting.`,
		flags: append(followFlags(),
			nameFlag("session", "the session to continue"),
			boolFlag("new", "start a new session"),
			nameFlag("project", "with --new: the project of the session"),
			branchFlag,
			choiceFlag("incomplete", string(turn.IncompleteDiscard), policies,
				"what to do with an incomplete or unsent turn before it: keep, discard, fail"),
			nameListFlag("image", "attach an image `FILE` (may be repeated)"),
			nameListFlag("attach", "attach a document `FILE`: text, Markdown, source code, PDF, Word, Excel, "+
				"PowerPoint, OpenDocument or EPUB (may be repeated)"),
			listFlag("allow", "run this `TOOL` without asking, for this message only (may be repeated)"),
			listFlag("model", "a configured model, instead of the session's (two to four: all of them answer)"),
			nameFlag("assistant", "start a new session with this assistant"),
			nameFlag("prompt", "send this saved prompt instead of TEXT"),
			listFlag("var", "with --prompt: a value for a variable, `NAME=VALUE`; NAME=- reads it from stdin (may be "+
				"repeated)"),
			flag{name: "wait-turn", value: 10 * time.Minute, usage: "how long to wait for a running answer of the " +
				"branch (0s: not at all), or for another command that is writing (at least 10s)"},
		),
		prepare: prepareMessage,
		opens:   writes,
		streams: true,
		with: func(r *run, o *OpenOptions) {
			o.WriterTimeout = r.waitTurn()
			o.OnWait = func() { r.notef("another command is writing; this message waits for it") }
		},
		do: send,
	}
}

var policies = []string{string(turn.IncompleteKeep), string(turn.IncompleteDiscard), string(turn.IncompleteRefuse)}

// followFlags are the flags for following an answer.
func followFlags() []flag {
	return []flag{
		boolFlag(eventsFlag, "print a JSON line for each event of the answer, with how much of it is durable: accepted, "+
			"frame, settled"),
		choiceFlag("wait", string(jobs.LevelFinalized), levels,
			"run background work until the turn is finalized, committed or indexed"),
	}
}

// answerFlags are the flags of verbs that get an answer for an existing turn.
func answerFlags() []flag {
	return append(followFlags(), textFlag("model", "a configured model, instead of the session's"))
}

// level is how far background work is done before the verb ends.
func (r *run) level() jobs.Level { return jobs.Level(r.text("wait")) }

func (r *run) waitTurn() time.Duration { return value(r.cmd.Flags().GetDuration("wait-turn")) }

func (r *run) checkEvents() error {
	if r.json && r.events {
		return usagef("--json and --events exclude each other.")
	}
	return nil
}

func (r *run) checkSend() error {
	switch {
	case r.given("assistant") && (r.given("session") || r.given("branch")):
		const hint = "contextinfinity assistants apply NAME SESSION gives a session the settings of an assistant"
		return usageHint(hint, "--assistant starts a new session, and excludes --session and --branch.")
	case len(r.list("var")) > 0 && !r.given("prompt"):
		return usagef("--var needs --prompt.")
	case r.given("session") && r.on("new"):
		return usagef("--session and --new exclude each other.")
	case r.events && len(r.list("model")) > 1:
		return usagef("--events shows one answer as it arrives, and cannot be combined with several models.")
	case r.given("project") && !r.on("new"):
		const problem = "--project needs --new; an existing session is moved with: contextinfinity sessions folder."
		return usagef(problem)
	case r.given("branch") && r.on("new"):
		return usagef("--branch and --new exclude each other.")
	case r.waitTurn() < 0:
		return usagef("--wait-turn must be a time such as 30s or 10m, not %s.", r.waitTurn())
	}
	return r.checkEvents()
}

// prepareMessage reads the message, with its images and documents.
func prepareMessage(ctx context.Context, r *run) (err error) {
	if err := r.checkSend(); err != nil {
		return err
	}
	documents := r.list("attach")
	if r.input, err = r.sendText(ctx, len(documents)); err != nil {
		return err
	}
	if r.message, err = r.newMessage(r.input, r.list("image"), len(documents) > 0); err != nil {
		return err
	}
	r.files, err = r.readAttachments(ctx, documents)
	return err
}

// sendText reads the text of the message; with images or documents it is optional.
func (r *run) sendText(ctx context.Context, documents int) (string, error) {
	if r.given("prompt") {
		if len(r.args) > 0 {
			return "", usagef("--prompt is sent instead of TEXT; omit one of them.")
		}
		return r.filledPrompt(ctx, r.text("prompt"), r.list("var"))
	}
	if len(r.args) == 0 && len(r.list("image"))+documents > 0 && r.in.terminal {
		return "", nil
	}
	return r.argument(r.args, "message")
}

func send(ctx context.Context, r *run) (_ reply, err error) {
	models := append(r.list("model"), "")
	m := turn.Message{
		Content:    r.message,
		Model:      models[0],
		Incomplete: turn.IncompletePolicy(r.text("incomplete")),
	}
	if m.Branch, err = r.target(ctx, m.Model); err != nil {
		return reply{}, err
	}
	if err := r.s.attach(ctx, &m.Content, m.Branch, r.files); err != nil {
		return reply{}, err
	}
	return r.sendInLine(ctx, m)
}

// sendInLine sends a message when no answer of its branch is running, and follows its answers. Tools are not allowed
// for it earlier, because the running answer must not use them.
func (r *run) sendInLine(ctx context.Context, m turn.Message) (reply, error) {
	var h *turn.Handle
	var several []answers.Sent
	release := func() {}
	defer func() { release() }()
	waits := func() { r.notef("an answer is still running on this branch; this message waits for it") }
	err := r.s.Turns.SendInOrder(ctx, m.Branch, r.waitTurn(), waits, func() (err error) {
		release()
		if release, err = r.s.allow(ctx, m.Branch, r.list("allow")); err != nil {
			return err
		}
		if models := r.list("model"); len(models) > 1 {
			several, err = r.askSeveral(ctx, r.s, m, models)
		} else {
			h, err = r.start(ctx, r.s, r.st, m)
		}
		return err
	})
	if err != nil {
		return reply{}, err
	}
	if len(several) > 0 {
		return r.followSeveral(ctx, several)
	}
	t, answer, err := r.follow(ctx, r.s, r.st, h, nil)
	if err != nil {
		return sentSoFar(t), err
	}
	return r.answered(ctx, r.s, t, answer, r.level())
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
			const problem = "%s is not offered to models. Nothing was sent."
			return none, chat.Errorf(chat.CodeConflict, "tools.allow", problem, clip(name, 80)).
				WithHint("review it, then accept it: contextinfinity tools show %s", d.Name)
		case d.AsksEachCall:
			const problem = "%s needs your approval for each call, because it is not confined. Nothing was sent."
			return none, chat.Errorf(chat.CodeInvalid, "tools.allow", problem, d.Name)
		}
		names[i] = d.Name
	}
	return s.Tools.AllowFor(b.SessionID, names), nil
}

// sentSoFar is the reply if send could not follow an answer to its end.
func sentSoFar(t chat.Turn) reply {
	if t.ID == "" {
		return reply{}
	}
	return reply{keepOnError: true, doc: newTurnReply(t)}
}

// target returns the branch to send to, and creates a session if requested or if there is none. The model is checked
// first, so that no empty session is left behind.
func (r *run) target(ctx context.Context, model string) (chat.BranchID, error) {
	if r.branch.ID != "" {
		return r.branch.ID, nil
	}
	if !r.on("new") && !r.given("assistant") {
		if last, ok, err := r.s.recent(ctx); ok || err != nil {
			return last.ActiveBranch, err
		}
	}
	created := chat.NewSession{Title: titleOfMessage(r.input, r.files), Folder: r.project.Name}
	_, b, err := r.s.newSession(ctx, created, model, r.text("assistant"))
	return b.ID, err
}

// newSession creates a session with a model, and with the settings of an assistant if one is named.
func (s *Services) newSession(ctx context.Context, n chat.NewSession, model, assistant string,
) (session chat.Session, branch chat.Branch, err error) {
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
