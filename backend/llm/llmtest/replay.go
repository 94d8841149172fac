package llmtest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
)

var update = flag.Bool("update", false, "write golden files instead of comparing with them")

// Event creates a raw event from its JSON, with the type that the JSON names.
func Event(data string) chat.RawEvent {
	var head struct{ Type string }
	if json.Unmarshal([]byte(data), &head) != nil || head.Type == "" {
		head.Type = "message"
	}
	return chat.RawEvent{Type: head.Type, Data: []byte(data)}
}

// Events creates a raw event for each JSON text.
func Events(data ...string) []chat.RawEvent {
	out := make([]chat.RawEvent, len(data))
	for i, d := range data {
		out[i] = Event(d)
	}
	return out
}

// ReadRecording reads a recorded stream: one JSON event per line.
func ReadRecording(t testing.TB, path string) []chat.RawEvent {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []chat.RawEvent
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\xEF\xBB\xBF")))
		if len(line) > 0 {
			out = append(out, Event(string(line)))
		}
	}
	return out
}

// TestRecordings decodes every recorded stream of the adapter's provider. They are beside the checkout, in the
// directory shared/fixtures or in CONTEXTINFINITY_SHARED; without them the test is skipped. The expected results in
// testdata/recordings were checked against the recordings by hand.
func TestRecordings(t *testing.T, h Harness) {
	for _, root := range sharedRoots() {
		found, _ := filepath.Glob(filepath.Join(root, "fixtures", "provider-streams", h.New(nil).Name(), "*.chunks.txt"))
		for _, path := range found {
			name := strings.TrimSuffix(filepath.Base(path), ".chunks.txt")
			t.Run(name, func(t *testing.T) { decodeStream(t, h, path, "recordings/"+name+".txt") })
		}
		if len(found) > 0 {
			return
		}
	}
	t.Skip("the recorded provider streams are not beside this checkout (set CONTEXTINFINITY_SHARED)")
}

// TestStreams decodes the streams of testdata/streams, written for events that are rarely recorded; the expected
// results are beside them.
func TestStreams(t *testing.T, h Harness) {
	for _, path := range streams(t) {
		name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		t.Run(name, func(t *testing.T) {
			events := ReadRecording(t, path)
			for n := range events { // wherever the stream is cut, the decoder's guarantees hold
				Play(t, h.New(nil), llm.ToolsDisabled, events[:n])
			}
			decodeStream(t, h, path, "streams/"+name+".txt")
		})
	}
}

func streams(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/streams/*.jsonl")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no streams: %v", err)
	}
	return paths
}

// decodeStream sends a stream through a server and the real client, checks that each event arrives byte for byte,
// decodes it and compares the result with a golden file.
func decodeStream(t *testing.T, h Harness, path, golden string) {
	events := throughServer(t, h, ReadRecording(t, path))
	p := h.New(nil)
	off := Play(t, p, llm.ToolsDisabled, events)
	parsed := Play(t, p, llm.ToolsParseOnly, events)
	if on := Play(t, p, llm.ToolsEnabled, events); !reflect.DeepEqual(on, parsed) {
		t.Error("the stream is decoded differently with tools enabled")
	}
	checkSentBack(t, h, parsed.Result)
	Golden(t, golden, "== tools parse_only\n"+Describe(parsed)+"== tools disabled\n"+Outcome(off))
}

// BenchmarkDecode decodes one delta repeatedly.
func BenchmarkDecode(b *testing.B, h Harness, delta chat.RawEvent) {
	d := h.New(nil).NewDecoder(llm.ToolsDisabled)
	b.ReportAllocs()
	for b.Loop() {
		d.Decode(delta)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "deltas/s")
}

func sharedRoots() []string {
	if env := os.Getenv("CONTEXTINFINITY_SHARED"); env != "" {
		return []string{env}
	}
	var roots []string
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		roots = append(roots, filepath.Join(dir, "shared"))
	}
	return roots
}

// Played is a decoded stream.
type Played struct {
	Result llm.Result
	Deltas []llm.Delta
}

// Decodable creates decoders: a provider, or just its wire format.
type Decodable interface {
	NewDecoder(llm.ToolsMode) llm.Decoder
}

// Play decodes events and checks what every decoder guarantees for every stream: text is valid UTF-8, a delta's block
// exists and never moves, the deltas of a block are exactly its text, shown text never changes, the result encodes,
// and another decoder gives the same result.
func Play(t testing.TB, p Decodable, mode llm.ToolsMode, events []chat.RawEvent) Played {
	t.Helper()
	first := play(t, p, mode, events)
	if again := play(t, p, mode, events); !reflect.DeepEqual(first, again) {
		t.Fatalf("a replay differs from the first decoding")
	}
	return first
}

func play(t testing.TB, p Decodable, mode llm.ToolsMode, events []chat.RawEvent) Played {
	t.Helper()
	d := p.NewDecoder(mode)
	var out Played
	shown := map[int]*strings.Builder{}
	for i, ev := range events {
		for _, delta := range d.Decode(ev) {
			if !utf8.ValidString(delta.Text) {
				t.Fatalf("event %d: delta is not valid UTF-8: %q", i, delta.Text)
			}
			if shown[delta.Block] == nil {
				shown[delta.Block] = &strings.Builder{}
			}
			shown[delta.Block].WriteString(delta.Text)
			out.Deltas = append(out.Deltas, delta)
		}
	}
	out.Result = d.Result()
	for block, text := range shown {
		checkShown(t, out.Result.Blocks, block, text.String())
	}
	if _, err := chat.MarshalJSON(out.Result.Blocks); err != nil {
		t.Fatalf("blocks do not encode: %v", err)
	}
	if _, err := chat.MarshalJSON(out.Result.Items); err != nil {
		t.Fatalf("items do not encode: %v", err)
	}
	if !utf8.ValidString(out.Result.Text()) {
		t.Fatal("the text is not valid UTF-8")
	}
	return out
}

// checkShown compares the deltas of a block with the block.
func checkShown(t testing.TB, blocks chat.Blocks, block int, shown string) {
	t.Helper()
	if block < 0 || block >= len(blocks) {
		t.Fatalf("a delta names block %d of %d", block, len(blocks))
	}
	var text string
	switch b := blocks[block].(type) {
	case chat.Text:
		text = b.Text
	case chat.Reasoning:
		text = b.Summary
	case chat.Refusal:
		text = b.Text
	default:
		return // arguments and raw parts are not prose
	}
	if text != shown {
		t.Fatalf("block %d is %q, the deltas were %q", block, text, shown)
	}
}

// Describe formats a result in lines that a person can compare with the recording: the outcome, then each block, item
// and figure. Long texts are shortened, see short.
func Describe(p Played) string {
	r := p.Result
	var sb strings.Builder
	fmt.Fprintf(&sb, "terminal=%v status=%s reason=%q refused=%v\n", r.Terminal, r.Status, r.Reason, r.Refused)
	if r.Err != nil {
		fmt.Fprintf(&sb, "error code=%s type=%q retry=%v %q\n", r.Err.Code, r.Err.Type, r.Err.Retry, r.Err.Message)
	}
	fmt.Fprintf(&sb, "response=%s model=%s\n", r.ResponseID, r.Model)
	if r.Usage != nil {
		u := *r.Usage // as decoded; plausibility is checked later
		fmt.Fprintf(&sb, "usage {InputTokens:%d OutputTokens:%d CachedInputTokens:%d CacheWriteTokens:%d ReasoningTokens:%d}\n",
			u.InputTokens, u.OutputTokens, u.CachedInputTokens, u.CacheWriteTokens, u.ReasoningTokens)
	}
	fmt.Fprintf(&sb, "deltas=%d text=%s\n", len(p.Deltas), short(r.Text()))
	for i, b := range r.Blocks {
		fmt.Fprintf(&sb, "block %d %s\n", i, describeBlock(b))
	}
	for i, it := range r.Items {
		fmt.Fprintf(&sb, "item %d %s\n", i, describeItem(it))
	}
	return sb.String()
}

func describeBlock(b chat.Block) string {
	switch b := b.(type) {
	case chat.Text:
		return fmt.Sprintf("text phase=%q annotations=%d %s", b.Phase, len(b.Annotations), short(b.Text))
	case chat.ToolUse:
		line := fmt.Sprintf("tool_use %s %s %s", b.ToolUseID, b.Name, short(string(b.Input)))
		if len(b.Extra) > 0 {
			line += " extra=" + short(string(b.Extra))
		}
		return line
	case chat.Reasoning:
		return fmt.Sprintf("reasoning encrypted=%d raw=%d %s", len(b.EncryptedContent), len(b.Raw), short(b.Summary))
	case chat.Refusal:
		return "refusal " + short(b.Text)
	case chat.Unknown:
		return "unknown " + short(string(b.Raw))
	}
	return fmt.Sprintf("%T", b)
}

func describeItem(it chat.Item) string {
	switch it := it.(type) {
	case chat.AssistantMessage:
		parts := []string{"message"}
		for _, b := range it.Blocks {
			parts = append(parts, "["+describeBlock(b)+"]")
		}
		return strings.Join(parts, " ")
	case chat.ToolCall:
		return fmt.Sprintf("call server=%v %s %s %s", it.ServerSide, it.CallID, it.Name, short(string(it.Arguments)))
	case chat.ToolOutput:
		return fmt.Sprintf("output %s %s", it.CallID, short(string(it.Output)))
	case chat.ReasoningItem:
		return fmt.Sprintf("reasoning encrypted=%d raw=%d %s", len(it.EncryptedContent), len(it.Raw), short(it.Summary))
	case chat.Metadata:
		return "metadata " + it.Key + "=" + it.Value
	case chat.UnknownItem:
		return "unknown " + short(string(it.Raw))
	}
	return fmt.Sprintf("%T", it)
}

// short returns a short text complete, and a long one by its length, its hash and both ends.
func short(s string) string {
	if len(s) <= 160 {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%d bytes %s %q … %q", len(s), chat.HashText(s)[:12],
		strings.ToValidUTF8(s[:60], ""), strings.ToValidUTF8(s[len(s)-40:], ""))
}

// Golden compares text with testdata/name, or writes it with -update.
func Golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run with -update once, then read the file)", err)
	}
	if string(want) != got {
		t.Errorf("%s differs; run with -update and read the change\n--- want\n%s\n--- got\n%s", path, want, got)
	}
}

// Indented returns JSON indented for a golden file.
func Indented(t testing.TB, raw json.RawMessage) string {
	t.Helper()
	var buf bytes.Buffer
	if err := json.Indent(&buf, raw, "", "  "); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return buf.String() + "\n"
}

// Outcome describes how a stream ended, in a line or two.
func Outcome(p Played) string {
	lines := strings.SplitAfter(Describe(p), "\n")
	if p.Result.Err != nil {
		return lines[0] + lines[1]
	}
	return lines[0]
}
