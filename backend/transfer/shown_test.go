package transfer

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"

	"contextinfinity/backend/chat"
)

// userTexts returns the user's messages of a conversation.
func userTexts(c Conversation) []string {
	var out []string
	for _, t := range c.Turns {
		out = append(out, t.User.RenderedText())
	}
	return out
}

// codeSession is a log of Claude Code with these messages in the user's name; "-" is an answer.
func codeSession(texts ...string) string {
	l := newCodeLog()
	for _, text := range texts {
		if text == "-" {
			l.answer()
			continue
		}
		raw, _ := chat.MarshalJSON(text)
		l.put("user", `"message":{"role":"user","content":`+string(raw)+`}`)
	}
	return l.String()
}

func TestWhatClaudeCodeWritesIsNotAPrompt(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  []string
	}{
		"a local command": {
			[]string{"<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>",
				"<local-command-stdout></local-command-stdout>", "Explain it", "-"},
			[]string{"Explain it"},
		},
		"a command that the model answers": {
			[]string{"<command-message>review is running…</command-message>\n<command-name>/review</command-name>\n<command-args>PR 12</command-args>", "-"},
			[]string{"/review PR 12"},
		},
		"the editor": {
			[]string{"<ide_opened_file>The user opened a.go</ide_opened_file>\nFix a.go", "-", "<ide_selection>x</ide_selection>", "Go on", "-"},
			[]string{"Fix a.go", "Go on"},
		},
		"a shell command": {
			[]string{"Hello", "-", "<bash-input>git status</bash-input>", "<bash-stdout>clean</bash-stdout><bash-stderr></bash-stderr>", "Thanks", "-"},
			[]string{"Hello", "Thanks"},
		},
		"an interruption": {
			[]string{"One", "-", "[Request interrupted by user]", "Two", "-", "[Request interrupted by user for tool use]"},
			[]string{"One", "Two"},
		},
		"a task": {
			[]string{"Run it", "-", "<task-notification><task-id>b1</task-id><status>completed</status></task-notification>", "-"},
			[]string{"Run it"},
		},
		"a reminder": {
			[]string{"Do it\n<system-reminder>Be brief.</system-reminder>", "-"},
			[]string{"Do it"},
		},
		"markup that a person wrote": {
			[]string{"<b>bold</b> and <command-name> in a sentence", "-"},
			[]string{"<b>bold</b> and <command-name> in a sentence"},
		},
	} {
		got := readOne(t, "session.jsonl", codeSession(c.lines...))
		if texts := userTexts(got); !slices.Equal(texts, c.want) || got.Title != c.want[0] {
			t.Errorf("%s: title %q, messages %q, want %q", name, got.Title, texts, c.want)
		}
		for _, turn := range got.Turns {
			if turn.Assistant == nil || turn.Failed {
				t.Errorf("%s: the turn %q has no answer", name, turn.User.RenderedText())
			}
		}
	}
}

// TestShellCommandsOfAPerson: they are not prompts, but shown as calls and found.
func TestShellCommandsOfAPerson(t *testing.T) {
	claude := readOne(t, "session.jsonl", codeSession("Hello", "-", "<bash-input>git status</bash-input>", "<bash-stdout>clean</bash-stdout><bash-stderr></bash-stderr>", "Thanks", "-"))
	codex := readOne(t, "rollout-1.jsonl", codexSession(`"id":"s"`, "Hello", "-Hi", "<user_shell_command>\n<command>\ngit status\n</command>\n<result>\nclean\n</result>\n</user_shell_command>", "Thanks", "-Bye"))
	for _, c := range []Conversation{claude, codex} {
		if answer := c.Turns[1].Assistant; !slices.Equal(userTexts(c), []string{"Hello", "Thanks"}) || answer.ToolText() != "clean\n\ngit status" {
			t.Errorf("%s: %q, the calls are %q", c.Source, userTexts(c), answer.ToolText())
		}
		checkValid(t, c)
	}
}

// codexSession is a rollout of Codex with these messages; "-" is an answer.
func codexSession(meta string, texts ...string) string {
	lines := []string{`{"timestamp":"2026-09-01T10:00:00Z","type":"session_meta","payload":{` + meta + `}}`}
	for i, text := range texts {
		role, kind := "user", "input_text"
		if text, ok := strings.CutPrefix(text, "-"); ok {
			role, kind, texts[i] = "assistant", "output_text", text
		}
		raw, _ := chat.MarshalJSON(texts[i])
		lines = append(lines, `{"timestamp":"2026-09-01T10:00:00Z","type":"response_item","payload":{"type":"message","role":"`+role+
			`","content":[{"type":"`+kind+`","text":`+string(raw)+`}]}}`)
	}
	return strings.Join(lines, "\n") + "\n"
}

func TestWhatCodexWritesIsNotAPrompt(t *testing.T) {
	c := readOne(t, "rollout-1.jsonl", codexSession(`"id":"s"`,
		"# AGENTS.md instructions for /src\n\n<INSTRUCTIONS>\nbe nice\n</INSTRUCTIONS>",
		"<environment_context>\n<cwd>/src</cwd>\n</environment_context>\n\nExplain it", "-It does X.",
		"<skill>\n<name>docs</name>\n</skill>", "<user_shell_command>\n<command>ls</command>\n</user_shell_command>",
		"# Files mentioned by the user:\n\n## a.go: /src/a.go\n\n## My request for Codex:\nShorten it\n", "-Shorter.",
		"<turn_aborted>\nThe user interrupted.\n</turn_aborted>"))
	if want := []string{"Explain it", "Shorten it"}; !slices.Equal(userTexts(c), want) || c.Title != want[0] {
		t.Errorf("title %q, messages %q", c.Title, userTexts(c))
	}
}

func TestMessagesBetweenCodexAgents(t *testing.T) {
	root := codexSession(`"id":"root"`, "Check it") + `{"type":"inter_agent_communication","payload":{"author":"/root","recipient":"/root/helper","content":"please check"}}
{"type":"response_item","payload":{"type":"agent_message","author":"/root/helper","recipient":"/root","content":[{"type":"input_text","text":"tests are fine"}]}}
`
	c := readOne(t, "rollout-1.jsonl", root)
	if got := c.Turns[0].Assistant.ToolText(); len(c.Turns) != 1 || got != "please check\n\ntests are fine\n\n/root\n/root/helper\n\n/root/helper\n/root" ||
		c.Turns[0].Assistant.RenderedText() != "" {
		t.Errorf("%d turns, the messages are %q", len(c.Turns), got)
	}
	meta := `"id":"helper","agent_nickname":"Newton","source":{"subagent":{"thread_spawn":{"parent_thread_id":"root","depth":1}}}`
	c = readOne(t, "rollout-2.jsonl", codexSession(meta)+`{"type":"inter_agent_communication","payload":{"author":"/root","recipient":"/root/helper","content":"please check"}}
`+strings.SplitAfterN(codexSession(`"id":"x"`, "-Fine."), "\n", 2)[1])
	if c.Title != "Agent Newton: please check" || c.Parent != "root" || c.Turns[0].Assistant.RenderedText() != "Fine." {
		t.Errorf("title %q, parent %q, %+v", c.Title, c.Parent, c.Turns)
	}
}

// TestCopiesOfForks: a fork and an agent bring only their own turns, if the session that they repeat is read with them.
func TestCopiesOfForks(t *testing.T) {
	parent := codexSession(`"id":"parent"`, "One", "-1", "Two", "-2", "Three", "-3")
	copied := strings.SplitAfterN(codexSession(`"id":"parent"`, "One", "-1", "Two"), "\n", 2)[1]
	own := strings.SplitAfterN(codexSession("", "Two", "-another 2"), "\n", 2)[1]
	fork := codexSession(`"id":"fork","forked_from_id":"parent"`) + copied + own
	only := codexSession(`"id":"only","forked_from_id":"parent"`) + copied
	forks := NewForks()
	got, _ := read(t, "rollout-1.jsonl", parent, Options{Forks: forks})
	if len(got) != 1 || len(got[0].Turns) != 3 {
		t.Fatalf("%+v", got)
	}
	got, _ = read(t, "rollout-2.jsonl", fork, Options{Forks: forks})
	if len(got) != 1 || got[0].Title != "Two" || !slices.Equal(userTexts(got[0]), []string{"Two"}) || got[0].Turns[0].Parent != "" {
		t.Errorf("the fork is %+v", got)
	}
	checkValid(t, got[0])
	alone := readOne(t, "rollout-2.jsonl", fork)
	if last := alone.Turns[len(alone.Turns)-1]; alone.Key != got[0].Key || last.ContentKey != got[0].Turns[0].ContentKey || len(alone.Turns) != 3 {
		t.Errorf("read alone, the fork has %d turns and the key %s", len(alone.Turns), alone.Key)
	}
	packed, _ := read(t, "sessions.zip", archiveOf(t, map[string]string{"rollout-1.jsonl": fork, "rollout-2.jsonl.zst": compressed(t, parent)}), Options{Forks: NewForks()})
	if len(packed) != 2 || packed[0].ID != "parent" || len(packed[1].Turns) != 1 {
		t.Errorf("in an archive: %+v", packed)
	}
	got, report := read(t, "rollout-3.jsonl", only, Options{Forks: forks})
	if len(got) != 0 || len(report.Notices) != 1 {
		t.Errorf("a copy is %+v, %+v", got, report)
	}
}

// formerTurns returns the turns of a draft in their earlier form, and its key.
func formerTurns(t *testing.T, d *draft) ([]Turn, string) {
	t.Helper()
	if d.skip != "" {
		return nil, ""
	}
	if !newTree(d).assemble() {
		t.Fatal("it was not assembled")
	}
	d.fillID()
	if err := d.setKeys(); err != nil {
		t.Fatal(err)
	}
	return d.Turns, d.Key
}

// TestShowingKeepsKeys: what is hidden, cleaned or made readable changes no key, so that nothing that an earlier version
// imported is imported again.
func TestShowingKeepsKeys(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join("testdata", "claude-code", "*.jsonl"))
	texts := []string{codeSession("<command-name>/clear</command-name>", "One", "-", "[Request interrupted by user]", "-", "<bash-input>ls</bash-input>", "Two", "-")}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	for _, text := range texts {
		parse := func() []*draft {
			b := newClaudeCode("session.jsonl")
			for line := range strings.Lines(text) {
				b.add([]byte(strings.TrimSpace(line)))
			}
			return b.drafts()
		}
		shown := parse()
		for i, d := range parse() {
			former, key := formerTurns(t, d)
			keys := map[string]bool{}
			for _, turn := range former {
				keys[turn.ContentKey] = true
			}
			c, reason := shown[i].build()
			if reason != "" {
				continue
			}
			if c.Key != key {
				t.Errorf("%s: the key changed", c.ID)
			}
			for _, turn := range c.Turns {
				if !keys[turn.ContentKey] {
					t.Errorf("%s: the turn %s would be imported again", c.ID, turn.Key)
				}
			}
		}
	}
}

func TestATornLineLosesOnlyItself(t *testing.T) {
	whole := codexSession(`"id":"s"`, "One", "-1", "Two", "-2")
	lines := strings.SplitAfter(whole, "\n")
	torn := lines[0] + lines[1] + lines[2][:70] + lines[3] + lines[4]
	got, report := read(t, "rollout-1.jsonl", torn, Options{})
	if len(got) != 1 || !slices.Equal(userTexts(got[0]), []string{"One", "Two"}) || report.SkippedCount != 1 || report.Truncated {
		t.Errorf("%+v, %+v", got, report)
	}
	got, report = read(t, "rollout-1.jsonl", lines[0][:60]+"\n"+strings.Join(lines[1:], ""), Options{})
	if len(got) != 1 || len(got[0].Turns) != 2 || report.SkippedCount != 1 {
		t.Errorf("without its first line: %+v, %+v", got, report)
	}
}

// compressed returns a text as Codex compresses its sessions after some days.
func compressed(t *testing.T, text string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(w.EncodeAll([]byte(text), nil))
}

func TestCompressedSessions(t *testing.T) {
	text := codexSession(`"id":"s"`, "One", "-1")
	packed := compressed(t, text)
	plain := readOne(t, "rollout-1.jsonl", text)
	if c := readOne(t, "rollout-1.jsonl.zst", packed); c.Key != plain.Key {
		t.Errorf("%+v", c)
	}
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	f, _ := w.Create("sessions/rollout-1.jsonl.zst")
	_, _ = f.Write([]byte(packed))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if c := readOne(t, "sessions.zip", archive.String()); c.Key != plain.Key {
		t.Errorf("in an archive: %+v", c)
	}
	long := compressed(t, codexSession(`"id":"s"`, "One", "-1", strings.Repeat("x", 4<<20)))
	if got, report := read(t, "rollout-1.jsonl.zst", long[:len(long)-8], Options{}); report.SkippedCount == 0 || !report.Truncated {
		t.Errorf("damaged: %+v, %+v", got, report)
	}
}

// picture is the beginning of a PNG.
const picture = "\x89PNG\r\n\x1a\n0000"

// archiveOf returns a zip with these files.
func archiveOf(t *testing.T, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.Write([]byte(files[name]))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// gptExport is a conversation of ChatGPT; each message is given by its members.
func gptExport(messages ...string) string {
	nodes, parent := []string{}, "null"
	for i, m := range messages {
		nodes = append(nodes, fmt.Sprintf(`"m%d":{"id":"m%d","parent":%s,"message":{%s}}`, i, i, parent, m))
		parent = fmt.Sprintf(`"m%d"`, i)
	}
	return `[{"id":"c","title":"T","create_time":1700000000,"mapping":{` + strings.Join(nodes, ",") + `}}]`
}

func TestFilesOfChatGPT(t *testing.T) {
	conversation := gptExport(`"author":{"role":"user"},"content":{"content_type":"multimodal_text","parts":[{"content_type":"image_asset_pointer",
		"asset_pointer":"sediment://file_00aa"},"Which leaf?"]},"metadata":{"attachments":[{"id":"file_00aa","name":"leaf.png"},
		{"id":"file-BB","name":"notes.txt","mime_type":"text/plain"},{"id":"file-CC","name":"gone.txt"},{"id":"file-DD","name":"a.mp3"}]}`,
		`"author":{"role":"tool","name":"dalle"},"content":{"content_type":"multimodal_text","parts":[{"content_type":"image_asset_pointer",
		"asset_pointer":"file-service://file-EE","metadata":{"dalle":{"prompt":"a fox"}}}]}`)
	files := map[string]string{
		"conversations.json": conversation, "file_00aa.dat": picture, "file-BB.dat": "The notes.", "file-DD-a.mp3": "\xff\xfb\x90",
		"dalle-generations/file-EE-1.webp": "RIFF0000WEBP", assetNames: `{"file_00aa.dat":"leaf.png","file-BB.dat":"user-x/notes.txt"}`,
	}
	check := func(where string, got []Conversation, report Report) {
		t.Helper()
		if len(got) != 1 || report.SkippedCount > 0 {
			t.Fatalf("%s: %+v", where, report)
		}
		turn := got[0].Turns[0]
		image, ok := turn.User.Blocks[0].(chat.Image)
		if !ok || image.Name != "leaf.png" || image.MediaType != "image/png" {
			t.Errorf("%s: the picture is %+v", where, turn.User.Blocks[0])
		}
		notes, ok := turn.User.Blocks[2].(chat.Document)
		if !ok || notes.Name != "notes.txt" || notes.Text != "The notes." {
			t.Errorf("%s: the file is %+v", where, turn.User.Blocks[2])
		}
		made, ok := turn.Assistant.Blocks[1].(chat.Image)
		if !ok || made.MediaType != "image/webp" || turn.Assistant.ToolText() != "a fox" {
			t.Errorf("%s: the answer is %+v", where, turn.Assistant.Blocks)
		}
		texts := []string{}
		for _, n := range report.Notices {
			texts = append(texts, n.Text)
		}
		if !slices.Contains(texts, noticeNoAsset) || !slices.Contains(texts, noticeAsset) {
			t.Errorf("%s: the notices are %q", where, texts)
		}
	}
	got, report := read(t, "export.zip", archiveOf(t, files), Options{})
	check("zip", got, report)

	folder := fstest.MapFS{}
	for name, text := range files {
		folder[name] = &fstest.MapFile{Data: []byte(text)}
	}
	in := fileOf("conversations.json", conversation)
	in.Beside = folder
	var out []Conversation
	report, err := Read(context.Background(), in, Options{}, func(c Conversation) error { out = append(out, c); return nil })
	if err != nil {
		t.Fatal(err)
	}
	check("folder", out, report)

	plain := readOne(t, "conversations.json", conversation) // without its files, as by earlier versions
	if plain.Key != got[0].Key || plain.Turns[0].ContentKey != got[0].Turns[0].ContentKey {
		t.Error("files change the keys")
	}
}

func TestReportsAndCanvasesOfChatGPT(t *testing.T) {
	state, _ := chat.MarshalJSON(`{"status":"completed","report_message":{"content":{"content_type":"text","parts":["The report\ue200cite\ue202turn0\ue201."]}}}`)
	inText, _ := chat.MarshalJSON(`The latest state of the widget is: {"report_message":{"content":{"content_type":"text","parts":["Part two."]}}}`)
	other, _ := chat.MarshalJSON(`{"app":"maps","place":{"title":"Town hall","note":"open until six"}}`)
	c := readOne(t, "conversations.json", gptExport(
		`"author":{"role":"user"},"content":{"content_type":"text","parts":["Research it"]}`,
		`"author":{"role":"tool"},"content":{"content_type":"text","parts":[""]},"metadata":{"is_visually_hidden_from_conversation":true,"chatgpt_sdk":{"widget_state":`+string(state)+`}}`,
		`"author":{"role":"tool"},"content":{"content_type":"text","parts":[`+string(inText)+`]},"metadata":{"is_visually_hidden_from_conversation":true}`,
		`"author":{"role":"tool"},"content":{"content_type":"text","parts":["again"]},"metadata":{"chatgpt_sdk":{"widget_state":`+string(state)+`}}`,
		`"author":{"role":"tool"},"content":{"content_type":"text","parts":[""]},"metadata":{"chatgpt_sdk":{"widget_state":`+string(other)+`}}`,
		`"author":{"role":"assistant"},"recipient":"canmore.create_textdoc","content":{"content_type":"code","text":"{\"name\":\"Letter\",\"type\":\"code/go\",\"content\":\"package a\"}"}`,
		`"author":{"role":"assistant"},"content":{"content_type":"text","parts":[""]}`))
	answer := c.Turns[0].Assistant
	if got := answer.RenderedText(); len(c.Turns) != 1 || got != "The report.\n\nPart two.\n\n## Letter\n\n```go\npackage a\n```" {
		t.Errorf("%d turns, the answer is %q", len(c.Turns), got)
	}
	if got := answer.ToolText(); got != "again\n\nTown hall\nopen until six\n\nLetter\ncode/go" {
		t.Errorf("the calls are %q", got)
	}
}

// TestFilesOfAnExportAreNamed: what is not read of an archive is in the report, with its name.
func TestFilesOfAnExportAreNamed(t *testing.T) {
	_, report := read(t, "export.zip", archiveOf(t, map[string]string{
		"conversations-000.json": gptExport(`"author":{"role":"user"},"content":{"content_type":"text","parts":["Hi"]}`),
		"export_manifest.json":   `{"export_files":[{"path":"conversations-000.json"}],"logical_files":{"conversations.json":{"files":["conversations-000.json","conversations-001.json"]}}}`,
		"projects/p1.json":       `{"uuid":"p1","name":"Bees"}`, "memories.json": `[]`, "chat.html": "<html>",
	}), Options{})
	if report.SkippedCount != 1 || report.Skipped[0].Title != "conversations-001.json" {
		t.Errorf("skipped %+v", report.Skipped)
	}
	named := map[string]bool{}
	for _, n := range report.Notices {
		for _, file := range n.Files {
			named[file] = true
		}
	}
	if !named["projects/p1.json"] || !named["memories.json"] || !named["chat.html"] || len(report.Notices) != 3 || report.Format != FormatChatGPT {
		t.Errorf("%s, notices %+v", report.Format, report.Notices)
	}
}

func TestTextsOfGrok(t *testing.T) {
	conversation := `{"conversations":[{"conversation":{"id":"c"},"responses":[
		{"response":{"sender":"human","message":"Draw it","parent_response_id":"gone","file_attachments":["a-1","a-2"]}},
		{"response":{"sender":"assistant","parent_response_id":"","message":"Done<grok:render card_id=\"1\"><argument name=\"id\">3</argument></grok:render>.\n<xaiArtifact artifact_id=\"x\" title=\"a.py\" contentType=\"text/python\">\nprint(1)\n</xaiArtifact>"}},
		{"response":{"sender":"human","message":"Again","parent_response_id":""}}]}]}`
	got, report := read(t, "grok.zip", archiveOf(t, map[string]string{
		"ttl/30d/prod-grok-backend.json": conversation, "ttl/30d/prod-mc-asset-server/a-1/content": picture, "ttl/30d/prod-mc-asset-server/a-2/content": "Notes.",
		"ttl/30d/prod-mc-billing.json": "{}",
	}), Options{})
	if len(got) != 1 || !slices.Equal(userTexts(got[0]), []string{"Draw it", "Again"}) || got[0].Turns[1].Parent != got[0].Turns[0].Key {
		t.Fatalf("%+v, %+v", got, report)
	}
	turn := got[0].Turns[0]
	if text := turn.Assistant.RenderedText(); text != "Done.\n## a.py\n\n```python\nprint(1)\n```" {
		t.Errorf("the answer is %q", text)
	}
	_, image := turn.User.Blocks[1].(chat.Image)
	notes, document := turn.User.Blocks[2].(chat.Document)
	if !image || !document || notes.Text != "Notes." {
		t.Errorf("the files are %+v", turn.User.Blocks[1:])
	}
}

func TestOrphansOfLibreChat(t *testing.T) {
	c := readOne(t, "c.json", `{"conversationId":"c","endpoint":"openAI","messages":[
		{"messageId":"1","parentMessageId":"00000000-0000-0000-0000-000000000000","isCreatedByUser":true,"text":"One"},
		{"messageId":"2","parentMessageId":"1","text":"1"},
		{"messageId":"3","parentMessageId":"gone","isCreatedByUser":true,"text":"Two"},
		{"messageId":"4","parentMessageId":"3","text":"2"}]}`)
	if len(c.Turns) != 2 || c.Turns[1].Parent != c.Turns[0].Key || c.Current != "4" || c.Notices[0].Text != noticeOrphan {
		t.Errorf("%+v", c)
	}
}

func TestOtherFormsOfKnownProducts(t *testing.T) {
	for name, text := range map[string]string{
		"a chat of Open WebUI without its entry": `{"id":"","title":"T","models":["llama3"],"history":{"currentId":null,"messages":{
			"1":{"id":"1","parentId":null,"role":"user","content":"One"},"2":{"id":"2","parentId":"1","role":"assistant","content":"1"}}},"messages":[]}`,
		"a checkpoint of Gemini CLI": `[{"role":"user","parts":[{"text":"One"}]},{"role":"model","parts":[{"text":"1"}]}]`,
	} {
		c := readOne(t, "c.json", text)
		if len(c.Turns) != 1 || c.Turns[0].User.RenderedText() != "One" || c.Turns[0].Assistant.RenderedText() != "1" {
			t.Errorf("%s: %+v", name, c.Turns)
		}
	}
}

// TestAFolderOfEveryProduct: every file of testdata is read, or something of it is in the report.
func TestAFolderOfEveryProduct(t *testing.T) {
	all := map[string]string{}
	files, _ := filepath.Glob(filepath.Join("testdata", "*", "*.json*"))
	formats := map[Format]bool{}
	for _, file := range files {
		format := filepath.Base(filepath.Dir(file))
		if format == "golden" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		formats[Format(format)] = true
		all[format+"/"+filepath.Base(file)] = string(text)
	}
	for _, f := range Formats() {
		if f != FormatZip && !formats[f] {
			t.Errorf("there is no export of %s", f)
		}
	}
	sources := map[string]bool{}
	var report Report
	report, err := Read(context.Background(), fileOf("all.zip", archiveOf(t, all)), Options{}, func(c Conversation) error {
		sources[string(c.Source)] = true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for f := range formats {
		if !sources[string(f)] {
			t.Errorf("nothing of %s was imported", f)
		}
	}
	for _, n := range report.Notices {
		if len(n.Files) > 0 {
			t.Errorf("files were not read: %+v", n)
		}
	}
}
