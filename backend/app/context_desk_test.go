package app

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/cli"
	"contextinfinity/backend/llm/llmtest"
	"contextinfinity/backend/secrets"
)

// desk is the program opened once, with every verb run against it in this
// process: a conversation of many turns would spend its time on starts.
type desk struct {
	*app
	t      testing.TB
	dir    string
	config string
}

func newDesk(t testing.TB, config string) *desk {
	t.Helper()
	dir := memoryDir(t)
	d := &desk{t: t, dir: filepath.Join(dir, "data"), config: filepath.Join(dir, "config.toml")}
	write(t, d.config, []byte(config))
	d.open()
	t.Cleanup(d.shut)
	return d
}

// memoryDir is a temporary directory in memory where there is one: what is tested
// here is not what a disk keeps, and hundreds of turns would wait for its fsyncs.
func memoryDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "contextinfinity-desk-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// open opens the data directory as the writer, as a window does; background work
// runs only when a verb asks for it.
func (d *desk) open() {
	d.t.Helper()
	var err error
	d.app, err = openApp(context.Background(), cli.OpenOptions{DataDir: d.dir, ConfigPath: d.config, Publish: newWitness()}, secrets.New())
	if err != nil {
		d.t.Fatal(err)
	}
	if err := d.app.config.Err(); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) shut() {
	if err := d.close(); err != nil {
		d.t.Error(err)
	}
}

// again is the next start of the program, with another configuration.
func (d *desk) again(config string) {
	d.t.Helper()
	d.shut()
	write(d.t, d.config, []byte(config))
	d.open()
}

// run runs a verb to its end.
func (d *desk) run(args ...string) result {
	d.t.Helper()
	out, errs := newLockedBuffer(), newLockedBuffer()
	verb := cli.App{
		Version: version, In: strings.NewReader(""), Out: out, Err: errs,
		Open: func(context.Context, cli.OpenOptions) (*cli.Services, error) {
			s := d.services()
			s.Close = func() error { return nil }
			return s, nil
		},
	}
	code := cli.Run(context.Background(), verb, append([]string{"--data-dir", d.dir, "--config", d.config}, args...))
	return result{d.t, args, code, out.String(), errs.String()}
}

func (d *desk) ok(args ...string) result {
	d.t.Helper()
	return d.run(args...).exits(0)
}

// send sends to a session, or begins one.
func (d *desk) send(session string, args ...string) sent {
	d.t.Helper()
	where := []string{"send", "--json", "--new"}
	if session != "" {
		where = []string{"send", "--json", "--session", session}
	}
	return d.ok(append(where, args...)...).sent()
}

// seen is what `context` shows of a turn, or of what comes next.
func (d *desk) seen(session string, more ...string) view {
	d.t.Helper()
	return viewOf(d.ok(append([]string{"context", session, "--json"}, more...)...))
}

func (d *desk) clean() {
	d.t.Helper()
	var doc struct {
		OK       bool
		Findings []chat.Finding
	}
	d.ok("verify", "--json").document(&doc)
	if !doc.OK || len(doc.Findings) != 0 {
		d.t.Fatalf("verify: %+v", doc.Findings)
	}
}

// relay is the provider's end of the wire: it keeps every body as it came, and
// tells the conversation's requests from those of the librarian.
type relay struct {
	url string

	mu        sync.Mutex
	chat      [][]byte
	librarian [][]byte
}

// newRelay answers the conversation by say, the librarian by note; a nil note
// refuses it.
func newRelay(t testing.TB, w wireProtocol, say func(n int) llmtest.Step, note func(r *http.Request, body string) llmtest.Step) *relay {
	t.Helper()
	s := &relay{}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		play(rw, r, s.answer(r, body, say, note))
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *relay) answer(r *http.Request, body []byte, say func(int) llmtest.Step, note func(*http.Request, string) llmtest.Step) llmtest.Step {
	s.mu.Lock()
	own := isLibrarians(body)
	if own {
		s.librarian = append(s.librarian, body)
	} else {
		s.chat = append(s.chat, body)
	}
	n := len(s.chat)
	s.mu.Unlock()
	switch {
	case !own:
		return say(n)
	case note == nil:
		return llmtest.JSON(http.StatusInternalServerError, `{"error":{"message":"no librarian here","type":"server_error"}}`)
	}
	return note(r, string(body))
}

// play writes one step; a held one ends when the client goes away.
func play(w http.ResponseWriter, r *http.Request, step llmtest.Step) {
	w.Header().Set("Content-Type", "text/event-stream")
	for k, v := range step.Header {
		w.Header().Set(k, v)
	}
	if step.Status != 0 {
		w.WriteHeader(step.Status)
	}
	for _, c := range step.Chunks {
		_, _ = io.WriteString(w, c)
	}
	_ = http.NewResponseController(w).Flush()
	if step.Hold {
		<-r.Context().Done()
	}
	if step.Drop {
		panic(http.ErrAbortHandler)
	}
}

// isLibrarians knows the librarian's requests by the beginning of each of its
// instructions (backend/librarian/prompts).
func isLibrarians(body []byte) bool {
	for _, s := range []string{"You keep the memory of a long conversation", "You summarize one stretch", "You shorten the memory"} {
		if strings.Contains(string(body), s) {
			return true
		}
	}
	return false
}

// bodies are the conversation's requests so far.
func (s *relay) bodies() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([][]byte{}, s.chat...)
}

func (s *relay) lastBody(t testing.TB) []byte {
	t.Helper()
	all := s.bodies()
	if len(all) == 0 {
		t.Fatal("nothing was sent")
	}
	return all[len(all)-1]
}

// asked are the librarian's requests so far.
func (s *relay) asked() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([][]byte{}, s.librarian...)
}

// windowed is a model of a window of so many tokens, with what more a test sets.
func (w wireProtocol) windowed(name, url string, window int) string {
	return strings.Replace(strings.Replace(w.model(name, url), "context_limit = 128000", "context_limit = "+strconv.Itoa(window), 1), "max_output = 4000", "max_output = 1000", 1)
}
