package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"contextinfinity/backend/chat"
)

func TestHarmless(t *testing.T) {
	cases := map[string]string{
		"plain\n\ttext":    "plain\n\ttext",
		"\x1b]0;owned\x07": "\uFFFD]0;owned\uFFFD",
		"a\r\nb":           "a\nb",
		"\u202ereversed":   "\uFFFDreversed",
		"c1 \u009b31m":     "c1 \uFFFD31m",
		"family 👩\u200d👩\u200d👧 and \u200c join": "family 👩\u200d👩\u200d👧 and \u200c join",
	}
	for in, want := range cases {
		if got := harmless(in); got != want {
			t.Errorf("harmless(%q) = %q", in, got)
		}
	}
	if got := harmless("bad \xff byte"); !utf8.ValidString(got) {
		t.Errorf("%q", got)
	}
}

func TestTerminalGetsNoControlCharacters(t *testing.T) {
	var out bytes.Buffer
	o := &output{w: &out, terminal: true}
	o.text("\x1b[2Jgone")
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("%q", out.String())
	}
}

func TestTableAlignsWideCharacters(t *testing.T) {
	var out bytes.Buffer
	list := newTable("NAME|>N|END")
	list.add("世界", 7, "x")
	list.add("ab\ncd", 1234, "y")
	list.print(&output{w: &out})
	want := "NAME      N  END\n世界      7  x\nab cd  1234  y\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func TestClip(t *testing.T) {
	for in, want := range map[string]string{"short": "short", "exactly ten": "exactly t…", "世界世界世界": "世界世界…", "two\nlines": "two lines"} {
		if got := clip(in, 10); got != want {
			t.Errorf("clip(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestMatch(t *testing.T) {
	ids := []chat.TurnID{"01ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAW", "01BX5ZZKBKACTAV9WEVGEMMVRZ"}
	cases := map[string]struct {
		want chat.TurnID
		code int
	}{
		"5FAV":                       {ids[0], 0},
		"01BX":                       {ids[2], 0},
		"01ARZ3NDEKTSV4RRFFQ69G5FAW": {ids[1], 0},
		"01ARZ3":                     {"", exitUsage},
		"QQQQ":                       {"", exitFailed},
	}
	for fragment, c := range cases {
		got, err := match("turn", fragment, ids)
		if got != c.want || exitCode(err) != c.code {
			t.Errorf("match(%s) = %s, %v", fragment, got, err)
		}
	}
	if _, err := match("turn", "5FAV", append(ids, ids[0])); err != nil {
		t.Errorf("the same turn on two branches: %v", err)
	}
}

func TestParseID(t *testing.T) {
	for in, ok := range map[string]bool{
		"5fav": true, "01ARZ3NDEKTSV4RRFFQ69G5FAV": true, " 01arz3ndektsv4rrffq69g5fav ": true,
		"": false, "abc": false, "IIII": false, "01ARZ3NDEKTSV4RRFFQ69G5FAVX": false, "81ARZ3NDEKTSV4RRFFQ69G5FAV": false, "a-b-c": false, "ünïcöde": false,
	} {
		if _, err := parseID("turn", in); (err == nil) != ok || err != nil && exitCode(err) != exitUsage {
			t.Errorf("parseID(%q): %v", in, err)
		}
	}
}

func FuzzParseID(f *testing.F) {
	f.Add("5fav")
	f.Add("01ARZ3NDEKTSV4RRFFQ69G5FAV")
	f.Fuzz(func(t *testing.T, s string) {
		id, err := parseID("turn", s)
		if err == nil && (len(id) < shortestID || len(id) > 26) {
			t.Errorf("parseID(%q) = %q", s, id)
		}
	})
}

// What continues on another device is one line with what it continues, unless that branch is archived: it is drawn on a
// line of its own, if at all, as in the window.
func TestAnArchivedContinuationIsNotJoined(t *testing.T) {
	branch := func(id chat.BranchID, label string) chat.BranchSummary {
		return chat.BranchSummary{Branch: chat.Branch{ID: id, Label: label}}
	}
	lines := func(archived bool) int {
		here, there := branch("a", "here"), branch("b", "there")
		there.Continues = here.ID
		if archived {
			there.ArchivedAt = new(time.Unix(1, 0))
		}
		runs := []treeRun{
			{TreeRun: chat.TreeRun{Parent: -1, Branch: here.ID, From: 1, To: 2, Ends: true}, branch: here},
			{TreeRun: chat.TreeRun{Parent: 0, Branch: there.ID, From: 3, To: 4, Ends: true}, branch: there, active: true},
		}
		var text strings.Builder
		printTree(&output{w: &text}, runs, map[chat.BranchID]bool{here.ID: true}, true)
		return strings.Count(text.String(), "\n")
	}
	if lines(false) != 1 || lines(true) != 2 {
		t.Errorf("the tree has %d lines, and %d with an archived continuation", lines(false), lines(true))
	}
}
