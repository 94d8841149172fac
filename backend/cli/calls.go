package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/jobs"
	"contextinfinity/backend/tools"
	"contextinfinity/backend/turn"
)

// callJSON is a tool call that waits for the user.
type callJSON struct {
	ID        chat.ToolCallID    `json:"call_id"`
	SessionID chat.SessionID     `json:"session_id"`
	TurnID    chat.TurnID        `json:"turn_id"`
	Seq       int64              `json:"turn_seq"`
	Session   string             `json:"session"`
	Name      string             `json:"name"`
	Source    string             `json:"source"`
	Tool      string             `json:"tool"`
	State     chat.ToolCallState `json:"state"`
	Reason    chat.UnknownReason `json:"reason,omitempty"`
	Effects   bool               `json:"effects"`
	Arguments json.RawMessage    `json:"arguments"`
	Hash      string             `json:"definition_hash"`
	AskedAt   time.Time          `json:"asked_at"`
}

func callOf(w chat.WaitingCall) callJSON {
	arguments := w.Arguments
	if !json.Valid(arguments) { // the model wrote something else
		arguments, _ = chat.MarshalJSON(string(w.Arguments)) // a string can always be encoded
	}
	return callJSON{
		ID: w.ID, SessionID: w.SessionID, TurnID: w.TurnID, Seq: w.TurnSeq, Session: w.Session, Name: w.Name, Source: w.Source, Tool: w.Tool,
		State: w.State, Reason: w.Reason, Effects: w.Effects, Arguments: arguments, Hash: w.Definition, AskedAt: w.AskedAt,
	}
}

// waitingOf returns the calls of a turn that wait for a decision.
func (s *Services) waitingOf(ctx context.Context, id chat.TurnID) ([]chat.WaitingCall, error) {
	all, err := s.Store.WaitingCalls(ctx)
	return slices.DeleteFunc(all, func(w chat.WaitingCall) bool { return w.TurnID != id }), err
}

// newWaitsError returns the error for a turn that continues after decisions about its calls.
func newWaitsError(calls []chat.WaitingCall) error {
	first := calls[0]
	command := "decide ID once, session, always, deny or never"
	if first.State == chat.CallUnknown {
		command = "resolve ID enter, rerun or tell"
	}
	return waitsError{chat.Errorf(chat.CodeIncomplete, "tools.wait", "The answer waits for your decision about %s (%s).",
		plural(len(calls), "tool call"), clip(first.Name, 60)).
		WithHint("contextinfinity tools waiting shows it, contextinfinity tools %s; its id is %s", command, first.ID)}
}

type waitingReply struct {
	Calls   []callJSON                `json:"calls"`
	Batches []chat.RecoveredToolBatch `json:"batches"` // the calls' batches, with the model's text before them

	shown []shownCall
}

// shownCall is a call as it is shown for a decision.
type shownCall struct {
	chat.WaitingCall
	definition *tools.Definition // nil: it is not offered now
	preview    string
}

func (c *call) callsWaitingCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "waiting", Short: "List the tool calls that wait for you, with what they would do", Args: exactly()}
	cmd.RunE = c.writes(func(ctx context.Context, s *Services, _ []string) (reply, error) {
		all, err := s.Store.WaitingCalls(ctx)
		if err != nil {
			return reply{}, err
		}
		doc := waitingReply{Calls: []callJSON{}, Batches: []chat.RecoveredToolBatch{}}
		if len(all) > 0 {
			s.Tools.Ensure(ctx)
			batches, err := s.Turns.RecoveredBatches(ctx)
			if err != nil {
				return reply{}, err
			}
			doc.Batches = append(doc.Batches, batches...)
		}
		for _, w := range all {
			doc.Calls = append(doc.Calls, callOf(w))
			shown, err := s.shownCall(ctx, w)
			if err != nil {
				return reply{}, err
			}
			doc.shown = append(doc.shown, shown)
		}
		return reply{doc: doc, text: doc.print}, nil
	})
	return cmd
}

func (s *Services) shownCall(ctx context.Context, w chat.WaitingCall) (shownCall, error) {
	shown := shownCall{WaitingCall: w}
	p, err := s.Tools.Panel(ctx)
	for i, d := range p.Definitions {
		if d.Source == w.Source && d.Tool == w.Tool && d.Pinned != tools.PinnedGone {
			shown.definition = &p.Definitions[i]
		}
	}
	if w.State == chat.CallProposed {
		shown.preview = s.Tools.Preview(ctx, w.Source, tools.Call{ID: w.ID, Session: w.SessionID, Branch: w.BranchID, Turn: w.TurnID, Tool: w.Tool, Arguments: w.Arguments})
	}
	return shown, err
}

func (r waitingReply) print(o *output) {
	if len(r.shown) == 0 {
		o.printf("No tool call is waiting.\n")
	}
	for i, w := range r.shown {
		if i > 0 {
			o.printf("\n")
		}
		o.printf("%s  %s, turn #%d\n", o.bold(string(w.ID)), line(titleOf(w.Session)), w.TurnSeq)
		for _, b := range r.Batches {
			if b.TurnID == w.TurnID && b.AssistantText != "" {
				o.printf("%s said: %s\n", line(b.ModelName), line(clip(b.AssistantText, 200)))
			}
		}
		w.print(o, false)
	}
}

// print shows what a call would do, and if definition is set also the definition of its tool.
func (w shownCall) print(o *output, definition bool) {
	source := "of " + cmp.Or(w.Source, "no source")
	o.printf("%s %s%s\n", o.bold(line(w.Name)), line(source), map[bool]string{true: ", may have effects"}[w.Effects])
	if w.State == chat.CallUnknown {
		o.printf("Its outcome is unknown (%s). It may have had effects.\n", reasonWords[w.Reason])
	}
	switch {
	case w.definition == nil:
		o.printf("The tool is not offered now.\n")
	case w.definition.Hash != w.Definition:
		o.printf("Its definition has changed since the model saw it.\n")
	}
	if definition && w.definition != nil {
		detailOf(*w.definition).printDefinition(o)
		o.printf("\nIt is called with:\n")
	}
	o.text(indent(readable(w.Arguments)) + "\n")
	if w.preview != "" {
		o.text("It would change:\n" + indent(w.preview) + "\n")
	}
}

var reasonWords = map[chat.UnknownReason]string{
	chat.UnknownCancelled: "it was cancelled", chat.UnknownTimeout: "it took too long", chat.UnknownEnded: "its server stopped or the connection was lost",
	chat.UnknownUnreadable: "its answer cannot be read", chat.UnknownCrash: "the program ended while the call ran",
}

// maxShownValue is the maximum size of an argument shown on its own line.
const maxShownValue = 20_000

// readable formats arguments, one per line; strings are shown without quotes and escapes.
func readable(raw json.RawMessage) string {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil || object == nil {
		return string(raw)
	}
	if len(object) == 0 {
		return "(no arguments)"
	}
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		var text string
		if json.Unmarshal(object[name], &text) != nil {
			text = display.JSON(object[name])
		}
		if shown := display.Start(text, maxShownValue); len(shown) < len(text) {
			text = shown + "… (" + decimal(len(text)) + " bytes in all)"
		}
		if strings.Contains(text, "\n") {
			text = "\n" + indent(text)
		}
		b.WriteString(line(name) + ": " + text + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

func indent(s string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n  ")
}

// toolCall finds a call by its id, or the end of one.
func (s *Services) toolCall(ctx context.Context, typed string) (chat.ToolCallID, error) {
	id, err := parseID("tool call", typed)
	if err != nil || full(id) {
		return chat.ToolCallID(id), err
	}
	ids, err := s.Store.CallIDs(ctx, id)
	if err != nil {
		return "", err
	}
	return match("tool call", id, ids)
}

var choices = []chat.ToolDecision{chat.DecisionOnce, chat.DecisionSession, chat.DecisionAlways, chat.DecisionDeny, chat.DecisionNever}

func (c *call) callDecideCommand() *cobra.Command {
	var f sendFlags
	cmd := &cobra.Command{
		Use: "decide CALL CHOICE", Short: "Decide about a tool call that waits: once, session, always, deny or never", Args: exactly("CALL", "CHOICE"),
		Long: `once runs the call; session and always run it, and run later calls of the tool in the session, or
anywhere, without asking; deny does not run it; never does not run it, and the tool is no longer offered. When
no other call of the turn is waiting, the answer continues and is printed.`,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	server := cmd.Flags().Bool("server", false, "session, always and never apply to all tools of its server")
	c.answerFlags(&f, cmd)
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		choice := chat.ToolDecision(args[1])
		if !slices.Contains(choices, choice) {
			return reply{}, usageHint("choose once, session, always, deny or never", "%q is not a decision about a tool call.", clip(args[1], 40))
		}
		return c.aboutCall(ctx, f, args[0], func(s *Services, record chat.CallRecord) error {
			s.Tools.Ensure(ctx)
			return s.Turns.DecideCall(ctx, turn.CallChoice{Call: record.ID, Decision: choice, Server: *server, Hash: record.Definition})
		})
	})
	return cmd
}

func (c *call) callResolveCommand() *cobra.Command {
	var f sendFlags
	cmd := &cobra.Command{
		Use: "resolve CALL enter|rerun|tell [TEXT|-]", Short: "Resolve a tool call whose outcome is unknown", Args: atMost("CALL", "enter|rerun|tell", "TEXT"),
		Long: `An interrupted call that may have had effects is never run again automatically. Check what it did,
then enter TEXT as its result, rerun it, or tell the model that its outcome is unknown. To give up, discard
the turn.`,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	failed := cmd.Flags().Bool("failed", false, "with enter: the result is an error")
	c.answerFlags(&f, cmd)
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		resolution, text := chat.Resolution(args[1]), ""
		switch resolution {
		case chat.ResolveEnter:
			var err error
			if text, err = c.argument(args[2:], "result"); err != nil {
				return reply{}, err
			}
		case chat.ResolveRerun, chat.ResolveTell:
		default:
			return reply{}, usageHint("choose enter, rerun or tell", "%q is not a way to resolve a tool call.", clip(args[1], 40))
		}
		return c.aboutCall(ctx, f, args[0], func(s *Services, record chat.CallRecord) error {
			s.Tools.Ensure(ctx)
			return s.Turns.ResolveCall(ctx, turn.CallResolution{Call: record.ID, As: resolution, Text: text, IsError: *failed, Hash: record.Definition})
		})
	})
	return cmd
}

// aboutCall decides about a call, and shows how its turn continues.
func (c *call) aboutCall(ctx context.Context, f sendFlags, typed string, decide func(*Services, chat.CallRecord) error) (reply, error) {
	if err := c.checkSend(f); err != nil {
		return reply{}, err
	}
	st := c.newStream()
	return c.writing(ctx, st, func(s *Services) (reply, error) {
		id, err := s.toolCall(ctx, typed)
		if err != nil {
			return reply{}, err
		}
		b, err := s.Store.CallBatch(ctx, id)
		if err != nil {
			return reply{}, err
		}
		record := b.Calls[slices.IndexFunc(b.Calls, func(r chat.CallRecord) bool { return r.ID == id })]
		before, err := s.Store.Turn(ctx, b.TurnID)
		if err != nil {
			return reply{}, err
		}
		answer, err := s.Turns.Answer(ctx, before)
		if err != nil {
			return reply{}, err
		}
		end, final, err := c.continued(ctx, s, st, b.TurnID, answer.Blocks, func() error { return decide(s, record) })
		if err != nil {
			return sentSoFar(end), err
		}
		return c.answered(ctx, s, end, final, jobs.Level(f.wait))
	})
}

// continued applies a decision, and follows the turn if that continues it.
func (c *call) continued(ctx context.Context, s *Services, st *stream, id chat.TurnID, base chat.Blocks, decide func() error) (chat.Turn, chat.Message, error) {
	st.subscribe()
	err := decide()
	var h *turn.Handle
	runs := false
	if err == nil {
		h, runs = s.Turns.Follow(id)
	}
	if err == nil && runs {
		return c.follow(ctx, s, st, h, base)
	}
	st.unsubscribe()
	if err != nil {
		return chat.Turn{}, chat.Message{}, err
	}
	t, err := s.Store.Turn(ctx, id)
	if err != nil {
		return t, chat.Message{}, err
	}
	answer, err := s.Turns.Answer(ctx, t)
	return t, answer, err
}

type cancelReply struct {
	CallID chat.ToolCallID `json:"call_id"`
}

func (c *call) callCancelCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "cancel CALL", Short: "Cancel a running tool call", Args: exactly("CALL"), ValidArgsFunction: cobra.NoFileCompletions,
		Long: "Cancels a call that is running in the program that has the data open. If its tool may have effects, its outcome is then unknown, and you decide.",
	}
	cmd.RunE = c.writes(func(ctx context.Context, s *Services, args []string) (reply, error) {
		id, err := s.toolCall(ctx, args[0])
		if err == nil {
			err = s.Turns.CancelCall(ctx, id)
		}
		return reply{doc: cancelReply{id}, text: func(o *output) { o.printf("Cancelled.\n") }}, err
	})
	return cmd
}
