package documents

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
	"unicode/utf8"
)

// PDFArgument is the one argument with which the program reads a PDF from its
// standard input, and does nothing else.
const PDFArgument = "read-pdf"

// Bounds of the process that reads a PDF.
const (
	pdfTime   = time.Minute
	pdfMemory = 1 << 30  // bytes of heap
	pdfStack  = 64 << 20 // bytes; nesting that needs more is an attack
	pdfPages  = 5000
)

// How reading ended: the first line of what the process writes.
const (
	endText     = "text" // the text follows
	endLocked   = "locked"
	endPictures = "pictures"
	endPages    = "pages"
	endLong     = "long"
	endBroken   = "broken"
)

// pdf reads a PDF in a process of its own.
func (r Reader) pdf(ctx context.Context, name string, data []byte) (string, error) {
	if r.Program == "" {
		return "", refused("%s is a PDF, which cannot be read here; nothing was attached.", name).WithHint("save it as text")
	}
	limit := pdfTime
	if r.timeout > 0 {
		limit = r.timeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.Program, PDFArgument)
	out := &bounded{most: MaxText + 64}
	cmd.Stdin, cmd.Stdout, cmd.WaitDelay = bytes.NewReader(data), out, time.Second
	err := cmd.Run()
	end, text, _ := strings.Cut(out.String(), "\n")
	switch {
	case ctx.Err() == context.DeadlineExceeded:
		return "", refused("%s takes too long to read, nothing was attached.", name).WithHint("print the part that matters to a new PDF, or save it as text")
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		end = endBroken
	}
	if end == endText && utf8.ValidString(text) {
		return text, checkText(name, text)
	}
	return "", pdfProblem(name, end)
}

func pdfProblem(name, end string) error {
	switch end {
	case endLocked:
		return refused("%s is encrypted and cannot be read without its password, nothing was attached.", name).
			WithHint("save a copy without a password and attach that")
	case endPictures:
		return refused("%s holds pictures of pages, no text that can be read; nothing was attached.", name).
			WithHint("run text recognition (OCR) over it first, or attach single pages as pictures")
	case endPages:
		return refused("%s has more than %d pages, nothing was attached.", name, pdfPages).WithHint("attach it in parts")
	case endLong:
		return refused("%s holds more than %d MB of text, nothing was attached.", name, MaxText>>20).WithHint("attach it in parts")
	}
	return refused("%s is damaged, or a kind of PDF that cannot be read here; nothing was attached.", name).
		WithHint("print it to a new PDF, or save it as text, and attach that")
}

// ReadPDF is what the process does: it reads a PDF from in, writes how that ended
// and the text to out, and returns the exit code. It may also end with a crash, which
// the caller takes for a damaged file.
func ReadPDF(in io.Reader, out io.Writer) int {
	debug.SetMaxStack(pdfStack)
	stop := make(chan struct{})
	defer close(stop)
	go watchMemory(stop)
	data, err := io.ReadAll(io.LimitReader(in, MaxBytes+1))
	if err != nil || len(data) > MaxBytes {
		return 1
	}
	end, text := pdfText(data)
	if _, err := fmt.Fprintf(out, "%s\n%s", end, text); err != nil {
		return 1
	}
	return 0
}

// watchMemory ends the process when its heap grows beyond the bound.
func watchMemory(stop <-chan struct{}) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			var m runtime.MemStats
			if runtime.ReadMemStats(&m); m.HeapAlloc > pdfMemory {
				os.Exit(3)
			}
		}
	}
}

// bounded keeps what is written up to a length, and fails beyond it.
type bounded struct {
	strings.Builder
	most int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.most {
		return 0, io.ErrShortBuffer
	}
	return b.Builder.Write(p)
}
