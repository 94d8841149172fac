package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/tools"
	"contextinfinity/backend/turn"
)

// callVerbs are about calls of tools that wait for the user.
func callVerbs() []verb {
	return []verb{
		{
			use:   "waiting",
			short: "List the tool calls that wait for you, with what they would do",
			opens: looks,
			do:    listWaiting,
		},
		{
			use:   "decide CALL CHOICE",
			short: "Decide about a tool call that waits: once, session, always, deny or never",
			long: `once runs the call; session and always run it, and run later calls of the tool in the session, or
anywhere, without asking; deny does not run it; never does not run it, and the tool is no longer offered. When
no other call of the turn is waiting, the answer continues and is printed.`,
			flags: append(answerFlags(), boolFlag("server", "session, always and never apply to all tools of its server")),
			prepare: func(_ context.Context, r *run) error {
				if !slices.Contains(choices, chat.ToolDecision(r.args[1])) {
					const hint = "choose once, session, always, deny or never"
					return usageHint(hint, "%q is not a decision about a tool call.", clip(r.args[1], 40))
				}
				return r.checkEvents()
			},
			opens:   writes,
			streams: true,
			do: func(ctx context.Context, r *run) (reply, error) {
				return aboutCall(ctx, r, func(record chat.CallRecord) error {
					return r.s.Turns.DecideCall(ctx, turn.CallChoice{
						Call:     record.ID,
						Decision: chat.ToolDecision(r.args[1]),
						Server:   r.on("server"),
						Hash:     record.Definition,
					})
				})
			},
		},
		{
			use:   "resolve CALL enter|rerun|tell [TEXT|-]",
			short: "Resolve a tool call whose outcome is unknown",
			long: `An interrupted call that may have had effects is never run again automatically. Check what it did,
then enter TEXT as its result, rerun it, or tell the model that its outcome is unknown. To give up, discard
the turn.`,
			flags:   append(answerFlags(), boolFlag("failed", "with enter: the result is an error")),
			prepare: readResolution,
			opens:   writes,
			streams: true,
			do: func(ctx context.Context, r *run) (reply, error) {
				return aboutCall(ctx, r, func(record chat.CallRecord) error {
					return r.s.Turns.ResolveCall(ctx, turn.CallResolution{
						Call:    record.ID,
						As:      chat.Resolution(r.args[1]),
						Text:    r.input,
						IsError: r.on("failed"),
						Hash:    record.Definition,
					})
				})
			},
		},
		{
			use:   "cancel CALL",
			short: "Cancel a running tool call",
			long: "Cancels a call that is running in the program that has the data open. If its tool may have effects, " +
				"its outcome is then unknown, and you decide.",
			opens: writes,
			do: func(ctx context.Context, r *run) (reply, error) {
				id, err := r.s.toolCall(ctx, r.args[0])
				if err == nil {
					err = r.s.Turns.CancelCall(ctx, id)
				}
				return sentence(fields{{"call_id", id}}, "Cancelled."), err
			},
		},
	}
}

// callRow is a tool call that waits for the user.
func callRow(w chat.WaitingCall) fields {
	arguments := w.Arguments
	if !json.Valid(arguments) { // the model wrote something else
		arguments, _ = chat.MarshalJSON(string(w.Arguments)) // a string can always be encoded
	}
	return fields{
		{"call_id", w.ID},
		{"session_id", w.SessionID},
		{"turn_id", w.TurnID},
		{"turn_seq", w.TurnSeq},
		{"session", w.Session},
		{"name", w.Name},
		{"source", w.Source},
		{"tool", w.Tool},
		{"state", w.State},
		{"reason,omitempty", w.Reason},
		{"effects", w.Effects},
		{"arguments", arguments},
		{"definition_hash", w.Definition},
		{"asked_at", w.AskedAt},
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
	return waitsError(chat.Errorf(chat.CodeIncomplete, "tools.wait", "The answer waits for your decision about %s (%s).",
		plural(len(calls), "tool call"), clip(first.Name, 60)).
		WithHint("contextinfinity tools waiting shows it, contextinfinity tools %s; its id is %s", command, first.ID))
}

// shownCall is a call as it is shown for a decision.
type shownCall struct {
	chat.WaitingCall
	definition *tools.Definition // nil: it is not offered now
	preview    string
}

func listWaiting(ctx context.Context, r *run) (reply, error) {
	all, err := r.s.Store.WaitingCalls(ctx)
	if err != nil {
		return reply{}, err
	}
	var batches []chat.RecoveredToolBatch // the calls' batches, with the model's text before them
	if len(all) > 0 {
		r.s.Tools.Ensure(ctx)
		if batches, err = r.s.Turns.RecoveredBatches(ctx); err != nil {
			return reply{}, err
		}
	}
	var shown []shownCall
	for _, w := range all {
		x, err := r.s.shownCall(ctx, w)
		if err != nil {
			return reply{}, err
		}
		shown = append(shown, x)
	}
	doc := fields{{"calls", lists.Map(all, callRow)}, {"batches", batches}}
	return reply{doc: doc, text: func(o *output) { printWaiting(o, shown, batches) }}, nil
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
		shown.preview = s.Tools.Preview(ctx, w.Source, tools.Call{
			ID:        w.ID,
			Session:   w.SessionID,
			Branch:    w.BranchID,
			Turn:      w.TurnID,
			Tool:      w.Tool,
			Arguments: w.Arguments,
		})
	}
	return shown, err
}

func printWaiting(o *output, calls []shownCall, batches []chat.RecoveredToolBatch) {
	o.printIf(len(calls) == 0, "No tool call is waiting.\n")
	for i, w := range calls {
		o.printIf(i > 0, "\n")
		o.printf("%s  %s, turn #%d\n", o.bold(string(w.ID)), line(titleOf(w.Session)), w.TurnSeq)
		for _, b := range batches {
			if b.TurnID == w.TurnID && b.AssistantText != "" {
				o.printf("%s said: %s\n", line(b.ModelName), clip(b.AssistantText, 200))
			}
		}
		w.print(o, false)
	}
}

// print shows what a call would do, and if definition is set also the definition of its tool.
func (w shownCall) print(o *output, definition bool) {
	source := "of " + cmp.Or(w.Source, "no source")
	o.printf("%s %s%s\n", o.bold(line(w.Name)), line(source), map[bool]string{true: ", may have effects"}[w.Effects])
	o.printIf(w.State == chat.CallUnknown, "Its outcome is unknown (%s). It may have had effects.\n", reasonWords[w.Reason])
	switch {
	case w.definition == nil:
		o.printf("The tool is not offered now.\n")
	case w.definition.Hash != w.Definition:
		o.printf("Its definition has changed since the model saw it.\n")
	}
	if definition && w.definition != nil {
		printDefinition(o, *w.definition)
		o.printf("\nIt is called with:\n")
	}
	o.visible(indent(readable(w.Arguments)) + "\n")
	if w.preview != "" {
		o.visible("It would change:\n" + indent(w.preview) + "\n")
	}
}

var reasonWords = map[chat.UnknownReason]string{
	chat.UnknownCancelled:  "it was cancelled",
	chat.UnknownTimeout:    "it took too long",
	chat.UnknownEnded:      "its server stopped or the connection was lost",
	chat.UnknownUnreadable: "its answer cannot be read",
	chat.UnknownCrash:      "the program ended while the call ran",
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
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(object)) {
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

// toolCall finds a call by its id, or a part of it.
func (s *Services) toolCall(ctx context.Context, typed string) (chat.ToolCallID, error) {
	id, err := s.id(ctx, "tool call", "", typed)
	return chat.ToolCallID(id), err
}

var choices = []chat.ToolDecision{
	chat.DecisionOnce,
	chat.DecisionSession,
	chat.DecisionAlways,
	chat.DecisionDeny,
	chat.DecisionNever,
}

// readResolution reads the result of a call that the user enters.
func readResolution(_ context.Context, r *run) (err error) {
	if err := r.checkEvents(); err != nil {
		return err
	}
	switch chat.Resolution(r.args[1]) {
	case chat.ResolveEnter:
		r.input, err = r.argument(r.args[2:], "result")
		return err
	case chat.ResolveRerun, chat.ResolveTell:
		return nil
	}
	const hint = "choose enter, rerun or tell"
	return usageHint(hint, "%q is not a way to resolve a tool call.", clip(r.args[1], 40))
}

// aboutCall decides about a call, and shows how its turn continues.
func aboutCall(ctx context.Context, r *run, decide func(chat.CallRecord) error) (reply, error) {
	id, err := r.s.toolCall(ctx, r.args[0])
	if err != nil {
		return reply{}, err
	}
	b, err := r.s.Store.CallBatch(ctx, id)
	if err != nil {
		return reply{}, err
	}
	record := b.Calls[slices.IndexFunc(b.Calls, func(c chat.CallRecord) bool { return c.ID == id })]
	before, err := r.s.Store.Turn(ctx, b.TurnID)
	if err != nil {
		return reply{}, err
	}
	answer, err := r.s.Turns.Answer(ctx, before)
	if err != nil {
		return reply{}, err
	}
	r.s.Tools.Ensure(ctx)
	end, final, err := r.continued(ctx, r.s, r.st, b.TurnID, answer.Blocks, func() error { return decide(record) })
	if err != nil {
		return sentSoFar(end), err
	}
	return r.answered(ctx, r.s, end, final, r.level())
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
