package app

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/journal"
	"contextinfinity/backend/journal/journaltest"
	"contextinfinity/backend/llm/llmtest"
	"contextinfinity/backend/store"
	"contextinfinity/backend/turn"
	"contextinfinity/test/harness"
)

// After a power failure while answers stream, everything that was reported as durable is still there, and with
// stream.durability = "write_ahead" everything that was shown. Each seed cuts eight streams at different places, and
// a random part of what was not fsynced survives, as on a real disk.
func TestPowerLossKeepsWhatWasReportedDurable(t *testing.T) {
	t.Parallel()
	for _, mode := range []journal.Durability{journal.Buffered, journal.WriteAhead} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(5) {
				fs := journaltest.NewCrashFS()
				outage := powerCut(t, fs, mode, rand.New(rand.NewPCG(seed, 5)))
				for _, broken := range outage.broken(mode) {
					t.Errorf("seed %d: %s", seed, broken)
				}
			}
		})
	}
}

// The same crash with fsync disabled: the checks of the test above must fail.
func TestPowerLossWithoutFsyncIsNoticed(t *testing.T) {
	t.Parallel()
	for _, mode := range []journal.Durability{journal.Buffered, journal.WriteAhead} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			fs := journaltest.NewCrashFS()
			fs.IgnoreSync(true)
			outage := powerCut(t, fs, mode, nil)
			broken := outage.broken(mode)
			noticed := strings.Count(strings.Join(broken, "\n"), "bytes were promised")
			if noticed != streamsAtOnce {
				t.Errorf("without fsync only %d of %d streams broke the promise, so the check cannot fail\n%v", noticed, streamsAtOnce, broken)
			}
		})
	}
}

const streamsAtOnce = 8

// outage has the data of some streams before and after a power failure.
type outage struct {
	before   []shownAnswer // what the window showed before
	after    []chat.Turn
	texts    []string // recovered
	complete []string // the complete texts that the provider would have sent
}

// broken lists each promise that was not kept.
func (o outage) broken(mode journal.Durability) []string {
	var out []string
	for i, shown := range o.before {
		t, text := o.after[i], o.texts[i]
		promised := shown.durable
		if mode == journal.WriteAhead {
			promised = shown.displayed
		}
		switch {
		case shown.durable == 0:
			out = append(out, fmt.Sprintf("stream %d: no text had become durable, so the stream proves nothing", i))
		case t.User.RenderedText() != outageQuestion(i):
			out = append(out, fmt.Sprintf("stream %d: the prompt is %q", i, t.User.RenderedText()))
		case int64(len(text)) < promised:
			out = append(out, fmt.Sprintf("stream %d: %d bytes were promised, %d are stored", i, promised, len(text)))
		case !strings.HasPrefix(o.complete[i], text):
			out = append(out, fmt.Sprintf("stream %d: %q was never sent", i, text))
		case !t.Incomplete() || t.StateAfter != "":
			out = append(out, fmt.Sprintf("stream %d is %s %q", i, t.Phase, t.Outcome))
		}
	}
	return out
}

func outageQuestion(i int) string { return fmt.Sprintf("Stream number %d, please.", i) }

// powerCut streams several answers at the same time, cuts the power while text is arriving, and recovers. rng decides
// when, and how much of the unsynced data survives.
func powerCut(t *testing.T, fs *journaltest.CrashFS, mode journal.Durability, rng *rand.Rand) outage {
	t.Helper()
	dir, copied := t.TempDir(), t.TempDir()
	source := newTrickle(t)
	config := harness.ChatWire.Model("trickle", source.url) + fmt.Sprintf("[stream]\ndurability = %q\n", mode)
	w := openEnv(t, dir, config, tuning{journal: func(o *journal.Options) { o.FS, o.FsyncMs, o.GroupMs = fs, 3, 3 }})
	var o outage
	var ids []chat.TurnID
	for i := range streamsAtOnce {
		h, err := w.Turns.Send(t.Context(), turn.Message{Branch: w.session("outage").ID, Content: chat.UserText(outageQuestion(i)), Model: "trickle"})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, h.Turn.ID)
		o.complete = append(o.complete, source.complete(i))
	}
	w.awaitDurable(ids, rng)
	// After the first frame a stream is not written to the database, so a copy made now is what the disk has when the
	// power fails.
	database := filepath.Join(copied, "data", store.DatabaseFile)
	if err := os.MkdirAll(filepath.Dir(database), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := store.NewArchive(store.ArchiveOptions{DataDir: w.Config.Config().DataDir}).Backup(t.Context(), database); err != nil {
		t.Fatal(err)
	}
	fs.Crash(rng)
	copySurvivingJournals(t, fs, filepath.Join(dir, "data", "streams"), filepath.Join(copied, "data", "streams"))
	w.shutDown()
	for _, id := range ids {
		o.before = append(o.before, w.recorder.of(id))
	}

	restarted := openEnv(t, copied, config, tuning{})
	o.recover(t, restarted, ids)
	restarted.shutDown()
	return o
}

// copySurvivingJournals copies the parts of the journals that survived the crash into the directory of the next start.
func copySurvivingJournals(t *testing.T, fs *journaltest.CrashFS, from, to string) {
	t.Helper()
	names, err := fs.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		harness.WriteFile(t, filepath.Join(to, name), fs.Bytes(filepath.Join(from, name)))
	}
}

// awaitDurable waits until each stream has a random amount of durable text.
func (w *env) awaitDurable(ids []chat.TurnID, rng *rand.Rand) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), harness.Patience)
	defer cancel()
	for _, id := range ids {
		target := int64(1)
		if rng != nil {
			target += rng.Int64N(300)
		}
		if err := w.recorder.await(ctx, func() bool { return w.recorder.of(id).durable >= target }); err != nil {
			w.t.Fatalf("no text became durable: %v", err)
		}
	}
}

func (o *outage) recover(t *testing.T, w *env, ids []chat.TurnID) {
	t.Helper()
	for _, id := range ids {
		stored, err := w.Store.Turn(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		m, err := w.Turns.Answer(t.Context(), stored)
		if err != nil {
			t.Fatal(err)
		}
		o.after, o.texts = append(o.after, stored), append(o.texts, m.RenderedText())
	}
	if findings, err := w.Store.Verify(t.Context()); err != nil || len(findings) != 0 {
		t.Errorf("verify: %+v (%v)", findings, err)
	}
}

// trickle is a provider whose answers never end: each request gets its own text, one piece per millisecond, until the
// client disconnects.
type trickle struct{ url string }

func newTrickle(t *testing.T) *trickle {
	t.Helper()
	s := &trickle{}
	var handlers sync.WaitGroup
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handlers.Add(1)
		defer handlers.Done()
		body, _ := io.ReadAll(r.Body)
		var i int
		at := strings.LastIndex(string(body), "Stream number ")
		_, _ = fmt.Sscanf(string(body)[max(at, 0):], "Stream number %d", &i)
		w.Header().Set("Content-Type", "text/event-stream")
		for _, ev := range harness.ChatWire.Start() {
			_, _ = io.WriteString(w, llmtest.SSE(ev))
		}
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for n := range tricklePieces {
			if _, err := io.WriteString(w, llmtest.SSE(harness.ChatWire.Delta(s.piece(i, n)))); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
			select {
			case <-tick.C:
			case <-r.Context().Done():
				return
			}
		}
		<-r.Context().Done()
	}))
	s.url = h.URL
	t.Cleanup(func() { h.CloseClientConnections(); handlers.Wait(); h.Close() })
	return s
}

const tricklePieces = 20_000

func (*trickle) piece(stream, n int) string { return fmt.Sprintf("%d.%d ß漢🌍 ", stream, n) }

// complete returns the complete text that a stream would send.
func (s *trickle) complete(stream int) string {
	var b strings.Builder
	for n := range tricklePieces {
		b.WriteString(s.piece(stream, n))
	}
	return b.String()
}
