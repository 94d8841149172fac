package store

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lexical"
	"contextinfinity/backend/store/sqlite"
)

// scripts are texts, and what people type to find them, separated by "|".
var scripts = []struct{ text, queries string }{
	{"قَرَأَ الطَّالِبُ الكِتابَ في المَكتَبة", "قرأ|الكتاب|كتاب|والكتاب|المكتبة|مكتبه|قرا"},
	{"أحمد يحب إدارة المشاريع", "احمد|ادارة|مشاريع|إداره"},
	{"کتابخانه\u200cها در ایران", "کتابخانه|كتابخانه|ايران|کتابخانه\u200cها"},
	{"اجتمعنا عام ٢٠٢٦ في دبـــي", "2026|۲۰۲۶|دبي"},
	{"שָׁלוֹם עֲלֵיכֶם חברים", "שלום|עליכם|שָׁלוֹם"},
	{"Nguyễn Văn Đức ở Hà Nội", "Nguyen|Duc|Ha Noi|nguyễn|đức|Hà Nội"},
	{"İSTANBUL'da IŞIK kapalı", "istanbul|ışık|isik|İstanbul|KAPALI"},
	{"Smørrebrød i Łódź", "smorrebrod|lodz|Smørrebrød"},
	{"Café Zürich résumé", "Café|cafe|Zürich|zurich|resume|résumé"},
	{"Ёлка стоит в прихожей", "елка|ёлка|прихожей"},
	{"мой йод", "йод|йод"},
	{"Ο ΣΊΣΥΦΟΣ έσπρωξε τον βράχο", "σισυφος|Σίσυφος|βραχο"},
	{"pass\u200bword\u00adreset flow", "passwordreset|password\u00adreset|pass\u200bwordreset"},
	{"\ufeffzero\u2060width\u200djoined", "zerowidthjoined"},
	{"Don’t deploy at O’Brien’s", "don't|O'Brien|don’t|donʼt"},
	{"commit b29ca355107ef498 fixed it", "b29ca355|b29ca35|b29ca355107ef498|B29CA355"},
	{"The party 🎉 is at 👩\u200d👩\u200d👧 house 👍🏽", "🎉|👍|👍🏽|👩\u200d👩\u200d👧"},
	{"server 192.168.178.42 port 8443", "192.168.178.42|8443"},
	{"E = mc² and x₁", "mc2|x1"},
	{"call getUserName_v2() in my_module.rs", "getUserName|username|user name|my_module|mymodule"},
	{"XMLHttpRequest failed in parseHTMLDocument", "http request|httprequest|parseHTML|document|xml"},
	{"Send an e-mail to Mr O’Neill over wi-fi", "email|oneill|wifi|O'Neill"},
	{"+49 (0)30 123456-78", "123456|+4930123456|4930123456|493012345678|+49 30 123456"},
	{"a crane, a heron, and nothing else", "heron"},
}

// A text is found by what people type, whatever marks and forms of letters they leave out or use: in the search of the
// window, which completes the last word, by complete words, in the find of a conversation, and by the recall of a model.
func TestScripts(t *testing.T) {
	f := newFixture(t)
	var branches []chat.Branch
	for _, s := range scripts {
		_, b := f.session(s.text)
		f.full(b.ID, s.text, "noted")
		branches = append(branches, b)
	}
	for i, s := range scripts {
		for query := range strings.SplitSeq(s.queries, "|") {
			for _, tail := range []string{"", " "} {
				found, err := f.SearchText(f.ctx, chat.TextQuery{Text: query + tail})
				f.ok(err)
				if len(found.Hits) == 0 || found.Hits[0].Branch != branches[i].ID || len(found.Hits[0].Spans) == 0 {
					t.Errorf("%q does not find %q first, or does not mark it: %+v", query+tail, s.text, found.Hits)
				}
			}
			words := lexical.Words(query)
			counts, err := f.TermFrequencies(f.ctx, words)
			f.ok(err)
			isUnknown := func(w string) bool {
				two, err := f.Apart(f.ctx, w)
				f.ok(err)
				return counts[w] == 0 && len(two) == 0
			}
			if len(words) == 0 || slices.ContainsFunc(words, isUnknown) {
				t.Errorf("recall: %q has the words %q in %v texts", query, words, counts)
			}
		}
	}
	for query, i := range map[string]int{"ادارة": 1, "duc": 5, "resume": 8, "don't": 14, "password": 12, "🎉": 16} {
		found, err := f.Find(f.ctx, chat.FindQuery{Branch: branches[i].ID, Text: query})
		if f.ok(err); found.Total != 1 {
			t.Errorf("find %q: %+v", query, found)
		}
	}
	f.verifyClean()
}

// The tokenizer of the index removes the accents that lexical leaves to it, so that a text with them need not be stored
// in a second form.
func TestTokenizerRemovesAccents(t *testing.T) {
	f := newFixture(t)
	f.ok(f.core.DB.Writer.Exec(`CREATE VIRTUAL TABLE temp.accents USING fts5 (body, tokenize='porter unicode61')`).Error)
	f.ok(f.core.DB.Writer.Exec(`CREATE VIRTUAL TABLE temp.accents_vocab USING fts5vocab (temp, accents, 'row')`).Error)
	for r := rune(0xC0); r < 0x250; r++ {
		letters := []rune(norm.NFD.String(string(r)))
		if !unicode.IsLetter(r) || len(letters) < 2 {
			continue
		}
		f.ok(f.core.DB.Writer.Exec(`DELETE FROM temp.accents`).Error)
		f.ok(f.core.DB.Writer.Exec(`INSERT INTO temp.accents VALUES (?)`, lexical.IndexText("x"+string(r)+"q")).Error)
		got, err := sqlite.All[string](f.core.DB.Writer, `SELECT term FROM temp.accents_vocab`)
		f.ok(err)
		if want := "x" + strings.ToLower(string(letters[0])) + "q"; len(got) != 1 || got[0] != want {
			t.Errorf("%c is indexed as %q, want %q", r, got, want)
		}
	}
	if text := "Größe Übergang café"; lexical.IndexText(text) != text {
		t.Error("a text with accents has a second form")
	}
}
