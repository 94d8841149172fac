package journal_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/journal"
	"contextinfinity/backend/journal/journaltest"
)

// journalFile journals the events and returns the file's bytes.
func journalFile(t testing.TB, kind journal.EndKind, events ...chat.RawEvent) string {
	t.Helper()
	fs := journaltest.NewCrashFS()
	_, step, w := begin(t, fs, journal.Options{})
	for _, ev := range events {
		if _, err := w.Append(ev, 1); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if kind == "" {
		err = w.Abandon()
	} else {
		_, err = w.End(kind, "r")
	}
	if err != nil {
		t.Fatal(err)
	}
	return bytesOf(fs, step)
}

// replayOf replays content and checks that reading does not change it.
func replayOf(t testing.TB, content string) journal.Replayed {
	t.Helper()
	fs := journaltest.NewCrashFS()
	step := newStep()
	fs.Put(file(step), []byte(content))
	rep := mustReplay(t, journal.New(journal.Options{Dir: dir, FS: fs}), step)
	if bytesOf(fs, step) != content {
		t.Error("replay changed the file")
	}
	return rep
}

func TestReplayDamage(t *testing.T) {
	complete := journalFile(t, journal.EndDone, text("a"), text("b"), text("c"))
	lines := strings.SplitAfter(complete, "\n")[:4]
	join := func(parts ...string) string { return strings.Join(parts, "") }
	cases := []struct {
		name    string
		content string
		events  int
		last    int64
		end     journal.EndKind
		torn    bool
		bad     int
	}{
		{"complete", complete, 3, 4, journal.EndDone, false, 0},
		{"empty", "", 0, 0, "", false, 0},
		{"cut after a line", join(lines[:2]...), 2, 2, "", false, 0},
		{"torn last line", join(lines[0], lines[1][:20]), 1, 1, "", true, 0},
		{"last line lacks only its newline", strings.TrimSuffix(complete, "\n"), 3, 3, "", true, 0},
		{"zeros at the end", complete + strings.Repeat("\x00", 4096), 3, 4, journal.EndDone, true, 0},
		{"bad middle line", join(lines[0], "{oops}\n", lines[1], lines[2]), 1, 1, "", false, 2},
		{"empty line", join(lines[0], "\n", lines[1]), 1, 1, "", false, 2},
		{"gap", join(lines[0], lines[2], lines[3]), 1, 1, "", false, 2},
		{"duplicate", join(lines[0], lines[0], lines[1]), 1, 1, "", false, 2},
		{"does not begin at one", join(lines[1:]...), 0, 0, "", false, 1},
		{"after the end", complete + lines[0], 3, 4, journal.EndDone, false, 5},
		{"two ends", complete + strings.Replace(lines[3], `"seq":4`, `"seq":5`, 1), 3, 4, journal.EndDone, false, 5},
		{"unknown end", join(lines[0], lines[1], lines[2], strings.Replace(lines[3], `"done"`, `"paused"`, 1)), 3, 3, "", false, 4},
		{"end without payload", join(lines[:3]...) + `{"ts":"2026-01-01T00:00:00.000Z","provider":"contextinfinity","event_type":"done","seq":4}` + "\n", 3, 3, "", false, 4},
		{"no payload", `{"ts":"2026-01-01T00:00:00.000Z","provider":"p","event_type":"t","seq":1}` + "\n", 0, 0, "", false, 1},
		{"no time", `{"ts":"","provider":"p","event_type":"t","seq":1,"payload":{}}` + "\n", 0, 0, "", false, 1},
		{"bad base64", `{"ts":"2026-01-01T00:00:00.000Z","provider":"p","event_type":"t","seq":1,"payload_b64":"?"}` + "\n", 0, 0, "", false, 1},
		{"invalid UTF-8", "\xff\xfe\n" + complete, 0, 0, "", false, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			rep := replayOf(t, c.content)
			if len(rep.Events) != c.events || rep.LastSeq != c.last || rep.End != c.end || rep.TornTail != c.torn || rep.BadLine != c.bad {
				t.Errorf("replay %+v", rep)
			}
			kept := int64(0)
			for _, l := range strings.SplitAfter(c.content, "\n")[:rep.LastSeq] {
				kept += int64(len(l))
			}
			if kept+rep.DroppedBytes != int64(len(c.content)) {
				t.Errorf("%d bytes kept and %d dropped of %d", kept, rep.DroppedBytes, len(c.content))
			}
		})
	}
}

func TestMissingJournal(t *testing.T) {
	j := journal.New(journal.Options{Dir: dir, FS: journaltest.NewCrashFS()})
	if rep := mustReplay(t, j, newStep()); !rep.Missing {
		t.Errorf("replay of nothing: %+v", rep)
	}
}

// A provider's own events may have the same names as end entries.
func TestAProvidersErrorEventIsNotAnEnd(t *testing.T) {
	events := []chat.RawEvent{{Type: "error", Data: []byte(`{"reason":"x"}`)}, {Type: "done", Data: []byte("[DONE]")}}
	rep := replayOf(t, journalFile(t, "", events...))
	if rep.End != "" || !reflect.DeepEqual(rep.Events, events) {
		t.Errorf("replay %+v", rep)
	}
}

func TestPayloadIsKeptByteForByte(t *testing.T) {
	deep := strings.Repeat("[", 10000) + strings.Repeat("]", 10000)
	payloads := []string{
		"", " ", "null", "{}", `"text"`, "[DONE]", "{\"a\":1}\n", " {} ", "{\"a\":\n1}", "{ \"a\" : 1 }", `{"a":1,"a":2}`,
		"{\"a\":\"\xff\"}", "\x00\x01", `{"a":"<&>\u2028"}`, "{\"a\":\"\u2028<b>&\"}", "1e999", "{\"a\":1}\r", deep, "\ufeff{}",
		strings.Repeat("x", 3<<20), `{"a":"` + strings.Repeat("x", 3<<20) + `"}`,
	}
	types := []string{"", "message_start", "a\"b\\c", "\xff", "line\nbreak", "日本", "<&>"}
	var events []chat.RawEvent
	for i, p := range payloads {
		events = append(events, chat.RawEvent{Type: types[i%len(types)], Data: []byte(p)})
	}
	content := journalFile(t, journal.EndDone, events...)
	rep := replayOf(t, content)
	if len(rep.Events) != len(events) {
		t.Fatalf("%d of %d events were read: %+v", len(rep.Events), len(events), rep.BadLine)
	}
	for i, ev := range rep.Events {
		if ev.Type != events[i].Type || !bytes.Equal(ev.Data, events[i].Data) {
			t.Errorf("event %d is not what was appended: %.60q", i, ev.Data)
		}
	}
	for i, line := range strings.Split(strings.TrimSuffix(content, "\n"), "\n") {
		if !json.Valid([]byte(line)) {
			t.Errorf("line %d is not JSON", i+1)
		}
	}
}

func TestReplayEqualsWhatWasAppended(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		events := rapid.SliceOfN(anyEvent(), 0, 20).Draw(rt, "events")
		rep := replayOf(t, journalFile(t, journal.EndStopped, events...))
		if len(rep.Events) != len(events) || rep.End != journal.EndStopped {
			rt.Fatalf("%d of %d events, end %q", len(rep.Events), len(events), rep.End)
		}
		for i, ev := range rep.Events {
			if ev.Type != events[i].Type || !bytes.Equal(ev.Data, events[i].Data) {
				rt.Fatalf("event %d: %q %q, appended %q %q", i, ev.Type, ev.Data, events[i].Type, events[i].Data)
			}
		}
	})
}

func anyEvent() *rapid.Generator[chat.RawEvent] {
	return rapid.Custom(func(rt *rapid.T) chat.RawEvent {
		ev := chat.RawEvent{Type: string(rapid.SliceOfN(rapid.Byte(), 0, 12).Draw(rt, "type"))}
		if rapid.Bool().Draw(rt, "json") {
			ev.Data, _ = chat.MarshalJSON(map[string]string{"delta": rapid.String().Draw(rt, "text")})
		} else {
			ev.Data = rapid.SliceOf(rapid.Byte()).Draw(rt, "bytes")
		}
		return ev
	})
}

// Real streams, as recorded from providers.
func TestRecordedStreamsSurvive(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(sharedDir(t), "fixtures", "provider-streams", "*", "*.txt"))
	if len(files) == 0 {
		t.Skip("the shared fixtures with recorded streams are missing")
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var events []chat.RawEvent
		for line := range bytes.Lines(data) {
			events = append(events, chat.RawEvent{Type: "chunk", Data: bytes.TrimSuffix(line, []byte("\n"))})
		}
		rep := replayOf(t, journalFile(t, journal.EndDone, events...))
		if describe(rep) != describe(journal.Replayed{Events: events}) {
			t.Errorf("%s differs after the replay", filepath.Base(name))
		}
	}
}

// sharedDir returns the reference material outside the repository, or skips.
func sharedDir(t *testing.T) string {
	t.Helper()
	if env := os.Getenv("CONTEXTINFINITY_SHARED"); env != "" {
		return env
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for parent := filepath.Dir(dir); parent != dir; dir, parent = parent, filepath.Dir(parent) {
		if shared := filepath.Join(parent, "shared"); isDir(shared) {
			return shared
		}
	}
	t.Skip("no shared directory beside this checkout; set CONTEXTINFINITY_SHARED")
	return ""
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func FuzzReplay(f *testing.F) {
	complete := journalFile(f, journal.EndDone, text("a"), chat.RawEvent{Type: "\xff", Data: []byte("\xff")})
	f.Add([]byte(complete))
	f.Add([]byte(complete[:len(complete)-5]))
	f.Add([]byte("{}\n\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		rep := replayOf(t, string(content))
		if rep.DroppedBytes < 0 || rep.DroppedBytes > int64(len(content)) {
			t.Fatalf("%d of %d bytes dropped", rep.DroppedBytes, len(content))
		}
		if damaged := rep.TornTail || rep.BadLine > 0; damaged != (rep.DroppedBytes > 0) {
			t.Fatalf("damage %v, but %d bytes dropped", damaged, rep.DroppedBytes)
		}
		kept := content[:int64(len(content))-rep.DroppedBytes]
		second := replayOf(t, string(kept))
		if second.DroppedBytes != 0 || !reflect.DeepEqual(second.Events, rep.Events) || second.End != rep.End {
			t.Fatal("the kept part reads differently")
		}
		if int64(bytes.Count(kept, []byte("\n"))) != rep.LastSeq {
			t.Fatalf("%d lines kept, last seq %d", bytes.Count(kept, []byte("\n")), rep.LastSeq)
		}
	})
}
