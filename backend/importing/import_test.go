package importing_test

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/chunking"
	"contextinfinity/backend/importing"
	"contextinfinity/backend/store"
	"contextinfinity/backend/transfer"
)

// env is a data directory that is imported into.
type env struct {
	testing.TB
	*store.Store
	in      *importing.Service
	dir     string
	changed int
}

func newEnv(t testing.TB) *env {
	t.Helper()
	e := &env{TB: t, dir: t.TempDir()}
	s, err := store.Open(context.Background(), store.Options{DataDir: filepath.Join(e.dir, "data")})
	e.ok(err)
	t.Cleanup(func() { _ = s.Close() })
	e.Store = s
	e.in = e.service(s)
	return e
}

func (e *env) service(s importing.Store) *importing.Service {
	return importing.New(importing.Deps{
		Store: s, Target: func() int { return 600 }, Count: func(text string) int { return len(text) / 4 },
		Model: func(_, model string) string {
			if model == "gpt-4o" {
				return "mine"
			}
			return ""
		},
		Changed: func() { e.changed++ },
	})
}

func (e *env) ok(err error) {
	e.Helper()
	if err != nil {
		e.Fatalf("%v: %v", err, chat.AsError(err).Err)
	}
}

func (e *env) file(name, content string) string {
	e.Helper()
	path := filepath.Join(e.dir, name)
	e.ok(os.MkdirAll(filepath.Dir(path), 0o700))
	e.ok(os.WriteFile(path, []byte(content), 0o600))
	return path
}

// mustImport imports a file or folder, and fails the test on an error.
func (e *env) mustImport(path string) importing.Report {
	e.Helper()
	r, err := e.in.Import(context.Background(), path, importing.Options{})
	e.ok(err)
	return r
}

// texts returns the messages of each branch of a session, in order, by the branch's label.
func (e *env) texts(s chat.SessionID) map[string]string {
	e.Helper()
	branches, err := e.Branches(context.Background(), s)
	e.ok(err)
	out := map[string]string{}
	for _, b := range branches {
		turns, err := e.Lineage(context.Background(), chat.LineageQuery{Branch: b.ID})
		e.ok(err)
		for _, t := range turns {
			out[b.Label] += t.User.RenderedText() + ">"
			if t.Assistant != nil {
				out[b.Label] += t.Assistant.RenderedText()
			}
			out[b.Label] += ";"
		}
	}
	return out
}

// index does the work that is due, as the window does after an import.
func (e *env) index() {
	e.Helper()
	for {
		job, more, err := e.ClaimJob(context.Background(), chat.MaxJobLease)
		e.ok(err)
		if !more {
			return
		}
		if job.Type != chat.JobIndexTurn {
			e.Fatalf("%s is due: a model would be asked", job.Type)
		}
		t, err := e.Turn(context.Background(), job.TurnID)
		e.ok(err)
		files, err := e.TurnFiles(context.Background(), t.ID)
		e.ok(err)
		e.ok(e.Index(context.Background(), chat.Indexing{
			TurnID: t.ID, Chunks: chunking.Chunk(t, chunking.Options{Count: func(text string) int { return len(text) / 4 }}, files...), Status: chat.IndexOK, Job: job.Lease(),
		}))
	}
}

// mustVerify fails the test if verify finds a problem.
func (e *env) mustVerify() {
	e.Helper()
	findings, err := e.Verify(context.Background())
	e.ok(err)
	for _, f := range findings {
		e.Errorf("verify: %+v", f)
	}
}

// chatgpt returns an export with conversations "id title", each with a question and an answer, and additional nodes
// after a "|".
func chatgpt(conversations ...string) string {
	var out []string
	for _, c := range conversations {
		id, rest, _ := strings.Cut(c, " ")
		title, more, _ := strings.Cut(rest, "|")
		nodes := []string{`"root":{"id":"root","parent":null,"message":null}`}
		parent := "root"
		texts := []string{"question of " + id, "answer of " + id}
		if more != "" {
			texts = append(texts, strings.Split(more, "|")...)
		}
		for i, text := range texts {
			node := fmt.Sprintf("n%d", i)
			nodes = append(nodes, fmt.Sprintf(`%q:{"id":%q,"parent":%q,"message":{"id":%q,"author":{"role":%q},"create_time":%d,"content":{"content_type":"text","parts":[%q]},"metadata":{"model_slug":"gpt-4o"}}}`,
				node, node, parent, node, [...]string{"user", "assistant"}[i%2], 1700000000+i, text))
			parent = node
		}
		out = append(out, fmt.Sprintf(`{"id":%q,"conversation_id":%q,"title":%q,"create_time":1700000000,"update_time":1700000100,"current_node":%q,"mapping":{%s}}`,
			id, id, title, parent, strings.Join(nodes, ",")))
	}
	return "[" + strings.Join(out, ",\n") + "]"
}

// TestImportOfAnExport: conversations are created, recognized, extended, and found by the search; unreadable entries
// are reported and do not affect others.
func TestImportOfAnExport(t *testing.T) {
	e := newEnv(t)
	path := e.file("conversations.json", chatgpt("c1 First", "c2 Second"))
	r := e.mustImport(path)
	if r.Sessions != 2 || r.Turns != 2 || r.Format != transfer.FormatChatGPT || r.Problems() || len(r.SessionIDs) != 2 || r.First != r.SessionIDs[0] || r.Files != 1 {
		t.Errorf("%+v", r)
	}
	if got := e.texts(r.First)["main"]; got != "question of c1>answer of c1;" {
		t.Errorf("the text is %q", got)
	}
	s, err := e.Session(context.Background(), r.First)
	e.ok(err)
	if s.Title != "First" || s.Source != "chatgpt" || s.Model != "mine" || s.UpdatedAt.Unix() != 1700000100 {
		t.Errorf("%+v", s)
	}
	e.index()
	hits, err := e.SearchText(context.Background(), chat.TextQuery{Text: "question c2"})
	e.ok(err)
	if len(hits.Hits) == 0 {
		t.Error("none of it is found")
	}
	if r := e.mustImport(path); r.Already != 2 || r.Sessions+r.Grown+r.Turns != 0 || len(r.SessionIDs) != 0 {
		t.Errorf("again: %+v", r)
	}
	e.file("conversations.json", `[{"id":"broken","title":"Broken"},`+"\n"+chatgpt("c1 Renamed|more|and more", "c2 Second", "c3 Third")[1:])
	r = e.mustImport(path)
	if r.Sessions != 1 || r.Grown != 1 || r.Already != 1 || r.Turns != 2 || !r.Problems() || r.SkippedCount != 1 || r.Skipped[0].Reason == "" {
		t.Errorf("grown: %+v", r)
	}
	e.index()
	e.mustVerify()
	if e.changed == 0 {
		t.Error("Changed was not called")
	}
}

// TestImportOfAFolder: it imports the exports in the folder and ignores other files.
func TestImportOfAFolder(t *testing.T) {
	e := newEnv(t)
	line := `{"type":"user","uuid":"u%d","parentUuid":null,"sessionId":"s%d","timestamp":"2026-01-01T00:00:00Z","cwd":"/src","message":{"role":"user","content":"hello %d"}}` + "\n" +
		`{"type":"assistant","uuid":"a%d","parentUuid":"u%d","sessionId":"s%d","timestamp":"2026-01-01T00:00:01Z","message":{"id":"m","role":"assistant","model":"x","content":[{"type":"text","text":"hi %d"}]}}` + "\n"
	for i := range 3 {
		e.file(fmt.Sprintf("projects/p%d/s%d.jsonl", i, i), fmt.Sprintf(line, i, i, i, i, i, i, i))
	}
	e.file("projects/package.json", `{"name":"none"}`)
	e.file("projects/picture.png", "none")
	e.file("projects/.git/s9.jsonl", fmt.Sprintf(line, 9, 9, 9, 9, 9, 9, 9))
	e.file("projects/torn.jsonl", fmt.Sprintf(line, 5, 5, 5, 5, 5, 5, 5)+`{"type":"user","uuid":"u`)
	e.ok(os.Symlink(filepath.Join(e.dir, "projects"), filepath.Join(e.dir, "projects", "again")))
	e.ok(os.Symlink(filepath.Join(e.dir, "projects"), filepath.Join(e.dir, "link")))
	r := e.mustImport(filepath.Join(e.dir, "link"))
	if r.Sessions != 4 || r.Turns != 4 || r.Files != 4 || r.Format != "" || !r.Truncated || len(r.Notices) == 0 {
		t.Errorf("%+v", r)
	}
	if !slices.Equal(r.TruncatedFiles, []string{"torn.jsonl"}) || !slices.ContainsFunc(r.Notices, func(n transfer.Notice) bool {
		return strings.Contains(n.Text, "not an export that can be read") && slices.Equal(n.Files, []string{"package.json"})
	}) {
		t.Errorf("notices name no file: %q, %+v", r.TruncatedFiles, r.Notices)
	}
	if r.SkippedCount != 1 || r.Skipped[0].File != "torn.jsonl" {
		t.Errorf("skipped %+v", r.Skipped)
	}
	if r := e.mustImport(filepath.Join(e.dir, "projects")); r.Already != 4 || r.Turns != 0 {
		t.Errorf("again: %+v", r)
	}
	e.mustVerify()
}

func TestImportOfAZip(t *testing.T) {
	e := newEnv(t)
	path := filepath.Join(e.dir, "export.zip")
	f, err := os.Create(path)
	e.ok(err)
	z := zip.NewWriter(f)
	entry, err := z.Create("conversations.json")
	e.ok(err)
	_, err = io.WriteString(entry, chatgpt("c1 First", "c2 Second"))
	e.ok(err)
	e.ok(errors.Join(z.Close(), f.Close()))
	if r := e.mustImport(path); r.Sessions != 2 || r.Format != transfer.FormatChatGPT {
		t.Errorf("%+v", r)
	}
}

// TestImportRefuses: paths that cannot be imported are refused with a clear error.
// TestWhatWasImportedIsFound: the arguments of tools, artifacts, results and unknown content are found by search and find.
func TestWhatWasImportedIsFound(t *testing.T) {
	e := newEnv(t)
	r := e.mustImport(e.file("conversations.json", `[{"uuid":"c","name":"Bees","chat_messages":[
		{"uuid":"a","sender":"human","content":[{"type":"text","text":"Make a report"}]},
		{"uuid":"b","sender":"assistant","content":[
			{"type":"tool_use","id":"1","name":"artifacts","input":{"command":"create","title":"Bee report","content":"Bees do the ARTIFACTWORD dance."}},
			{"type":"tool_use","id":"2","name":"web_search","input":{"query":"ARGUMENTWORD"}},
			{"type":"tool_result","tool_use_id":"2","content":[{"type":"knowledge","title":"A page","url":"https://example.com","text":"Bees are KNOWLEDGEWORD insects"}]},
			{"type":"something_new","payload":{"note":"with an UNKNOWNWORD in it"}},
			{"type":"text","text":"Here it is."}]}]}]`))
	e.index()
	branches, err := e.Branches(context.Background(), r.First)
	e.ok(err)
	for _, word := range []string{"ARTIFACTWORD", "ARGUMENTWORD", "KNOWLEDGEWORD", "UNKNOWNWORD"} {
		found, err := e.Find(context.Background(), chat.FindQuery{Branch: branches[0].ID, Text: word})
		e.ok(err)
		units, err := e.SearchUnits(context.Background(), []string{strings.ToLower(word)}, chat.Within{Scope: chat.ScopeAll}, 10)
		e.ok(err)
		if found.Total != 1 || len(units) == 0 {
			t.Errorf("%s: find %+v, search %+v", word, found, units)
		}
	}
}

// TestAFolderOfEveryProduct: each file of a folder with every product's exports is imported, or the report names it.
func TestAFolderOfEveryProduct(t *testing.T) {
	e := newEnv(t)
	files, err := filepath.Glob("../transfer/testdata/*/*.json*")
	e.ok(err)
	files = slices.DeleteFunc(files, func(file string) bool { return filepath.Base(filepath.Dir(file)) == "golden" })
	for _, file := range files {
		raw, err := os.ReadFile(file)
		e.ok(err)
		e.file("all/"+strings.TrimPrefix(filepath.ToSlash(file), "../transfer/testdata/"), string(raw))
	}
	e.file("all/package.json", `{"name":"none"}`)
	r := e.mustImport(filepath.Join(e.dir, "all"))
	if len(files) < 50 || r.Files != len(files) {
		t.Errorf("%d of %d files were read: %+v", r.Files, len(files), r.Notices)
	}
	named := false
	for _, n := range r.Notices {
		named = named || slices.Contains(n.Files, "package.json")
	}
	if !named || r.SkippedCount == 0 {
		t.Errorf("the report names not all that was skipped: %+v", r)
	}
	if again := e.mustImport(filepath.Join(e.dir, "all")); again.Sessions+again.Grown+again.Turns != 0 {
		t.Errorf("again: %+v", again)
	}
}

// TestForksInAFolder: files of forks that come before their parent are read after it.
func TestForksInAFolder(t *testing.T) {
	e := newEnv(t)
	line := func(role, text string) string {
		return `{"timestamp":"2026-09-01T10:00:00Z","type":"response_item","payload":{"type":"message","role":"` + role +
			`","content":[{"type":"input_text","text":"` + text + `"}]}}` + "\n"
	}
	meta := func(more string) string { return `{"type":"session_meta","payload":{"cwd":"/src",` + more + "}}\n" }
	said := line("user", "Design the cache") + line("assistant", "Use an LRU.")
	e.file("s/rollout-a.jsonl", meta(`"id":"a","forked_from_id":"b"`)+said+line("user", "Explore it")+line("assistant", "Fine."))
	e.file("s/rollout-b.jsonl", meta(`"id":"b","forked_from_id":"c"`)+said+line("user", "Build it")+line("assistant", "Built."))
	e.file("s/rollout-c.jsonl", meta(`"id":"c"`)+said)
	if r := e.mustImport(filepath.Join(e.dir, "s")); r.Sessions != 3 || r.Turns != 3 {
		t.Errorf("%+v", r)
	}
	if r := e.mustImport(filepath.Join(e.dir, "s")); r.Already != 3 || r.Turns != 0 {
		t.Errorf("again: %+v", r)
	}
}

func TestImportRefuses(t *testing.T) {
	e := newEnv(t)
	e.ok(os.MkdirAll(filepath.Join(e.dir, "empty"), 0o700))
	e.file("none/a.json", `{"name":"none"}`)
	for path, code := range map[string]chat.Code{
		filepath.Join(e.dir, "nowhere.json"): chat.CodeNotFound,
		filepath.Join(e.dir, "empty"):        chat.CodeInvalid,
		filepath.Join(e.dir, "none"):         chat.CodeInvalid,
		e.file("none.txt", "words"):          chat.CodeInvalid,
		e.file("nothing.json", ""):           chat.CodeInvalid,
		"/dev/null":                          chat.CodeInvalid,
		"/":                                  chat.CodeInvalid, // it would read the whole file system
	} {
		r, err := e.in.Import(context.Background(), path, importing.Options{})
		if chat.CodeOf(err) != code || !strings.Contains(err.Error(), "othing") || r.Sessions != 0 || r.Skipped == nil {
			t.Errorf("%s: %v, %+v", path, err, r)
		}
	}
}

// failing is a store in which writing the n-th conversation from now fails.
type failing struct {
	*store.Store
	n   int
	err error
}

func (f *failing) ImportConversation(ctx context.Context, c transfer.Conversation, rules chat.ImportRules) (chat.Imported, error) {
	if f.n--; f.n == 0 {
		return chat.Imported{}, f.err
	}
	return f.Store.ImportConversation(ctx, c, rules)
}

// ImportTogether implements importing.Store: it fails, so that each conversation is written separately.
func (f *failing) ImportTogether(context.Context, []transfer.Conversation, []chat.ImportRules) ([]chat.Imported, error) {
	return nil, errors.New("not together")
}

// TestConversationsAreWrittenTogether: many small conversations share a transaction. A conversation that already
// exists, or occurs twice in the file with different turns, does not affect the others.
func TestConversationsAreWrittenTogether(t *testing.T) {
	e := newEnv(t)
	e.mustImport(e.file("first.json", chatgpt("c3 Third")))
	var names []string
	for i := range 90 {
		names = append(names, fmt.Sprintf("c%d Title%d", i, i))
	}
	names[3] = "c3 Third"
	names = append(names, "c50 Other|and more|indeed")
	counting := &countingStore{Store: e.Store}
	r, err := e.service(counting).Import(context.Background(), e.file("many.json", chatgpt(names...)), importing.Options{})
	e.ok(err)
	if r.Sessions != 89 || r.Grown != 1 || r.Already != 1 || r.SkippedCount != 0 || r.Turns != 90 {
		t.Errorf("%+v", r)
	}
	if counting.batches == 0 || counting.single > 50 {
		t.Errorf("%d batches, %d conversations written separately", counting.batches, counting.single)
	}
	e.mustVerify()
}

// countingStore counts the batches and the conversations that are written separately.
type countingStore struct {
	*store.Store
	batches, single int
}

func (s *countingStore) ImportTogether(ctx context.Context, list []transfer.Conversation, rules []chat.ImportRules) ([]chat.Imported, error) {
	out, err := s.Store.ImportTogether(ctx, list, rules)
	if err == nil {
		s.batches++
	}
	return out, err
}

func (s *countingStore) ImportConversation(ctx context.Context, c transfer.Conversation, rules chat.ImportRules) (chat.Imported, error) {
	s.single++
	return s.Store.ImportConversation(ctx, c, rules)
}

// TestImportErrors: a conversation that fails is skipped; a full disk or a cancellation ends the import, the
// report lists what was imported, and the next import continues.
func TestImportErrors(t *testing.T) {
	for name, c := range map[string]struct {
		err      error
		code     chat.Code
		imported int
		skipped  int
	}{
		"deleted":   {chat.Errorf(chat.CodeNotFound, "x", "There is no branch of it."), "", 2, 1},
		"its own":   {chat.Errorf(chat.CodeCorrupt, "x", "It is damaged."), "", 2, 1},
		"disk full": {chat.Errorf(chat.CodeNoSpace, "x", "Full."), chat.CodeNoSpace, 1, 0},
		"internal":  {errors.New("broken"), chat.CodeInternal, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			path := e.file("conversations.json", chatgpt("c1 First", "c2 Second", "c3 Third"))
			r, err := e.service(&failing{e.Store, 2, c.err}).Import(context.Background(), path, importing.Options{})
			if c.code == "" && err != nil || c.code != "" && chat.CodeOf(err) != c.code || r.Sessions != c.imported || r.SkippedCount != c.skipped {
				t.Errorf("%v, %+v", err, r)
			}
			if name == "deleted" {
				if row := r.Skipped[0]; row.Title != "" || !strings.Contains(row.Reason, "deleted here") {
					t.Errorf("the report contains the title of a deleted conversation: %+v", row)
				}
			} else if c.skipped > 0 && (r.Skipped[0].ID != "c2" || r.Skipped[0].Index != 1 || !strings.Contains(r.Skipped[0].Reason, "It is damaged.")) {
				t.Errorf("skipped %+v", r.Skipped)
			}
			if r := e.mustImport(path); r.Sessions != 3-c.imported || r.Already != c.imported {
				t.Errorf("again: %+v", r)
			}
			e.mustVerify()
		})
	}
}

// TestImportIsCancelled: an import is cancelled between two conversations, and the next import continues there.
func TestImportIsCancelled(t *testing.T) {
	e := newEnv(t)
	path := e.file("conversations.json", chatgpt("c1 First", "c2 Second", "c3 Third"))
	ctx, cancel := context.WithCancel(context.Background())
	var counts []int
	failingStore := &failing{e.Store, 2, context.Canceled}
	in := e.service(cancelling{failingStore, cancel})
	r, err := in.Import(ctx, path, importing.Options{Progress: func(p importing.Progress) { counts = append(counts, p.Sessions) }})
	if chat.CodeOf(err) != chat.CodeCancelled || !r.Cancelled || r.Sessions != 1 || !strings.Contains(err.Error(), "1 session") {
		t.Errorf("%v, %+v", err, r)
	}
	if len(counts) == 0 || !slices.IsSorted(counts) {
		t.Errorf("reported %v", counts)
	}
	if r := e.mustImport(path); r.Sessions != 2 || r.Already != 1 {
		t.Errorf("again: %+v", r)
	}
}

// cancelling cancels the import once the store returns an error.
type cancelling struct {
	*failing
	cancel context.CancelFunc
}

func (c cancelling) ImportConversation(ctx context.Context, conv transfer.Conversation, rules chat.ImportRules) (chat.Imported, error) {
	im, err := c.failing.ImportConversation(ctx, conv, rules)
	if err != nil {
		c.cancel()
	}
	return im, err
}

// TestImportOfABundle: the report contains the store's result.
func TestImportOfABundle(t *testing.T) {
	e := newEnv(t)
	path := e.file("session.cinf", "PK\x03\x04")
	in := e.service(bundles{e.Store})
	r, err := in.Import(context.Background(), path, importing.Options{})
	if err != nil || r.Sessions != 1 || !r.Copied || r.Turns != 7 || r.First != "S" || r.Format != transfer.FormatBundle || len(r.Notices) != 2 {
		t.Errorf("%v, %+v", err, r)
	}
}

// TestImportOfAnArchiveOfBundles: in an archive such as an export of all sessions writes, each bundle is imported, a
// refused one is reported, and other files are counted.
func TestImportOfAnArchiveOfBundles(t *testing.T) {
	e := newEnv(t)
	source := newEnv(t)
	var out strings.Builder
	z := zip.NewWriter(&out)
	put := func(name string, method uint16, content string) {
		f, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		e.ok(err)
		_, err = io.WriteString(f, content)
		e.ok(err)
	}
	put("README.md", zip.Deflate, "a list")
	for _, title := range []string{"one", "two"} {
		s, _, err := source.CreateSession(context.Background(), chat.NewSession{Title: title})
		e.ok(err)
		var bundle strings.Builder
		_, err = source.WriteBundle(context.Background(), s.ID, &bundle, true)
		e.ok(err)
		put(title+".cinf", zip.Store, bundle.String())
	}
	put("torn.cinf", zip.Store, "PK\x03\x04 torn")
	put("beside.json", zip.Deflate, "{}")
	e.ok(z.Close())
	path := e.file("all.zip", out.String())
	if format, err := transfer.PeekArchive("all.zip", strings.NewReader(out.String()), int64(out.Len())); err != nil || format != transfer.FormatZip {
		t.Errorf("detected as %q, %v", format, err)
	}
	r := e.mustImport(path)
	if r.Sessions != 2 || r.SkippedCount != 1 || r.Skipped[0].File != "torn.cinf" || r.Skipped[0].Index != 2 || !strings.Contains(r.Skipped[0].Reason, "refused") ||
		len(r.Notices) != 1 || r.Notices[0].Count != 1 || r.Format != transfer.FormatZip {
		t.Errorf("%+v", r)
	}
	list, err := e.Sessions(context.Background(), chat.SessionQuery{})
	e.ok(err)
	if len(list) != 2 {
		t.Errorf("%+v", list)
	}
	if again := e.mustImport(path); again.Already != 2 || again.Sessions != 0 {
		t.Errorf("again: %+v", again)
	}
	e.mustVerify()
}

type bundles struct{ *store.Store }

func (bundles) ImportBundle(_ context.Context, _ io.ReaderAt, size int64, name string) (chat.Imported, []transfer.Notice, error) {
	if size != 4 || name != "session.cinf" {
		return chat.Imported{}, nil, errors.New("another file")
	}
	return chat.Imported{Session: "S", Outcome: chat.ImportCopied, Turns: 7, Notice: "a copy"}, []transfer.Notice{{Text: "torn", Count: 1}}, nil
}

// fixtures returns the folder with exports of real programs: outside the repository, or in CONTEXTINFINITY_SHARED.
func fixtures(t *testing.T) string {
	t.Helper()
	roots := []string{os.Getenv("CONTEXTINFINITY_SHARED")}
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		roots = append(roots, filepath.Join(dir, "shared"))
	}
	for _, root := range roots {
		found := filepath.Join(root, "fixtures", "imports")
		if _, err := os.Stat(found); root != "" && err == nil {
			return found
		}
	}
	t.Skip("the exports of other programs are not beside this checkout (set CONTEXTINFINITY_SHARED)")
	return ""
}

// TestFixtures imports exports of real programs and finds each by a word of each turn.
func TestFixtures(t *testing.T) {
	e := newEnv(t)
	r := e.mustImport(fixtures(t))
	if r.Sessions < 3 || r.SkippedCount != 1 || r.Skipped[0].Title != "Corrupted entry" {
		t.Errorf("%+v", r)
	}
	e.index()
	words := regexp.MustCompile(`[A-Za-z]{5,}`)
	for _, id := range r.SessionIDs {
		for label, text := range e.texts(id) {
			for turn := range strings.SplitSeq(text, ";") {
				word := words.FindString(turn)
				if word == "" {
					continue
				}
				found, err := e.SearchText(context.Background(), chat.TextQuery{Text: word, Session: id})
				e.ok(err)
				if len(found.Hits) == 0 {
					t.Errorf("%q of branch %q is not found", word, label)
				}
			}
		}
	}
	if again := e.mustImport(fixtures(t)); again.Already != r.Sessions || again.Turns != 0 {
		t.Errorf("again: %+v", again)
	}
	e.mustVerify()
}
