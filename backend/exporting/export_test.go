package exporting_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/exporting"
	"contextinfinity/backend/store"
	"contextinfinity/backend/transfer"
)

// fixture is a data directory with a conversation of two branches, and an Exporter.
type fixture struct {
	testing.TB
	*exporting.Exporter
	ctx     context.Context
	store   *store.Store
	dir     string // the data directory
	out     string // an empty folder
	now     time.Time
	format  exporting.Format
	session chat.Session
	used    []string
}

var day = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// newFixture returns a fixture without sessions. Each gets a copy of the same data, because creating a database takes
// longer than any test here.
func newFixture(t testing.TB) *fixture {
	t.Helper()
	return fixtureOf(t, empty)
}

// forked returns a fixture with turns one, two and three; two-b and three-c branch off after the first, and three-b,
// the active branch, after two-b.
func forked(t testing.TB) *fixture {
	t.Helper()
	d := fixtureOf(t, withBranches)
	sessions, err := d.store.Sessions(d.ctx, chat.SessionQuery{})
	d.ok(err)
	d.session = sessions[0].Session
	return d
}

// Data directories that each fixture copies.
var (
	empty        = sync.OnceValue(func() string { return createData(func(*fixture) {}) })
	withBranches = sync.OnceValue(func() string {
		return createData(func(d *fixture) {
			d.session = d.imports("s1", "Ships: sails/masts", "one", "two one", "three two", "two-b one", "three-c two-b", "three-b two-b")
			d.ok(d.store.SwitchBranch(d.ctx, d.session.ID, d.branches()[2].ID))
		})
	})
)

// createData returns a folder with data created by fill. TestMain removes it.
func createData(fill func(*fixture)) string {
	d := &fixture{TB: new(testing.B), ctx: context.Background(), dir: filepath.Join(scratch, chat.NewID(day))}
	var err error
	if d.store, err = store.Open(d.ctx, store.Options{DataDir: d.dir}); err == nil {
		fill(d)
		err = d.store.Close()
	}
	if err != nil {
		panic(err)
	}
	return d.dir
}

func fixtureOf(t testing.TB, data func() string) *fixture {
	t.Helper()
	d := &fixture{TB: t, ctx: context.Background(), dir: filepath.Join(t.TempDir(), "data"), out: t.TempDir(), now: day, format: exporting.FormatBundle}
	d.ok(os.CopyFS(d.dir, os.DirFS(data())))
	db, err := store.Open(d.ctx, store.Options{DataDir: d.dir})
	d.ok(err)
	t.Cleanup(func() { _ = db.Close() })
	d.store = db
	d.Exporter = exporting.New(exporting.Deps{
		Store: db, Bundles: db, Answers: answers{}, DataDir: d.dir, Now: func() time.Time { return d.now },
		Format: func() exporting.Format { return d.format },
		Folder: func(context.Context) (string, error) { return d.out, nil },
		Used:   func(_ context.Context, folder string) { d.used = append(d.used, folder) },
	})
	return d
}

// answers returns the partial text of every answer.
type answers struct{}

func (answers) Received(context.Context, chat.Turn) (chat.Message, error) {
	return chat.AssistantText("what arrived"), nil
}

func (d *fixture) ok(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

// imports imports a conversation, whose current turn is the third if there is one. Each turn is "key parent", and the
// key is in its question and answer.
func (d *fixture) imports(id, title string, turns ...string) chat.Session {
	d.Helper()
	return d.importsAs(id, title, chat.Message{}, turns...)
}

// importsAs is like imports, but all turns have the given answer unless it is empty.
func (d *fixture) importsAs(id, title string, answer chat.Message, turns ...string) chat.Session {
	d.Helper()
	c := transfer.Conversation{Source: transfer.SourceJSONL, ID: id, Key: id, Title: title, CreatedAt: day, UpdatedAt: day.Add(time.Hour), Model: "test", SystemPrompt: "Be brief."}
	for i, t := range turns {
		key, parent, _ := strings.Cut(t, " ")
		message := answer
		if message.Role == "" {
			message = chat.AssistantText("answer-" + key)
		}
		c.Turns = append(c.Turns, transfer.Turn{
			Key: key, Parent: parent, ContentKey: id + key, User: chat.UserText("question-" + key), Assistant: &message, Model: "test",
			CreatedAt: day.Add(time.Duration(i) * time.Minute), AnsweredAt: day.Add(time.Duration(i)*time.Minute + time.Second),
		})
		if i < 3 || answer.Role != "" {
			c.Current = key
		}
	}
	im, err := d.store.ImportConversation(d.ctx, c, chat.ImportRules{
		Summarize: func(string, []chat.Pin, []chat.Turn) chat.State {
			return chat.State{Summary: "## Facts\n", TokenCount: 1}
		},
		Excerpt: func(s string) (string, int) { return s, 1 },
	})
	d.ok(err)
	s, err := d.store.Session(d.ctx, im.Session)
	d.ok(err)
	return s
}

func (d *fixture) branches() []chat.BranchSummary {
	d.Helper()
	all, err := d.store.Branches(d.ctx, d.session.ID)
	d.ok(err)
	return all
}

func (d *fixture) write(r exporting.Request) (exporting.Result, string) {
	d.Helper()
	res, err := d.Write(d.ctx, r, nil)
	d.ok(err)
	return res, d.read(res.Path)
}

func (d *fixture) read(path string) string {
	d.Helper()
	data, err := os.ReadFile(path)
	d.ok(err)
	return string(data)
}

// questions returns the keys of the questions in a text, in order.
func questions(text string) string {
	var out []string
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') }) {
		if key, ok := strings.CutPrefix(line, "question-"); ok {
			out = append(out, key)
		}
	}
	return strings.Join(out, " ")
}

func TestScopes(t *testing.T) {
	d := forked(t)
	first := d.branches()[0]
	turns, err := d.store.Lineage(d.ctx, chat.LineageQuery{Branch: d.session.ActiveBranch})
	d.ok(err)
	for name, c := range map[string]struct {
		r               exporting.Request
		want, file      string
		branches, turns int
	}{
		"session":      {exporting.Request{Scope: exporting.ScopeSession}, "one two-b three-b", "Ships- sails-masts", 1, 3},
		"all branches": {exporting.Request{Scope: exporting.ScopeSession, AllBranches: true}, "one two three two-b three-c three-b", "Ships- sails-masts", 3, 6},
		"branch":       {exporting.Request{Scope: exporting.ScopeBranch, Branch: first.ID}, "one two three", "Ships- sails-masts - " + exporting.FileName(first.Label), 1, 3},
		"turn":         {exporting.Request{Scope: exporting.ScopeTurn, Turn: turns[1].ID}, "two-b", "Ships- sails-masts - turn 2", 1, 1},
		"shared turn":  {exporting.Request{Scope: exporting.ScopeTurn, Turn: turns[0].ID, Branch: d.session.ActiveBranch}, "one", "Ships- sails-masts - turn 1", 1, 1},
	} {
		for _, format := range []exporting.Format{exporting.FormatMarkdown, exporting.FormatHTML, exporting.FormatJSON} {
			t.Run(name+" as "+string(format), func(t *testing.T) {
				d.out = t.TempDir()
				c.r.Session, c.r.Format = d.session.ID, format
				plan, err := d.Plan(d.ctx, c.r)
				d.ok(err)
				res, text := d.write(c.r)
				if res.Path != plan.Path || plan.Name != c.file+"."+string(format) || filepath.Join(d.out, plan.Name) != plan.Path || plan.Exists || !res.Exists {
					t.Errorf("plan %+v, written %+v", plan, res)
				}
				if res.Turns != c.turns || plan.Turns != c.turns || plan.Branches != c.branches || res.Sessions != 1 || res.Bytes != int64(len(text)) {
					t.Errorf("plan %+v, written %+v", plan, res)
				}
				_, text, _ = strings.Cut(text, "<main") // ignores the titles in the head and the table of contents
				if format != exporting.FormatHTML {
					text = d.read(res.Path)
				}
				text, _, _ = strings.Cut(text, "<nav")
				if got := questions(text); got != c.want {
					t.Errorf("contains %q, want %q", got, c.want)
				}
				if info, err := os.Stat(res.Path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
					t.Errorf("mode %v, %v", info.Mode(), err)
				}
				if d.used[len(d.used)-1] != d.out {
					t.Errorf("the remembered folders are %q", d.used)
				}
				if name == "turn" && strings.Contains(d.read(res.Path), "Be brief.") {
					t.Error("a single turn shows the session's instructions")
				}
			})
		}
	}
}

func TestAnExportedBundleCanBeImported(t *testing.T) {
	d := forked(t)
	res, text := d.write(exporting.Request{Scope: exporting.ScopeSession, Session: d.session.ID})
	if filepath.Ext(res.Path) != ".cinf" || res.Branches != 3 || res.Turns != 6 {
		t.Errorf("%+v", res)
	}
	other := newFixture(t)
	got, _, err := other.store.ImportBundle(other.ctx, strings.NewReader(text), int64(len(text)), res.Name)
	d.ok(err)
	if got.Turns != 6 || got.Outcome != chat.ImportCreated {
		t.Errorf("%+v", got)
	}
	again, err := other.store.Session(other.ctx, got.Session)
	if err != nil || again.Title != d.session.Title {
		t.Errorf("%+v, %v", again, err)
	}
}

func TestFormatsOfParts(t *testing.T) {
	d := forked(t)
	r := exporting.Request{Scope: exporting.ScopeBranch, Session: d.session.ID}
	plan, err := d.Plan(d.ctx, r)
	if err != nil || plan.Format != exporting.FormatMarkdown {
		t.Errorf("%+v, %v", plan, err)
	}
	r.Format = exporting.FormatBundle
	if _, err := d.Plan(d.ctx, r); chat.CodeOf(err) != chat.CodeInvalid || !strings.Contains(err.Error(), "whole session") {
		t.Errorf("a bundle of a branch: %v", err)
	}
	d.format = exporting.FormatHTML
	r.Format = ""
	if plan, err = d.Plan(d.ctx, r); err != nil || plan.Format != exporting.FormatHTML {
		t.Errorf("%+v, %v", plan, err)
	}
}

func TestMissingScopes(t *testing.T) {
	d := forked(t)
	other := d.imports("s2", "Other", "x")
	turn, err := d.store.Lineage(d.ctx, chat.LineageQuery{Branch: other.ActiveBranch})
	d.ok(err)
	third, err := d.store.Lineage(d.ctx, chat.LineageQuery{Branch: d.branches()[0].ID})
	d.ok(err)
	none := chat.NewID(day)
	for name, r := range map[string]exporting.Request{
		"no session":              {Scope: exporting.ScopeSession, Session: chat.SessionID(none)},
		"no branch":               {Scope: exporting.ScopeBranch, Session: d.session.ID, Branch: chat.BranchID(none)},
		"another's branch":        {Scope: exporting.ScopeBranch, Session: d.session.ID, Branch: other.ActiveBranch},
		"no turn":                 {Scope: exporting.ScopeTurn, Session: d.session.ID, Turn: chat.TurnID(none)},
		"another's turn":          {Scope: exporting.ScopeTurn, Session: d.session.ID, Turn: turn[0].ID},
		"a turn after the fork":   {Scope: exporting.ScopeTurn, Session: d.session.ID, Branch: d.session.ActiveBranch, Turn: third[2].ID},
		"a sibling's second turn": {Scope: exporting.ScopeTurn, Session: d.session.ID, Branch: d.session.ActiveBranch, Turn: third[1].ID},
	} {
		if _, err := d.Write(d.ctx, r, nil); chat.CodeOf(err) != chat.CodeNotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, r := range map[string]exporting.Request{"scope": {Scope: "x"}, "format": {Scope: exporting.ScopeSession, Session: d.session.ID, Format: "pdf"}} {
		if _, err := d.Write(d.ctx, r, nil); chat.CodeOf(err) != chat.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if files, _ := os.ReadDir(d.out); len(files) != 0 {
		t.Errorf("%d files were written", len(files))
	}
}

func TestTurnsWithoutAnAnswerAreLeftOutAndCounted(t *testing.T) {
	d := forked(t)
	open, err := d.store.Accept(d.ctx, chat.Acceptance{BranchID: d.session.ActiveBranch, User: chat.UserText("question-open"), Provider: "p", Model: "m"})
	d.ok(err)
	for _, c := range []struct {
		r           exporting.Request
		turns, open int
		want        string
	}{
		{exporting.Request{Scope: exporting.ScopeSession, Format: exporting.FormatMarkdown}, 3, 1, "one two-b three-b"},
		{exporting.Request{Scope: exporting.ScopeSession, Format: exporting.FormatMarkdown, AllBranches: true}, 6, 1, "one two three two-b three-c three-b"},
		{exporting.Request{Scope: exporting.ScopeBranch, Branch: d.branches()[0].ID, Format: exporting.FormatMarkdown}, 3, 0, "one two three"},
		{exporting.Request{Scope: exporting.ScopeSession, Format: exporting.FormatJSON}, 4, 0, "one two-b three-b open"},
	} {
		c.r.Session = d.session.ID
		res, text := d.write(c.r)
		if res.Turns != c.turns || res.Open != c.open || questions(text) != c.want {
			t.Errorf("%+v: %+v contains %q", c.r, res, questions(text))
		}
	}
	_, err = d.Write(d.ctx, exporting.Request{Scope: exporting.ScopeTurn, Session: d.session.ID, Turn: open.ID, Format: exporting.FormatHTML}, nil)
	if chat.CodeOf(err) != chat.CodeIncomplete {
		t.Errorf("a turn without an answer: %v", err)
	}
	plan, err := d.Plan(d.ctx, exporting.Request{Scope: exporting.ScopeAll, Format: exporting.FormatMarkdown})
	if err != nil || plan.Turns != 3 || plan.Open != 1 {
		t.Errorf("%+v, %v", plan, err)
	}
}

func TestAllSessionsAreAZip(t *testing.T) {
	d := forked(t)
	d.imports("s2", "ships- SAILS/masts", "x")
	d.imports("s3", "index", "y")
	gone := d.imports("s4", "Archived", "z")
	d.ok(d.store.ArchiveSession(d.ctx, gone.ID, true))
	for _, c := range []struct {
		r     exporting.Request
		files string
		turns int
	}{
		{exporting.Request{Format: exporting.FormatHTML}, "Ships- sails-masts.html, index (2).html, index.html, ships- SAILS-masts (2).html", 5},
		{exporting.Request{Format: exporting.FormatMarkdown, AllBranches: true, Archived: true}, "Archived.md, README.md, Ships- sails-masts.md, index.md, ships- SAILS-masts (2).md", 9},
		{exporting.Request{Format: exporting.FormatBundle}, "README.md, Ships- sails-masts.cinf, index.cinf, ships- SAILS-masts (2).cinf", 8},
	} {
		c.r.Scope = exporting.ScopeAll
		var reported [][2]int64
		res, err := d.Write(d.ctx, c.r, func(done, total int64) { reported = append(reported, [2]int64{done, total}) })
		d.ok(err)
		data := d.read(res.Path)
		z, err := zip.NewReader(strings.NewReader(data), int64(len(data)))
		d.ok(err)
		names := map[string]string{}
		for _, f := range z.File {
			r, err := f.Open()
			d.ok(err)
			body, err := io.ReadAll(r)
			d.ok(err)
			names[f.Name] = string(body)
		}
		if got := strings.Join(sorted(names), ", "); got != c.files || len(names) != len(z.File) {
			t.Errorf("%s: %s", c.r.Format, got)
		}
		if last := reported[len(reported)-1]; res.Turns != c.turns || last[0] != int64(c.turns) || last[1] != int64(c.turns) {
			t.Errorf("%+v, reported %v", res, reported)
		}
		list := names["README.md"] + names["index.html"]
		for name := range names {
			if name != "README.md" && name != "index.html" && !strings.Contains(list, "./"+strings.ReplaceAll(strings.NewReplacer("(", "%28", ")", "%29").Replace(name), " ", "%20")) {
				t.Errorf("the list does not name %s:\n%s", name, list)
			}
		}
	}
	if _, err := newFixture(t).Plan(d.ctx, exporting.Request{Scope: exporting.ScopeAll}); chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("of nothing: %v", err)
	}
}

func sorted(m map[string]string) []string {
	return slices.Sorted(maps.Keys(m))
}

func TestTargetsOfAnExport(t *testing.T) {
	d := forked(t)
	r := exporting.Request{Scope: exporting.ScopeSession, Session: d.session.ID, Format: exporting.FormatMarkdown}
	base := func(r exporting.Request) string {
		t.Helper()
		res, _ := d.write(r)
		rel, err := filepath.Rel(d.out, res.Path)
		d.ok(err)
		return rel
	}
	if a, b := base(r), base(r); a != "Ships- sails-masts.md" || b != "Ships- sails-masts (2).md" {
		t.Errorf("%q, then %q", a, b)
	}
	d.ok(os.Mkdir(filepath.Join(d.out, "folder"), 0o700))
	r.Path = filepath.Join(d.out, "folder")
	if got := base(r); got != filepath.Join("folder", "Ships- sails-masts.md") {
		t.Errorf("in a folder: %q", got)
	}
	r.Path = filepath.Join(d.out, "named.md")
	if got := base(r); got != "named.md" {
		t.Errorf("named: %q", got)
	}
	d.ok(os.WriteFile(r.Path, []byte("precious"), 0o644))
	if _, err := d.Write(d.ctx, r, nil); chat.CodeOf(err) != chat.CodeConflict || d.read(r.Path) != "precious" {
		t.Errorf("over a file: %v", err)
	}
	plan, err := d.Plan(d.ctx, r)
	if err != nil || !plan.Exists {
		t.Errorf("%+v, %v", plan, err)
	}
	r.Replace = true
	if base(r); d.read(r.Path) == "precious" {
		t.Error("the file was not replaced")
	}
}

func TestNothingIsWrittenThroughALink(t *testing.T) {
	d := forked(t)
	target, link := filepath.Join(t.TempDir(), "real.md"), filepath.Join(d.out, "link.md")
	d.ok(os.WriteFile(target, []byte("old"), 0o600))
	if err := os.Symlink(target, link); err != nil {
		t.Skip("this system has no links")
	}
	r := exporting.Request{Scope: exporting.ScopeSession, Session: d.session.ID, Format: exporting.FormatMarkdown, Path: link}
	if _, err := d.Write(d.ctx, r, nil); chat.CodeOf(err) != chat.CodeConflict {
		t.Errorf("through a link: %v", err)
	}
	r.Replace = true
	if _, err := d.Write(d.ctx, r, nil); chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("in place of a link: %v", err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 || d.read(target) != "old" {
		t.Errorf("the link is %v, %v", info, err)
	}
}

func TestUnwritableTargets(t *testing.T) {
	d := forked(t)
	d.ok(os.WriteFile(filepath.Join(d.out, "file"), nil, 0o600))
	d.ok(os.Mkdir(filepath.Join(d.out, "closed"), 0o500))
	r := exporting.Request{Scope: exporting.ScopeSession, Session: d.session.ID, Format: exporting.FormatMarkdown}
	for path, c := range map[string]struct {
		code chat.Code
		want string
	}{
		"absent/x.md": {chat.CodeNotFound, "There is no folder"}, "file/x.md": {chat.CodeNotFound, "There is no folder"}, "absent/": {chat.CodeNotFound, "There is no folder"},
		"closed/x.md": {chat.CodeInvalid, "is not writable"}, strings.Repeat("x", 300) + ".md": {chat.CodeInvalid, "could not be written"},
	} {
		if strings.HasPrefix(path, "closed") && (os.Geteuid() == 0 || runtime.GOOS == "windows") {
			continue // the superuser may write everywhere
		}
		r.Path = d.out + string(filepath.Separator) + path
		if _, err := d.Write(d.ctx, r, nil); chat.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want) || chat.AsError(err).Hint == "" {
			t.Errorf("%.20s: %v", path, err)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	r.Path, r.Replace = "/dev/null", true
	if _, err := d.Write(d.ctx, r, nil); chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("a device: %v", err)
	}
}

// An export that fails or is cancelled leaves no file and no part of one, and does not change the file that it was to
// replace.
func TestAnExportThatFailsLeavesNothing(t *testing.T) {
	d := forked(t)
	for _, replace := range []bool{false, true} {
		path := filepath.Join(d.out, "x.cinf")
		if replace {
			d.ok(os.WriteFile(path, []byte("old"), 0o600))
		}
		for name, c := range map[string]struct {
			bundles exporting.Bundles
			code    chat.Code
		}{
			"the store fails":         {failing{chat.Errorf(chat.CodeCorrupt, "x", "damaged")}, chat.CodeCorrupt},
			"an error without a code": {failing{errors.New("x")}, chat.CodeInternal},
		} {
			deps := d.Deps
			deps.Bundles = c.bundles
			_, err := exporting.New(deps).Write(d.ctx, exporting.Request{Scope: exporting.ScopeSession, Session: d.session.ID, Path: path, Replace: replace}, nil)
			if chat.CodeOf(err) != c.code {
				t.Errorf("%s: %v", name, err)
			}
		}
		ctx, cancel := context.WithCancel(d.ctx)
		_, err := d.Write(ctx, exporting.Request{Scope: exporting.ScopeSession, Session: d.session.ID, Format: exporting.FormatMarkdown, Path: path, Replace: replace}, func(int64, int64) { cancel() })
		if chat.CodeOf(err) != chat.CodeCancelled {
			t.Errorf("cancelled: %v", err)
		}
		files, err := os.ReadDir(d.out)
		d.ok(err)
		if replace && (len(files) != 1 || d.read(path) != "old") || !replace && len(files) != 0 {
			t.Errorf("replace %t: %v", replace, files)
		}
	}
}

type failing struct{ err error }

func (f failing) WriteBundle(_ context.Context, _ chat.SessionID, w io.Writer, _ bool) (int, error) {
	_, _ = w.Write(bytes.Repeat([]byte("part"), 1000))
	return 0, f.err
}

func (f failing) QuotingRequests(context.Context, chat.SessionID) (int, error) { return 0, nil }

func TestTheJSONContainsTheSession(t *testing.T) {
	d := forked(t)
	var out bytes.Buffer
	res, err := d.WriteTo(d.ctx, exporting.Request{Scope: exporting.ScopeSession, Session: d.session.ID, AllBranches: true, Format: exporting.FormatJSON}, &out, nil)
	d.ok(err)
	var doc struct {
		Schema   int
		Session  chat.Session
		Branches []struct {
			ID chat.BranchID `json:"branch_id"`
		}
		Turns []struct {
			Branch chat.BranchID `json:"branch_id"`
			Steps  []any
		}
		Pins []any
	}
	d.ok(json.Unmarshal(out.Bytes(), &doc))
	if doc.Schema != 1 || doc.Session.ID != d.session.ID || len(doc.Branches) != 3 || len(doc.Turns) != 6 || doc.Turns[5].Branch != doc.Branches[2].ID || doc.Pins == nil || res.Bytes != int64(out.Len()) {
		t.Errorf("%+v", doc)
	}
}
