package process

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm/llmtest"
	"contextinfinity/backend/store/codec"
	"contextinfinity/test/harness"
	"contextinfinity/test/testtier"
)

// canary is a key that may only occur in the header that carries it. Because of its special characters, each encoding
// of it is a different text.
const canary = `sk-proj-Canary7+Q9x/K2mV4pL8=wR1tY6uB3nZ5`

// canaryForms are the encodings of the key that a program might store or print.
var canaryForms = sync.OnceValue(func() map[string]string {
	escaped := strings.ReplaceAll(canary, "/", `\/`)
	unicode := strings.NewReplacer("+", `\u002b`, "/", `\u002f`, "=", `\u003d`).Replace(canary)
	forms := map[string]string{
		"raw": canary, "url query": url.QueryEscape(canary), "url path": url.PathEscape(canary),
		"json slash": escaped, "json unicode": unicode, "hex": hex.EncodeToString([]byte(canary)),
		"its middle": "Q9x/K2mV4pL8", "its end": "wR1tY6uB3nZ5",
	}
	// Inside a longer text, base64 has one of three alignments.
	for shift := range 3 {
		padded := append(bytes.Repeat([]byte{'x'}, shift), canary...)
		for name, enc := range map[string]*base64.Encoding{"std": base64.RawStdEncoding, "url": base64.RawURLEncoding} {
			encoded := enc.EncodeToString(padded)
			forms[fmt.Sprintf("base64 %s at %d", name, shift)] = encoded[(shift*8+5)/6+1 : len(encoded)-2]
		}
	}
	return forms
})

// echoes returns the ways in which the mock sends the key back.
func echoes(w harness.WireProtocol) map[string]llmtest.Step {
	words := harness.Quoted("Your key " + canary + " is not welcome here.")
	slashed := strings.ReplaceAll(words, "/", `\/`)
	unicode := strings.NewReplacer("+", `\u002b`, "=", `\u003d`).Replace(words)
	start := w.TextStream(false, "Something first. ")
	inURL := harness.Quoted("See https://example.test/?key=" + url.QueryEscape(canary))
	return map[string]llmtest.Step{
		"401":                 llmtest.JSON(http.StatusUnauthorized, `{"error":{"message":`+words+`,"type":"authentication_error","code":"invalid_api_key"}}`),
		"401 plain":           {Status: http.StatusUnauthorized, Header: map[string]string{"Content-Type": "text/plain"}, Chunks: []string{"Authorization: Bearer " + canary}},
		"401 escaped":         llmtest.JSON(http.StatusUnauthorized, `{"error":{"message":`+slashed+`,"type":"authentication_error"}}`),
		"401 unicode escapes": llmtest.JSON(http.StatusUnauthorized, `{"error":{"message":`+unicode+`,"type":"authentication_error"}}`),
		"400 with an address": llmtest.JSON(http.StatusBadRequest, `{"error":{"message":`+inURL+`,"type":"invalid_request_error"}}`),
		"error event":         llmtest.Stream(append(start, w.Fault(words))...),
		"error event escaped": llmtest.Stream(append(start, w.Fault(slashed))...),
		"error event unicode": llmtest.Stream(append(start, w.Fault(unicode))...),
		"refusal":             llmtest.Stream(w.Refusal(words)...),
		"refusal escaped":     llmtest.Stream(w.Refusal(slashed)...),
		"unknown event":       llmtest.Stream(append(append(w.Start(), llmtest.Event(`{"type":"debug.headers","authorization":`+harness.Quoted("Bearer "+canary)+`}`)), append([]chat.RawEvent{w.Delta("Fine.")}, w.End()...)...)...),
		"quoted in a string":  llmtest.Stream(append(start, llmtest.Event(`{"type":"debug.headers","request":`+harness.Quoted(`{"key":`+harness.Quoted(canary)+`}`)+`}`))...),
	}
}

// SPEC 2.9: API keys are never written to disk, database, log, journal or error text, whatever a provider sends back. In
// the everyday form each way to send the key back is tried with one protocol.
func TestACanaryKeyIsFoundNowhere(t *testing.T) {
	t.Parallel()
	for first, w := range harness.Wires {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			var steps []llmtest.Step
			var names []string
			sent := echoes(w)
			for i, name := range slices.Sorted(maps.Keys(sent)) {
				if !testtier.Exhaustive() && i%len(harness.Wires) != first {
					continue
				}
				step := sent[name]
				names, steps = append(names, name, name+" --json"), append(steps, step, step)
			}
			server := llmtest.NewServer(t, steps...)
			config := strings.TrimSpace(w.Model("bird", server.URL)) + "\napi_key_env = \"BIRD_KEY\"\n\n[librarian]\nmodel = \"\" # requests are counted\n"
			h := harness.NewHome(t, harness.Shipped(t), config).With("BIRD_KEY="+canary, "CONTEXTINFINITY_DEBUG=1")
			for i, name := range names {
				args := []string{"send", "--new", "--model", "bird", "--wait", "indexed", "Question: " + name}
				json := strings.HasSuffix(name, "--json")
				if json {
					args = append(args, "--json")
				}
				r := h.Run(args...)
				notIn(t, name+": stdout", r.Stdout)
				notIn(t, name+": stderr", r.Stderr)
				if json {
					r.Sent()
					continue
				}
				if got := len(server.Requests()); got != i+1 {
					t.Fatalf("%s: %d requests, want %d", name, got, i+1)
				}
				carriesKey(t, server.Requests()[i])
				notInOutput(t, h, name)
			}
			notInLists(t, h)
			killedWithKey(t, h, w)
			h.OK("reconcile")
			notInLists(t, h)
			notInFiles(t, h)
			h.Clean()
		})
	}
}

// carriesKey checks that the key was in use, so that the test is meaningful.
func carriesKey(t *testing.T, r llmtest.Request) {
	t.Helper()
	sent := r.Header.Get("Authorization") + r.Header.Get("X-Api-Key")
	if !strings.Contains(sent, canary) {
		t.Fatal("the request did not carry the key")
	}
	notIn(t, "the request's body", string(r.Body))
}

// notInOutput checks everything that commands print about the last session.
func notInOutput(t *testing.T, h *harness.Home, name string) {
	t.Helper()
	session := h.LastSession()
	doc := h.Show(session)
	for _, turn := range doc.Turns {
		for _, step := range turn.Steps {
			for _, more := range [][]string{{"--json"}, nil} {
				r := h.OK(append([]string{"show", session, "--raw", step.ID}, more...)...)
				notIn(t, name+": show --raw", r.Stdout+r.Stderr)
			}
		}
	}
	for _, args := range [][]string{{"show", session, "--json"}, {"show", session}} {
		r := h.OK(args...)
		notIn(t, name+": "+args[0], r.Stdout+r.Stderr)
	}
}

// notInLists checks what commands print about the home, after all operations that could have stored the key.
func notInLists(t *testing.T, h *harness.Home) {
	t.Helper()
	for _, args := range [][]string{{"keys", "list", "--json"}, {"config", "show", "--json"}, {"models"}, {"jobs", "--json"}, {"sessions", "--json"}} {
		r := h.OK(args...)
		notIn(t, args[0], r.Stdout+r.Stderr)
	}
}

// killedWithKey leaves a journal behind with an event that contained the key.
func killedWithKey(t *testing.T, h *harness.Home, w harness.WireProtocol) {
	t.Helper()
	events := append(w.TextStream(false, "Half an answer"), w.Fault(strings.ReplaceAll(harness.Quoted("bad key "+canary), "/", `\/`)))
	server := harness.NewHeldServer(t, true, append(events, w.Delta("."))...)
	config, err := os.ReadFile(h.ConfigFile())
	if err != nil {
		t.Fatal(err)
	}
	h.Configure(string(config) + "\n" + strings.TrimSpace(w.Model("m", server.URL)) + "\napi_key_env = \"BIRD_KEY\"\n")
	p := h.Start(nil, "send", "--new", "--model", "m", "Die with it.")
	p.AwaitOutput("Half an answer")
	p.Kill()
	notInFiles(t, h)
}

// notIn fails if a text contains the key in any form.
func notIn(t *testing.T, where, text string) {
	t.Helper()
	for form, s := range canaryForms() {
		if at := strings.Index(text, s); at >= 0 {
			t.Errorf("%s contains the key (%s): …%s…", where, form, harness.Clip(text[max(0, at-120):min(len(text), at+len(s)+20)]))
			return
		}
	}
}

// notInFiles checks every file of the home, and each unpacked value of the database.
func notInFiles(t *testing.T, h *harness.Home) {
	t.Helper()
	files, values := 0, 0
	err := filepath.WalkDir(h.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		notIn(t, filepath.Base(path), string(data))
		if bytes.HasPrefix(data, []byte("SQLite format 3\x00")) {
			values += notInValues(t, data)
		}
		return nil
	})
	if err != nil || files < 3 {
		t.Fatalf("%d files were read: %v", files, err)
	}
	// Without the write-ahead log the copy contains all rows; some of them must be packed.
	copied := filepath.Join(t.TempDir(), "copy.db")
	h.OK("backup", copied)
	data, err := os.ReadFile(copied)
	if err != nil {
		t.Fatal(err)
	}
	if values = notInValues(t, data); values < 5 {
		t.Fatalf("only %d packed values were found in the database: the test does not see its rows", values)
	}
}

// notInValues unpacks every packed value of a database, and returns how many of the compressed ones contain a message
// that was sent.
func notInValues(t *testing.T, db []byte) int {
	t.Helper()
	packed := 0
	eachPayload(db, func(payload []byte) {
		notIn(t, "a database row", string(payload))
		eachBlob(payload, func(blob []byte) {
			plain, err := codec.Unpack(blob)
			if err != nil {
				return // not packed: a hash
			}
			notIn(t, "a packed value", string(plain))
			zstd := len(blob) > 4 && binary.LittleEndian.Uint32(blob[1:]) == 0xFD2FB528
			if zstd && bytes.Contains(plain, []byte("Question: ")) {
				packed++
			}
		})
	})
	return packed
}

// The command line opens no port while it streams.
func TestTheCommandLineListensOnNoPort(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("ports of a process are read from /proc, which exists only on Linux")
	}
	server := harness.NewHeldServer(t, true, harness.OpenAIWire.TextStream(false, "Talking.")...)
	h := harness.NewHome(t, harness.Shipped(t), harness.OpenAIWire.Model("held", server.URL))
	p := h.Start(nil, "send", "--new", "--model", "held", "Talk.")
	p.AwaitOutput("Talking.")
	sockets, listening := socketsOf(t, p.Cmd.Process.Pid)
	if sockets == 0 {
		t.Error("no connection of the program was found: the test does not see its sockets")
	}
	if len(listening) > 0 {
		t.Errorf("the program listens: %v", listening)
	}
	p.Kill()
}

// socketsOf counts the TCP and UDP sockets of a process and lists those that listen.
func socketsOf(t *testing.T, pid int) (count int, listening []string) {
	t.Helper()
	inodes := map[string]bool{}
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil && strings.HasPrefix(to, "socket:[") {
			inodes[strings.Trim(strings.TrimPrefix(to, "socket:"), "[]")] = true
		}
	}
	const listen, unconnected = "0A", "07"
	for _, table := range []string{"tcp", "tcp6", "udp", "udp6"} {
		f, err := os.Open(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if err != nil {
			continue // the system does not have this protocol
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			fields := strings.Fields(lines.Text())
			if len(fields) < 10 || !inodes[fields[9]] {
				continue
			}
			count++
			if fields[3] == listen || strings.HasPrefix(table, "udp") && fields[3] == unconnected {
				listening = append(listening, table+" "+fields[1])
			}
		}
		_ = f.Close()
	}
	return count, listening
}
