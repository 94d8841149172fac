package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
)

// expectFound searches for terms and expects exactly the units of these turns.
func (f *fixture) expectFound(in chat.Within, terms []string, want ...chat.TurnID) {
	f.Helper()
	hits := f.find(in, 20, terms...)
	got := map[chat.TurnID]bool{}
	for i, h := range hits {
		got[h.Turn] = true
		if i > 0 && h.Score > hits[i-1].Score {
			f.Errorf("%q: hits are not best first", terms)
		}
	}
	for _, id := range want {
		if !got[id] {
			f.Errorf("%q in %+v does not find %s", terms, in, id)
		}
	}
	if len(got) != len(want) {
		f.Errorf("%q in %+v finds %d turns, want %d", terms, in, len(got), len(want))
	}
}

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
		f.expectFound(everywhere, []string{word}, want)
	}
	f.expectFound(everywhere, []string{"数库"})
	f.expectFound(everywhere, []string{"数据库", "migrations"}, chinese.ID, english.ID)
	f.expectFound(everywhere, []string{`"`, `zzz" OR bar`, "NOT zzz", "*", "-", "", "NEAR(", "col:"})
	frequencies, err := f.TermFrequencies(f.ctx, []string{"migrations", "数据库", "爱", "nothing", `"`, "running"})
	f.ok(err)
	if frequencies["migrations"] != 1 || frequencies["爱"] != 1 || frequencies["数据库"] != 1 || frequencies["nothing"] != 0 || frequencies[`"`] != 0 || frequencies["running"] != 1 {
		t.Errorf("%v", frequencies)
	}
}

// TestSearchFindsNumbersHoweverTheyAreWritten: 1,000, 1.000, 1 000 and 1000 are the same number, for retrieval and
// for a user's search.
func TestSearchFindsNumbersHoweverTheyAreWritten(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	var grouped []chat.TurnID
	for _, written := range []string{"1,000 crates", "1.000 crates", "1 000 crates", "1\u202f000 crates", "1’000 crates", "1000 crates"} {
		grouped = append(grouped, f.full(b.ID, "we have "+written, "noted").ID)
	}
	f.full(b.ID, "we have 1 crate and 2,000 ropes", "noted")
	large := f.full(b.ID, "we have 2,410,000 rows", "noted")
	f.expectFound(everywhere, []string{"1000"}, grouped...)
	f.expectFound(everywhere, []string{"2410000"}, large.ID)
	frequencies, err := f.TermFrequencies(f.ctx, []string{"1000", "2410000", "3000", "241"})
	f.ok(err)
	if frequencies["1000"] != len(grouped) || frequencies["2410000"] != 1 || frequencies["3000"] != 0 || frequencies["241"] != 0 {
		t.Errorf("%v", frequencies)
	}
	for query, want := range map[string]int{"1,000 crates": 6, "1 000 crates": 6, "crates 1000": 6, "2.410.000 ": 1, `"we have 2,410,000 rows"`: 1, "2410": 1, "1001": 0} {
		found, err := f.SearchText(f.ctx, chat.TextQuery{Text: query})
		f.ok(err)
		if len(found.Hits) != want {
			t.Errorf("%q finds %d messages, want %d", query, len(found.Hits), want)
		}
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
	zebra := []string{"zebra"}
	f.expectFound(everywhere, zebra, shared.ID, own.ID, sibling.ID, elsewhere.ID)
	f.expectFound(chat.Within{Scope: chat.ScopeSession, Session: s.ID}, zebra, shared.ID, own.ID, sibling.ID)
	f.expectFound(chat.Within{Scope: chat.ScopeSession, Session: old.ID}, zebra, archived.ID)
	f.expectFound(chat.Within{Scope: chat.ScopeSession, Session: other.ID}, zebra, elsewhere.ID)
	f.expectFound(chat.Within{Scope: chat.ScopeLineage, Branch: main.ID}, zebra, shared.ID, own.ID)
	f.expectFound(chat.Within{Scope: chat.ScopeLineage, Branch: child.ID}, zebra, shared.ID, sibling.ID)
	f.expectFound(chat.Within{Scope: chat.ScopeAll, Branch: child.ID}, zebra, shared.ID, sibling.ID, elsewhere.ID)
	f.expectFound(chat.Within{Scope: chat.ScopeLineage, Branch: child.ID, ExcludeTurns: []chat.TurnID{shared.ID}}, zebra, sibling.ID)
	hits := f.find(everywhere, 2, "zebra")
	if len(hits) != 2 || hits[0].Title == "" || !strings.Contains(hits[0].Text, "zebra") {
		t.Errorf("%+v", hits)
	}
}

// TestAnInterruptedSearchDoesNotAffectTheNext: the tokenizer's table is in memory, on one connection, and must
// survive a cancelled context.
func TestAnInterruptedSearchDoesNotAffectTheNext(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	f.full(b.ID, "a zeppelin at the lake", "indeed")
	terms := []string{"zeppelin"}
	for i := range 60 {
		terms = append(terms, fmt.Sprint("word", i))
	}
	for i := range 200 {
		ctx, cancel := context.WithCancel(f.ctx)
		go func() {
			time.Sleep(time.Duration(i) * 20 * time.Microsecond)
			cancel()
		}()
		_, err := f.TermFrequencies(ctx, terms)
		if err != nil && chat.CodeOf(err) != chat.CodeCancelled {
			t.Fatalf("interrupted: %v (%v)", err, errors.Unwrap(err))
		}
		cancel()
	}
	got, err := f.TermFrequencies(f.ctx, terms)
	f.ok(err)
	if got["zeppelin"] != 1 {
		t.Errorf("found %v", got)
	}
}
