package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"contextinfinity/backend/chat"
)

// maxInput limits what is read from stdin at once: no message or key comes near it.
const maxInput = 64 << 20

// input is stdin.
type input struct {
	kept     *keeper
	lines    *bufio.Reader
	file     *os.File // nil if it is not a file
	terminal bool
}

func newInput(r io.Reader) *input {
	if r == nil {
		r = strings.NewReader("")
	}
	kept := &keeper{r: r, keeping: true}
	in := &input{kept: kept, lines: bufio.NewReader(kept)}
	if f, ok := r.(*os.File); ok {
		in.file, in.terminal = f, term.IsTerminal(int(f.Fd()))
	}
	return in
}

// keeper keeps what is read through it, until forget is called: a call that another program runs starts over with the
// same input.
type keeper struct {
	r       io.Reader
	keeping bool
	read    bytes.Buffer
	end     error // io.EOF once the end was seen: a terminal must not be read again
}

// Read implements io.Reader.
func (k *keeper) Read(p []byte) (int, error) {
	n, err := k.r.Read(p)
	if k.keeping {
		k.read.Write(p[:n])
		k.end = err
	}
	return n, err
}

// forget drops what was read.
func (in *input) forget() { *in.kept = keeper{r: in.kept.r} }

// again returns the input from its first byte.
func (in *input) again() io.Reader {
	read := bytes.NewReader(in.kept.read.Bytes())
	if errors.Is(in.kept.end, io.EOF) {
		return read
	}
	return io.MultiReader(read, in.kept.r)
}

// all reads everything, byte for byte.
func (in *input) all() (string, error) {
	data, err := io.ReadAll(io.LimitReader(in.lines, maxInput+1))
	if err != nil {
		return "", chat.WrapError(chat.CodeInvalid, "cli.read", err, "The input could not be read; nothing was done.")
	}
	if len(data) > maxInput {
		return "", chat.Errorf(chat.CodeInvalid, "cli.read", "The input is larger than %d MB; nothing was done.", maxInput>>20)
	}
	return string(data), nil
}

// secret reads a key: hidden at a terminal, otherwise the first line of stdin.
func (in *input) secret(ask func()) (string, error) {
	if !in.terminal {
		text, err := in.lines.ReadString('\n')
		if err != nil && err != io.EOF {
			return "", chat.Errorf(chat.CodeInvalid, "cli.read", "The key could not be read from stdin.")
		}
		return strings.TrimSpace(text), nil
	}
	ask()
	typed, err := term.ReadPassword(int(in.file.Fd()))
	if err != nil {
		return "", chat.Errorf(chat.CodeInvalid, "cli.read", "The key could not be read from the terminal.")
	}
	return strings.TrimSpace(string(typed)), nil
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
