package store

import (
	"strings"
	"testing"
	"unicode/utf8"

	"contextinfinity/backend/chat"
)

func TestIndexText(t *testing.T) {
	for in, want := range map[string]string{
		"plain words": "plain words", "": "",
		"我爱猫": " 我爱 爱猫 猫 ", "猫": " 猫 ", "GPT模型 good": "GPT 模型 型  good",
		"東京タワーへ": " 東京 京タ タワ ワー ーへ へ ", "데이터": " 데이 이터 터 ",
	} {
		if got := IndexText(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func FuzzIndexText(f *testing.F) {
	f.Add("我爱 cats\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := IndexText(s)
		if utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Error("a character was cut")
		}
		if _, quoted := strings.CutPrefix(matchTerm(s), `"`); !quoted && matchTerm(s) != "" {
			t.Error("a term is not quoted")
		}
	})
}

func (f *fixture) finds(q chat.TextQuery, want ...chat.TurnID) {
	f.Helper()
	hits, err := f.SearchText(f.ctx, q)
	f.ok(err)
	got := map[chat.TurnID]bool{}
	for i, h := range hits {
		got[h.TurnID] = true
		if i > 0 && h.Score > hits[i-1].Score {
			f.Errorf("%q: hits are not best first", q.Terms)
		}
	}
	for _, id := range want {
		if !got[id] {
			f.Errorf("%+v does not find %s", q, id)
		}
	}
	if len(got) != len(want) {
		f.Errorf("%+v finds %d turns, want %d", q, len(got), len(want))
	}
}

func terms(words ...string) chat.TextQuery { return chat.TextQuery{Terms: words} }

func TestSearchFindsWordsOfEveryScript(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	english := f.full(b.ID, "the migrations were running", "it's done: foo-bar, C++ and café")
	chinese := f.full(b.ID, "我爱数据库", "很好")
	japanese := f.full(b.ID, "東京タワーへ行く", "はい")
	korean := f.full(b.ID, "데이터베이스를 만든다", "네")
	mixed := f.full(b.ID, "GPT模型很大", "ok")
	for word, want := range map[string]chat.TurnID{
		"migration": english.ID, "runs": english.ID, "foo-bar": english.ID, "cafe": english.ID, "c++": english.ID,
		"数据库": chinese.ID, "数据": chinese.ID, "爱": chinese.ID, "库": chinese.ID, "我爱数据库": chinese.ID,
		"タワー": japanese.ID, "京": japanese.ID, "데이터": korean.ID, "베이스": korean.ID, "GPT模型": mixed.ID, "模型": mixed.ID, "大": mixed.ID,
	} {
		f.finds(terms(word), want)
	}
	f.finds(terms("数库"))
	f.finds(terms("数据库", "migrations"), chinese.ID, english.ID)
	f.finds(terms(`"`, `zzz" OR bar`, "NOT zzz", "*", "-", "", "NEAR(", "col:"), []chat.TurnID{}...)
	frequencies, err := f.TermFrequencies(f.ctx, []string{"migrations", "数据库", "爱", "nothing", `"`, "running"})
	f.ok(err)
	if frequencies["migrations"] != 1 || frequencies["数据库"] != 1 || frequencies["nothing"] != 0 || frequencies[`"`] != 0 || frequencies["running"] != 1 {
		t.Errorf("%v", frequencies)
	}
}

func TestSearchScope(t *testing.T) {
	f := newFixture(t)
	s, main := f.session("mine")
	shared := f.full(main.ID, "zebra shared", "a")
	child := f.fork(main.ID, shared.ID)
	own := f.full(main.ID, "zebra main", "b")
	sibling := f.full(child.ID, "zebra child", "c")
	other, ob := f.session("other")
	elsewhere := f.full(ob.ID, "zebra elsewhere", "d")
	old, oldBranch := f.session("old")
	archived := f.full(oldBranch.ID, "zebra archived", "e")
	f.ok(f.ArchiveSession(f.ctx, old.ID, true))
	zebra := terms("zebra")
	with := func(change func(*chat.TextQuery)) chat.TextQuery { q := zebra; change(&q); return q }
	f.finds(zebra, shared.ID, own.ID, sibling.ID, elsewhere.ID)
	f.finds(with(func(q *chat.TextQuery) { q.Session = s.ID }), shared.ID, own.ID, sibling.ID)
	f.finds(with(func(q *chat.TextQuery) { q.Session = old.ID }), archived.ID)
	f.finds(with(func(q *chat.TextQuery) { q.Session = other.ID }), elsewhere.ID)
	f.finds(with(func(q *chat.TextQuery) { q.Branch = main.ID }), shared.ID, own.ID)
	f.finds(with(func(q *chat.TextQuery) { q.Branch = child.ID }), shared.ID, sibling.ID)
	f.finds(with(func(q *chat.TextQuery) { q.Branch, q.OtherSessions = child.ID, true }), shared.ID, sibling.ID, elsewhere.ID)
	f.finds(with(func(q *chat.TextQuery) { q.Branch, q.ExcludeTurns = child.ID, []chat.TurnID{shared.ID} }), sibling.ID)
	hits, err := f.SearchText(f.ctx, with(func(q *chat.TextQuery) { q.Limit = 2 }))
	f.ok(err)
	if len(hits) != 2 || hits[0].SessionTitle == "" || hits[0].CreatedAt.IsZero() || !strings.Contains(hits[0].Text, "zebra") {
		t.Errorf("%+v", hits)
	}
}
