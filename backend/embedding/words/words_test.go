package words

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"contextinfinity/backend/embedding"
)

func vector(t testing.TB, text string) []float32 {
	t.Helper()
	v, err := New().Embed(context.Background(), embedding.Passage, []string{text})
	if err != nil || len(v) != 1 {
		t.Fatal(v, err)
	}
	return v[0]
}

func cosine(a, b []float32) float64 {
	s := 0.0
	for i := range a {
		s += float64(a[i]) * float64(b[i])
	}
	return s
}

// TestWhatIsNear: each text is nearer to its question than the third text.
func TestWhatIsNear(t *testing.T) {
	for _, tt := range []struct{ query, near, far string }{
		{"running tests", "the test ran, tests run each night", "a recipe for bread"},
		{"recieve the invoce", "we receive an invoice monthly", "the cat sleeps"},
		{"Rechnungsnummer", "die Nummer der Rechnung", "das Wetter morgen"},
		{"数据库迁移", "我们昨天做了数据库的迁移", "今天天气很好"},
		{"parse header", "func parseHTTPHeader(b []byte)", "func closeSocket(fd int)"},
		{"max_open_conns", "set MaxOpenConns to 1", "the colour of the car"},
		{"البيانات", "قاعدة بيانات", "الطقس اليوم"},
	} {
		q := vector(t, tt.query)
		near, far := cosine(q, vector(t, tt.near)), cosine(q, vector(t, tt.far))
		if near <= far || near < 0.1 {
			t.Errorf("%q: %.3f to %q, %.3f to %q", tt.query, near, tt.near, far, tt.far)
		}
	}
}

func TestStopWordsCountLittle(t *testing.T) {
	q := vector(t, "what was the invoice about")
	if got := cosine(q, vector(t, "invoice")); got < 0.9 {
		t.Errorf("%.3f", got)
	}
}

// TestHostileTexts: every text has a vector of length 1.
func TestHostileTexts(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "spaces": " \n\t", "marks": "!?…—", "invalid": "\xff\xfea\x80b", "cut rune": "\xe6\x95",
		"NUL": "a\x00b", "one letter": strings.Repeat("a", 1<<20), "one sign": strings.Repeat("猫", 1<<18),
		"emoji": "👩‍👩‍👧‍👦🏳️‍🌈", "stop words": "the of and", "bidi": "\u202eabc\u202c", "combining": "e" + strings.Repeat("\u0301", 5000),
	} {
		v := vector(t, text)
		if got := math.Sqrt(cosine(v, v)); len(v) != Dimension || math.Abs(got-1) > 1e-5 {
			t.Errorf("%s: %d dimensions, length %f", name, len(v), got)
		}
	}
}

func TestParts(t *testing.T) {
	for in, want := range map[string][]string{
		"parseHTTPHeader": {"parse", "HTTP", "Header"}, "word": nil, "HTTP": nil, "v2": {"v", "2"}, "Über": nil, "getÜber": {"get", "Über"}, "": nil,
	} {
		if got := parts(in); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestSplit(t *testing.T) {
	m := &memo{words: map[string]*word{}}
	split := func(text string) (out []string) {
		m.split(text, func(w *word) {
			for s, known := range m.words {
				if known == w {
					out = append(out, s)
				}
			}
		})
		return out
	}
	for in, want := range map[string][]string{
		"Ann's max_len": {"Ann", "s", "max", "len"}, "我爱猫": {"我爱", "爱猫"}, "猫": {"猫"}, "a猫b": {"a", "猫", "b"}, "x我爱": {"x", "我爱"}, "": nil, "\xff": nil,
	} {
		if got := split(in); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestVectorsStay: changed vectors need a new version, otherwise old and new ones would be compared.
func TestVectorsStay(t *testing.T) {
	v := vector(t, "[2 May 2026] user: The invoices of 我们 parseHeader, über alles")
	h := uint64(offset)
	for _, x := range v {
		h = (h ^ uint64(int64(math.Round(float64(x)*1e4)))) * prime
	}
	if want := uint64(0x6a953d58b8e48f27); h != want {
		t.Errorf("version %d gave %#x, now %#x", version, want, h)
	}
}

func TestProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[ -~äß猫我\x80]{0,300}`),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(rt, "text")
		alone := vector(t, text)
		if got := cosine(alone, alone); math.Abs(got-1) > 1e-5 || math.IsNaN(got) {
			rt.Fatalf("length %f", got)
		}
		among, err := New().Embed(context.Background(), embedding.Query, []string{"other words", text, text})
		if err != nil || !slices.Equal(among[1], alone) || !slices.Equal(among[2], alone) {
			rt.Fatalf("other texts in the request change a text's vector, %v", err)
		}
		if utf8.ValidString(text) && !slices.Equal(vector(t, " "+text+"\n"), alone) {
			rt.Fatal("white space around a text changes its vector")
		}
	})
}

func TestEmbedStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if v, err := New().Embed(ctx, embedding.Passage, []string{"a"}); err == nil || v != nil {
		t.Fatal(v, err)
	}
}

func BenchmarkEmbed(b *testing.B) {
	text := strings.Repeat("When we discussed the migration of the customer database, parseHeader() failed on 4711 invoices; Ann asked whether the nightly backup ran. ", 10)
	texts := make([]string, 64)
	size := 0
	for i := range texts {
		texts[i] = strings.Repeat("word"+string(rune('a'+i%26))+" ", 3) + text[:len(text)-i*7]
		size += len(texts[i])
	}
	b.SetBytes(int64(size))
	e := New()
	for b.Loop() {
		if _, err := e.Embed(context.Background(), embedding.Passage, texts); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEmbedOne(b *testing.B) {
	text := "[2 May 2026] user: We decided to move the staging cluster to another region because latency of the checkout service rose above the budget on Friday afternoon."
	b.SetBytes(int64(len(text)))
	e := New()
	for b.Loop() {
		if _, err := e.Embed(context.Background(), embedding.Query, []string{text}); err != nil {
			b.Fatal(err)
		}
	}
}
