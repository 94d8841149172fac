package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"contextinfinity/backend/chat"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// read reads a text as a file with this name.
func read(t testing.TB, name, text string, opts Options) ([]Conversation, Report) {
	t.Helper()
	var out []Conversation
	report, err := Read(context.Background(), fileOf(name, text), opts, func(c Conversation) error {
		out = append(out, c)
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for _, row := range report.Skipped { // people see the reasons as a list
		first, _ := utf8.DecodeRuneInString(row.Reason)
		if !unicode.IsUpper(first) && !unicode.IsDigit(first) || !strings.HasSuffix(row.Reason, ".") || strings.HasSuffix(row.Reason, "..") {
			t.Errorf("%s: the reason %q is not a sentence", name, row.Reason)
		}
	}
	return out, report
}

func fileOf(name, text string) Input {
	return Input{Name: name, Size: int64(len(text)), Data: strings.NewReader(text)}
}

// readOne reads a text with one conversation.
func readOne(t testing.TB, name, text string) Conversation {
	t.Helper()
	got, report := read(t, name, text, Options{})
	if len(got) != 1 || report.SkippedCount > 0 {
		t.Fatalf("%s: %d conversations, skipped %+v", name, len(got), report.Skipped)
	}
	return got[0]
}

// TestGolden compares the normalized form and the report of every case in testdata.
func TestGolden(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join("testdata", "*", "*.json*"))
	seen := map[Format]int{}
	for _, file := range files {
		dir := filepath.Base(filepath.Dir(file))
		if dir == "golden" || dir == "fuzz" {
			continue
		}
		t.Run(dir+"/"+filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, report := read(t, filepath.Base(file), string(text), Options{})
			if string(report.Format) != dir {
				t.Errorf("identified as %s", report.Format)
			}
			seen[report.Format]++
			for _, c := range got {
				checkValid(t, c)
			}
			compareGolden(t, dir+"-"+filepath.Base(file), map[string]any{"conversations": got, "report": report})
		})
	}
	for _, f := range Formats() {
		if f != FormatZip && seen[f] < 3 {
			t.Errorf("only %d cases of %s", seen[f], f)
		}
	}
}

func compareGolden(t *testing.T, name string, value any) {
	t.Helper()
	raw, err := chat.MarshalJSON(value)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := json.Indent(&got, raw, "", "  "); err != nil {
		t.Fatal(err)
	}
	got.WriteByte('\n')
	file := filepath.Join("testdata", "golden", name+".golden")
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s changed; run with -update and read the difference\n%s", name, got.String())
	}
}

// checkValid checks what is true of every conversation, whatever its format.
func checkValid(t testing.TB, c Conversation) {
	t.Helper()
	if c.ID == "" || c.Key == "" || c.Source == "" || len(c.Turns) == 0 {
		t.Fatalf("%q has no id, key, source or turns", c.ID)
	}
	keys, contents := map[string]bool{}, map[string]bool{}
	for i, turn := range c.Turns {
		switch {
		case turn.Key == "" || keys[turn.Key]:
			t.Fatalf("turn %d: key %q is empty or taken", i, turn.Key)
		case turn.ContentKey == "" || contents[turn.ContentKey]:
			t.Fatalf("turn %d: content key %q is empty or taken", i, turn.ContentKey)
		case turn.Parent != "" && !keys[turn.Parent]:
			t.Fatalf("turn %d: parent %q is not before it", i, turn.Parent)
		case turn.User.Role != chat.RoleUser || turn.User.IsEmpty():
			t.Fatalf("turn %d: the user's message is empty", i)
		case turn.Assistant != nil && (turn.Assistant.Role != chat.RoleAssistant || turn.Assistant.IsEmpty()):
			t.Fatalf("turn %d: the answer is empty", i)
		}
		keys[turn.Key], contents[turn.ContentKey] = true, true
		checkBlocks(t, turn)
	}
	if !keys[c.Current] {
		t.Fatalf("the current turn %q does not exist", c.Current)
	}
}

// checkBlocks encodes and decodes a turn's messages, because they will be stored as JSON.
func checkBlocks(t testing.TB, turn Turn) {
	t.Helper()
	for _, m := range []*chat.Message{&turn.User, turn.Assistant} {
		if m == nil {
			continue
		}
		raw, err := chat.MarshalJSON(m)
		if err != nil {
			t.Fatalf("turn %s: %v", turn.Key, err)
		}
		if bytes.Contains(raw, []byte(`\u0000`)) && !bytes.Contains(raw, []byte(`\\u0000`)) {
			t.Fatalf("turn %s contains NUL: %s", turn.Key, raw)
		}
		var back chat.Message
		if err := json.Unmarshal(raw, &back); err != nil {
			t.Fatalf("turn %s: %v", turn.Key, err)
		}
	}
}

// TestSharedFixtures reads exports that are not part of the repository.
func TestSharedFixtures(t *testing.T) {
	dir := filepath.Join(sharedDir(t), "fixtures", "imports")
	for _, c := range []struct {
		file    string
		format  Format
		titles  []string
		turns   int
		skipped []string
	}{
		{"chatgpt-modern-export.json", FormatChatGPT, []string{"Deploying the staging cluster", "Weeknight pasta"}, 3, []string{"Corrupted entry"}},
		{"claude-code-sample_session.jsonl", FormatClaudeCode, []string{"Test session for JSONL parsing"}, 2, nil},
		{"openwebui-export.json", FormatOpenWebUI, []string{"Chat with reasoning", "Chat with tool call", "Simple linear chat"}, 3, nil},
	} {
		t.Run(c.file, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(dir, c.file))
			if errors.Is(err, os.ErrNotExist) {
				t.Skip("this fixture is absent")
			}
			if err != nil {
				t.Fatal(err)
			}
			got, report := read(t, c.file, string(text), Options{})
			var titles, skipped []string
			for _, g := range got {
				checkValid(t, g)
				titles = append(titles, g.Title)
			}
			for _, s := range report.Skipped {
				skipped = append(skipped, s.Title)
			}
			if report.Format != c.format || strings.Join(titles, "|") != strings.Join(c.titles, "|") ||
				report.Turns != c.turns || strings.Join(skipped, "|") != strings.Join(c.skipped, "|") {
				t.Errorf("got %q and %+v", titles, report)
			}
		})
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
		if info, err := os.Stat(filepath.Join(parent, "shared", "fixtures")); err == nil && info.IsDir() {
			return filepath.Join(parent, "shared")
		}
	}
	t.Skip("no shared directory next to this checkout; set CONTEXTINFINITY_SHARED")
	return ""
}
