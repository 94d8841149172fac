package turn_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/turn"
)

// TestATooLongAnswerIsEnded: the stream ends at the limit, and the events that arrived are an incomplete answer,
// whatever it consists of. It can be kept, and the conversation continues.
func TestATooLongAnswerIsEnded(t *testing.T) {
	for name, piece := range map[string]string{"text": text("word "), "reasoning": reasoning("think ")} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			w.settings.MaxAnswerBytes = 64
			w.provider.script(call{events: append(slices.Repeat([]string{piece}, 50), done)})
			got := w.send("hi")
			if got.Phase != chat.PhaseResponding || got.Outcome != chat.OutcomeIncomplete || got.Failure == nil || got.Failure.Code != chat.CodeTooLong {
				t.Fatalf("it is %s %q with %+v", got.Phase, got.Outcome, got.Failure)
			}
			answer, err := w.engine.Answer(t.Context(), got)
			if err != nil || len(answer.Blocks) != 1 {
				t.Fatalf("%v, %+v", err, answer)
			}
			if name == "text" && len(answer.RenderedText()) != 65 {
				t.Errorf("%d bytes are kept, want those before the event over the limit", len(answer.RenderedText()))
			}
			if got, err = w.engine.Keep(t.Context(), got.ID); err != nil || !got.Phase.Finalized() {
				t.Fatalf("keeping it: %v", err)
			}
			w.is(w.send("and now?"), chat.PhaseResponseFinalized, chat.OutcomeCompleted, "ok")
			w.clean()
		})
	}
}

// TestTokensEndAnAnswer: the token limit applies if it is reached first.
func TestTokensEndAnAnswer(t *testing.T) {
	w := newEnv(t)
	w.settings.MaxAnswerTokens = 20
	w.provider.script(call{events: append(slices.Repeat([]string{text("word ")}, 50), done)})
	got := w.send("hi")
	if got.Failure == nil || got.Failure.Code != chat.CodeTooLong || !strings.Contains(got.Failure.Message, "20 tokens") {
		t.Fatalf("its failure is %+v", got.Failure)
	}
}

// TestALongStreamIsStoredCompletely: the events of a stream that is too long for memory are stored from its journal,
// and the answer can be decoded from them.
func TestALongStreamIsStoredCompletely(t *testing.T) {
	w := newEnv(t)
	piece := strings.Repeat("all-work-and-no-play-", 50_000)
	w.provider.script(call{events: slices.Repeat([]string{text(piece)}, 10)}) // cut off: no end event
	got := w.send("hi")
	answer, err := w.engine.Answer(t.Context(), got)
	if complete := strings.Repeat(piece, 10); err != nil || !got.Incomplete() || answer.RenderedText() != complete {
		t.Fatalf("it is %q with %d bytes of %d: %v", got.Outcome, len(answer.RenderedText()), len(complete), err)
	}
	steps, err := w.store.Steps(t.Context(), got.ID)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := w.store.StepEvents(t.Context(), steps[0].ID, func(chat.RawEvent) error { n++; return nil }); err != nil || n != 10 {
		t.Errorf("%d events of 10: %v", n, err)
	}
	w.clean()
}

// TestAJournalOverTheLimitBlocksOnlyItsTurn: an oversized journal of an earlier version is recovered up to the limit,
// and everything else continues.
func TestAJournalOverTheLimitBlocksOnlyItsTurn(t *testing.T) {
	piece := text(strings.Repeat("x", 1<<20))
	before := newEnv(t)
	before.settings.MaxAnswerBytes = 1 << 30
	before.provider.script(call{events: append(slices.Repeat([]string{piece}, llm.DefaultAnswerBytes>>20+4), text("the end")), gate: make(chan struct{})})
	interrupted := before.start("hi").Turn
	before.waitForJournal("the end")
	w := before.crashed()
	w.settings.MaxAnswerBytes = 0
	report := w.recover()
	if len(report.Items) != 1 || report.Items[0].Kind != chat.RecoveredIncomplete {
		t.Fatalf("recovery: %+v", report.Items)
	}
	got, err := w.store.Turn(t.Context(), interrupted.ID)
	if err != nil || got.Failure == nil || got.Failure.Code != chat.CodeTooLong {
		t.Fatalf("%v, %+v", err, got.Failure)
	}
	answer, err := w.engine.Answer(t.Context(), got)
	if n := len(answer.RenderedText()); err != nil || n != llm.DefaultAnswerBytes+1<<20 {
		t.Errorf("%d bytes of the answer are stored: %v", n, err)
	}
	h, err := w.engine.Send(t.Context(), turn.Message{Branch: w.branch.ID, Content: chat.UserText("on"), Incomplete: turn.IncompleteDiscard})
	if err != nil {
		t.Fatal(err)
	}
	w.is(w.wait(h), chat.PhaseResponseFinalized, chat.OutcomeCompleted, "ok")
}

// TestAJournalOfZerosBlocksOnlyItsTurn: a power failure may leave a file with the right length but no content.
func TestAJournalOfZerosBlocksOnlyItsTurn(t *testing.T) {
	w, interrupted := killed(t, text("some words"))
	files, err := filepath.Glob(filepath.Join(w.dir, "streams", "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v: %v", files, err)
	}
	if err := os.Truncate(files[0], 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(files[0], 2<<30); err != nil { // sparse: it takes no space
		t.Skipf("no large files here: %v", err)
	}
	w.recover()
	if got, err := w.store.Turn(t.Context(), interrupted.ID); err != nil || got.Phase != chat.PhaseFailed {
		t.Fatalf("it is %s: %v", got.Phase, err)
	}
	w.is(w.send("on"), chat.PhaseResponseFinalized, chat.OutcomeCompleted, "ok")
}

// TestAFullDiskEndsTheRawEvents: the stream ends when its journal cannot grow; the events in it are stored,
// and the step records that some are missing.
func TestAFullDiskEndsTheRawEvents(t *testing.T) {
	for name, c := range map[string]struct{ piece, limit, pieces, stored int }{
		"of a long stream":  {1 << 20, 9<<20 + 1<<19, 12, 9},
		"of a short stream": {1 << 10, 5<<10 + 1<<9, 12, 4}, // the line of an event is a little longer than its text
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			w.journalLimit = c.limit
			w.provider.script(call{events: slices.Repeat([]string{text(strings.Repeat("x", c.piece))}, c.pieces)})
			got := w.send("hi")
			if !got.Incomplete() || got.Failure == nil || got.Failure.Code != chat.CodeNoSpace {
				t.Fatalf("it is %q with %+v", got.Outcome, got.Failure)
			}
			steps, err := w.store.Steps(t.Context(), got.ID)
			if err != nil {
				t.Fatal(err)
			}
			if want := "end after event " + strconv.Itoa(c.stored) + ":"; !strings.Contains(steps[0].Outcome.Message, want) {
				t.Errorf("the step says %q, want %q", steps[0].Outcome.Message, want)
			}
			n := 0
			if err := w.store.StepEvents(t.Context(), steps[0].ID, func(chat.RawEvent) error { n++; return nil }); err != nil || n != c.stored {
				t.Errorf("%d events of %d: %v", n, c.stored, err)
			}
			w.clean()
		})
	}
}

// If nothing can be written to an empty journal, the call still fails with its original error.
func TestAnEmptyJournalThatCannotBeEnded(t *testing.T) {
	w := newEnv(t)
	w.journalLimit = 1
	w.provider.script(call{err: errRefused})
	got := w.send("hi")
	if got.Phase != chat.PhaseFailed || got.Failure == nil || got.Failure.Code != chat.CodeAuth {
		t.Errorf("it is %s with %+v", got.Phase, got.Failure)
	}
	w.clean()
}

// The end of a long stream is stored without reading its journal again, which would take seconds after the user
// pressed Ctrl-C.
func TestTheEndOfALongStreamReadsNoJournal(t *testing.T) {
	w := newEnv(t)
	piece, size := 64<<10, 10<<20
	events := slices.Repeat([]string{text(strings.Repeat("x", piece))}, size/piece)
	w.provider.script(call{events: append(events, done), after: func(i int) {
		if i != len(events)-1 {
			return
		}
		files, _ := filepath.Glob(filepath.Join(w.dir, "streams", "*.jsonl"))
		for _, f := range files { // truncates the journal to less than its first event
			_ = os.Truncate(f, int64(piece)*3/2)
		}
	}})
	got := w.send("hi")
	steps, err := w.store.Steps(t.Context(), got.ID)
	if err != nil || len(steps) != 1 {
		t.Fatalf("%d steps: %v", len(steps), err)
	}
	n := 0
	if err := w.store.StepEvents(t.Context(), steps[0].ID, func(chat.RawEvent) error { n++; return nil }); err != nil || n != len(events)+1 {
		t.Errorf("%d events of %d: %v", n, len(events)+1, err)
	}
	w.clean()
}
