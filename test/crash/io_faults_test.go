package crash

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/test/harness"
	"contextinfinity/test/testtier"
)

// The tests of I/O faults run a turn once to record every disk operation, and then once for each of these operations
// with that operation failing.

const (
	firstQuestion = "What was agreed first?"
	firstAnswer   = "Half of an ansẅer with 漢字 and 🌍."
	faultQuestion = "Does this survive a broken disk?"
	lastQuestion  = "And does it work again?"
)

// faultBench is a home with one answered turn, which is copied for each case.
type faultBench struct {
	*harness.Home
	session string
}

func newFaultBench(t *testing.T) faultBench {
	t.Helper()
	server := harness.NewHeldServer(t, false, harness.ChatWire.TextStream(true, crashTexts...)...)
	config := "[general]\ndefault_model = \"m\"\n\n" + harness.ChatWire.Model("m", server.URL)
	h := harness.NewHome(t, harness.Shipped(t), config)
	if err := h.SealedAgain(); err != nil {
		t.Fatal(err)
	}
	b := faultBench{Home: h}
	b.session = h.OK("send", "--new", "--json", firstQuestion).Sent().SessionID
	return b
}

// copy returns a copy of the home.
func (b faultBench) copy(t *testing.T) faultBench {
	t.Helper()
	copied := harness.NewHome(t, b.Bin, "")
	copied.Secret = b.Secret
	if err := b.CopyTo(copied.Dir); err != nil {
		t.Fatal(err)
	}
	return faultBench{copied, b.session}
}

// reached returns the disk operations of a turn in this home.
func (b faultBench) reached(t *testing.T) hits {
	t.Helper()
	h := b.copy(t)
	trace := filepath.Join(h.Dir, "trace")
	h.Using(harness.Breakable(t)).With("CONTEXTINFINITY_FAULT_TRACE="+trace).OK("send", "--json", "--session", h.session, faultQuestion)
	return mustReadHits(t, trace)
}

// Every disk operation of a turn fails once in each possible way. The command succeeds or reports the reason, earlier
// data is unchanged, verify finds nothing, and the next message is answered (SPEC 2, 11).
func TestEveryIOFaultOfATurn(t *testing.T) {
	t.Parallel()
	bench := newFaultBench(t)
	specs := bench.reached(t).failures(maxHits)
	if len(specs) < 60 {
		t.Fatalf("a turn reaches only %d faults: %q", len(specs), specs)
	}
	for _, spec := range testtier.Sample(specs, short(10)) {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			h := bench.copy(t)
			r := h.Using(harness.Breakable(t)).With("CONTEXTINFINITY_FAULT="+spec).Run("send", "--json", "--session", h.session, faultQuestion)
			h.checkSurvived(t, spec, r)
		})
	}
}

// checkSurvived checks what a command with a fault reported, and the data after it.
func (b faultBench) checkSurvived(t *testing.T, spec string, r harness.Result) {
	t.Helper()
	var doc harness.Sent
	if r.Stdout != "" {
		r.Document(&doc)
	}
	if strings.Contains(r.Stderr, "goroutine ") {
		t.Fatalf("a panic: %s", r.Stderr)
	}
	if r.Code != 0 {
		b.checkError(t, spec, r, doc.Error)
	}
	b.Clean()
	turns := b.Show(b.session).Turns
	if len(turns) == 0 || turns[0].User.RenderedText() != firstQuestion || turns[0].Text() != firstAnswer || turns[0].Outcome != chat.OutcomeCompleted {
		t.Fatalf("the first turn is %+v", turns)
	}
	b.checkAccepted(t, r, doc, turns[1:])
	again := b.Run("send", "--json", "--session", b.session, lastQuestion).Exits(0).Sent()
	if again.Outcome != chat.OutcomeCompleted || again.Text != firstAnswer {
		t.Errorf("the next message is answered with %+v", again)
	}
	b.Clean()
}

// checkError checks that an error has a code, and reports a full disk where SQLite does. If SQLite cannot open or create
// a file, it does not report why.
func (b faultBench) checkError(t *testing.T, spec string, r harness.Result, failed *harness.Failure) {
	t.Helper()
	if failed == nil || failed.Code == "" || failed.Message == "" {
		t.Fatalf("exit %d without an error: %s %s", r.Code, r.Stdout, r.Stderr)
	}
	site, _, _ := strings.Cut(spec, ":")
	full := !strings.HasSuffix(spec, ":eio") && (strings.HasSuffix(site, ".write") || strings.HasPrefix(site, "io.journal.")) && site != "io.shm.write"
	switch {
	case full && failed.Code != chat.CodeNoSpace:
		t.Errorf("a full disk is reported as %+v", failed)
	case strings.HasSuffix(spec, ":eio") && failed.Code == chat.CodeNoSpace, failed.Code == chat.CodeCorrupt, strings.Contains(failed.Message, "refused the operation"):
		t.Errorf("the error is misleading: %+v", failed)
	}
}

// checkAccepted checks the turn of the command with the fault: if it was acknowledged, it is stored once, with all text
// that was reported as final.
func (b faultBench) checkAccepted(t *testing.T, r harness.Result, doc harness.Sent, turns []harness.ShownTurn) {
	t.Helper()
	if len(turns) > 1 {
		t.Fatalf("one message created %d turns: %+v", len(turns), turns)
	}
	switch {
	case r.Code == 0 && (doc.Outcome != chat.OutcomeCompleted || doc.Text != firstAnswer):
		t.Errorf("success without the answer: %+v", doc)
	case doc.TurnID != "" && (len(turns) == 0 || turns[0].ID != doc.TurnID || turns[0].User.RenderedText() != faultQuestion):
		t.Errorf("the accepted turn %s is lost: %+v", doc.TurnID, turns)
	case r.Code == 0 && (turns[0].Text() != firstAnswer || turns[0].Outcome != chat.OutcomeCompleted):
		t.Errorf("the completed turn is %+v", turns[0])
	}
}

// The disk fills up at some point of a turn in a running conversation, and has space again later. Each message is
// answered or refused with a clear error, and the same process works again when there is space.
func TestTheDiskFillsUpWhileTheProgramRuns(t *testing.T) {
	t.Parallel()
	bench := newFaultBench(t)
	before, turn := bench.opening(t), bench.reached(t)
	var specs []string
	for _, name := range slices.Sorted(maps.Keys(turn)) {
		if more := turn[name] - before[name]; more > 0 && !strings.HasPrefix(name, "io.lock.") {
			for i := range min(more, 3) {
				specs = append(specs, fmt.Sprintf("%s:%d", name, before[name]+1+i*more/min(more, 3)))
			}
		}
	}
	if len(specs) < 30 {
		t.Fatalf("a turn reaches only %q", specs)
	}
	for _, spec := range testtier.Sample(specs, 8) {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			bench.copy(t).fillsUpAt(t, spec)
		})
	}
}

// opening returns the disk operations of a conversation until it has opened the data.
func (b faultBench) opening(t *testing.T) hits {
	t.Helper()
	h := b.copy(t)
	trace := filepath.Join(h.Dir, "trace")
	p := h.Using(harness.Breakable(t)).With("CONTEXTINFINITY_FAULT_TRACE="+trace).Host("--session", h.session)
	found := mustReadHits(t, trace)
	p.Kill()
	return found
}

// On a full disk the data cannot be opened for writing; the error says so, and nothing is changed.
func TestAFullDiskIsReportedAtTheStart(t *testing.T) {
	t.Parallel()
	bench := newFaultBench(t)
	full := filepath.Join(bench.Dir, "full")
	harness.WriteFile(t, full, nil)
	h := bench.Using(harness.Breakable(t)).With("CONTEXTINFINITY_FAULT_FULL=" + full)
	h.Run("send", "--json", "--session", bench.session, faultQuestion).Fails(1, chat.CodeNoSpace)
	if r := h.Run("chat", "--session", bench.session).Exits(1); !strings.Contains(r.Stderr, "disk is full") {
		t.Errorf("chat says %q", r.Stderr)
	}
	if err := os.Remove(full); err != nil {
		t.Fatal(err)
	}
	bench.checkSurvived(t, "io.*:enospc", h.Run("send", "--json", "--session", bench.session, faultQuestion).Exits(0))
}

func (b faultBench) fillsUpAt(t *testing.T, spec string) {
	t.Helper()
	full := filepath.Join(b.Dir, "full")
	p := b.Using(harness.Breakable(t)).With("CONTEXTINFINITY_FAULT="+spec+":full", "CONTEXTINFINITY_FAULT_FULL="+full).Host("--session", b.session)
	output := replyTo(p, faultQuestion)
	if _, err := os.Stat(full); err == nil && !strings.Contains(output, firstAnswer) && !strings.Contains(output, "disk is full") {
		t.Errorf("the disk is full, but nothing reports it: %s", output)
	}
	output = b.withSpaceAgain(t, p, full)
	if _, err := os.Stat(full); err == nil { // background work reached the fault only now
		output = b.withSpaceAgain(t, p, full)
	}
	if !strings.Contains(output, firstAnswer) {
		t.Errorf("with space again the answer is %q, after %q", output, p.Err.String())
	}
	_ = p.Stdin.Close()
	p.Process.Wait()
	b.Clean()
	var texts []string
	for _, turn := range b.Show(b.session).Turns {
		texts = append(texts, turn.User.RenderedText())
	}
	texts = slices.Compact(texts) // the last question may have been sent twice
	if !slices.Equal(texts, []string{firstQuestion, faultQuestion, lastQuestion}) && !slices.Equal(texts, []string{firstQuestion, lastQuestion}) {
		t.Errorf("the prompts are %q", texts)
	}
}

// withSpaceAgain frees the disk and sends the last question.
func (b faultBench) withSpaceAgain(t *testing.T, p *harness.Host, full string) string {
	t.Helper()
	if err := os.Remove(full); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	replyTo(p, "/discard") // any incomplete answer; otherwise it has no effect
	return replyTo(p, lastQuestion)
}

// replyTo types a line and returns everything that is printed until it was processed.
func replyTo(p *harness.Host, text string) string {
	p.T.Helper()
	out, err := len(p.Out.String()), len(p.Err.String())
	// The error for an unknown command marks the end of the output, because commands are processed in order.
	const mark = "/that-was-it"
	if _, err := io.WriteString(p.Stdin, text+"\n"+mark+"\n"); err != nil {
		p.T.Fatal(err)
	}
	p.Await("it processed "+text, p.Err, func(s string) bool { return strings.Contains(s[err:], mark) })
	before, _, _ := strings.Cut(p.Err.String()[err:], "error: There is no command "+mark)
	if !strings.HasPrefix(text, "/") && !strings.Contains(before, "error") { // stdout is another pipe, so the text may arrive later
		p.Await("the answer to "+text+" is printed", p.Out, func(s string) bool { return strings.Contains(s[out:], "\n") })
	}
	return p.Out.String()[out:] + p.Err.String()[err:]
}
