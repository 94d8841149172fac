package tokens

import (
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	loader "github.com/pkoukk/tiktoken-go-loader"
)

// Published counts of both encodings.
func TestKnownCounts(t *testing.T) {
	cases := []struct {
		text         string
		cl100k, o200 int
	}{
		{"", 0, 0},
		{"hello world", 2, 2},
		{"tiktoken is great!", 6, 6},
		{"antidisestablishmentarianism", 6, 6},
		{"2 + 2 = 4", 7, 7},
		{"お誕生日おめでとう", 9, 8},
		{"<|endoftext|>", 7, 7}, // ordinary text here, never a control token
	}
	for _, c := range cases {
		if n := New().CountText(c.text); n != c.cl100k {
			t.Errorf("cl100k %q = %d, want %d", c.text, n, c.cl100k)
		}
		if n := ForModel("gpt-5.2").CountText(c.text); n != c.o200 {
			t.Errorf("o200k %q = %d, want %d", c.text, n, c.o200)
		}
	}
}

// prose returns natural text with every class of characters.
func prose(bytes int) string {
	words := strings.Fields("the quick Brown fox's 12345 it's über naïve — “quoted” (x)==y; 日本語の文章 привет ❤️ https://example.com/a_b?c=1 tab\tend. résumé")
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for b.Len() < bytes {
		b.WriteString(words[r.IntN(len(words))])
		b.WriteString([]string{" ", " ", " ", "  ", "\n", ".\n\n", ", "}[r.IntN(7)])
	}
	return b.String()
}

// Dividing long text does not change the count of ordinary text; the encoder applied to the whole text gives the
// expected count.
func TestCuttingDoesNotChangeOrdinaryCounts(t *testing.T) {
	text := prose(200 << 10)
	for _, enc := range []*encoding{cl100k, o200k} {
		uncut := len(enc.load().EncodeOrdinary(text))
		n := 0
		for range pieces(text) {
			n++
		}
		if got := enc.count(text); got != uncut || n < 3 {
			t.Errorf("%s: %d in %d pieces, uncut %d", enc.name, got, n, uncut)
		}
	}
}

// Long runs are divided, so that the encoder's quadratic time stays limited, without losing or splitting a character.
func TestPiecesBoundEveryRun(t *testing.T) {
	cases := map[string]string{
		"one letter":     strings.Repeat("a", 64<<10),
		"chinese":        strings.Repeat("漢字仮名交", 60<<10/15),
		"spaces":         strings.Repeat(" ", 64<<10),
		"newlines":       strings.Repeat("\n", 64<<10),
		"symbols":        strings.Repeat("=-", 32<<10),
		"hearts":         strings.Repeat("❤️", 8<<10),
		"accents":        strings.Repeat("e\u0301", 16<<10),
		"marks only":     strings.Repeat("\u0301", 16<<10),
		"invalid bytes":  strings.Repeat("\xff", 64<<10),
		"base64":         strings.Repeat("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo", 1<<10),
		"family, joined": strings.Repeat("👩‍👩‍👧", 4<<10),
	}
	for name, s := range cases {
		t.Run(name, func(t *testing.T) {
			var joined strings.Builder
			for p := range pieces(s) {
				joined.WriteString(p)
				if utf8.ValidString(s) && !utf8.ValidString(p) {
					t.Fatal("a character was split")
				}
				if n := longestRun(p); n > maxRun {
					t.Fatalf("a run of %d bytes", n)
				}
			}
			if joined.String() != s {
				t.Fatal("the pieces differ from the text")
			}
			if n := New().CountText(s); n <= 0 {
				t.Fatalf("count %d", n)
			}
		})
	}
}

// longestRun returns the longest run without a change between letters, digits, spaces and symbols; marks do not end a
// run. It uses classOf, but not the cutter.
func longestRun(s string) int {
	longest, run, last := 0, 0, class(-1)
	for _, r := range s {
		if c := classOf(r); c != classMark && c != last {
			last, run = c, 0
		}
		run += utf8.RuneLen(r)
		longest = max(longest, run)
	}
	return longest
}

func TestCutRunsCountAlmostAsUncut(t *testing.T) {
	s := strings.Repeat("a", 4000)
	uncut := len(cl100k.load().EncodeOrdinary(s))
	got := New().CountText(s)
	if slack := len(s)/maxRun + 1; got < uncut || got > uncut+slack {
		t.Fatalf("%d, uncut %d, allowed %d more", got, uncut, slack)
	}
}

func FuzzCount(f *testing.F) {
	f.Add("plain", uint8(3))
	f.Add("\xff\xfe\x00", uint8(255))
	f.Add("a\u0301\u200d👩", uint8(200))
	f.Fuzz(func(t *testing.T, s string, times uint8) {
		s = strings.Repeat(s, int(times))
		if len(s) > 1<<16 {
			return
		}
		var joined strings.Builder
		for p := range pieces(s) {
			joined.WriteString(p)
		}
		n := New().CountText(s)
		// A token has at least one byte, and an invalid byte is encoded as three.
		if joined.String() != s || n < 0 || n > 3*len(s) || (n == 0) != (s == "") {
			t.Fatalf("%d tokens of %d bytes", n, len(s))
		}
	})
}

func TestEncodingByFamily(t *testing.T) {
	for id, want := range map[string]string{
		"claude-sonnet-4-20250514": "cl100k_base", "gpt-4": "cl100k_base", "gpt-4-turbo": "cl100k_base", "gpt-3.5-turbo": "cl100k_base",
		"llama3.1:8b": "cl100k_base", "": "cl100k_base",
		"gpt-4o-mini": "o200k_base", "gpt-5.2": "o200k_base", "GPT-4.1": "o200k_base", "o3-mini": "o200k_base", "openai/gpt-4o": "o200k_base",
	} {
		if got := ForModel(id).Encoding(); got != want {
			t.Errorf("%s: %s", id, got)
		}
	}
}

func TestCacheForgetsTheLeastUsed(t *testing.T) {
	c := newCache(2)
	key := func(b byte) cacheKey { return cacheKey{sum: [32]byte{b}} }
	c.put(key(1), 11)
	c.put(key(2), 22)
	c.put(key(3), 33) // 1 and 2 are old now
	if n, ok := c.get(key(1)); !ok || n != 11 {
		t.Fatal("1 was forgotten too early")
	}
	c.put(key(4), 44) // 2 is dropped; 1 was used and stays
	if _, ok := c.get(key(2)); ok {
		t.Fatal("2 was kept")
	}
	if n, ok := c.get(key(1)); !ok || n != 11 {
		t.Fatal("1 was dropped though in use")
	}
}

// Counts are cached, separately for each encoding.
func TestCountIsCachedByContent(t *testing.T) {
	calls := 0
	enc := &encoding{name: "test", load: func() encoder { calls++; return cl100k.load() }}
	c := &Counter{enc: enc, cache: newCache(8)}
	long := strings.Repeat("hello world ", 20)
	first := c.CountText(long)
	if again := c.CountText(long); again != first || calls != 1 {
		t.Fatalf("%d then %d, encoded %d times", first, again, calls)
	}
	other := &Counter{enc: &encoding{name: "other", load: enc.load}, cache: c.cache}
	if other.CountText(long); calls != 2 {
		t.Fatal("another encoding got this encoding's count")
	}
}

func TestConcurrentUse(t *testing.T) {
	c := New()
	c.Warm()
	text := prose(4 << 10)
	want := c.CountText(text)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if n := c.CountText(text); n != want {
				t.Errorf("%d, want %d", n, want)
			}
		})
	}
	wg.Wait()
}

func TestLimits(t *testing.T) {
	fallback := Fallback{ContextLimit: 8192, MaxOutput: 4096}
	cases := []struct {
		id              string
		context, output int
		want            Resolved
	}{
		{"claude-sonnet-4-20250514", 0, 0, Resolved{200_000, 64_000, SourceTable("claude-sonnet-4")}},
		{"claude-opus-4-1-20250805", 0, 0, Resolved{200_000, 32_000, SourceTable("claude-opus-4")}},
		{"claude-opus-4-5-20251101", 0, 0, Resolved{200_000, 64_000, SourceTable("claude-opus-4-5")}},
		{"claude-3-haiku-20240307", 0, 0, Resolved{200_000, 4_096, SourceTable("claude-3")}},
		{"claude-3-5-sonnet-20241022", 0, 0, Resolved{200_000, 8_192, SourceTable("claude-3-5")}},
		{"anthropic/claude-3.5-sonnet", 0, 0, Resolved{200_000, 8_192, SourceTable("claude-3-5")}},
		{"eu.anthropic.claude-sonnet-4-6-v1:0", 0, 0, Resolved{1_000_000, 128_000, SourceTable("claude-sonnet-4-6")}},
		{"claude-someday", 0, 0, Resolved{200_000, 64_000, SourceTable("claude")}},
		{"gpt-5.2", 0, 0, Resolved{400_000, 128_000, SourceTable("gpt-5")}},
		{"gpt-5.4-mini", 0, 0, Resolved{400_000, 128_000, SourceTable("gpt-5.4-mini")}},
		{"gpt-4.1-nano", 0, 0, Resolved{1_047_576, 32_768, SourceTable("gpt-4.1")}},
		{"gpt-4-0613", 0, 0, Resolved{8_192, 4_096, SourceTable("gpt-4")}},
		{"gpt-4-turbo-2024-04-09", 0, 0, Resolved{128_000, 4_096, SourceTable("gpt-4-turbo")}},
		{"gpt-4o-mini", 0, 0, Resolved{128_000, 16_384, SourceTable("gpt-4o")}},
		{"o3-mini", 0, 0, Resolved{200_000, 100_000, SourceTable("o3")}},
		{"gpt-40", 0, 0, Resolved{8192, 4096, SourceUnknown}},
		{"gpt-oss:20b", 0, 0, Resolved{8192, 4096, SourceUnknown}},
		{"llama3.1:8b", 0, 0, Resolved{8192, 4096, SourceUnknown}},
		{"qwen3", 32768, 0, Resolved{32768, 4096, SourceConfigured}},
		{"gpt-5.2", 100_000, 9_000, Resolved{100_000, 9_000, SourceConfigured}},
		{"gpt-5.2", 0, 9_000, Resolved{400_000, 9_000, SourceTable("gpt-5")}},
		{"tiny", 1024, 0, Resolved{1024, 512, SourceConfigured}},
	}
	for _, c := range cases {
		if got := Limits(c.id, c.context, c.output, fallback); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.id, got, c.want)
		}
	}
	for _, l := range familyLimits {
		if l.output >= l.contextLimit {
			t.Errorf("%s: output %d of a window of %d", l.prefix, l.output, l.contextLimit)
		}
	}
}

// BenchmarkPastes counts the pastes that must take less than a second together (target: 1 MB of text, 64 KB of one
// letter, 60 KB of Chinese without punctuation).
func BenchmarkPastes(b *testing.B) {
	texts := []struct{ name, text string }{
		{"1MB", prose(1 << 20)},
		{"64KBOneLetter", strings.Repeat("a", 64<<10)},
		{"60KBChinese", strings.Repeat("天地玄黄宇宙洪荒日月盈昃辰宿列张", 60<<10/48)},
	}
	cl100k.load()
	for _, k := range texts {
		b.Run(k.name, func(b *testing.B) {
			b.SetBytes(int64(len(k.text)))
			for b.Loop() {
				cl100k.count(k.text)
			}
		})
	}
}

func BenchmarkCachedMessage(b *testing.B) {
	c := New()
	text := prose(2 << 10)
	c.CountText(text)
	for b.Loop() {
		c.CountText(text)
	}
}

// TestRanksEqualTiktokens: lateRanks reads the rank files with the same result as tiktoken's loader.
func TestRanksEqualTiktokens(t *testing.T) {
	for _, name := range rankFiles {
		want, err := loader.NewOfflineLoader().LoadTiktokenBpe(name)
		if err != nil || len(want) < 100_000 {
			t.Fatal(len(want), err)
		}
		if got := ranksOf(t, name); !maps.Equal(got, want) {
			t.Errorf("%s: %d ranks, want %d", name, len(got), len(want))
		}
	}
}

var rankFiles = []string{"cl100k_base.tiktoken", "o200k_base.tiktoken"}

func ranksOf(t testing.TB, name string) map[string]int {
	t.Helper()
	var late lateRanks
	ranks, err := late.LoadTiktokenBpe(name)
	if err == nil {
		err = late.fill()
	}
	if err != nil {
		t.Fatal(err)
	}
	return ranks
}

// BenchmarkLoad measures the first count of a program.
func BenchmarkLoad(b *testing.B) {
	for _, name := range rankFiles {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				ranksOf(b, name)
			}
		})
	}
}
