package embedding

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"contextinfinity/backend/chat"
)

func TestCheckedRefusesInvalidVectors(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	cases := []struct {
		name    string
		out     [][]float32
		message string // "": accepted
	}{
		{"valid", [][]float32{{3, 4}, {0, 1}}, ""},
		{"too few", [][]float32{{3, 4}}, "1 vectors for 2 texts"},
		{"too many", [][]float32{{3, 4}, {3, 4}, {3, 4}}, "3 vectors for 2 texts"},
		{"none", nil, "0 vectors for 2 texts"},
		{"empty", [][]float32{{3, 4}, {}}, "empty vector"},
		{"short", [][]float32{{3, 4}, {1}}, "1 dimensions where 2"},
		{"long", [][]float32{{3, 4}, {1, 2, 3}}, "3 dimensions where 2"},
		{"NaN", [][]float32{{3, 4}, {nan, 1}}, "NaN"},
		{"infinite", [][]float32{{3, 4}, {inf, 1}}, "infinity"},
		{"zeros", [][]float32{{3, 4}, {0, 0}}, "zeros"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := newFake("x", "m", 2)
			f.out = func([]string) [][]float32 { return c.out }
			got, err := Checked(f).Embed(t.Context(), Passage, []string{"a", "b"})
			if c.message == "" {
				if err != nil || math.Abs(float64(got[0][0])-0.6) > 1e-6 || got[1][1] != 1 {
					t.Fatalf("%v, %v; want length 1", got, err)
				}
				return
			}
			if chat.CodeOf(err) != chat.CodeProvider || !strings.Contains(err.Error(), c.message) || got != nil {
				t.Fatalf("%v, %v; want an error that says %q", got, err, c.message)
			}
		})
	}
}

func TestNoRequestForNoTexts(t *testing.T) {
	f := newFake("x", "m", 2)
	got, err := Cached(Redacted(Batched(Retried(Checked(f), nil), Limits{Texts: 2}), nil), NewCache(3)).Embed(t.Context(), Query, nil)
	if err != nil || len(got) != 0 || len(f.requested) != 0 {
		t.Errorf("%v, %v, %d requests", got, err, len(f.requested))
	}
}

func TestBatchedKeepsTheLimits(t *testing.T) {
	long := strings.Repeat("ä", 50) // 100 bytes
	cases := []struct {
		name   string
		limits Limits
		texts  []string
		want   [][]string
	}{
		{"by count", Limits{Texts: 2, Bytes: 1000}, []string{"a", "b", "c"}, [][]string{{"a", "b"}, {"c"}}},
		{"by bytes", Limits{Texts: 9, Bytes: 5}, []string{"aaa", "bb", "c", "dddddddd", "e"}, [][]string{{"aaa", "bb"}, {"c"}, {"dddddddd"}, {"e"}}},
		{"cut at a character", Limits{Texts: 9, Bytes: 1000, PerText: 5}, []string{long, "abc"}, [][]string{{"ää", "abc"}}},
		{"empty", Limits{Texts: 9, Bytes: 1000}, []string{"", "a"}, [][]string{{" ", "a"}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := newFake("x", "m", 4)
			got, err := Batched(f, c.limits).Embed(t.Context(), Passage, c.texts)
			if err != nil || len(got) != len(c.texts) {
				t.Fatalf("%d vectors, %v", len(got), err)
			}
			if !reflect.DeepEqual(f.requested, c.want) {
				t.Errorf("requested %q, want %q", f.requested, c.want)
			}
			for i, s := range slices.Concat(c.want...) {
				if !slices.Equal(got[i], vectorOf(f.id, s)) {
					t.Errorf("vector %d is not that of %q", i, s)
				}
			}
		})
	}
}

// TestTooLongIsHalved: if a model takes fewer bytes than its table entry says, each long text is shortened as far as
// necessary, and the other texts of the request are sent in full.
func TestTooLongIsHalved(t *testing.T) {
	f := newFake("x", "m", 4)
	f.err = func(texts []string) error {
		for _, s := range texts {
			if len(s) > 300 {
				return chat.Errorf(chat.CodeTooLarge, "embed", "too long")
			}
		}
		return nil
	}
	texts := []string{"a", strings.Repeat("漢", 400), "c", strings.Repeat("x", 299), "e"}
	got, err := Batched(f, Limits{Texts: 10, Bytes: 1e6}).Embed(t.Context(), Passage, texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range []string{"a", strings.Repeat("漢", 100), "c", texts[3], "e"} {
		if !slices.Equal(got[i], vectorOf(f.id, s)) {
			t.Errorf("vector %d is not that of the text of %d bytes", i, len(s))
		}
	}
	f.err = func([]string) error { return chat.Errorf(chat.CodeTooLarge, "embed", "too long") }
	if _, err := Batched(f, Limits{Texts: 10, Bytes: 1e6}).Embed(t.Context(), Passage, texts); chat.CodeOf(err) != chat.CodeTooLarge {
		t.Errorf("a model that accepts nothing: %v", err)
	}
}

func FuzzCut(f *testing.F) {
	f.Add("größer als 漢字", 3)
	f.Add("\xff\xfe\x80\x80\x80\x80\x80", 4)
	f.Fuzz(func(t *testing.T, s string, limit int) {
		got := Cut(s, limit)
		if !strings.HasPrefix(s, got) || limit > 0 && len(got) > limit {
			t.Fatalf("Cut(%q, %d) = %q", s, limit, got)
		}
		if utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Fatalf("Cut(%q, %d) = %q splits a character", s, limit, got)
		}
		if limit >= utf8.UTFMax && len(s) > limit && len(got) <= limit-utf8.UTFMax {
			t.Fatalf("Cut(%q, %d) = %q cuts too much", s, limit, got)
		}
	})
}

func TestRetries(t *testing.T) {
	down := chat.Errorf(chat.CodeUnavailable, "embed", "down")
	again := func(after time.Duration) error { return &Retry{Err: down, After: after} }
	cases := []struct {
		name   string
		kind   Kind
		errs   []error // of the first requests; later ones succeed
		waited []time.Duration
		fails  bool
	}{
		{"at once", Passage, nil, nil, false},
		{"after two", Passage, []error{again(0), again(0)}, []time.Duration{500 * time.Millisecond, time.Second}, false},
		{"as the server asks", Passage, []error{again(7 * time.Second)}, []time.Duration{7 * time.Second}, false},
		{"the server asks for too long a pause", Passage, []error{again(time.Hour)}, nil, true},
		{"never", Passage, []error{again(0), again(0), again(0), again(0)},
			[]time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second}, true},
		{"an error that is not temporary", Passage, []error{down}, nil, true},
		{"a question, once", Query, []error{again(0)}, []time.Duration{200 * time.Millisecond}, false},
		{"a question, twice", Query, []error{again(0), again(0)}, []time.Duration{200 * time.Millisecond}, true},
		{"a question, long", Query, []error{again(2 * time.Second)}, nil, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f, w := newFake("x", "m", 4), &waits{}
			f.err = func([]string) error {
				if n := len(f.requested); n <= len(c.errs) {
					return c.errs[n-1]
				}
				return nil
			}
			_, err := Retried(f, w.wait).Embed(t.Context(), c.kind, []string{"a"})
			if (err != nil) != c.fails || !slices.Equal(w.pauses, c.waited) {
				t.Errorf("%v after %v, want failure %v after %v", err, w.pauses, c.fails, c.waited)
			}
			var requested *Retry
			if c.fails && (!errors.Is(err, down) || errors.As(err, &requested)) {
				t.Errorf("the error is %#v, want the cause alone", err)
			}
		})
	}
}

func TestRetriesEndWithTheContext(t *testing.T) {
	f := newFake("x", "m", 4)
	ctx, cancel := context.WithCancel(t.Context())
	f.err = func([]string) error {
		cancel()
		return &Retry{Err: chat.Errorf(chat.CodeUnavailable, "embed", "down")}
	}
	if _, err := Retried(f, nil).Embed(ctx, Passage, []string{"a"}); err == nil || len(f.requested) != 1 {
		t.Errorf("%v after %d requests", err, len(f.requested))
	}
}

func TestCacheStoresOnlyQuestions(t *testing.T) {
	f, other := newFake("x", "m", 4), newFake("x", "m2", 4)
	cache := NewCache(2)
	e, e2 := Cached(f, cache), Cached(other, cache)
	steps := []struct {
		e         Embedder
		kind      Kind
		texts     []string
		requested []string // texts sent to the embedder; nil: none
	}{
		{e, Query, []string{"a"}, []string{"a"}},
		{e, Query, []string{"a"}, nil},
		{e, Query, []string{"a", "b"}, []string{"b"}},
		{e2, Query, []string{"a"}, []string{"a"}}, // drops the oldest, which is a of the first
		{e, Query, []string{"b"}, nil},
		{e, Query, []string{"a"}, []string{"a"}},
		{e, Passage, []string{"a"}, []string{"a"}},
		{e, Passage, []string{"a"}, []string{"a"}},
	}
	for i, s := range steps {
		f.requested, other.requested = nil, nil
		got, err := s.e.Embed(t.Context(), s.kind, s.texts)
		if err != nil {
			t.Fatal(err)
		}
		if requested := slices.Concat(append(f.requested, other.requested...)...); !slices.Equal(requested, s.requested) {
			t.Errorf("step %d requested %q, want %q", i, requested, s.requested)
		}
		for j, text := range s.texts {
			if !slices.Equal(got[j], vectorOf(s.e.Identity(), text)) {
				t.Errorf("step %d: vector %d is another text's", i, j)
			}
		}
	}
}

func TestRedactedSendsNoSecret(t *testing.T) {
	f := newFake("x", "m", 4)
	clean := func(s string) string { return strings.ReplaceAll(s, "hunter2", "[redacted]") }
	if _, err := Redacted(f, clean).Embed(t.Context(), Passage, []string{"my password is hunter2", "b"}); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(f.requested); got != "[[my password is [redacted] b]]" {
		t.Errorf("sent %s", got)
	}
}

func TestKnownModels(t *testing.T) {
	cases := []struct {
		name      string
		dimension int
		query     string
		passage   string
	}{
		{"text-embedding-3-small", 1536, "", ""},
		{"text-embedding-3-large", 3072, "", ""},
		{"text-embedding-ada-002", 1536, "", ""},
		{"nomic-embed-text:latest", 768, "search_query: ", "search_document: "},
		{"nomic-ai/nomic-embed-text-v1.5", 768, "search_query: ", "search_document: "},
		{"mxbai-embed-large", 1024, searchPassages, ""},
		{"bge-m3:567m", 1024, "", ""},
		{"BAAI/bge-large-en-v1.5", 1024, searchPassages, ""},
		{"all-minilm", 384, "", ""},
		{"intfloat/multilingual-e5-base", 0, "query: ", "passage: "},
		{"somebody/else", 0, "", ""},
	}
	for _, c := range cases {
		m := KnownModel(c.name)
		if m.Dimension != c.dimension || m.Query != c.query || m.Passage != c.passage || m.Version < 1 || m.MaxBytes < 1000 {
			t.Errorf("%s: %+v", c.name, m)
		}
		if got := m.Prefixed(Query, []string{"q"})[0] + "|" + m.Prefixed(Passage, []string{"p"})[0]; got != c.query+"q|"+c.passage+"p" {
			t.Errorf("%s: prefixed %q", c.name, got)
		}
	}
	// A version belongs to one pair of prefixes.
	versions := map[int][2]string{}
	for _, k := range known {
		prefixes, ok := versions[k.Version]
		if pair := [2]string{k.Query, k.Passage}; ok && prefixes != pair {
			t.Errorf("%s: version %d has other prefixes too", k.prefix, k.Version)
		} else {
			versions[k.Version] = pair
		}
	}
}
