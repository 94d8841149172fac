package store

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/retrieval"
	"contextinfinity/backend/store/sqlite"
)

var _ retrieval.Store = (*Store)(nil)

// found returns the turns whose units are in a scope, determined by each path: words, rows, neighbours and branch.
// All must agree, except for what a scope leaves to Units to filter.
func (f *fixture) found(in chat.Within, word string) map[chat.TurnID]bool {
	f.Helper()
	out := map[chat.TurnID]bool{}
	scores, err := f.SearchUnits(f.ctx, []string{word}, in, 10_000)
	f.ok(err)
	ns, err := sqlite.All[int64](f.core.DB.Reader, `SELECT n FROM units`)
	f.ok(err)
	units, err := f.Units(f.ctx, in, append(ns, ns...))
	f.ok(err)
	dated := in // with a date the database filters; otherwise the cached places of units do
	if dated.Since.IsZero() {
		dated.Since = start.AddDate(-100, 0, 0)
	}
	byRows, err := f.Units(f.ctx, dated, ns)
	f.ok(err)
	byN := func(a, b chat.UnitRef) int { return cmp.Compare(a.N, b.N) }
	slices.SortFunc(byRows, byN)
	slices.SortFunc(units, byN)
	if !slices.Equal(byRows, units) {
		f.Errorf("%+v: units %+v, from the database %+v", in, units, byRows)
	}
	scope, err := f.ScopeFilter(f.ctx, in)
	f.ok(err)
	byWord := map[int64]bool{}
	for i, sc := range scores {
		byWord[sc.N] = true
		if i > 0 && sc.Score > scores[i-1].Score {
			f.Error("not best first")
		}
	}
	spans := map[chat.SeqSpan]bool{}
	for _, u := range units {
		out[u.Turn] = true
		spans[chat.SeqSpan{Branch: u.Branch, From: u.Seq - 3, To: u.Seq + 3}] = true
		if !byWord[u.N] {
			f.Errorf("%+v: the word search does not find unit %d", in, u.N)
		}
		if after, upTo, ok := scope.Span(u.Session, u.Branch); !ok || u.Seq <= after || u.Seq > upTo {
			f.Errorf("%+v: the scope excludes unit %d of turn %d", in, u.N, u.Seq)
		}
		delete(byWord, u.N)
	}
	if len(byWord) > 0 {
		f.Errorf("%+v: words find %d units outside the scope", in, len(byWord))
	}
	var nearSpans []chat.SeqSpan
	for sp := range spans {
		nearSpans = append(nearSpans, sp)
	}
	near, err := f.UnitsNear(f.ctx, in, nearSpans)
	f.ok(err)
	seen := map[int64]bool{}
	for i, u := range near {
		if !out[u.Turn] || seen[u.N] {
			f.Errorf("%+v: unit %d of turn %d is near, but outside the scope or returned twice", in, u.N, u.Seq)
		}
		seen[u.N] = true
		if i > 0 && orderOf(near[i-1]) > orderOf(u) {
			f.Errorf("%+v: neighbours out of order", in)
		}
	}
	if len(seen) != len(units) {
		f.Errorf("%+v: %d units are near, %d are in scope", in, len(seen), len(units))
	}
	return out
}

func orderOf(u chat.UnitRef) string {
	return fmt.Sprintf("%s/%09d/%06d/%06d", u.Branch, u.Seq, u.ChunkOrdinal, u.Ordinal)
}

func (f *fixture) expectReach(in chat.Within, want ...chat.TurnID) {
	f.Helper()
	got := f.found(in, "zebra")
	for _, id := range want {
		if !got[id] {
			f.Errorf("%+v does not reach %s", in, id)
		}
	}
	if len(got) != len(want) {
		f.Errorf("%+v reaches %d turns, want %d", in, len(got), len(want))
	}
}

func TestReach(t *testing.T) {
	f := newFixture(t)
	day := func() time.Time { f.clock.Advance(24 * time.Hour); return f.clock.Now() }
	s, main := f.session("mine")
	shared := f.full(main.ID, "zebra shared", "zebra a")
	second := f.full(main.ID, "zebra second", "zebra b")
	child := f.fork(main.ID, shared.ID)
	monday := day()
	own := f.full(main.ID, "zebra main", "zebra c")
	sibling := f.full(child.ID, "zebra child", "zebra d")
	tuesday := day()
	late := f.full(child.ID, "zebra late", "zebra e")
	elsewhere, ob := f.session("other")
	far := f.full(ob.ID, "zebra elsewhere", "zebra f")
	old, oldBranch := f.session("old")
	archived := f.full(oldBranch.ID, "zebra archived", "zebra g")
	f.ok(f.ArchiveSession(f.ctx, old.ID, true))
	m, c, w := main.ID, child.ID, func(change func(*chat.Within)) chat.Within {
		in := chat.Within{Branch: child.ID}
		change(&in)
		return in
	}

	f.expectReach(chat.Within{Scope: chat.ScopeLineage, Branch: m}, shared.ID, second.ID, own.ID)
	f.expectReach(chat.Within{Scope: chat.ScopeLineage, Branch: c}, shared.ID, sibling.ID, late.ID)
	f.expectReach(chat.Within{Branch: c}, shared.ID, sibling.ID, late.ID)
	f.expectReach(chat.Within{Branch: c, Before: 3}, shared.ID, sibling.ID)
	f.expectReach(chat.Within{Branch: c, Before: 2}, shared.ID)
	f.expectReach(chat.Within{Branch: c, Before: 1})
	f.expectReach(w(func(in *chat.Within) { in.ExcludeTurns = []chat.TurnID{shared.ID, late.ID} }), sibling.ID)
	f.expectReach(w(func(in *chat.Within) { in.Since = monday }), sibling.ID, late.ID)
	f.expectReach(w(func(in *chat.Within) { in.Since, in.Until = monday, tuesday }), sibling.ID)
	f.expectReach(w(func(in *chat.Within) { in.Until = monday }), shared.ID)
	session := chat.Within{Scope: chat.ScopeSession, Session: s.ID}
	f.expectReach(session, shared.ID, second.ID, own.ID, sibling.ID, late.ID)
	f.expectReach(chat.Within{Session: old.ID}, archived.ID)
	f.expectReach(chat.Within{Scope: chat.ScopeSession, Branch: c}, shared.ID, second.ID, own.ID, sibling.ID, late.ID)
	f.expectReach(chat.Within{Scope: chat.ScopeSession, Branch: c, Before: 3}, shared.ID, second.ID, own.ID, sibling.ID)
	f.expectReach(chat.Within{Scope: chat.ScopeSession, Branch: c, Before: 1}, second.ID, own.ID)
	f.expectReach(chat.Within{}, shared.ID, second.ID, own.ID, sibling.ID, late.ID, far.ID)
	f.expectReach(chat.Within{Archived: true}, shared.ID, second.ID, own.ID, sibling.ID, late.ID, far.ID, archived.ID)
	f.expectReach(chat.Within{Scope: chat.ScopeAll, Branch: c, Before: 3, Archived: true}, shared.ID, sibling.ID, far.ID, archived.ID)
	f.expectReach(chat.Within{Scope: chat.ScopeAll, Branch: c, Before: 3}, shared.ID, sibling.ID, far.ID)
	f.expectReach(chat.Within{Scope: chat.ScopeAll, Branch: ob.ID}, shared.ID, second.ID, own.ID, sibling.ID, late.ID, far.ID)
	f.expectReach(chat.Within{Scope: chat.ScopeAll, Branch: oldBranch.ID}, shared.ID, second.ID, own.ID, sibling.ID, late.ID, far.ID, archived.ID)

	for _, bad := range []chat.Within{{Scope: chat.ScopeLineage}, {Scope: chat.ScopeSession}, {Scope: "everything"}, {Branch: "nobody"}} {
		_, err := f.SearchUnits(f.ctx, []string{"zebra"}, bad, 5)
		if err == nil {
			t.Errorf("%+v is accepted", bad)
		}
		if _, err = f.ScopeFilter(f.ctx, bad); err == nil {
			t.Errorf("%+v is accepted by a scope", bad)
		}
	}
	scope, err := f.ScopeFilter(f.ctx, chat.Within{Scope: chat.ScopeAll, Branch: c})
	f.ok(err)
	for _, b := range []struct {
		session chat.SessionID
		branch  chat.BranchID
		ok      bool
	}{{s.ID, m, true}, {s.ID, c, true}, {s.ID, "another", false}, {old.ID, oldBranch.ID, false}, {elsewhere.ID, ob.ID, true}} {
		if _, _, ok := scope.Span(b.session, b.branch); ok != b.ok {
			t.Errorf("span of %s/%s: %v", b.session, b.branch, ok)
		}
	}
	if _, upTo, _ := scope.Span(s.ID, m); upTo != 1 {
		t.Errorf("turns of the parent up to %d", upTo)
	}
}

func TestUnitsHaveTheFieldsForRanking(t *testing.T) {
	f := newFixture(t)
	s, b := f.session("s")
	turn := f.full(b.ID, "zebra question", "zebra answer")
	units, err := f.UnitsNear(f.ctx, chat.Within{Branch: b.ID}, []chat.SeqSpan{{Branch: b.ID, From: 1, To: 1}})
	f.ok(err)
	if len(units) != 2 {
		t.Fatalf("%d units", len(units))
	}
	u := units[1]
	if u.Session != s.ID || u.Branch != b.ID || u.Turn != turn.ID || u.Seq != 1 || u.ChunkOrdinal != 1 || u.Role != chat.RoleAssistant ||
		u.Type != chat.ChunkExplanation || u.Start != 0 || u.End != len("zebra answer") || u.Tokens != 3 || !u.At.Equal(turn.CreatedAt) || u.File != "" {
		t.Fatalf("%+v", u)
	}
	typed, err := f.SearchUnits(f.ctx, []string{"zebra"}, chat.Within{Types: []chat.ChunkType{chat.ChunkExplanation, chat.ChunkCode}}, 0)
	f.ok(err)
	if len(typed) != 1 || typed[0].N != u.N {
		t.Errorf("by type: %+v", typed)
	}
	spoken, err := f.SearchUnits(f.ctx, []string{"zebra"}, chat.Within{Role: chat.RoleUser}, 0)
	f.ok(err)
	if len(spoken) != 1 || spoken[0].N != units[0].N {
		t.Errorf("by role: %+v", spoken)
	}
	none, err := f.UnitsNear(f.ctx, chat.Within{Branch: b.ID}, nil)
	f.ok(err)
	empty, err := f.Units(f.ctx, chat.Within{Branch: b.ID}, nil)
	f.ok(err)
	if len(none)+len(empty) != 0 {
		t.Error("unrequested units")
	}
}

func TestChunkTextsHaveTheirTextAndPosition(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("A title")
	turn := f.say(b.ID, "long question. with a second sentence", "answer")
	f.commitAll(b.ID)
	text := "long question. with a second sentence"
	cut := func(from, to, ordinal int) chat.Chunk {
		return chat.Chunk{Ordinal: ordinal, Role: chat.RoleUser, Start: from, End: to, Text: text[from:to], Type: chat.ChunkOther, Version: 1, Summary: "short",
			Units: []chat.Unit{{Start: from, End: to, Text: "user: " + text[from:to]}}}
	}
	f.ok(f.Index(f.ctx, chat.Indexing{TurnID: turn.ID, Status: chat.IndexOK, Chunks: []chat.Chunk{cut(0, 14, 0), cut(15, len(text), 1)}}))
	ids, err := sqlite.All[chat.ChunkID](f.core.DB.Reader, `SELECT id FROM chunks ORDER BY ordinal DESC`)
	f.ok(err)
	got, err := f.ChunkTexts(f.ctx, []chat.ChunkID{ids[0], "nobody", ids[1]})
	f.ok(err)
	if len(got) != 2 || got[0].Text != "with a second sentence" || got[1].Text != "long question." || got[0].Source != text || got[0].Start != 15 ||
		got[0].SessionTitle != "A title" || got[0].TurnSeq != 1 || !got[0].At.Equal(turn.CreatedAt) || got[0].Summary != "short" || got[0].SourceTurn != turn.ID {
		t.Fatalf("%+v", got)
	}
	f.ok(f.core.DB.Writer.Exec(`UPDATE turns SET user_message_json = '{"role' WHERE id = ?`, turn.ID).Error)
	got, err = f.ChunkTexts(f.ctx, ids)
	f.ok(err)
	if len(got) != 0 {
		t.Fatalf("text from an unreadable message: %+v", got)
	}
}

// TestSearchAcceptsAnyTerm: no term is interpreted as syntax, and none is an error.
func TestSearchAcceptsAnyTerm(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	f.full(b.ID, `zebra AND NOT "quoted" NEAR(crossing, 2) col:umn ^start a-b_c x*`, "مرحبا بالعالم 🦓 emoji 我爱数据库 ναί camelCase snake_case /usr/local/bin")
	long := make([]byte, 200_000)
	for i := range long {
		long[i] = 'q'
	}
	for term, hits := range map[string]int{
		"zebra": 1, `"quoted"`: 1, `"`: 0, `""""`: 0, "AND": 1, "OR": 0, "NOT": 1, "NEAR": 1, "NEAR(": 1, "zebra*": 1, "*": 0, "^start": 1, "^": 0,
		"col:umn": 1, ":": 0, "-": 0, "a-b_c": 1, "x*": 1, "zeb": 0, "\x00": 0, "zebra\x00crossing": 0, "zebra\x00": 1, "\xff\xfe": 0, string(long): 0,
		"数据库": 1, "库": 1, "مرحبا": 1, "🦓": 1, "ναί": 1, "camelCase": 1, "snake_case": 1, "/usr/local/bin": 1, "": 0, " ": 0, "(": 0, "{a b}": 1,
		"'": 0, "; DROP TABLE units": 0, "%": 0, "_": 0,
	} {
		got, err := f.SearchUnits(f.ctx, []string{term}, chat.Within{Branch: b.ID}, 10)
		if err != nil || len(got) != hits {
			t.Errorf("%.40q: %d hits, want %d, %v", term, len(got), hits, err)
		}
		if _, err := f.TermFrequencies(f.ctx, []string{term}); err != nil {
			t.Errorf("%.40q: frequency: %v", term, err)
		}
	}
	many := make([]string, 500)
	for i := range many {
		many[i] = fmt.Sprintf(`t%d" OR "`, i)
	}
	if _, err := f.SearchUnits(f.ctx, append(many, "zebra"), chat.Within{}, 10); err != nil {
		t.Error(err)
	}
}

// TestSiblingBranchesAreNotFound: in random trees of forks, the scope of a lineage contains exactly the turns on the
// path to the root, through every path of search. Searching all sessions limits the branch's own session in the same
// way.
func TestSiblingBranchesAreNotFound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := newFixture(t)
		defer f.Store.Close()
		type line struct {
			id    chat.BranchID
			turns []chat.TurnID
		}
		var lines []*line
		for i := range rapid.IntRange(1, 2).Draw(rt, "sessions") {
			_, b := f.session(fmt.Sprint("session ", i))
			lines = append(lines, &line{id: b.ID})
		}
		home := map[chat.BranchID]int{}
		for i, l := range lines {
			home[l.id] = i
		}
		for range rapid.IntRange(4, 14).Draw(rt, "steps") {
			l := rapid.SampledFrom(lines).Draw(rt, "branch")
			if len(l.turns) == 0 || rapid.IntRange(0, 2).Draw(rt, "fork") > 0 {
				l.turns = append(l.turns, f.full(l.id, "zebra fact", "zebra reply").ID)
				continue
			}
			at := rapid.IntRange(0, len(l.turns)).Draw(rt, "after")
			after := chat.TurnID("")
			if at > 0 {
				after = l.turns[at-1]
			}
			child := f.fork(l.id, after)
			home[child.ID] = home[l.id]
			lines = append(lines, &line{id: child.ID, turns: slices.Clone(l.turns[:at])})
		}
		for _, l := range lines {
			before := int64(rapid.IntRange(0, len(l.turns)+1).Draw(rt, "before"))
			past := l.turns
			if before > 0 {
				past = past[:min(int(before)-1, len(past))]
			}
			elsewhere := map[chat.TurnID]bool{}
			for _, o := range lines {
				for _, id := range o.turns {
					if home[o.id] != home[l.id] {
						elsewhere[id] = true
					}
				}
			}
			f.expectReach(chat.Within{Scope: chat.ScopeLineage, Branch: l.id, Before: before}, past...)
			want := slices.Clone(past)
			for id := range elsewhere {
				want = append(want, id)
			}
			f.expectReach(chat.Within{Scope: chat.ScopeAll, Branch: l.id, Before: before}, want...)
		}
	})
}

// Only a search of all sessions can be limited to the newest units.
func TestSearchAmongTheNewestUnits(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, first := f.session("first")
	_, second := f.session("second")
	for range 5 {
		f.full(first.ID, "zebra question", "zebra answer")
	}
	f.full(second.ID, "zebra question", "zebra answer")
	for _, c := range []struct {
		in   chat.Within
		want int
	}{
		{chat.Within{Newest: 3}, 3}, {chat.Within{Newest: 100}, 12}, {chat.Within{}, 12},
		{chat.Within{Branch: first.ID, Newest: 4}, 10}, {chat.Within{Scope: chat.ScopeSession, Session: second.SessionID, Newest: 1}, 2},
	} {
		found, err := f.SearchUnits(f.ctx, []string{"zebra"}, c.in, 0)
		f.ok(err)
		if len(found) != c.want {
			t.Errorf("%+v: %d units, not %d", c.in, len(found), c.want)
		}
	}
}
