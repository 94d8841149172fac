package store

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lexical"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/delta"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/search"
	"contextinfinity/backend/store/sqlite"
)

// FuzzMatch: any search term becomes a valid query of the text index, and a text is found by each of its words.
func FuzzMatch(f *testing.F) {
	store := newFixture(f)
	store.ok(store.core.DB.Writer.Exec(`CREATE VIRTUAL TABLE fuzzed USING fts5(text, tokenize='porter unicode61')`).Error)
	for _, s := range []string{
		`"`, `""`, `a" OR "b`, "NEAR(a b)", "a*", "-a", "text:a", "{text} : a", "^a", "(", "AND", "NOT", "我爱猫", "GPT模型", "猫", "a\x00b", "\xff", "'; --", "c++",
		"ﬃ", "e\u0301", "٣", "\u1100\u1161", "a + b", "+猫+", "ー",
	} {
		f.Add(s, "words")
	}
	f.Fuzz(func(t *testing.T, term, other string) {
		query := search.MatchAny([]string{term, other})
		if query == "" {
			return
		}
		if !utf8.ValidString(query) || strings.Contains(query, "\x00") {
			t.Fatalf("%q and %q make the query %q", term, other, query)
		}
		tx := store.core.DB.Writer.Begin()
		defer tx.Rollback()
		if err := tx.Exec(`INSERT INTO fuzzed VALUES (?)`, lexical.IndexText(schema.Clean(term+" "+other))).Error; err != nil {
			t.Fatal(err)
		}
		n, err := sqlite.All[int](tx, `SELECT count(*) FROM fuzzed WHERE fuzzed MATCH ?`, query)
		if err != nil {
			t.Fatalf("%q and %q make the query %q: %v", term, other, query, err)
		}
		if n[0] != 1 && strings.ContainsFunc(term+other, isASCIILetter) {
			t.Fatalf("%q does not find %q", query, lexical.IndexText(schema.Clean(term+" "+other)))
		}
	})
}

func isASCIILetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// FuzzDeltas: a packed delta unpacks to the value that was packed; any other bytes give a value or an error.
func FuzzDeltas(f *testing.F) {
	base, value := []byte(benchText(100)), []byte(benchText(101))
	packed := codec.Base{Value: base, Ref: 7}.PackOn(value)
	if packed == nil {
		f.Fatal("no seed")
	}
	f.Add(base, value, packed)
	f.Add(base, base, []byte{codec.PackedOn, 1, 0})
	f.Add(base, value, []byte{codec.PackedOn, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, base, value, damaged []byte) {
		if got, err := codec.UnpackOn(base, damaged); err == nil && len(got) > codec.UnpackMax {
			t.Fatal("more than the bound")
		}
		depth, _, ok := codec.BaseOf(damaged)
		if ok && (depth < 1 || depth >= codec.MaxDepth) {
			t.Fatalf("depends on %d others", depth)
		}
		z := codec.Base{Value: base, Ref: int64(len(value))}.PackOn(value)
		if z == nil {
			return
		}
		if got, err := codec.UnpackOn(base, z); err != nil || !bytes.Equal(got, value) {
			t.Fatalf("%d bytes on %d come back as %d, %v", len(value), len(base), len(got), err)
		}
		if _, ref, ok := codec.BaseOf(z); !ok || ref != int64(len(value)) {
			t.Fatalf("depends on %d, %v", ref, ok)
		}
		if _, err := codec.Unpack(z); err == nil {
			t.Fatal("it decodes without its base")
		}
	})
}

// FuzzDamaged: a packed column with one changed byte gives an error or the original value; bytes that were never
// packed give a value or an error.
func FuzzDamaged(f *testing.F) {
	f.Add([]byte(benchText(60)), uint(20), byte(1))
	f.Add(bytes.Repeat([]byte("the same again "), 100), uint(3), byte(0x80))
	f.Add([]byte("short"), uint(2), byte(1))
	f.Fuzz(func(t *testing.T, value []byte, at uint, flip byte) {
		z := codec.Pack(value)
		if got, err := codec.Unpack(z); err != nil || !bytes.Equal(got, value) {
			t.Fatalf("%d bytes come back as %d, %v", len(value), len(got), err)
		}
		if z == nil || z[0] != codec.PackedZstd || flip == 0 {
			return // plain bytes have no checksum; the record's hash covers them
		}
		at = 1 + at%uint(len(z)-1)
		z[at] ^= flip
		if got, err := codec.Unpack(z); err == nil && !bytes.Equal(got, value) {
			t.Fatalf("byte %d of %d changed by %#x silently gives other %d bytes", at, len(z), flip, len(got))
		}
	})
}

// FuzzQuotes: any bytes decode to a list of quotes or an error, and a chunk is quoted exactly as a request's JSON
// encodes it.
func FuzzQuotes(f *testing.F) {
	f.Add(delta.EncodeQuotes([]int64{1, 300, 1 << 40}), "words", "Ann")
	f.Add([]byte{0xff}, "a \"b\" \\ <c>\r\n\td", "")
	f.Add(bytes.Repeat([]byte{1}, delta.MaxQuotes+1), "漢字\u2028", "B")
	f.Fuzz(func(t *testing.T, list []byte, text, speaker string) {
		if ns, err := delta.DecodeQuotes(list); err == nil {
			again, err := delta.DecodeQuotes(delta.EncodeQuotes(ns))
			if err != nil || !slices.Equal(again, ns) || len(ns) > delta.MaxQuotes {
				t.Fatalf("%v became %v, %v", ns, again, err)
			}
		}
		c := chat.ChunkText{Chunk: chat.Chunk{Text: text}, Speaker: speaker}
		want, err := chat.MarshalJSON(delta.ArtifactOf(c))
		if err != nil {
			t.Fatal(err)
		}
		hidden := func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x2028 || r == 0x2029 }
		if got := delta.QuoteArtifact(nil, c); utf8.ValidString(text+speaker) && !strings.ContainsFunc(delta.ArtifactOf(c), hidden) && `"`+string(got)+`"` != string(want) {
			t.Fatalf("quoted as %q, a request has %q", got, want)
		}
		if len(delta.QuotePart(nil, c)) < len(schema.HexHash(nil)) {
			t.Fatal("no part")
		}
	})
}

// FuzzClean: stored text is valid UTF-8 without NUL, and otherwise unchanged.
func FuzzClean(f *testing.F) {
	for _, s := range []string{"a", "\xff", "\x00", "a\xed\xa0\x80b", "漢\xe6"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := schema.Clean(s)
		if !utf8.ValidString(got) || strings.Contains(got, "\x00") || schema.Clean(got) != got {
			t.Fatalf("%q is stored as %q", s, got)
		}
		if utf8.ValidString(s) && !strings.Contains(s, "\x00") && got != s {
			t.Fatalf("%q became %q", s, got)
		}
	})
}
