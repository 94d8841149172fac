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
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"contextinfinity/backend/internal/childenv"
)

// ReadArgument is the only argument of the process that reads a PDF or an office document from its standard input.
const ReadArgument = "read-document"

// Limits of the process that reads a document.
const (
	processTime   = 20 * time.Second
	processMemory = 512 << 20 // bytes of heap
	processStack  = 64 << 20  // bytes; only a malicious file nests deep enough to need more
	maxPages      = 5000
)

// The process writes each page as soon as it has read it: a line with the mark, the page number and the number of
// pages, then the text. A last line with the mark gives the outcome. If the process dies without writing it, the
// pages written so far are used.
const pageMark = "\x00" // never occurs in the text of a page

// How reading ended.
const (
	endText     = "text"
	endLocked   = "locked"
	endPictures = "pictures"
	endPages    = "pages"
	endLong     = "long"
	endBroken   = "broken"
	endTime     = "time"
	endMemory   = "memory"
)

// readInProcess reads a document in a separate process. kind describes the file in an error: "a PDF".
func (r Reader) readInProcess(ctx context.Context, name, kind string, data []byte) (string, error) {
	if r.Program == "" {
		return "", refused("%s is %s, which cannot be read here; nothing was attached.", name, kind).WithHint("save it as text")
	}
	limit := processTime
	if r.timeout > 0 {
		limit = r.timeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.Program, ReadArgument)
	out := &bounded{limit: MaxText + maxPages*32}
	cmd.Stdin, cmd.Stdout, cmd.WaitDelay = bytes.NewReader(data), out, time.Second
	cmd.Env = childenv.Minimal(os.Environ())
	_ = cmd.Run() // the output contains the outcome, or none after a crash
	result := readOutput(out.String())
	switch ctx.Err() {
	case nil:
	case context.DeadlineExceeded:
		result.end = endTime
	default:
		return "", ctx.Err()
	}
	text := strings.Join(result.texts, "\n\f")
	switch result.end {
	case endText:
		return text, checkText(name, text)
	case endTime, endMemory, endBroken:
		if lettersIn(text) > 0 {
			return result.stopped() + text, checkText(name, text)
		}
	}
	return "", problem(name, kind, result.end)
}

// output is the parsed output of the process.
type output struct {
	texts []string // one for each page
	pages int      // of the whole document
	end   string
}

func readOutput(s string) output {
	result := output{end: endBroken} // until the outcome is read
	for part := range strings.SplitSeq(s, pageMark) {
		line, text, _ := strings.Cut(part, "\n")
		if n, pages, ok := strings.Cut(line, "/"); ok && n == strconv.Itoa(len(result.texts)+1) && utf8.ValidString(text) {
			result.texts = append(result.texts, text)
			result.pages, _ = strconv.Atoi(pages)
		} else if line != "" {
			result.end = line
		}
	}
	return result
}

// stopped returns a heading line for a text that is incomplete.
func (o output) stopped() string {
	why := map[string]string{endTime: "took too long", endMemory: "took too much memory", endBroken: "could not be read"}[o.end]
	return fmt.Sprintf("[Reading ended after page %d of %d: the next page %s. The remaining pages are missing from this text.]\n\n", len(o.texts), o.pages, why)
}

func problem(name, kind, end string) error {
	switch end {
	case endLocked:
		return refused("%s is encrypted and cannot be read without its password; nothing was attached.", name).
			WithHint("save a copy without a password and attach that")
	case endPictures:
		return refused("%s contains pictures of pages and no readable text; nothing was attached.", name).
			WithHint("run text recognition (OCR) over it first, or attach single pages as pictures")
	case endTime:
		return refused("%s takes too long to read; nothing was attached.", name).WithHint("print the part that matters to a new PDF, or save it as text")
	case endMemory:
		return refused("%s takes more than %d MB of memory to read; nothing was attached.", name, processMemory>>20).
			WithHint("print the part that matters to a new PDF, or save it as text")
	case endPages:
		return refused("%s has more than %d pages; nothing was attached.", name, maxPages).WithHint("attach it in parts")
	case endLong:
		return refused("%s contains more than %d MB of text; nothing was attached.", name, MaxText>>20).WithHint("attach it in parts")
	}
	return refused("%s is damaged, or %s that cannot be read here; nothing was attached.", name, kind).
		WithHint("print it to a new PDF, or save it as text, and attach that")
}

// ReadFile is the main function of the process: it reads a document from in, writes its pages and the outcome to out,
// and returns the exit code. The process may also crash; the caller then treats the next page as unreadable.
func ReadFile(in io.Reader, out io.Writer) int {
	limitProcess()
	debug.SetMaxStack(processStack)
	stop := make(chan struct{})
	defer close(stop)
	w := &pageWriter{out: out}
	go watchMemory(stop, func() { w.finish(endMemory); os.Exit(3) })
	data, err := io.ReadAll(io.LimitReader(in, MaxBytes+1))
	if err != nil || len(data) > MaxBytes {
		return 1
	}
	read := officeText
	if isPDF(data) {
		read = pdfText
	}
	w.finish(read(data, w.page))
	if w.err != nil {
		return 1
	}
	return 0
}

// pageWriter writes pages and the outcome.
type pageWriter struct {
	mu  sync.Mutex
	out io.Writer
	err error
}

func (w *pageWriter) page(page, pages int, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.out, "%s%d/%d\n%s", pageMark, page, pages, text)
	}
}

func (w *pageWriter) finish(end string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.out, "%s%s\n", pageMark, end)
	}
}

// watchMemory calls end when the heap grows beyond processMemory.
func watchMemory(stop <-chan struct{}, end func()) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			var m runtime.MemStats
			if runtime.ReadMemStats(&m); m.HeapAlloc > processMemory {
				end()
			}
		}
	}
}

// bounded is a buffer that returns an error when more than limit bytes are written to it.
type bounded struct {
	strings.Builder
	limit int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.limit {
		return 0, io.ErrShortBuffer
	}
	return b.Builder.Write(p)
}
