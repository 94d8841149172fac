package retrieval

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	tests := map[string][]string{
		"What did we say about the Invoice numbers?": {"invoice", "numbers"},
		"foo-bar, foo-bar 'quoted' don't":            {"foo-bar", "quoted", "don't"},
		"Wo ist die Rechnung 4711?":                  {"rechnung", "4711"},
		"数据库迁移什么时候":                                  {"数据库迁移什么时候"},
		"the of and":                                 nil,
		"":                                           nil,
		"\"; DROP TABLE --":                          {"drop", "table"},
	}
	for query, want := range tests {
		if got := Words(query); !slices.Equal(got, want) {
			t.Errorf("Words(%q) = %q, want %q", query, got, want)
		}
	}
}

func TestWordsAreBounded(t *testing.T) {
	var sb strings.Builder
	for i := range 10000 {
		sb.WriteString(strings.Repeat("x", i%50+1))
		sb.WriteByte(byte('a' + i%26))
		sb.WriteByte(' ')
	}
	if n := len(Words(sb.String())); n > maxWords {
		t.Fatalf("%d words", n)
	}
}

type frequencies map[string]int

func (f frequencies) TermFrequencies(_ context.Context, terms []string) (map[string]int, error) {
	if f == nil {
		return nil, errors.New("no index")
	}
	return f, nil
}

func TestTermsTakesTheRarestThatOccur(t *testing.T) {
	f := frequencies{"one1": 9, "two2": 8, "three3": 7, "four4": 6, "five5": 5, "six6": 4, "seven7": 3, "eight8": 2, "nine9": 1}
	got, err := Terms(t.Context(), f, "one1 two2 three3 four4 five5 six6 seven7 eight8 nine9 absent")
	want := []string{"nine9", "eight8", "seven7", "six6", "five5", "four4", "three3", "two2"}
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("%v %v", got, err)
	}
	if _, err := Terms(t.Context(), frequencies(nil), "word"); err == nil {
		t.Fatal("the index's error was swallowed")
	}
}
