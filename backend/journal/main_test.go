package journal_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/journal"
	"contextinfinity/backend/journal/journaltest"
)

const dir = "data/streams"

func TestMain(m *testing.M) {
	if os.Getenv(childDir) != "" {
		appendUntilKilled()
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

func newStep() chat.StepID { return chat.StepID(chat.NewID(time.Now())) }

// text returns an event whose visible text is s.
func text(s string) chat.RawEvent {
	data, _ := chat.MarshalJSON(map[string]string{"delta": s})
	return chat.RawEvent{Type: "response.output_text.delta", Data: data}
}

func begin(t testing.TB, fs journal.FS, opt journal.Options) (*journal.Journals, chat.StepID, *journal.Writer) {
	t.Helper()
	opt.Dir, opt.FS = dir, fs
	j := journal.New(opt)
	step := newStep()
	w, err := j.Begin(step, "openai")
	if err != nil {
		t.Fatal(err)
	}
	return j, step, w
}

func mustAppend(t testing.TB, w *journal.Writer, s string) {
	t.Helper()
	if _, err := w.Append(text(s), len(s)); err != nil {
		t.Fatal(err)
	}
}

func mustReplay(t testing.TB, j *journal.Journals, step chat.StepID) journal.Replayed {
	t.Helper()
	rep, err := j.Replay(step)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func wantCode(t testing.TB, err error, code chat.Code) {
	t.Helper()
	if chat.CodeOf(err) != code {
		t.Fatalf("error %v has code %q, want %q", err, chat.CodeOf(err), code)
	}
}

func file(step chat.StepID) string { return dir + "/" + string(step) + ".jsonl" }

func bytesOf(fs *journaltest.CrashFS, step chat.StepID) string { return string(fs.Bytes(file(step))) }

func describe(rep journal.Replayed) string {
	types := lists.Map(rep.Events, func(ev chat.RawEvent) string { return fmt.Sprintf("%s=%s", ev.Type, ev.Data) })
	return strings.Join(types, " ")
}
