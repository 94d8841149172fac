package chunking_test

import (
	"bytes"
	"math/rand"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/chunking"
)

// sourceOf returns the text that a chunk's offsets refer to.
func sourceOf(turn chat.Turn, files []chat.FileText, c chat.Chunk) string {
	for _, f := range files {
		if c.File == f.File.ID {
			return f.Text
		}
	}
	if c.Role == chat.RoleAssistant {
		return turn.Assistant.RenderedText()
	}
	return turn.User.RenderedText()
}

// failing is implemented by *testing.T and *rapid.T.
type failing interface {
	Helper()
	Fatalf(format string, args ...any)
}

// check checks the invariants of chunks.
func check(t failing, turn chat.Turn, opt chunking.Options, files ...chat.FileText) []chat.Chunk {
	t.Helper()
	chunks := chunking.Chunk(turn, opt, files...)
	if second := chunking.Chunk(turn, opt, files...); !reflect.DeepEqual(chunks, second) {
		t.Fatalf("the same turn produced different chunks")
	}
	type identity struct {
		kind chat.ChunkType
		hash string
	}
	seen := map[identity]bool{}
	for i, c := range chunks {
		source := sourceOf(turn, files, c)
		if c.Ordinal != i || c.Start < 0 || c.Start >= c.End || c.End > len(source) || c.Text != source[c.Start:c.End] {
			t.Fatalf("chunk %d [%d:%d] is not of its message", i, c.Start, c.End)
		}
		if c.ContentHash != chat.HashText(c.Text) || c.Tokens <= 0 || c.Type == "" || c.Version != chunking.Version {
			t.Fatalf("chunk %d: %+v", i, c)
		}
		if !utf8.ValidString(c.Summary) || utf8.RuneCountInString(c.Summary) > 240 || strings.Contains(c.Summary, "\n") {
			t.Fatalf("chunk %d: summary %q", i, c.Summary)
		}
		if id := (identity{c.Type, c.ContentHash}); seen[id] {
			t.Fatalf("chunk %d occurs twice", i)
		} else {
			seen[id] = true
		}
		checkUnits(t, source, c)
	}
	checkCover(t, turn, chunks, files)
	return chunks
}

func checkUnits(t failing, source string, c chat.Chunk) {
	t.Helper()
	if len(c.Units) == 0 || c.Units[0].Start != c.Start || c.Units[len(c.Units)-1].End != c.End {
		t.Fatalf("the units of chunk [%d:%d] do not begin and end with it: %+v", c.Start, c.End, c.Units)
	}
	end := c.Start
	for i, u := range c.Units {
		words := strings.ToValidUTF8(source[u.Start:u.End], "\uFFFD")
		if u.Ordinal != i || u.Role != c.Role || u.Tokens <= 0 || u.Start < end || !strings.HasSuffix(u.Text, words) || !utf8.ValidString(u.Text) {
			t.Fatalf("unit %d of chunk [%d:%d]: %+v", i, c.Start, c.End, u)
		}
		if strings.TrimSpace(source[end:u.Start]) != "" {
			t.Fatalf("no unit has %q", source[end:u.Start])
		}
		if utf8.ValidString(source) && (!utf8.ValidString(source[u.Start:u.End]) || !utf8.ValidString(c.Text)) {
			t.Fatalf("unit %d of chunk [%d:%d] begins or ends inside a character", i, c.Start, c.End)
		}
		end = u.End
	}
}

// checkCover fails if visible text is in no chunk, unless the same text is in another.
func checkCover(t failing, turn chat.Turn, chunks []chat.Chunk, files []chat.FileText) {
	t.Helper()
	texts := map[string]bool{}
	at := map[string]int{}
	cover := func(key, gap string) {
		if gap = strings.TrimSpace(gap); !repeats(gap, texts, map[int]bool{}) {
			t.Fatalf("%s: %q is in no chunk", key, gap)
		}
	}
	for _, c := range chunks {
		texts[strings.TrimSpace(c.Text)] = true
	}
	for _, c := range chunks {
		key := string(c.Role) + string(c.File)
		if c.Start < at[key] {
			t.Fatalf("%s: chunk [%d:%d] overlaps the one before, which ends at %d", key, c.Start, c.End, at[key])
		}
		cover(key, sourceOf(turn, files, c)[at[key]:c.Start])
		at[key] = c.End
	}
	cover("user", turn.User.RenderedText()[at["user"]:])
	if turn.Assistant != nil && turn.Provider != "recall" {
		cover("assistant", turn.Assistant.RenderedText()[at["assistant"]:])
	}
	for _, f := range files {
		cover("user"+string(f.File.ID), f.Text[at["user"+string(f.File.ID)]:])
	}
}

// repeats reports whether a text consists of texts that are in chunks. failed contains the lengths of remainders that
// do not.
func repeats(s string, texts map[string]bool, failed map[int]bool) bool {
	if s == "" {
		return true
	}
	if failed[len(s)] {
		return false
	}
	for c := range texts {
		if rest, ok := strings.CutPrefix(s, c); ok && repeats(strings.TrimLeftFunc(rest, unicode.IsSpace), texts, failed) {
			return true
		}
	}
	failed[len(s)] = true
	return false
}

// anyText draws texts that look like pasted ones, and random texts.
func anyText(rt *rapid.T, label string) string {
	switch rapid.IntRange(0, 3).Draw(rt, label+" form") {
	case 0:
		return rapid.String().Draw(rt, label)
	case 1:
		return string(rapid.SliceOf(rapid.Byte()).Draw(rt, label))
	}
	parts := rapid.SliceOfN(rapid.SampledFrom([]string{
		"# Setup\n", "## Install *it*\n", "Title\n=====\n", "---\n", "\n", "\n\n", "\r\n", "```go\n", "```\n", "~~~\n", "- item one\n", "  - nested. Two!\n", "1. first\n",
		"| a | b |\n|---|---|\n", "| 1 | 2 |\n", "> quoted words\n", "We decided on SQLite. ", "For example:\n", "A sentence of words, then another one. ", "func f(a int) error {\n",
		"\treturn nil\n", "}\n", "def g(x):\n", "    pass\n", "记忆系统，很长的一句话。", "пример текста ", "word ", "\f", "\x00", "\xff", "\u00a0", "é", "👩‍👩‍👧", strings.Repeat("x", 300), strings.Repeat("long words ", 60),
	}), 0, 60).Draw(rt, label+" parts")
	return strings.Join(parts, "")
}

func TestProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		opt := chunking.Options{
			MinTokens: rapid.IntRange(0, 60).Draw(rt, "min"), MaxTokens: rapid.IntRange(0, 120).Draw(rt, "max"),
			UnitMin: rapid.IntRange(0, 40).Draw(rt, "unit min"), UnitMax: rapid.IntRange(0, 80).Draw(rt, "unit max"),
		}
		var files []chat.FileText
		if rapid.Bool().Draw(rt, "file") {
			name := rapid.SampledFrom([]string{"a.go", "b.md", "c.txt", "d"}).Draw(rt, "name")
			files = append(files, chat.FileText{File: chat.File{ID: "F", Name: name}, Text: anyText(rt, "file")})
		}
		check(rt, turnOf(anyText(rt, "user"), anyText(rt, "assistant")), opt, files...)
	})
}

// hostile returns texts, by name, on which a Markdown parser or a careless loop could need quadratic time, deep
// recursion, or unlimited memory.
func hostile(size int) map[string]string {
	random := make([]byte, size)
	rand.New(rand.NewSource(1)).Read(random)
	times := func(s string) string { return strings.Repeat(s, size/len(s)) }
	half := func(a, b string) string {
		return strings.Repeat(a, size/2/len(a)) + strings.Repeat(b, size/2/len(b))
	}
	stairs := func(mark string) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			b.WriteString(strings.Repeat("  ", i%200) + mark + "\n")
		}
		return b.String()
	}
	return map[string]string{
		"one letter": times("a"), "spaces": times(" ") + "x", "new lines": "x" + times("\n") + "y", "tabs": times("\t") + "x", "form feeds": times("\f") + "x",
		"zero bytes": times("\x00"), "bad bytes": times("\xff"), "continuation bytes": times("\x80"), "random": string(random),
		"quotes": times(">"), "quotes and lines": half(">", "a\n"), "quoted lines": times("> a\n"), "brackets": times("["), "links": times("[a]("), "references": times("[a]: b\n"),
		"list in a line": times("- "), "stairs of lists": stairs("- a"), "stairs of quotes": stairs("> a"), "lists and blank lines": half("- a\n", "\n"),
		"items": times("1. a\n"), "headings": times("# a\n"), "one heading": "# " + times("ab "), "empty headings": times("#\n"), "underlines": times("a\n=\n"), "long underline": half("a\n", "="),
		"fences": times("```\n"), "open fence": "hi\n```" + times("x"), "open fence of lines": "hi\n```\n" + times("x = 1\n"), "closed late": "hi\n```\n" + times("x") + "\n```\nend\n",
		"table of many columns": half("|a", "\n") + "\n" + half("|-", "\na"), "table": "|a|b|\n|-|-|\n" + times("|1|2|\n"), "tags": times("<a "), "comment": "<!--" + times("-"), "markup": times("*_`"),
		"log": times("2026-03-04T10:00:00Z INFO request served in 12 ms\n"), "words": times("word "), "Chinese": times("记忆"), "emoji": times("👩‍👩‍👧"), "sentences": times("It is so. "),
		"code": "```go\n" + times("func f() {\n\treturn\n}\n\n"), "brace": times("{"), "indented braces": stairs("{"), "string quotes": times("\""), "escapes": times("\\"),
		"quotes then new lines": half(">", "\n"), "blank then words": half(" \n", "word "), "base64": times("TWFuIGlzIGRpc3Rpbmd1aXNoZWQ"),
	}
}

func TestHostile(t *testing.T) {
	for name, text := range hostile(140 << 10) {
		t.Run(name, func(t *testing.T) {
			turn := turnOf(text, "")
			for _, c := range chunking.Chunk(turn, chunking.Options{}) {
				if source := sourceOf(turn, nil, c); c.Text != source[c.Start:c.End] {
					t.Fatalf("chunk [%d:%d] is not of its message", c.Start, c.End)
				}
				checkUnits(t, sourceOf(turn, nil, c), c)
			}
			for _, file := range []string{"a.go", "a.txt"} {
				f := chat.FileText{File: chat.File{ID: "F", Name: file}, Text: text}
				if got := chunking.Chunk(turnOf("q", ""), chunking.Options{}, f); len(got) < 2 {
					t.Errorf("%s has %d chunks", file, len(got))
				}
			}
		})
	}
}

func FuzzChunk(f *testing.F) {
	for _, s := range []string{"# A\n\ntext\n\n```go\nfunc f() {}\n```\n", "- a\n  - b\n\n> c\n", "| a |\n|---|\n| b |", "\xff\x00\f", "def f():\n    pass\n\nclass A:\n    def g(self): pass\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 64<<10 {
			text = text[:64<<10]
		}
		var files []chat.FileText
		for _, name := range []string{"a.py", "b.txt"} {
			files = append(files, chat.FileText{File: chat.File{ID: chat.FileID(name), Name: name}, Text: string(text)})
		}
		check(t, turnOf(string(text), string(bytes.TrimSpace(text))), chunking.Options{MinTokens: 20, MaxTokens: 60, UnitMax: 30}, files...)
		check(t, turnOf(string(text), "ok"), chunking.Options{MinTokens: 20, MaxTokens: 60, UnitMax: 30})
	})
}
