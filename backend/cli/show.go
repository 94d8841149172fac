package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/transfer/render"
)

func showVerb() verb {
	return verb{
		use:   "show SESSION",
		short: "Print a session's transcript",
		long: `Prints the transcript of a branch with the state of each turn; with --json also
every block, every step and every state id. For an incomplete or failed turn, prints the partial answer.`,
		flags: []flag{
			branchFlag,
			numberFlag("last", 0, 0, "only this many of the newest turns (0: all)"),
			nameFlag("raw", "print the exact request and stream of this `STEP` instead"),
		},
		opens: reads,
		do: func(ctx context.Context, r *run) (reply, error) {
			if r.given("raw") {
				return printRaw(ctx, r)
			}
			return r.s.transcript(ctx, r.session, r.branch, r.number("last"), r.json)
		},
	}
}

// transcript prints the turns of a branch, or its newest ones: what export writes as JSON. items are as long as the
// answers, and only JSON shows them.
func (s *Services) transcript(ctx context.Context, session chat.Session, branch chat.Branch, last int, items bool,
) (reply, error) {
	branches, err := s.Sessions.Branches(ctx, session.ID)
	if err != nil {
		return reply{}, err
	}
	pins, err := s.Pins.Pins(ctx, branch.ID)
	if err != nil {
		return reply{}, err
	}
	turns := []render.TurnRow{}
	add := func(t chat.Turn) error {
		row, err := s.turnRow(ctx, t, items)
		turns = append(turns, row)
		return err
	}
	if last == 0 {
		err = s.eachTurn(ctx, branch.ID, 0, add)
	} else {
		err = s.newestTurns(ctx, branch.ID, last, add)
	}
	doc := fields{
		{"session", session},
		{"branch", branch},
		{"branches", render.BranchRows(session, branches)},
		{"turns", turns},
		{"pins", pins},
	}
	return reply{doc: doc, text: func(o *output) {
		o.printf("%s\n", o.bold(line(titleOf(session.Title))))
		o.printf("session %s\nbranch  %s  %s\n", session.ID, branch.ID, line(branch.Label))
		on := map[chat.BranchID]string{}
		for _, b := range branches {
			on[b.ID] = b.On
		}
		for i, t := range turns {
			machine := on[t.BranchID]
			if i == 0 || machine == on[turns[i-1].BranchID] {
				machine = "" // it is shown where it changes
			}
			printTurn(o, t, machine)
		}
	}}, err
}

func (s *Services) newestTurns(ctx context.Context, branch chat.BranchID, n int, f func(chat.Turn) error) error {
	turns, err := s.Store.Lineage(ctx, chat.LineageQuery{Branch: branch, Limit: n, Newest: true})
	if err != nil {
		return err
	}
	for _, t := range turns {
		if err := f(t); err != nil {
			return err
		}
	}
	return nil
}

func (s *Services) turnRow(ctx context.Context, t chat.Turn, items bool) (render.TurnRow, error) {
	read := s.Store.StepsOf
	if items {
		read = s.Store.StepsWithItems
	}
	byTurn, err := read(ctx, []chat.TurnID{t.ID})
	if err != nil {
		return render.TurnRow{}, err
	}
	full := render.Turn{Turn: t, Steps: byTurn[t.ID]}
	if t.Assistant == nil && len(full.Steps) > 0 {
		part, err := s.Turns.Received(ctx, t)
		if err != nil {
			return render.TurnRow{}, err
		}
		full.Partial = &part
	}
	return render.NewTurnRow(full), nil
}

func printTurn(o *output, t render.TurnRow, machine string) {
	head := fmt.Sprintf("#%d  %s  %s  %s", t.Seq, t.ID, local(t.CreatedAt), stateOfTurn(t))
	if t.Model != "" {
		head += "  " + line(t.Model)
	}
	if machine != "" {
		head += "  on " + line(machine)
	}
	o.printf("\n%s\n%s\n", o.dim(head), o.bold("you:"))
	o.text(messageText(t.User.Blocks) + "\n")
	if r := t.Reasoning; r != nil {
		received, durable := count(int(r.Received)), count(int(r.Durable))
		o.printf("%s\n", o.dim(fmt.Sprintf("reasoning: %s bytes received, %s bytes durable", received, durable)))
	}
	switch {
	case t.Assistant != nil:
		o.printf("%s\n", o.bold("answer:"))
		o.text(messageText(t.Assistant.Blocks))
		o.text("\n")
	case t.Partial != nil && *t.Partial != "":
		o.printf("%s\n", o.bold("part of an answer:"))
		o.text(*t.Partial)
		o.text("\n")
	}
	if t.Error != nil {
		o.printf("%s\n", o.dim("error: "+line(t.Error.Message)))
	}
}

// stateOfTurn describes the state of a turn.
func stateOfTurn(t render.TurnRow) string {
	switch {
	case t.Outcome == chat.OutcomeIncomplete:
		return "incomplete: continue, retry, keep or discard it"
	case t.Phase == chat.PhaseFailed && t.Outcome == chat.OutcomeDiscarded:
		return "discarded"
	case t.Phase == chat.PhaseFailed:
		return "failed"
	case t.Phase == chat.PhaseAccepted || t.Phase == chat.PhaseContextPrepared:
		return "not sent"
	case t.Phase == chat.PhaseResponding:
		return "responding, or cut off by a crash"
	case t.StateAfter == "":
		return withOutcome(t.Outcome, "pending")
	}
	return withOutcome(t.Outcome, "committed")
}

// withOutcome puts a notable outcome before a state.
func withOutcome(o chat.Outcome, state string) string {
	if o == chat.OutcomeCompleted || o == chat.OutcomeNone {
		return state
	}
	return string(o) + ", " + state
}

// messageText formats a message for reading: its visible text, and a line for each other block.
func messageText(blocks chat.Blocks) string {
	var parts []string
	for _, b := range blocks {
		if p := blockText(b); p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, "\n\n")
}

func blockText(b chat.Block) string {
	switch b := b.(type) {
	case chat.Text:
		return b.Text
	case chat.Refusal:
		return b.Text
	case chat.Image:
		return "[image " + b.MediaType + "]"
	case chat.Document:
		return fmt.Sprintf("[document %s, %s]", line(b.Name), plural(b.Tokens, "token"))
	case chat.Memory:
		return "[memory " + string(b.Chunk) + "]"
	case chat.ToolUse:
		return "[tool call " + b.Name + " " + string(b.Input) + "]"
	case chat.ToolResult:
		return "[tool result]\n" + messageText(b.Content)
	case chat.Unknown:
		if text, ok := chat.InstructionsIn(b); ok {
			return "[instructions that came with the import, not used]\n" + text
		}
		return "[content of an unknown type from " + b.Provider + "]"
	}
	return ""
}

// printRaw prints a step exactly as sent and received. A stream of any length is printed as it is read, also as JSON.
func printRaw(ctx context.Context, r *run) (reply, error) {
	step, err := byID(ctx, r.s, "step", r.session.ID, r.text("raw"), r.s.Store.StepByID)
	if err != nil {
		return reply{}, err
	}
	bodies, err := r.s.Store.StepBodies(ctx, step.ID)
	if err != nil {
		return reply{}, err
	}
	if r.json {
		return reply{}, r.rawDocument(ctx, step.ID, fields{
			{"step_id", step.ID},
			{"turn_id", step.TurnID},
			{"request", rawJSON(bodies.Request)},
			{"response", rawJSON(bodies.Response)}, // null when it was a stream
		})
	}
	r.out.text(string(bodies.Request) + "\n")
	if len(bodies.Response) > 0 {
		r.out.text("\n" + string(bodies.Response) + "\n")
	}
	return reply{text: func(*output) {}}, r.rawEvents(ctx, step.ID, func(ev chat.RawEvent) error {
		r.out.text("\nevent: " + ev.Type + "\n" + string(ev.Data) + "\n")
		return nil
	})
}

// rawDocument prints the head of a step and its events as one document, which ends with an error if one occurs.
func (r *run) rawDocument(ctx context.Context, step chat.StepID, head fields) error {
	body, err := r.document(head, nil)
	if err != nil {
		return err
	}
	r.out.text(strings.TrimSuffix(string(body), "}\n") + `,"events":[`)
	separator := ""
	err = r.rawEvents(ctx, step, func(ev chat.RawEvent) error {
		raw, err := chat.MarshalJSON(fields{{"type", ev.Type}, {"data", rawJSON(ev.Data)}})
		r.out.printf("%s%s", separator, raw)
		separator = ","
		return err
	})
	end := "]}\n"
	if err != nil {
		failed, mErr := chat.MarshalJSON(r.describe(err))
		if mErr != nil {
			return errors.Join(err, mErr)
		}
		end = `],"error":` + string(failed) + "}\n"
	}
	r.out.printf("%s", end)
	r.flushed, r.printed = true, err
	return err
}

// rawEvents yields a step's stream while the output has a reader.
func (r *run) rawEvents(ctx context.Context, step chat.StepID, print func(chat.RawEvent) error) error {
	err := r.s.Store.StepEvents(ctx, step, func(ev chat.RawEvent) error {
		if r.out.gone() {
			return errUnread
		}
		return errors.Join(print(ev), ctx.Err())
	})
	if errors.Is(err, errUnread) {
		return nil // failing to write is not an error of the step
	}
	return err
}

// errUnread ends printing to a closed output.
var errUnread = errors.New("nobody reads the output")

func rawJSON(b []byte) json.RawMessage {
	switch {
	case len(b) == 0:
		return json.RawMessage("null")
	case json.Valid(b):
		return b
	case utf8.Valid(b):
		s, _ := chat.MarshalJSON(string(b))
		return s
	}
	s, _ := chat.MarshalJSON(b) // base64: bytes that are not text
	return s
}
