package cli

import (
	"context"
	"errors"
	"io"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/turn"
)

// approve asks about the pending calls of a turn one by one, and follows the turn until none is pending. Without a
// terminal they stay pending.
func (t *talk) approve(ctx context.Context, end chat.Turn) (chat.Turn, error) {
	for {
		waiting, err := t.s.waitingOf(ctx, end.ID)
		if err != nil || len(waiting) == 0 {
			return end, err
		}
		if !t.c.in.terminal {
			return end, newWaitsError(waiting)
		}
		t.asked = end.ID
		shown, err := t.s.shownCall(ctx, waiting[0])
		if err != nil {
			return end, err
		}
		decide, err := t.ask(ctx, shown)
		if err != nil {
			return end, err
		}
		if decide == nil {
			return end, waitsError(chat.Errorf(chat.CodeIncomplete, "tools.wait", "The answer waits for your decision.").
				WithHint("/calls asks again, /discard discards it"))
		}
		before, err := t.s.Turns.Answer(ctx, end)
		if err != nil {
			return end, err
		}
		t.st.setShown(true)
		next, _, err := t.c.continued(ctx, t.s, t.st, end.ID, before.Blocks, decide)
		t.st.setShown(false)
		if err != nil {
			if next.ID == "" { // the decision was refused: the definition changed, or another window decided first
				t.c.printError(err)
				continue
			}
			return end, err
		}
		end = next
	}
}

// ask shows a call and returns the decision; nil leaves it pending.
func (t *talk) ask(ctx context.Context, w shownCall) (func() error, error) {
	t.say("")
	if t.seen == nil {
		t.seen = map[string]bool{}
	}
	w.print(t.c.note, w.definition != nil && !t.seen[w.definition.Hash])
	if w.definition != nil {
		t.seen[w.definition.Hash] = true
	}
	if w.State == chat.CallUnknown {
		return t.askOutcome(ctx, w)
	}
	keys, allowed := "o once, s this session, a always, d deny, n never (Enter: later)", choices
	switch {
	case w.definition == nil:
		keys, allowed = "d deny (Enter: later)", []chat.ToolDecision{chat.DecisionDeny}
	case w.definition.AsksEachCall:
		keys = "o once, d deny, n never (Enter: later)"
		allowed = []chat.ToolDecision{chat.DecisionOnce, chat.DecisionDeny, chat.DecisionNever}
	}
	for {
		typed, err := t.answer(ctx, "Run it? "+keys+": ")
		if err != nil || typed == "" {
			return nil, err
		}
		for _, choice := range allowed { // a choice, or its first letter
			if typed := strings.ToLower(typed); typed == string(choice) || typed == string(choice)[:1] {
				return func() error {
					c := turn.CallChoice{Call: w.ID, Decision: choice}
					if w.definition != nil {
						c.Hash = w.definition.Hash
					}
					return t.s.Turns.DecideCall(ctx, c)
				}, nil
			}
		}
		t.say("Type one of the letters.")
	}
}

// askOutcome asks about the unknown outcome of a call.
func (t *talk) askOutcome(ctx context.Context, w shownCall) (func() error, error) {
	for {
		const question = "e enter its result, r run it again, t tell the model that it is unknown (Enter: later): "
		typed, err := t.answer(ctx, question)
		if err != nil || typed == "" {
			return nil, err
		}
		r := turn.CallResolution{Call: w.ID}
		switch strings.ToLower(typed) {
		case "e", "enter":
			r.As = chat.ResolveEnter
			if r.Text, err = t.answer(ctx, "Result: "); err != nil {
				return nil, err
			}
			if r.Text == "" {
				continue
			}
		case "r", "rerun":
			r.As = chat.ResolveRerun
			if w.definition != nil {
				r.Hash = w.definition.Hash
			}
		case "t", "tell":
			r.As = chat.ResolveTell
		default:
			t.say("Type one of the letters.")
			continue
		}
		return func() error { return t.s.Turns.ResolveCall(ctx, r) }, nil
	}
}

// answer reads one line. Ctrl-C and the end of the input are an empty line, which decides nothing.
func (t *talk) answer(ctx context.Context, question string) (string, error) {
	interrupts, release := t.c.signal.hold()
	defer release()
	t.c.note.printf("%s", t.c.note.bold(question))
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case <-interrupts:
		t.say("")
		return "", nil
	case typed, ok := <-t.lines.ask():
		if !ok {
			if errors.Is(t.lines.err, io.EOF) {
				return "", nil
			}
			return "", t.lines.err
		}
		t.lines.got()
		return strings.TrimSpace(typed), nil
	}
}

// waitingCalls asks about the pending calls of this branch's last turn.
func (t *talk) waitingCalls(ctx context.Context, _ string) error {
	last, err := t.last(ctx)
	if err != nil {
		return err
	}
	waiting, err := t.s.waitingOf(ctx, last.ID)
	if err != nil {
		return err
	}
	if len(waiting) == 0 {
		t.say("No tool call is waiting here.")
		return nil
	}
	if t.asked != last.ID { // its answer so far was not shown in this conversation
		partial, err := t.s.Turns.Answer(ctx, last)
		if err != nil {
			return err
		}
		if text := partial.RenderedText(); text != "" {
			t.c.out.text(text + "\n")
		}
	}
	return t.answered(ctx, last)
}
