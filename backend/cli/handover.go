package cli

import (
	"bytes"
	"context"
	"io"

	"contextinfinity/backend/chat"
)

// Terminals says which streams are terminals, for a call from another process.
type Terminals struct {
	In, Out, Err       bool
	OutColor, ErrColor bool
}

// Handover is a command line for another program, which has the data open for writing.
type Handover struct {
	Args      []string
	Terminals Terminals
	In        io.Reader // from its first byte, although some was read here already
	Out, Err  io.Writer
	// Interrupts are each Ctrl-C; the end of the context represents the other signals.
	Interrupts <-chan struct{}
}

// open opens the data as the writer, and remembers if another program is the writer.
func (c *call) open(ctx context.Context, o OpenOptions) (*Services, error) {
	s, err := c.app.Open(ctx, o)
	if chat.CodeOf(err) == chat.CodeLocked {
		c.locked = &o
	} else {
		c.in.stopRecording()
	}
	return s, err
}

// handOver lets the process that has the data open run this call from its beginning; so far this process has only
// read. It returns false if that process does not run commands of others.
func (c *call) handOver(ctx context.Context, args []string) (int, bool) {
	if c.locked == nil || c.app.HandOver == nil {
		return 0, false
	}
	if len(c.set) > 0 {
		return c.finish(chat.Errorf(chat.CodeLocked, "cli.set", "Another program has this data open and uses its own settings, so --set cannot apply; nothing was done.").
			WithHint("close that program, or omit --set")), true
	}
	interrupts, release := c.signal.hold()
	defer release()
	h := Handover{
		Args: args, In: c.in.replay(), Out: c.out, Err: c.note, Interrupts: interrupts,
		Terminals: Terminals{c.in.terminal, c.out.terminal, c.note.terminal, c.out.color, c.note.color},
	}
	// Buffered, so that a partial document is never printed if the other program ends.
	var doc bytes.Buffer
	switch {
	case c.events && !c.json:
		h.Out = &completeLines{to: c.out}
	case c.json:
		h.Out = &doc
	}
	code, served, err := c.app.HandOver(ctx, *c.locked, h)
	if err != nil {
		return c.finish(err), true
	}
	if !served {
		return 0, false
	}
	_, _ = c.out.Write(doc.Bytes())
	return c.exit(code), true
}

// apply makes the streams those of a caller in another process.
func (t *Terminals) apply(c *call) {
	if t == nil {
		return
	}
	c.in.terminal = t.In
	c.out.terminal, c.out.color = t.Out, t.OutColor
	c.note.terminal, c.note.color = t.Err, t.ErrColor
}
