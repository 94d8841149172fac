package cli

import (
	"bufio"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"contextinfinity/backend/chat"
)

// maxInput bounds what is read from stdin at once: no message or key is near it.
const maxInput = 64 << 20

// input is stdin.
type input struct {
	r        io.Reader
	lines    *bufio.Reader
	file     *os.File // nil when it is none
	terminal bool
}

func newInput(r io.Reader) *input {
	if r == nil {
		r = strings.NewReader("")
	}
	in := &input{r: r, lines: bufio.NewReader(r)}
	if f, ok := r.(*os.File); ok {
		in.file, in.terminal = f, term.IsTerminal(int(f.Fd()))
	}
	return in
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

// secret reads a key: hidden at a terminal, else the first line of stdin.
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
	if w == nil {
		w = io.Discard
	}
	o := &output{w: w}
	if f, ok := w.(*os.File); ok {
		o.terminal = term.IsTerminal(int(f.Fd()))
	}
	// https://no-color.org: any value, even an empty one that is set, is left to
	// the reader's intent; only a non-empty one counts.
	o.color = o.terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return o
}
