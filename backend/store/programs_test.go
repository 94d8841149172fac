package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

func TestAProgramSeesNothingUntilItIsAllowed(t *testing.T) {
	f := newFixture(t)
	session, _ := f.session("Falcon")
	c, err := f.RecordVisit(f.ctx, chat.ClientVisit{Name: "Zed", Claims: "zed\n1.0"})
	f.ok(err)
	if c.Scope != chat.ClientAsked || c.Remember || c.Claims != "zed 1.0" || c.SeenAt == nil {
		t.Errorf("a new program is %+v", c)
	}
	f.ok(f.AllowClient(f.ctx, chat.ClientChoice{Name: "Zed", Scope: chat.ClientChosen, Sessions: []chat.SessionID{session.ID}, Folders: []string{"Work"}, Remember: true}))
	c, err = f.RecordVisit(f.ctx, chat.ClientVisit{Name: "Zed"})
	f.ok(err)
	if c.Scope != chat.ClientChosen || !slices.Equal(c.Sessions, []chat.SessionID{session.ID}) || !slices.Equal(c.Folders, []string{"Work"}) || !c.Remember || c.Claims != "zed 1.0" {
		t.Errorf("what was allowed is %+v", c)
	}
	f.ok(f.AllowClient(f.ctx, chat.ClientChoice{Name: "Zed", Scope: chat.ClientAll}))
	if c, _ = f.Client(f.ctx, "Zed"); len(c.Sessions)+len(c.Folders) > 0 || c.Remember {
		t.Errorf("the previous choice is still there: %+v", c)
	}
	f.ok(f.ForgetClient(f.ctx, "Zed"))
	if _, err := f.Client(f.ctx, "Zed"); chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("a forgotten program: %v", err)
	}
}

func TestInvalidProgramsAreRefused(t *testing.T) {
	f := newFixture(t)
	for _, name := range []string{"", " Zed", "a\nb", strings.Repeat("x", 65), "<b>"} {
		if _, err := f.RecordVisit(f.ctx, chat.ClientVisit{Name: name}); chat.CodeOf(err) != chat.CodeInvalid {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, c := range []chat.ClientChoice{
		{Name: "Zed", Scope: "some"}, {Name: "Zed", Scope: chat.ClientAsked}, {Name: "Zed", Scope: chat.ClientChosen, Folders: []string{""}},
		{Name: "Zed", Scope: chat.ClientChosen, Sessions: []chat.SessionID{"01ARZ3NDEKTSV4RRFFQ69G5FAV"}},
		{Name: "Zed", Scope: chat.ClientChosen, Folders: make([]string, chat.MaxGrants+1)},
	} {
		if err := f.AllowClient(f.ctx, c); err == nil {
			t.Errorf("%+v was accepted", c)
		}
	}
	if list, err := f.Clients(f.ctx); err != nil || len(list) > 0 {
		t.Errorf("a refused choice left %v, %v", list, err)
	}
	for i := range chat.MaxClients {
		f.ok(f.AllowClient(f.ctx, chat.ClientChoice{Name: fmt.Sprint("p", i), Scope: chat.ClientNone}))
	}
	if _, err := f.RecordVisit(f.ctx, chat.ClientVisit{Name: "one more"}); chat.CodeOf(err) != chat.CodeTooLarge {
		t.Errorf("a program over the limit: %v", err)
	}
}

func TestATokenBelongsToOneProgram(t *testing.T) {
	f := newFixture(t)
	f.ok(f.SetClientToken(f.ctx, "Zed", "first"))
	f.ok(f.SetClientToken(f.ctx, "Zed", "second"))
	for hash, want := range map[string]string{"second": "Zed", "first": "", "": ""} {
		if name, ok, err := f.ClientByToken(f.ctx, hash); err != nil || name != want || ok != (want != "") {
			t.Errorf("%q is of %q, %v, %v", hash, name, ok, err)
		}
	}
	f.ok(f.SetClientToken(f.ctx, "Zed", ""))
	if _, ok, _ := f.ClientByToken(f.ctx, "second"); ok {
		t.Error("a revoked token is accepted")
	}
	if c, _ := f.Client(f.ctx, "Zed"); c.TokenAt != nil || c.Scope != chat.ClientAsked {
		t.Errorf("after a revoked token: %+v", c)
	}
}

// A note becomes a turn of an ordinary session and is indexed like others. The same note is stored once.
func TestANoteIsWrittenOnce(t *testing.T) {
	f := newFixture(t)
	n := chat.ClientNote{Client: "Zed", Text: "the wheel nuts take 110 Nm", Key: "k1"}
	first, made, err := f.AddNote(f.ctx, n)
	f.ok(err)
	if !made || first.User.Name != "Zed" || first.User.RenderedText() != n.Text || first.Phase != chat.PhaseResponseFinalized {
		t.Errorf("the note is %+v, %v", first, made)
	}
	again, made, err := f.AddNote(f.ctx, n)
	f.ok(err)
	if made || again.ID != first.ID {
		t.Errorf("the same note again is %s, made %v", again.ID, made)
	}
	second, _, err := f.AddNote(f.ctx, chat.ClientNote{Client: "Zed", Text: "another", Key: "k2"})
	f.ok(err)
	other, _, err := f.AddNote(f.ctx, chat.ClientNote{Client: "Cursor", Text: n.Text, Key: "k1"})
	f.ok(err)
	if second.SessionID != first.SessionID || second.Seq != 2 || other.SessionID == first.SessionID {
		t.Errorf("notes are in %s, %s and %s", first.SessionID, second.SessionID, other.SessionID)
	}
	session, err := f.Session(f.ctx, first.SessionID)
	f.ok(err)
	if session.Title != "Notes from Zed" || session.Source != "mcp" {
		t.Errorf("the session is %+v", session)
	}
	if job, ok, err := f.JobFor(f.ctx, first.ID, chat.JobSummarizeTurn); err != nil || !ok {
		t.Errorf("nothing will index the note: %+v, %v", job, err)
	}
	f.ok(f.ArchiveSession(f.ctx, session.ID, true))
	third, _, err := f.AddNote(f.ctx, chat.ClientNote{Client: "Zed", Text: "a third", Key: "k3"})
	f.ok(err)
	if third.SessionID == session.ID {
		t.Error("a note was added to an archived session")
	}
	f.verifyClean()
}

func TestTheAccessRecordIsBoundedAndPaged(t *testing.T) {
	f := newFixture(t)
	session, branch := f.session("Falcon")
	turn := f.say(branch.ID, "a", "b")
	var shown []chat.ShownTurn
	for range chat.MaxShown + 3 {
		shown = append(shown, chat.ShownTurn{Session: session.ID, Turn: chat.TurnID(chat.NewID(start))})
	}
	shown[0].Turn = turn.ID
	f.ok(f.RecordAccess(f.ctx, chat.ClientAccess{Client: "Zed", Tool: "search_memory", Query: strings.Repeat("é ", 2000), Outcome: chat.AccessAnswered, Shown: shown}))
	list, err := f.Accesses(f.ctx, chat.AccessQuery{})
	f.ok(err)
	if a := list[0]; len(a.Shown) != chat.MaxShown || a.More != 3 || len([]rune(a.Query)) > chat.MaxQueryRunes || a.Shown[0].Turn != turn.ID || a.Shown[0].Title != "Falcon" {
		t.Errorf("%d shown, %d more, query of %d, first %+v", len(a.Shown), a.More, len([]rune(a.Query)), a.Shown[0])
	}
	f.ok(f.core.DB.Writer.Exec(`UPDATE mcp_accesses SET id = 10`).Error)
	f.ok(f.core.DB.Writer.Exec(`UPDATE mcp_shown SET access_id = 10`).Error)
	for range 3 {
		f.ok(f.RecordAccess(f.ctx, chat.ClientAccess{Client: "Cursor", Tool: "get_turn", Outcome: chat.AccessRefused}))
	}
	page, err := f.Accesses(f.ctx, chat.AccessQuery{Limit: 2})
	f.ok(err)
	rest, err := f.Accesses(f.ctx, chat.AccessQuery{Before: page[1].ID})
	f.ok(err)
	if len(page) != 2 || page[0].ID != 13 || len(rest) != 2 || rest[0].ID != 11 {
		t.Errorf("pages are %+v and %+v", page, rest)
	}
	if filtered, err := f.Accesses(f.ctx, chat.AccessQuery{Client: "Zed"}); err != nil || len(filtered) != 1 {
		t.Errorf("of one program: %d, %v", len(filtered), err)
	}
	f.ok(f.core.DB.Writer.Exec(`UPDATE mcp_accesses SET id = ? WHERE id = 13`, chat.MaxAccesses+10).Error)
	f.ok(f.RecordAccess(f.ctx, chat.ClientAccess{Client: "Cursor", Tool: "get_turn", Outcome: chat.AccessFailed}))
	if left, _ := f.Accesses(f.ctx, chat.AccessQuery{}); left[len(left)-1].ID != 12 { // the oldest 11 of 5011 are gone
		t.Errorf("the oldest that is left is %d", left[len(left)-1].ID)
	}
	f.ok(f.ClearAccesses(f.ctx))
	if left, _ := f.Accesses(f.ctx, chat.AccessQuery{}); len(left) > 0 {
		t.Errorf("%d are left after the record was cleared", len(left))
	}
}

// Permanent deletion removes a session or turn from what other programs may see, were shown, and asked.
func TestDeletionReachesOtherPrograms(t *testing.T) {
	for _, kind := range []string{"session", "turn"} {
		t.Run(kind, func(t *testing.T) {
			f := newFixture(t)
			session, branch := f.session("kept apart")
			_, elsewhere := f.session("another")
			turn := f.say(branch.ID, "the "+canary, "noted")
			kept := f.say(elsewhere.ID, "something else", "yes")
			f.ok(f.AllowClient(f.ctx, chat.ClientChoice{Name: "Zed", Scope: chat.ClientChosen, Sessions: []chat.SessionID{session.ID}}))
			f.ok(f.RecordAccess(f.ctx, chat.ClientAccess{Client: "Zed", Tool: "search_memory", Query: "where is " + canary, Outcome: chat.AccessAnswered,
				Shown: []chat.ShownTurn{{Session: session.ID, Turn: turn.ID}, {Session: kept.SessionID, Turn: kept.ID}}}))
			id := string(turn.ID)
			if kind == "session" {
				id = string(session.ID)
			}
			_, err := f.Delete(f.ctx, kind, id)
			f.ok(err)
			f.expectNoTrace(canary)
			list, err := f.Accesses(f.ctx, chat.AccessQuery{})
			f.ok(err)
			if len(list) != 1 || list[0].Query != "" || len(list[0].Shown) != 1 || list[0].Shown[0].Turn != kept.ID {
				t.Errorf("the record says %+v", list)
			}
			if c, _ := f.Client(f.ctx, "Zed"); (len(c.Sessions) == 0) != (kind == "session") {
				t.Errorf("what may be seen is %+v", c)
			}
		})
	}
}

// A search that is limited to some sessions finds nothing in others, neither by words nor by vectors.
func TestASearchIsLimitedToSessions(t *testing.T) {
	f := newFixture(t)
	mine, a := f.session("mine")
	theirs, b := f.session("theirs")
	f.full(a.ID, "the zebra crossing", "yes")
	f.full(b.ID, "the zebra enclosure", "no")
	for _, c := range []struct {
		only []chat.SessionID
		want int
	}{{nil, 2}, {[]chat.SessionID{mine.ID}, 1}, {[]chat.SessionID{}, 0}, {[]chat.SessionID{mine.ID, theirs.ID}, 2}} {
		in := chat.Within{Scope: chat.ScopeAll, Only: c.only}
		if found := f.find(in, 10, "zebra"); len(found) != c.want {
			t.Errorf("limited to %v: %d found, want %d", c.only, len(found), c.want)
		}
		filter, err := f.ScopeFilter(f.ctx, in)
		f.ok(err)
		if _, _, ok := filter.Span(theirs.ID, b.ID); ok != (c.only == nil || len(c.only) == 2) {
			t.Errorf("limited to %v, vectors of another session are in reach: %v", c.only, ok)
		}
	}
}
