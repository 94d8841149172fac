package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/transfer/render"
)

type showFlags struct {
	branch string
	raw    string
	last   int
}

func (c *call) showCommand() *cobra.Command {
	var f showFlags
	cmd := &cobra.Command{
		Use:   "show SESSION",
		Short: "Print a session's transcript",
		Long: `Prints the transcript of a branch with the state of each turn; with --json also
every block, every step and every state id. For an incomplete or failed turn, prints the partial answer.`,
		Args: exactly("SESSION"),
	}
	cmd.Flags().StringVar(&f.branch, "branch", "", "the branch, instead of the active one")
	cmd.Flags().IntVar(&f.last, "last", 0, "only this many of the newest turns (0: all)")
	cmd.Flags().StringVar(&f.raw, "raw", "", "print the exact request and stream of this `STEP` instead")
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) { return c.show(ctx, args[0], f) })
	cmd.ValidArgsFunction = c.completeSession
	return cmd
}

func (c *call) show(ctx context.Context, session string, f showFlags) (reply, error) {
	if f.last < 0 {
		return reply{}, usagef("--last must not be negative.")
	}
	return c.reading(ctx, func(s *Services) (reply, error) {
		found, branch, err := s.place(ctx, session, f.branch)
		if err != nil {
			return reply{}, err
		}
		if f.raw != "" {
			return c.raw(ctx, s, branch, f.raw)
		}
		return s.transcript(ctx, found, branch, f.last, c.json)
	})
}

// showReply is a transcript: what export writes as JSON.
type showReply struct {
	render.Head
	Turns []turnRow  `json:"turns"`
	Pins  []chat.Pin `json:"pins"`
}

// turnRow is a turn with all its data.
type turnRow struct{ render.TurnRow }

func (s *Services) transcript(ctx context.Context, session chat.Session, branch chat.Branch, last int, items bool) (reply, error) {
	branches, err := s.Sessions.Branches(ctx, session.ID)
	if err != nil {
		return reply{}, err
	}
	pins, err := s.Pins.Pins(ctx, branch.ID)
	if err != nil {
		return reply{}, err
	}
	doc := showReply{
		Head:  render.Head{Session: session, Branch: branch, Branches: render.BranchRows(session, branches)},
		Turns: []turnRow{}, Pins: append([]chat.Pin{}, pins...),
	}
	add := func(t chat.Turn) error {
		row, err := s.turnRow(ctx, t, items)
		doc.Turns = append(doc.Turns, row)
		return err
	}
	if last == 0 {
		err = s.eachTurn(ctx, branch.ID, 0, add)
	} else {
		err = s.newestTurns(ctx, branch.ID, last, add)
	}
	if err != nil {
		return reply{}, err
	}
	return reply{doc: doc, text: doc.print}, nil
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

func (s *Services) turnRow(ctx context.Context, t chat.Turn, items bool) (turnRow, error) {
	read := s.Store.StepsOf
	if items { // they are as long as the answer, and only JSON shows them
		read = s.Store.StepsWithItems
	}
	byTurn, err := read(ctx, []chat.TurnID{t.ID})
	if err != nil {
		return turnRow{}, err
	}
	steps := byTurn[t.ID]
	full := render.Turn{Turn: t, Steps: steps}
	if t.Assistant == nil && len(steps) > 0 {
		part, err := s.Turns.Received(ctx, t)
		if err != nil {
			return turnRow{}, err
		}
		full.Partial = &part
	}
	return turnRow{render.NewTurnRow(full)}, nil
}

func (r showReply) print(o *output) {
	o.printf("%s\n", o.bold(line(titleOf(r.Session.Title))))
	o.printf("session %s\nbranch  %s  %s\n", r.Session.ID, r.Branch.ID, line(r.Branch.Label))
	for _, t := range r.Turns {
		t.print(o)
	}
}

func (t turnRow) print(o *output) {
	head := fmt.Sprintf("#%d  %s  %s  %s", t.Seq, t.ID, local(t.CreatedAt), t.state())
	if t.Model != "" {
		head += "  " + line(t.Model)
	}
	o.printf("\n%s\n%s\n", o.dim(head), o.bold("you:"))
	o.text(messageText(t.User.Blocks) + "\n")
	if r := t.Reasoning; r != nil {
		o.printf("%s\n", o.dim(fmt.Sprintf("reasoning: %s bytes received, %s bytes durable", count(int(r.Received)), count(int(r.Durable)))))
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

// state describes the state of a turn.
func (t turnRow) state() string {
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
		return "[content of an unknown type from " + b.Provider + "]"
	}
	return ""
}

// rawHead is a step exactly as sent and received, without its events, which follow. Bytes that are not JSON become a
// string.
type rawHead struct {
	StepID   chat.StepID     `json:"step_id"`
	TurnID   chat.TurnID     `json:"turn_id"`
	Request  json.RawMessage `json:"request"`
	Response json.RawMessage `json:"response"` // null when it was a stream
}

type rawEvent struct {
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
}

// raw prints a step exactly as sent and received. A stream of any length is printed as it is read, also as JSON.
func (c *call) raw(ctx context.Context, s *Services, branch chat.Branch, typed string) (reply, error) {
	step, err := s.step(ctx, branch, typed)
	if err != nil {
		return reply{}, err
	}
	bodies, err := s.Store.StepBodies(ctx, step.ID)
	if err != nil {
		return reply{}, err
	}
	if c.json {
		head := rawHead{StepID: step.ID, TurnID: step.TurnID, Request: rawJSON(bodies.Request), Response: rawJSON(bodies.Response)}
		return reply{}, c.rawDocument(ctx, s, head)
	}
	c.out.text(string(bodies.Request) + "\n")
	if len(bodies.Response) > 0 {
		c.out.text("\n" + string(bodies.Response) + "\n")
	}
	return reply{text: func(*output) {}}, c.rawEvents(ctx, s, step.ID, func(ev chat.RawEvent) error {
		c.out.text("\nevent: " + ev.Type + "\n" + string(ev.Data) + "\n")
		return nil
	})
}

// rawDocument prints the head and the events as one document, which ends with an error if one occurs.
func (c *call) rawDocument(ctx context.Context, s *Services, head rawHead) error {
	body, err := c.document(head, nil)
	if err != nil {
		return err
	}
	c.out.text(strings.TrimSuffix(string(body), "}\n") + `,"events":[`)
	separator := ""
	err = c.rawEvents(ctx, s, head.StepID, func(ev chat.RawEvent) error {
		raw, err := chat.MarshalJSON(rawEvent{ev.Type, rawJSON(ev.Data)})
		c.out.printf("%s%s", separator, raw)
		separator = ","
		return err
	})
	end := "]}\n"
	if err != nil {
		failed, mErr := chat.MarshalJSON(c.describe(err))
		if mErr != nil {
			return errors.Join(err, mErr)
		}
		end = `],"error":` + string(failed) + "}\n"
	}
	c.out.printf("%s", end)
	c.flushed, c.printed = true, err
	return err
}

// rawEvents yields a step's stream while the output has a reader.
func (c *call) rawEvents(ctx context.Context, s *Services, step chat.StepID, print func(chat.RawEvent) error) error {
	err := s.Store.StepEvents(ctx, step, func(ev chat.RawEvent) error {
		if c.out.gone() {
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

// step finds a step by its id, or part of it, in the branch's lineage.
func (s *Services) step(ctx context.Context, branch chat.Branch, typed string) (chat.Step, error) {
	id, err := parseID("step", typed)
	if err != nil {
		return chat.Step{}, err
	}
	if full(id) {
		return s.Store.StepByID(ctx, chat.StepID(id))
	}
	var ids []chat.StepID
	err = s.eachTurn(ctx, branch.ID, 0, func(t chat.Turn) error {
		steps, err := s.Store.Steps(ctx, t.ID)
		for _, st := range steps {
			ids = append(ids, st.ID)
		}
		return err
	})
	if err != nil {
		return chat.Step{}, err
	}
	found, err := match("step", id, ids)
	if err != nil {
		return chat.Step{}, err
	}
	return s.Store.StepByID(ctx, found)
}

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
