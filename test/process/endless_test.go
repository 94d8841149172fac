package process

import (
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm/llmtest"
	"contextinfinity/test/harness"
	"contextinfinity/test/testtier"
)

// maxMemory is the maximum memory that the program may use for an answer, in bytes.
const maxMemory = 300 << 20

// reasoningEvent and argumentEvent return pieces of reasoning and of a tool's arguments, for each protocol.
var reasoningEvent = map[string]func(string) chat.RawEvent{
	"openai": func(s string) chat.RawEvent {
		return llmtest.Event(`{"type":"response.reasoning_summary_text.delta","output_index":1,"summary_index":0,"delta":` + harness.Quoted(s) + `}`)
	},
	"anthropic": func(s string) chat.RawEvent {
		return llmtest.Event(`{"type":"content_block_delta","index":1,"delta":{"type":"thinking_delta","thinking":` + harness.Quoted(s) + `}}`)
	},
	"chatcompletions": func(s string) chat.RawEvent {
		return llmtest.Event(`{"choices":[{"index":0,"delta":{"reasoning_content":` + harness.Quoted(s) + `}}]}`)
	},
}

var argumentEvent = map[string]func(string) chat.RawEvent{
	"openai": func(s string) chat.RawEvent {
		return llmtest.Event(`{"type":"response.custom_tool_call_input.delta","output_index":1,"delta":` + harness.Quoted(s) + `}`)
	},
	"anthropic": func(s string) chat.RawEvent {
		return llmtest.Event(`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":` + harness.Quoted(s) + `}}`)
	},
	"chatcompletions": func(s string) chat.RawEvent {
		return llmtest.Event(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":` + harness.Quoted(s) + `}}]}}]}`)
	},
}

// callStart is the event that starts the tool call with the arguments, for each protocol.
var callStart = map[string]string{
	"openai":          `{"type":"response.output_item.added","output_index":1,"item":{"type":"custom_tool_call","id":"c","call_id":"c","name":"write"}}`,
	"anthropic":       `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"c","name":"write","input":{}}}`,
	"chatcompletions": `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"write","arguments":""}}]}}]}`,
}

// floodServer streams start, then this many copies of a piece (0: forever), then end.
func floodServer(t testing.TB, start []chat.RawEvent, piece chat.RawEvent, copies int, end ...chat.RawEvent) string {
	t.Helper()
	block := strings.Repeat(llmtest.SSE(piece), 64)
	return streamServer(t, start, func(int) string { return block }, (copies+63)/64, end...)
}

// streamServer streams start, then this many pieces (0: forever), then end.
func streamServer(t testing.TB, start []chat.RawEvent, piece func(n int) string, pieces int, end ...chat.RawEvent) string {
	t.Helper()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for _, ev := range start {
			_, _ = io.WriteString(w, llmtest.SSE(ev))
		}
		for n := 0; (pieces == 0 || n < pieces) && r.Context().Err() == nil; n++ {
			if _, err := io.WriteString(w, piece(n)); err != nil {
				return
			}
		}
		for _, ev := range end {
			_, _ = io.WriteString(w, llmtest.SSE(ev))
		}
	}))
	t.Cleanup(h.Close)
	return h.URL
}

// runMeasured runs the program and returns its peak memory in bytes; 0 if the system does not report it.
func runMeasured(h *harness.Home, args ...string) (harness.Result, int64) {
	h.T.Helper()
	p := h.Start(nil, args...)
	peak := int64(0)
	for running := true; running; {
		select {
		case <-p.Ended:
			running = false
		case <-time.After(5 * time.Millisecond):
			peak = max(peak, peakOf(p.Cmd.Process.Pid))
		}
	}
	return p.Wait(), peak
}

// peakOf returns the peak memory of a process.
func peakOf(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, line, _ := strings.Cut(string(status), "VmHWM:")
	var kb int64
	_, _ = fmt.Sscan(line, &kb)
	return kb << 10
}

// An endless answer is stopped at its limit, with each protocol and each kind of content (in the everyday form each once).
// It is kept as incomplete with the reason, in bounded memory, and the data can be written afterwards.
func TestAnEndlessAnswerIsEnded(t *testing.T) {
	t.Parallel()
	for i, w := range harness.Wires {
		floods := []struct {
			name  string
			start []chat.RawEvent
			piece chat.RawEvent
			kept  string
		}{
			{"text", w.Start(), w.Delta("Word after word. "), "Word after word. "},
			{"reasoning", w.Start(), reasoningEvent[w.Name](strings.Repeat("think ", 20)), ""},
			{"arguments", append(w.Start(), llmtest.Event(callStart[w.Name])), argumentEvent[w.Name](strings.Repeat("more ", 20)), ""},
		}
		for _, flood := range testtier.Size(floods[i:i+1], floods) {
			t.Run(w.Name+"/"+flood.name, func(t *testing.T) {
				t.Parallel()
				url := floodServer(t, flood.start, flood.piece, 0)
				h := harness.NewHome(t, harness.Shipped(t), "[stream]\nmax_answer_bytes = 1048576\n\n[tools]\nmode = \"parse_only\"\n\n"+w.Model("flood", url))
				r, peak := runMeasured(h, "send", "--new", "Tell me everything.", "--model", "flood", "--json")
				s := r.Exits(1).Sent()
				if s.Error == nil || s.Error.Code != chat.CodeTooLong || !strings.Contains(s.Error.Message, "too long") || s.Outcome != chat.OutcomeIncomplete {
					t.Fatalf("the answer ended as %q with %+v", s.Outcome, s.Error)
				}
				if len(s.Text) > 2<<20 || !strings.HasPrefix(s.Text, flood.kept) || flood.kept != "" && len(s.Text) < 1<<19 {
					t.Errorf("%d bytes of text are kept, want about 1 MB", len(s.Text))
				}
				if peak > maxMemory {
					t.Errorf("the program took %d MB", peak>>20)
				}
				if got := h.Only(s.SessionID); got.Text() != s.Text || got.Error == nil || got.Error.Code != chat.CodeTooLong {
					t.Errorf("the stored text differs, or its failure is %+v", got.Error)
				}
				h.OK("send", "--session", s.SessionID, "--model", "recall", "And now?")
				h.Clean()
			})
		}
	}
}

// silentFloods are events without visible text that are stored, for each protocol: encrypted thinking, which cannot
// be compressed, and a growing list of items.
var silentFloods = map[string]struct {
	protocol, start string // start: the event before them
	piece           func(n int, data string) string
}{
	"redacted thinking": {"anthropic", "", func(n int, data string) string {
		return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"redacted_thinking","data":"%s"}}`, n+1, data)
	}},
	"a block of another kind": {"anthropic", `{"type":"content_block_start","index":1,"content_block":{"type":"compaction","content":""}}`, func(_ int, data string) string {
		return `{"type":"content_block_delta","index":1,"delta":{"type":"compaction_delta","content":"` + data + `"}}`
	}},
	"encrypted reasoning": {"openai", "", func(n int, data string) string {
		return fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":{"type":"reasoning","id":"r%d","summary":[],"encrypted_content":"%s"}}`, n+1, n, data)
	}},
	"details of reasoning": {"chatcompletions", "", func(_ int, data string) string {
		return `{"choices":[{"index":0,"delta":{"reasoning_details":[{"type":"reasoning.encrypted","data":"` + data + `"}]}}]}`
	}},
}

// An answer of events without visible text is stopped at its limit too, in bounded memory and without rescanning all
// events for each new one. It is kept as incomplete, and the data can be written afterwards.
func TestFloodsWithoutVisibleText(t *testing.T) {
	t.Parallel()
	random := make([]byte, 3<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(random)
	data := base64.StdEncoding.EncodeToString(random)
	for _, name := range testtier.Sample(slices.Sorted(maps.Keys(silentFloods)), 2) {
		flood := silentFloods[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := harness.Wires[slices.IndexFunc(harness.Wires, func(w harness.WireProtocol) bool { return w.Name == flood.protocol })]
			start := w.Start()
			if flood.start != "" {
				start = append(start, llmtest.Event(flood.start))
			}
			url := streamServer(t, start, func(n int) string {
				at := n * 4096 % (len(data) - 4096)
				return llmtest.SSE(llmtest.Event(flood.piece(n, data[at:at+4096])))
			}, 0)
			h := harness.NewHome(t, harness.Shipped(t), w.Model("flood", url))
			r, peak := runMeasured(h, "send", "--new", "Tell me everything.", "--model", "flood", "--json")
			s := r.Exits(1).Sent()
			if s.Error == nil || s.Error.Code != chat.CodeTooLong || s.Outcome != chat.OutcomeIncomplete {
				t.Errorf("the answer ended as %q with %+v", s.Outcome, s.Error)
			}
			t.Logf("the program took %d MB", peak>>20)
			if peak > maxMemory {
				t.Errorf("the program took %d MB", peak>>20)
			}
			h.OK("send", "--session", s.SessionID, "--model", "recall", "And now?")
			h.Clean()
		})
	}
}

// An answer in one piece, as a document or as one event, has the same limits of length and number of parts as a
// streamed one: in the everyday form a small limit of length.
func TestAnAnswerInOnePiece(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("All work and no play. ", testtier.Size(2, 23)<<20/22)
	limit := testtier.Size("[stream]\nmax_answer_bytes = 1048576\n\n", "")
	for name, c := range map[string]struct {
		kind, before, of string
		copies           int
		after            string
	}{
		"a document": {"application/json", `{"id":"x","type":"message","stop_reason":"end_turn","content":[{"type":"text","text":"`, long, 1, `"}]}`},
		"an event": {"text/event-stream", "data: " + `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\ndata: " +
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"`, long, 1, `"}}` + "\n\n"},
		"many parts": {"application/json", `{"id":"x","type":"message","stop_reason":"end_turn","content":[{"type":"text","text":"a"}`, `,{"type":"redacted_thinking","data":"a"}`, 300_000, `]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", c.kind)
				_, _ = io.WriteString(w, c.before+strings.Repeat(c.of, c.copies)+c.after)
			}))
			t.Cleanup(srv.Close)
			w := harness.Wires[slices.IndexFunc(harness.Wires, func(w harness.WireProtocol) bool { return w.Name == "anthropic" })]
			h := harness.NewHome(t, harness.Shipped(t), limit+w.Model("whole", srv.URL))
			r, peak := runMeasured(h, "send", "--new", "Tell me everything.", "--model", "whole", "--json")
			s := r.Exits(1).Sent()
			if s.Error == nil || s.Error.Code != chat.CodeTooLong || s.Outcome != chat.OutcomeIncomplete {
				t.Errorf("the answer ended as %q with %+v", s.Outcome, s.Error)
			}
			t.Logf("the program took %d MB", peak>>20)
			if peak > maxMemory {
				t.Errorf("the program took %d MB", peak>>20)
			}
			h.OK("send", "--session", s.SessionID, "--model", "recall", "And now?")
			h.Clean()
		})
	}
}

// maxCPUAfterCtrlC limits the CPU time after Ctrl-C, so that the program ends at once on an idle machine: the flood would take minutes.
// CPU time does not depend on the load.
const maxCPUAfterCtrlC = 2 * time.Second

// One Ctrl-C ends an answer while its provider floods, and the text so far is the answer.
func TestCtrlCEndsAFlood(t *testing.T) {
	t.Parallel()
	before := testtier.Size(10, 40) << 20 // bytes that the provider has sent
	for name, piece := range map[string]chat.RawEvent{
		"text":      harness.ChatWire.Delta("Word after word. "),
		"nothing":   llmtest.Event(`{"choices":[{"index":0,"delta":{}}]}`),
		"reasoning": reasoningEvent["chatcompletions"]("think "),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			block, enough := strings.Repeat(llmtest.SSE(piece), 64), make(chan struct{})
			url := streamServer(t, append(harness.ChatWire.Start(), harness.ChatWire.Delta("First words. ")), func(n int) string {
				if n == before/len(block) {
					close(enough)
				}
				return block
			}, 0)
			h := harness.NewHome(t, harness.Shipped(t), "[stream]\nmax_answer_bytes = 268435456\nmax_answer_tokens = 100000000\n\n"+harness.ChatWire.Model("flood", url))
			p := h.Start(nil, "send", "--new", "Tell me everything.", "--model", "flood")
			p.AwaitOutput("First words. ")
			<-enough
			cpu := cpuTimeOf(p.Cmd.Process.Pid)
			p.Interrupt()
			r := p.Wait().Exits(1)
			cpu = p.Cmd.ProcessState.UserTime() + p.Cmd.ProcessState.SystemTime() - cpu
			t.Logf("ended after %v of CPU time with %d bytes of text", cpu, len(r.Stdout))
			if cpu > maxCPUAfterCtrlC {
				t.Errorf("the program used %v of CPU time after Ctrl-C", cpu)
			}
			if got := h.Only(h.LastSession()); got.Outcome != chat.OutcomeStopped || got.Phase != chat.PhaseResponseFinalized { // background work is left to the next command
				t.Errorf("the turn is %s %q", got.Phase, got.Outcome)
			}
			h.Clean()
		})
	}
}

// cpuTimeOf returns the CPU time of a process, to a hundredth of a second; 0 if the system does not report it.
func cpuTimeOf(pid int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	const userTime, systemTime, ticks = 11, 12, 100 // fields after the name, which may contain spaces; ticks per second
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	var sum time.Duration
	for _, at := range []int{userTime, systemTime} {
		n, _ := strconv.Atoi(fields[at])
		sum += time.Duration(n) * time.Second / ticks
	}
	return sum
}

// BenchmarkAnswerMemory reports the memory that answers take, per MB of text.
func BenchmarkAnswerMemory(b *testing.B) {
	for _, w := range harness.Wires {
		for _, mb := range []int{1, 40} {
			b.Run(fmt.Sprintf("%s/%dMB", w.Name, mb), func(b *testing.B) {
				text := strings.Repeat("All work and no play. ", 47)[:1024]
				url := floodServer(b, w.Start(), w.Delta(text), mb<<10, w.End()...)
				for b.Loop() {
					h := harness.NewHome(b, harness.Shipped(b), "[stream]\nmax_answer_bytes = 67108864\nmax_answer_tokens = 100000000\n\n[librarian]\nafter_send_s = 0\n\n"+w.Model("long", url))
					r, peak := runMeasured(h, "send", "--new", "Tell me everything.", "--model", "long")
					r.Exits(0)
					b.ReportMetric(float64(peak>>20), "MB-peak")
					b.ReportMetric(float64(peak>>20)/float64(mb), "MB-peak/MB-answer")
				}
			})
		}
	}
}

// A long answer is shown, verified, summarized and indexed in memory that is a small multiple of its length: 2 MB,
// and 40 MB in the exhaustive form.
func TestALongAnswerIsReadInBoundedMemory(t *testing.T) {
	t.Parallel()
	w := harness.ChatWire
	text := strings.Repeat("All work and no play. ", 47)[:1024]
	length := testtier.Size(int64(2), 40) // MB
	url := floodServer(t, w.Start(), w.Delta(text), int(length)<<10, w.End()...)
	h := harness.NewHome(t, harness.Shipped(t), "[stream]\nmax_answer_bytes = 67108864\nmax_answer_tokens = 100000000\n\n[librarian]\nafter_send_s = 0\n\n"+w.Model("long", url))
	r, peak := runMeasured(h, "send", "--new", "Tell me everything.", "--model", "long")
	if limit := 200 + (420-200)*length/40; peak > limit<<20 {
		t.Errorf("send took %d MB, more than %d", peak>>20, limit)
	}
	r.Exits(0)
	t.Logf("send took %d MB", peak>>20)
	session := h.LastSession()
	step := h.Show(session).Turns[0].Steps[0].ID
	for _, v := range []struct {
		fixed int64 // in MB, what does not depend on the answer; send and reconcile load the sentence encoder
		limit int64 // in MB, for an answer of 40 MB
		args  []string
	}{
		{150, 300, []string{"show", session}},
		{150, 300, []string{"show", session, "--raw", step, "--json"}},
		{150, 400, []string{"verify"}},
		{270, 570, []string{"reconcile"}},
	} {
		r, peak := runMeasured(h, v.args...)
		r.Exits(0)
		t.Logf("%s took %d MB", strings.Join(v.args, " "), peak>>20)
		if limit := v.fixed + (v.limit-v.fixed)*length/40; peak > limit<<20 {
			t.Errorf("%s took %d MB, more than %d", strings.Join(v.args, " "), peak>>20, limit)
		}
	}
}

// Much reasoning and long arguments of a call, with the default limits, and in the exhaustive form with each protocol: the
// answer ends as too long and is kept as incomplete, in bounded memory, and the data can be written afterwards.
func TestMuchReasoningAndLongArguments(t *testing.T) {
	t.Parallel()
	const reasoning, arguments = 100 << 20, 10 << 20
	for _, w := range testtier.Size(harness.Wires[:1], harness.Wires) {
		for _, f := range []struct {
			name   string
			start  []chat.RawEvent
			piece  chat.RawEvent
			copies int
		}{
			{"reasoning", w.Start(), reasoningEvent[w.Name](strings.Repeat("think ", 170)), reasoning / 1020},
			{"arguments", append(w.Start(), llmtest.Event(callStart[w.Name])), argumentEvent[w.Name](strings.Repeat("more ", 204)), arguments / 1020},
		} {
			t.Run(w.Name+"/"+f.name, func(t *testing.T) {
				t.Parallel()
				url := floodServer(t, f.start, f.piece, f.copies, w.End()...)
				h := harness.NewHome(t, harness.Shipped(t), "[tools]\nmode = \"parse_only\"\n\n"+w.Model("flood", url))
				r, peak := runMeasured(h, "send", "--new", "Tell me everything.", "--model", "flood", "--json")
				s := r.Exits(1).Sent()
				if s.Outcome != chat.OutcomeIncomplete || s.Error == nil || s.Error.Code != chat.CodeTooLong {
					t.Errorf("the answer ended as %q with %+v", s.Outcome, s.Error)
				}
				if peak > maxMemory {
					t.Errorf("the program took %d MB", peak>>20)
				}
				h.OK("send", "--session", s.SessionID, "--model", "recall", "And now?")
				h.Clean()
			})
		}
	}
}
