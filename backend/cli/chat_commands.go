package cli

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/prompt"
)

// command is a command at the prompt.
type command struct {
	name     string
	args     string
	help     string
	anywhere bool // it needs no conversation
	run      func(t *talk, ctx context.Context, args string) error
}

// commands returns the commands in the order in which /help lists them.
func commands() []command {
	return []command{
		{"/help", "", "this list", true, (*talk).help},
		{"/model", "[NAME]", "show the models, or choose one for this session", true, (*talk).chooseModel},
		{"/assistant", "[NAME]", "show the assistants, or give this session the settings of one", true, (*talk).chooseAssistant},
		{"/prompt", "NAME [VAR=VALUE ...]", "send a saved prompt", true, (*talk).sendPrompt},
		{"/new", "", "start a new session with the next message", true, (*talk).fresh},
		{"/sessions", "", "list the sessions", true, (*talk).listSessions},
		{"/switch", "ID", "continue another session, or another branch of this one", true, (*talk).switchTo},
		{"/branches", "", "list the branches of this session", false, (*talk).listBranches},
		{"/fork", "[TURN]", "branch off after a turn (its id or #number; else the last) and continue there", false, (*talk).fork},
		{"/show", "[N]", "print the newest N turns (10)", false, (*talk).show},
		{"/pin", "TEXT", "pin a fact that every request carries", false, (*talk).pin},
		{"/pins", "", "list the pinned facts", false, (*talk).listPins},
		{"/unpin", "ID", "unpin one", false, (*talk).unpin},
		{"/pending", "", "list the turns that are not yet committed", false, (*talk).listPending},
		{"/commit", "", "commit them now", false, (*talk).commit},
		{"/retry", "", "ask again for the last answer", false, (*talk).retry},
		{"/continue", "", "continue the last, incomplete answer", false, (*talk).continueAnswer},
		{"/keep", "", "keep the incomplete answer as the final one", false, (*talk).keep},
		{"/discard", "", "discard it; it can still be read", false, (*talk).discard},
		{"/calls", "", "decide about the tool calls that wait", false, (*talk).waitingCalls},
		{"/quit", "", "quit (also Ctrl-D)", true, func(*talk, context.Context, string) error { return errLeave }},
	}
}

func (t *talk) command(ctx context.Context, name, args string) error {
	all := commands()
	i := slices.IndexFunc(all, func(cmd command) bool { return cmd.name == name })
	switch {
	case i < 0:
		return chat.Errorf(chat.CodeInvalid, "cli.chat", "There is no command %s.", clip(name, 40)).
			WithHint("/help lists them; a message that begins with / is typed with //")
	case t.session.ID == "" && !all[i].anywhere:
		return chat.Errorf(chat.CodeInvalid, "cli.chat", "The new session has no message yet.").
			WithHint("/switch goes to an earlier one")
	}
	return all[i].run(t, ctx, args)
}

// list prints a reply to stderr, so that a pipe only gets answers.
func (t *talk) list(r reply, err error) error {
	if err == nil {
		r.text(t.c.note)
	}
	return err
}

func (t *talk) help(context.Context, string) error {
	tableOf("TYPE|TO", commands(), func(cmd command) []any { return []any{cmd.name + " " + cmd.args, cmd.help} }).print(t.c.note)
	t.say(`A line that ends with \ continues on the next. Ctrl-C stops an answer.`)
	return nil
}

func (t *talk) chooseModel(ctx context.Context, name string) error {
	if name == "" {
		modelList(knownModels(ctx, t.s.Models)).text(t.c.note)
		t.say("This session uses %s.", t.modelName(ctx))
		return nil
	}
	if _, err := t.s.Models.Resolve(ctx, name); err != nil {
		return err
	}
	if t.session.ID != "" {
		t.saySwitch(ctx, name)
		if err := t.s.Sessions.SetSessionModel(ctx, t.session.ID, name); err != nil {
			return err
		}
		t.session.Model = name
	}
	t.model = name
	t.say("From now on %s answers.", line(name))
	return nil
}

// saySwitch reports, before switching, what another model changes. If the previous model is not available, it
// switches without a report.
func (t *talk) saySwitch(ctx context.Context, name string) {
	change, err := t.s.Turns.PreviewSwitch(ctx, t.branch, t.model, name)
	switch {
	case err != nil:
		t.say("The effects of the switch are not known: %s", line(chat.AsError(err).Message))
	case change.Kind != prompt.NoChange || change.Refused != nil:
		t.say("%s", line(change.String()))
	}
}

func (t *talk) fresh(context.Context, string) error {
	t.session, t.branch = chat.Session{}, ""
	t.say("A new session starts with the next message.")
	return nil
}

func (t *talk) listSessions(ctx context.Context, _ string) error {
	all, err := t.s.Sessions.Sessions(ctx, chat.SessionQuery{})
	return t.list(sessionList(all), err)
}

// switchTo takes an id for a branch of this session first, then for a session.
func (t *talk) switchTo(ctx context.Context, id string) error {
	if id == "" {
		return needs("/switch", "the id of a session or branch")
	}
	if t.session.ID != "" {
		b, err := t.s.branchOf(ctx, t.session, id)
		if err == nil {
			return t.moveTo(ctx, b)
		}
		if chat.CodeOf(err) != chat.CodeNotFound {
			return err
		}
	}
	session, err := t.s.session(ctx, id)
	if err != nil {
		return err
	}
	t.session, t.branch, t.model = session, session.ActiveBranch, ""
	t.say("Now in: %s, with %s.", line(titleOf(session.Title)), t.modelName(ctx))
	return nil
}

func needs(cmd, what string) error {
	return chat.Errorf(chat.CodeInvalid, "cli.chat", "%s needs %s.", cmd, what)
}

// moveTo switches to a branch of this session.
func (t *talk) moveTo(ctx context.Context, b chat.Branch) error {
	if err := t.s.Branches.Switch(ctx, t.session.ID, b.ID); err != nil {
		return err
	}
	t.session.ActiveBranch, t.branch = b.ID, b.ID
	t.say("Now on branch %s (%s).", line(b.Label), b.ID)
	return nil
}

func (t *talk) listBranches(ctx context.Context, _ string) error {
	all, err := t.s.Sessions.Branches(ctx, t.session.ID)
	return t.list(branchList(t.session, all), err)
}

func (t *talk) fork(ctx context.Context, which string) error {
	from, err := t.turnHere(ctx, which)
	if err != nil {
		return err
	}
	b, err := t.s.Branches.After(ctx, from.ID, "", true)
	if err != nil {
		return err
	}
	t.session.ActiveBranch, t.branch = b.ID, b.ID
	t.say("Branched off after #%d: now on %s (%s).", from.Seq, line(b.Label), b.ID)
	return nil
}

// turnHere finds a turn of this branch: by #number, by id, or the last.
func (t *talk) turnHere(ctx context.Context, which string) (chat.Turn, error) {
	if which == "" {
		return t.last(ctx)
	}
	if seq, ok := turnNumber(which); ok {
		found, err := t.s.Store.Lineage(ctx, chat.LineageQuery{Branch: t.branch, FromSeq: seq, ToSeq: seq, Limit: 1})
		if err != nil {
			return chat.Turn{}, err
		}
		for _, t := range found {
			return t, nil
		}
		return chat.Turn{}, chat.Errorf(chat.CodeNotFound, "cli.chat", "This branch has no turn #%d.", seq)
	}
	found, err := t.s.turn(ctx, which)
	if err == nil && found.SessionID != t.session.ID {
		err = chat.Errorf(chat.CodeNotFound, "cli.chat", "Turn %s belongs to another session.", found.ID)
	}
	return found, err
}

func (t *talk) last(ctx context.Context) (chat.Turn, error) {
	found, ok, err := t.s.Store.LastTurn(ctx, t.branch)
	if err == nil && !ok {
		err = chat.Errorf(chat.CodeNotFound, "cli.chat", "This branch has no turns yet.")
	}
	return found, err
}

func (t *talk) show(ctx context.Context, n string) error {
	turns := int64(10)
	if n != "" {
		var ok bool
		if turns, ok = turnNumber(n); !ok {
			return needs("/show", "a number of turns")
		}
	}
	b, err := t.s.Sessions.Branch(ctx, t.branch)
	if err != nil {
		return err
	}
	r, err := t.s.transcript(ctx, t.session, b, int(min(turns, 1000)), false)
	if err == nil {
		r.text(t.c.out)
	}
	return err
}

func (t *talk) pin(ctx context.Context, fact string) error {
	if err := checkText("cli.pin", "fact", fact, false); err != nil {
		return err
	}
	p, err := t.s.Pins.Add(ctx, t.branch, fact)
	return t.list(pinned(t.here(), p), err)
}

// here is the branch of this conversation, as far as lists need it.
func (t *talk) here() chat.Branch { return chat.Branch{ID: t.branch, SessionID: t.session.ID} }

func (t *talk) listPins(ctx context.Context, _ string) error { return t.list(t.s.pins(ctx, t.here())) }

func (t *talk) unpin(ctx context.Context, id string) error {
	gone, err := t.s.unpin(ctx, t.branch, id)
	return t.list(sentence(nil, "Unpinned %s.", gone), err)
}

func (t *talk) listPending(ctx context.Context, _ string) error {
	return t.list(t.s.pending(ctx, t.here()))
}

func (t *talk) commit(ctx context.Context, _ string) error { return t.list(t.s.commit(ctx, t.branch)) }

func (t *talk) retry(ctx context.Context, _ string) error {
	return t.rerun(ctx, false, t.s.Turns.Retry)
}

func (t *talk) continueAnswer(ctx context.Context, _ string) error {
	return t.rerun(ctx, true, t.s.Turns.Continue)
}

// rerun starts an answer to the last turn and shows it.
func (t *talk) rerun(ctx context.Context, continues bool, start startAnswer) error {
	last, err := t.last(ctx)
	if err != nil {
		return err
	}
	base, err := t.s.existingAnswer(ctx, t.st, last, continues)
	if err != nil {
		return err
	}
	defer t.st.mute(false)
	t.st.subscribe()
	h, err := start(ctx, last.ID, t.model)
	if err != nil {
		t.st.unsubscribe()
		return err
	}
	if h.Turn.BranchID != t.branch {
		t.session.ActiveBranch, t.branch = h.Turn.BranchID, h.Turn.BranchID
		t.say("Regenerated on a new branch (%s).", t.branch)
	}
	end, _, err := t.c.follow(ctx, t.s, t.st, h, base)
	if err != nil {
		return err
	}
	return t.answered(ctx, end)
}

func (t *talk) keep(ctx context.Context, _ string) error {
	return t.decide(ctx, "Kept: it is final as it is.", t.s.Turns.Keep)
}

func (t *talk) discard(ctx context.Context, _ string) error {
	return t.decide(ctx, "Discarded; it can still be read.", t.s.Turns.Discard)
}

func (t *talk) decide(ctx context.Context, done string, decide func(context.Context, chat.TurnID) (chat.Turn, error),
) error {
	last, err := t.last(ctx)
	if err != nil {
		return err
	}
	if _, err := decide(ctx, last.ID); err != nil {
		return err
	}
	t.s.Jobs.Wake()
	t.say("%s", done)
	return nil
}

// turnNumber reads #12 or 12.
func turnNumber(s string) (int64, bool) {
	n, err := strconv.ParseUint(strings.TrimPrefix(s, "#"), 10, 31)
	return int64(n), err == nil && n > 0 && n < 1e9
}

// chooseAssistant lists the assistants, or applies one to this conversation.
func (t *talk) chooseAssistant(ctx context.Context, name string) error {
	if name == "" {
		all, err := t.s.Library.Assistants(ctx)
		return t.list(assistantList(all), err)
	}
	a, err := t.s.Library.AssistantNamed(ctx, name)
	if err != nil {
		return err
	}
	if t.session.ID == "" {
		t.assistant = a.Name
		t.say("The new session starts with %s.", line(a.Name))
		return nil
	}
	if err := t.s.Library.Apply(ctx, t.session.ID, a.ID); err != nil {
		return err
	}
	if t.session, err = t.s.Sessions.Session(ctx, t.session.ID); err != nil {
		return err
	}
	if a.Model != "" {
		t.model = ""
	}
	t.say("From now on this session has the settings of %s.", line(a.Name))
	return nil
}

// sendPrompt sends a saved prompt. Its name may contain spaces; the values of its variables follow it.
func (t *talk) sendPrompt(ctx context.Context, args string) error {
	words := strings.Fields(args)
	nameEnd := slices.IndexFunc(words, func(w string) bool { return strings.Contains(w, "=") })
	if nameEnd < 0 {
		nameEnd = len(words)
	}
	name := strings.Join(words[:nameEnd], " ")
	if name == "" {
		all, err := t.s.Library.SavedPrompts(ctx)
		return t.list(promptList(all), err)
	}
	values, err := variables(words[nameEnd:])
	if err != nil {
		return err
	}
	p, err := t.s.Library.PromptNamed(ctx, name)
	if err != nil {
		return err
	}
	text, err := t.s.Library.Fill(p, values)
	if err != nil {
		return err
	}
	return t.send(ctx, text)
}
