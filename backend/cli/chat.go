package cli

import (
	"context"
	"errors"
	"io"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/turn"
)

func chatVerb() verb {
	return verb{
		use:   "chat",
		short: "Have a conversation in the terminal, line by line",
		long: `Reads one message per line; a line that ends with \ continues on the next. /help lists the commands.
Ctrl-C stops the answer, Ctrl-D leaves. Without --session a new session starts with the first message.
Also reads messages from a pipe; then the exit code is 1 if one of them was not answered.`,
		flags: []flag{
			nameFlag("session", "the session to continue"),
			branchFlag,
			textFlag("model", "a configured model, instead of the session's"),
			nameFlag("assistant", "start the new session with this assistant"),
		},
		prepare: func(_ context.Context, r *run) error {
			switch {
			case r.json:
				return usageHint("send --json answers with one document", "chat is for people and has no --json.")
			case r.given("assistant") && r.given("session"):
				const hint = "/assistant NAME applies one there"
				return usageHint(hint, "--assistant starts a new session, and excludes --session.")
			case r.given("branch") && !r.given("session"):
				return usagef("--branch needs --session.")
			}
			return nil
		},
		opens:   writes,
		streams: true,
		with: func(_ *run, o *OpenOptions) {
			o.Serve = true // it is long-running: others need not wait until it ends
		},
		do: func(ctx context.Context, r *run) (reply, error) {
			t := &talk{
				c:         r,
				s:         r.s,
				st:        r.st,
				session:   r.session,
				branch:    r.branch.ID,
				model:     r.text("model"),
				assistant: r.text("assistant"),
			}
			return reply{}, t.run(ctx)
		},
	}
}

// talk is a conversation in the terminal.
type talk struct {
	c     *run
	s     *Services
	st    *stream
	lines *lineReader

	session chat.Session // empty until the first message of a new one
	branch  chat.BranchID
	model   string // chosen here; empty: the session's
	// assistant is the assistant for a new session.
	assistant string
	failed    bool            // a message was not answered
	waits     bool            // tool calls wait
	asked     chat.TurnID     // the turn whose calls were asked about last
	seen      map[string]bool // tool definitions that were shown completely
}

// errLeave ends the conversation normally.
var errLeave = errors.New("leave")

func (t *talk) run(ctx context.Context) error {
	if err := t.begin(ctx); err != nil {
		return err
	}
	t.s.Jobs.Start()
	t.s.Reconciler.Start()
	t.s.VaultSchedule.Start()
	if _, err := t.s.Turns.ResumeTools(ctx); err != nil {
		t.c.notef("tool calls of an earlier run could not be checked: %s", line(t.c.describe(err).Message))
	}
	t.lines = startLines(t.c.in)
	defer t.lines.close()
	for {
		text, err := t.next(ctx)
		switch {
		case err == nil:
			err = t.handle(ctx, text)
		case !errors.Is(err, errLeave) && !errors.Is(err, io.EOF):
			return err // no next line can be read
		}
		switch {
		case err == nil:
		case errors.Is(err, errLeave), errors.Is(err, io.EOF):
			return t.end()
		case errors.Is(err, errQuit), ctx.Err() != nil:
			return err
		default:
			t.failed, t.waits = true, exitCode(err) == exitWaits
			t.c.printError(err)
		}
		if t.c.out.gone() { // nobody would see the next answer
			return t.end()
		}
	}
}

// end returns an error if calls still wait, or if a message of a piped conversation was not answered.
func (t *talk) end() error {
	if t.waits {
		return waitsError(chat.Errorf(chat.CodeIncomplete, "cli.chat", "The answer waits for your decision about its tool calls.").
			WithHint("contextinfinity tools waiting lists them"))
	}
	if t.failed && !t.c.in.terminal {
		return chat.Errorf(chat.CodeIncomplete, "cli.chat", "Not every message was answered; the reasons are above.")
	}
	return nil
}

func (t *talk) begin(ctx context.Context) error {
	if t.model != "" {
		if _, err := t.s.Models.Resolve(ctx, t.model); err != nil {
			return err
		}
	}
	if t.assistant != "" {
		if _, err := t.s.Library.AssistantNamed(ctx, t.assistant); err != nil {
			return err
		}
	}
	t.greet(ctx)
	return nil
}

func (t *talk) greet(ctx context.Context) {
	model := t.modelName(ctx)
	switch {
	case t.session.ID == "" && t.assistant != "":
		const help = "/help lists the commands, /sessions your earlier sessions."
		t.say("New session with the assistant %s. %s", line(t.assistant), help)
	case t.session.ID == "":
		t.say("New session with %s. /help lists the commands, /sessions your earlier sessions.", model)
	default:
		t.say("%s, with %s. /help lists the commands.", line(titleOf(t.session.Title)), model)
	}
	if model == config.Recall {
		t.say("No provider key is set, so recall answers: it quotes the best passages of your own sessions.")
		t.say("For a model, leave and run: contextinfinity keys set anthropic   (or openai), or configure a local server.")
	}
}

// modelName returns the model for the next message.
func (t *talk) modelName(ctx context.Context) string {
	switch {
	case t.model != "":
		return t.model
	case t.session.Model != "":
		return t.session.Model
	}
	if m, err := t.s.Models.Resolve(ctx, ""); err == nil {
		return m.Endpoint.Name
	}
	return "the default model"
}

// say prints a message of the program to stderr, so that a pipe only gets answers.
func (t *talk) say(format string, args ...any) {
	t.c.note.printf(format+"\n", args...)
}

// next reads a message; a line that ends with a backslash continues on the next. At the prompt the first Ctrl-C drops
// the typed text, and the second one exits.
func (t *talk) next(ctx context.Context) (string, error) {
	interrupts, release := t.c.signal.hold()
	defer release()
	var text []string
	warned := false
	for {
		t.prompt(len(text) > 0)
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-interrupts:
			if warned {
				return "", errLeave
			}
			warned, text = true, nil
			t.say("\nCtrl-C again or Ctrl-D leaves.")
		case typed, ok := <-t.lines.ask():
			if !ok {
				return lastLine(text, t.lines.err)
			}
			t.lines.got()
			more := strings.HasSuffix(typed, `\`)
			text = append(text, strings.TrimSuffix(typed, `\`))
			if !more {
				return strings.Join(text, "\n"), nil
			}
		}
	}
}

// lastLine returns the text before the end of the input.
func lastLine(text []string, err error) (string, error) {
	if len(text) > 0 && errors.Is(err, io.EOF) {
		return strings.Join(text, "\n"), nil
	}
	return "", err
}

func (t *talk) prompt(continues bool) {
	if !t.c.in.terminal || !t.c.out.terminal {
		return
	}
	mark := "> "
	if continues {
		mark = ". "
	}
	t.c.out.printf("%s", t.c.out.bold(mark))
}

// handle handles one message or command.
func (t *talk) handle(ctx context.Context, text string) error {
	trimmed := strings.TrimSpace(text)
	switch {
	case trimmed == "":
		return nil
	case strings.HasPrefix(trimmed, "//"):
		return t.send(ctx, strings.Replace(text, "//", "/", 1))
	case strings.HasPrefix(trimmed, "/"):
		name, rest, _ := strings.Cut(trimmed, " ")
		return t.command(ctx, name, strings.TrimSpace(rest))
	}
	return t.send(ctx, text)
}

func (t *talk) send(ctx context.Context, text string) error {
	content, err := t.c.newMessage(text, nil, false)
	if err != nil {
		return err
	}
	if t.session.ID == "" {
		session, branch, err := t.s.newSession(ctx, chat.NewSession{Title: chat.TitleFrom(text)}, t.model, t.assistant)
		if err != nil {
			return err
		}
		t.session, t.branch = session, branch.ID
	}
	end, _, err := t.c.deliver(ctx, t.s, t.st, turn.Message{
		Branch: t.branch, Content: content, Model: t.model, Incomplete: turn.IncompleteRefuse,
	})
	if err != nil {
		return inChat(err)
	}
	return t.answered(ctx, end)
}

// answered reports how an answer ended and starts its background work.
func (t *talk) answered(ctx context.Context, end chat.Turn) error {
	t.branch = end.BranchID
	end, err := t.approve(ctx, end)
	if err != nil {
		return err
	}
	t.waits = false
	t.s.Jobs.Wake()
	t.c.noteOutcome(end)
	if end.Outcome == chat.OutcomeStopped {
		t.c.notef("stopped; the text so far is the answer")
		return nil
	}
	return inChat(outcomeError(end))
}

// inChat replaces a hint that names verbs of the command line by one that names commands of the conversation.
func inChat(err error) error {
	if err == nil || errors.Is(err, errQuit) {
		return err
	}
	e := *chat.AsError(err)
	switch {
	case e.Code == chat.CodeIncomplete, strings.HasPrefix(e.Hint, "continue, retry"):
		return e.WithHint("/continue, /retry, /keep or /discard it")
	case strings.HasPrefix(e.Hint, "your message is saved"):
		return e.WithHint("your message is saved: /retry")
	}
	return &e
}
