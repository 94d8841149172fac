package lexical

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestWords(t *testing.T) {
	for in, want := range map[string][]string{
		"": nil, "\"; DROP TABLE --": {"drop", "table"}, "Ann's 1,000 rows": {"ann", "s", "1000", "rows"},
		"GPT模型x": {"gpt", "模型", "x"}, "サーバーを再起動": {"サーバーを再起動"}, "ｻｰﾊﾞｰ ＡＰＩ１２": {"サーバー", "api12"},
		"ที่ฐานข้อมูล!": {"ที่ฐานข้อมูล"}, "हिन्दी über": {"हिन्दी", "über"}, "データ・ベース": {"データ", "ベース"}, "株㍿": {"株"},
	} {
		if got := Words(in); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestPairs(t *testing.T) {
	for in, want := range map[string][]string{
		"word": {"word"}, "猫": {"猫"}, "数据": {"数据"}, "サーバー": {"サー", "ーバ", "バー"}, "데이터": {"데이", "이터"},
		"ข้อมูล": {"ข้อ", "อมู", "มูล"}, "ที่": {"ที่"}, "အဖြူ": {"အဖြူ"},
	} {
		if got := Pairs(in); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestFold(t *testing.T) {
	for in, want := range map[string]string{
		"plain Straße": "plain Straße", "ｻｰﾊﾞｰ": "サーバー", "ﾊﾟｿｺﾝ": "パソコン", "か\u3099く": "がく", "ＡＰＩ１２、": "API12、",
		"葛\U000E0100城": "葛城", "❤\uFE0F ok": "❤ ok", "\xffｻ": "\xffサ", "ﾞ": "\u3099", "x\u3099": "x\u3099",
	} {
		if got := Fold(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestIndexText(t *testing.T) {
	for in, want := range map[string]string{
		"plain words": "plain words", "": "", "ＡＰＩ": "API",
		"我爱猫": " 我爱 爱猫 猫 ", "猫": " 猫 ", "GPT模型 good": "GPT 模型 型  good",
		"東京タワーへ": " 東京 京タ タワ ワー ーへ へ ", "ﾀﾜｰ": " タワ ワー ー ", "데이터": " 데이 이터 터 ",
		"call getUserName, getUserName": "call getUserName, getUserName\nget User Name",
		"XMLHttpRequest":                "XMLHttpRequest\nXML Http Request",
		"parseHTML on YouTube, iPhone":  "parseHTML on YouTube, iPhone\nparse HTML",
		"+49 (0)30 123456-78":           "+49 (0)30 123456-78\n493012345678",
		"IP 10.0.0.1, 20260102":         "IP 10.0.0.1, 20260102",
		"ที่นี่":                        " ท\uEE35\uEE48น\uEE35\uEE48 น\uEE35\uEE48 ",
	} {
		if got := IndexText(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestPhrase(t *testing.T) {
	for in, want := range map[string]string{
		"word": "word", "": "", "数据库": "数据 据库", "GPT模型": "GPT 模型", "模型GPT": "模型 型 GPT", "猫": "猫*", "GPT猫": "GPT 猫*",
	} {
		got, isBeginning := Phrase(in)
		if isBeginning {
			got += "*"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestTrim(t *testing.T) {
	for in, want := range map[string]string{"(word)": "word", "「ที่」": "ที่", "C++": "C", "--": "", "サーバー。": "サーバー"} {
		if got := Trim(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// mixed generates texts in many scripts, with marks, both widths, digits and symbols.
var mixed = rapid.StringOfN(rapid.SampledFrom([]rune("aZé9१,。 -'猫数据库サバｻﾊーｰ\u3099ﾞﾟﾀ데이터ㄱกขท\u0E35\u0E48\u0E31ຂ\u0EB9ក\u17D2ឋမ\u103C\u1030Ａ１〇々㍿\uFE0F\U000E0100\u0301")), 0, 40, -1)

// TestIndexContainsWordsOfQuery: every word and every pair of a query that was cut out of a text between characters is a
// token of the text or the beginning of one.
func TestIndexContainsWordsOfQuery(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := mixed.Draw(rt, "text")
		cuts := []int{0}
		for at := 0; at < len(text); {
			_, size := FoldAt(text, at)
			at += size
			if next, _ := FoldAt(text, at); !unicode.IsMark(next) {
				cuts = append(cuts, at)
			}
		}
		from := rapid.IntRange(0, len(cuts)-1).Draw(rt, "from")
		to := rapid.IntRange(from, len(cuts)-1).Draw(rt, "to")
		query := text[cuts[from]:cuts[to]]
		tokens := strings.Fields(strings.ToLower(IndexText(text)))
		for _, word := range Words(query) {
			first, _ := utf8.DecodeRuneInString(word)
			if !IsUnspaced(first) {
				continue // may be the part of a word that the cut left
			}
			for _, pair := range Pairs(word) {
				phrase, isBeginning := Phrase(pair)
				if !slices.ContainsFunc(tokens, func(token string) bool {
					return token == phrase || isBeginning && strings.HasPrefix(token, phrase)
				}) {
					rt.Fatalf("%q of %q is not among %q", pair, query, tokens)
				}
			}
		}
	})
}

// TestFoldIsStable: folding twice changes nothing more, and words are the same in either width.
func TestFoldIsStable(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := mixed.Draw(rt, "text")
		folded := Fold(text)
		if Fold(folded) != folded || !slices.Equal(Words(folded), Words(text)) || IndexText(folded) != IndexText(text) {
			rt.Fatalf("%q, %q", text, folded)
		}
	})
}

func FuzzIndexText(f *testing.F) {
	f.Add("我爱 cats\xff ที่")
	f.Fuzz(func(t *testing.T, s string) {
		if got := IndexText(s); utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Error("a character was cut")
		}
		Phrase(s)
	})
}
