package journal_test

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/journal"
)

// A changed byte is found in its line, wherever it is, and the lines before it are read.
func TestAChangedByteIsFoundInItsLine(t *testing.T) {
	events := []chat.RawEvent{text("größer"), {Type: "\xff", Data: []byte("not JSON")}, text("漢字 🌍")}
	complete := journalFile(t, journal.EndDone, events...)
	lines := strings.SplitAfter(complete, "\n")
	lines = lines[:len(lines)-1]
	at := 0
	for number, line := range lines {
		for i := range len(line) {
			for _, bit := range []byte{0x01, 0x20, 0x80} {
				content := []byte(complete)
				content[at+i] ^= bit
				rep := replayOf(t, string(content))
				if rep.BadLine != number+1 || rep.LastSeq != int64(number) || rep.TornTail {
					t.Fatalf("bit %#x of byte %d of line %d flipped: %+v", bit, i, number+1, rep)
				}
			}
		}
		at += len(line)
	}
}

// Journals of the first version have no checksums and can be read; a line that this version would not write is
// damaged.
func TestJournalsWithoutSumsAreRead(t *testing.T) {
	events := []chat.RawEvent{text("größer"), {Type: "\xff", Data: []byte("not JSON")}, {Type: `a"b`, Data: []byte(`{ "a" : 1 }`)}}
	complete := regexp.MustCompile(`,"sum":"[0-9a-f]{8}"`).ReplaceAllString(journalFile(t, journal.EndStopped, events...), "")
	if rep := replayOf(t, complete); !reflect.DeepEqual(rep.Events, events) || rep.End != journal.EndStopped || rep.BadLine != 0 {
		t.Fatalf("%+v", rep)
	}
	for old, damaged := range map[string]string{`"seq":1,`: `"seq":1, `, `"ts"`: `"Ts"`, `}` + "\n": `,"more":1}` + "\n"} {
		if rep := replayOf(t, strings.Replace(complete, old, damaged, 1)); rep.BadLine != 1 {
			t.Errorf("%q for %q: %+v", damaged, old, rep)
		}
	}
}
