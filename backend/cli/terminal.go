package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"contextinfinity/backend/chat"
)

// maxInput limits what is read from stdin, in bytes. Messages and keys are much smaller.
const maxInput = 64 << 20

// input is stdin.
type input struct {
	recorder *recorder
	lines    *bufio.Reader
	file     *os.File // nil if it is not a file
	terminal bool
}

func newInput(r io.Reader) *input {
	if r == nil {
		r = strings.NewReader("")
	}
	rec := &recorder{r: r, recording: true}
	in := &input{recorder: rec, lines: bufio.NewReader(rec)}
	if f, ok := r.(*os.File); ok {
		in.file, in.terminal = f, term.IsTerminal(int(f.Fd()))
	}
	return in
}

// recorder records what is read through it, until stopRecording is called: a call that is handed over to another
// program starts again there with the same input.
type recorder struct {
	r         io.Reader
	recording bool
	read      bytes.Buffer
	end       error // io.EOF once the end was seen: a terminal must not be read again
	// ctx ends a read that waits, with CodeCancelled; nil: nothing does. The input cannot be read afterwards.
	ctx context.Context
}

// Read implements io.Reader.
func (r *recorder) Read(p []byte) (int, error) {
	n, err := r.readUnlessEnded(p)
	if r.recording {
		r.read.Write(p[:n])
		r.end = err
	}
	return n, err
}

// readUnlessEnded reads in the background, because a read of a terminal or a pipe cannot be interrupted.
func (r *recorder) readUnlessEnded(p []byte) (int, error) {
	if r.ctx == nil {
		return r.r.Read(p)
	}
	type result struct {
		data []byte
		err  error
	}
	done, from, size := make(chan result, 1), r.r, len(p)
	go func() {
		buf := make([]byte, size)
		n, err := from.Read(buf)
		done <- result{buf[:n], err}
	}()
	select {
	case got := <-done:
		return copy(p, got.data), got.err
	case <-r.ctx.Done():
		return 0, interrupted()
	}
}

// interrupted is the error of a question or an input that a Ctrl-C ended.
func interrupted() error {
	return chat.Errorf(chat.CodeCancelled, "cli.read", "Interrupted; nothing was done.")
}

// stopRecording drops what was recorded.
func (in *input) stopRecording() { *in.recorder = recorder{r: in.recorder.r, ctx: in.recorder.ctx} }

// replay returns the input from its first byte.
func (in *input) replay() io.Reader {
	read := bytes.NewReader(in.recorder.read.Bytes())
	if errors.Is(in.recorder.end, io.EOF) {
		return read
	}
	return io.MultiReader(read, in.recorder.r)
}

// all reads everything, byte for byte.
func (in *input) all() (string, error) {
	data, err := io.ReadAll(io.LimitReader(in.lines, maxInput+1))
	if chat.CodeOf(err) == chat.CodeCancelled {
		return "", err
	}
	if err != nil {
		return "", chat.WrapError(chat.CodeInvalid, "cli.read", err, "The input could not be read; nothing was done.")
	}
	if len(data) > maxInput {
		return "", chat.Errorf(chat.CodeInvalid, "cli.read", "The input is larger than %d MB; nothing was done.", maxInput>>20)
	}
	return string(data), nil
}

// secret reads a key: hidden at a terminal, otherwise the first line of stdin. In a process to which the call was
// handed over it is read from what was typed here.
func (in *input) secret(ask func()) (string, error) {
	if !in.terminal || in.file == nil {
		text, err := in.lines.ReadString('\n')
		if chat.CodeOf(err) == chat.CodeCancelled {
			return "", err
		}
		if err != nil && err != io.EOF {
			return "", chat.Errorf(chat.CodeInvalid, "cli.read", "The key could not be read from stdin.")
		}
		return strings.TrimSpace(text), nil
	}
	ask()
	typed, err := in.password()
	if chat.CodeOf(err) == chat.CodeCancelled {
		return "", err
	}
	if err != nil {
		return "", chat.Errorf(chat.CodeInvalid, "cli.read", "The key could not be read from the terminal.")
	}
	if in.recorder.recording {
		in.recorder.read.Write(append(typed, '\n'))
	}
	return strings.TrimSpace(string(typed)), nil
}

// password reads a line without showing it. A Ctrl-C ends it, and the terminal shows what is typed again.
func (in *input) password() ([]byte, error) {
	fd, ctx := int(in.file.Fd()), in.recorder.ctx
	before, err := term.GetState(fd)
	if err != nil || ctx == nil {
		return term.ReadPassword(fd)
	}
	type result struct {
		typed []byte
		err   error
	}
	done := make(chan result, 1)
	go func() {
		typed, err := term.ReadPassword(fd)
		done <- result{typed, err}
	}()
	select {
	case got := <-done:
		return got.typed, got.err
	case <-ctx.Done():
		_ = term.Restore(fd, before)
		return nil, interrupted()
	}
}

func newOutput(w io.Writer) *output {
	w = cmp.Or(w, io.Discard)
	o := &output{w: w, failed: make(chan struct{})}
	if f, ok := w.(*os.File); ok {
		o.terminal = term.IsTerminal(int(f.Fd()))
	}
	// https://no-color.org: only a non-empty NO_COLOR counts.
	o.color = o.terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return o
}
