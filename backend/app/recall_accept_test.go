package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/chunking"
	"contextinfinity/backend/config"
	"contextinfinity/backend/llm/llmtest"
	"contextinfinity/backend/retrieval"
	"contextinfinity/test/harness"
)

// searchOutput is the output of search --json.
type searchOutput struct {
	Results []struct {
		ChunkID   string  `json:"chunk_id"`
		TurnID    string  `json:"turn_id"`
		SessionID string  `json:"session_id"`
		BranchID  string  `json:"branch_id"`
		Text      string  `json:"text"`
		Type      string  `json:"type"`
		Score     float64 `json:"score"`
		Keyword   float64 `json:"keyword_score"`
		Tokens    int     `json:"tokens"`
		Packed    int     `json:"packed_tokens"`
	} `json:"results"`
	Packed        int                `json:"packed_tokens"`
	PackedResults int                `json:"packed_results"`
	Embedder      string             `json:"embedder"`
	Warning       string             `json:"warning"`
	Latency       map[string]float64 `json:"latency"`
}

func (d *fixture) search(args ...string) searchOutput {
	d.t.Helper()
	var f searchOutput
	d.OK(append([]string{"search", "--json"}, args...)...).Document(&f)
	return f
}

func (f searchOutput) texts() string {
	var b strings.Builder
	for _, r := range f.Results {
		b.WriteString(r.Text + "\n")
	}
	return b.String()
}

// rememberedTexts are texts to find again, each from its own session.
var rememberedTexts = []string{
	"The ryokan near Gion costs 180 a night, breakfast included.",
	"parseInvoiceHeader in billing/invoice_reader.go drops the tax field.",
	"我们决定把数据库迁移到星期五。", "Die Donaudampfschifffahrtsgesellschaft hat 1829 begonnen.", "The shelf in the cellar is green.",
}

// newSearchFixture returns a fixture in which rememberedTexts are indexed.
func newSearchFixture(t *testing.T, config string) *fixture {
	t.Helper()
	r := harness.NewRelay(t, harness.ChatWire, func(n int) llmtest.Step { return llmtest.Stream(harness.ChatWire.TextStream(true, "It is noted.")...) }, nil)
	d := newFixture(t, harness.ChatWire.Windowed("m", r.URL, 8192)+"[librarian]\nmodel = \"\"\n"+config)
	for _, s := range rememberedTexts {
		d.send("", s, "--model", "m", "--wait", "indexed")
	}
	return d
}

// SRD 22.5: running the indexing job of the same turn again inserts no chunk, unit, vector or event.
func TestSRD22_5IdempotentIndexing(t *testing.T) {
	t.Parallel()
	d := newSearchFixture(t, "")
	before, err := d.Store.Stats(context.Background())
	if err != nil || before.Chunks < len(rememberedTexts) || before.Vectors < before.Units {
		t.Fatalf("%+v %v", before, err)
	}
	for range 2 {
		// As if a later version of the program chunked texts differently.
		n, err := d.Store.RequeueOlder(context.Background(), chunking.Version+1, 100)
		if err != nil || n != len(rememberedTexts) {
			t.Fatalf("%d turns are to be indexed again: %v", n, err)
		}
		if ran, err := d.Jobs.Drain(context.Background()); err != nil || ran < n {
			t.Fatalf("%d jobs ran: %v", ran, err)
		}
		after, err := d.Store.Stats(context.Background())
		after.Bytes = before.Bytes
		if err != nil || after != before {
			t.Errorf("before %+v\nafter  %+v %v", before, after, err)
		}
	}
	d.Clean()
}

// search finds names, identifiers and other scripts, shows where they are, and writes nothing.
func TestSearchCommand(t *testing.T) {
	t.Parallel()
	d := newSearchFixture(t, "")
	for query, want := range map[string]string{
		"What did the ryokan cost?": "ryokan", "invoice reader": "parseInvoiceHeader", "parseInvoiceHeader": "parseInvoiceHeader",
		"数据库": "数据库", "Donaudampfschifffahrtsgesellschaft": "1829",
		"Wann begann die Donaudampfschifffahrt?": "1829", "何时搬库？": "数据库",
	} {
		f := d.search(query)
		if len(f.Results) == 0 || !strings.Contains(f.Results[0].Text, want) {
			t.Errorf("%q finds %q", query, harness.Clip(f.texts()))
			continue
		}
		r := f.Results[0]
		if r.ChunkID == "" || r.TurnID == "" || r.SessionID == "" || r.BranchID == "" || r.Type == "" || r.Score <= 0 || r.Tokens == 0 || r.Packed == 0 ||
			f.Packed < r.Packed || f.Latency["total_ms"] <= 0 || !strings.HasPrefix(f.Embedder, "local/") {
			t.Errorf("%q: %+v", query, f)
		}
	}
	first := d.search("ryokan").Results[0]
	if f := d.search("ryokan", "--session", first.SessionID); len(f.Results) == 0 {
		t.Error("the session's own memory does not find it")
	}
	cellar := d.search("shelf cellar green").Results[0]
	for _, scope := range []string{"lineage", "session"} {
		if f := d.search("ryokan", "--session", cellar.SessionID, "--scope", scope); strings.Contains(f.texts(), "ryokan") {
			t.Errorf("scope %s reaches another session", scope)
		}
	}
	if f := d.search("ryokan", "--max-tokens", "0"); f.Packed != 0 || len(f.Results) == 0 || f.Results[0].Packed != 0 {
		t.Errorf("results were packed into 0 tokens: %+v", f)
	}
	if f := d.search("ryokan shelf cellar invoice 1829", "-k", "2"); len(f.Results) != 2 || f.PackedResults < 3 || f.Packed <= f.Results[0].Packed+f.Results[1].Packed {
		t.Errorf("-k 2 gave %d results, %d packed", len(f.Results), f.PackedResults)
	}
	if human := d.OK("search", "ryokan").Stdout; !strings.Contains(human, "ryokan near Gion") || !strings.Contains(human, first.TurnID) {
		t.Errorf("as text: %s", harness.Clip(human))
	}
	d.Run("search", "x", "--scope", "world").Exits(2)
	d.Run("search", " ").Exits(2)
}

// The index is derived data without its own file, and finds the same after a restart.
func TestIndexIsDerived(t *testing.T) {
	t.Parallel()
	d := newSearchFixture(t, "")
	before := d.search("What did the ryokan cost?")
	d.closeApp()
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case strings.HasPrefix(name, "contextinfinity.db"), name == "writer.lock", name == "history.mark", name == "confirmed.mark", name == "streams", name == "backups":
		default:
			t.Errorf("%s does not belong to the store", filepath.Join(d.dir, name))
		}
	}
	d.open()
	after := d.search("What did the ryokan cost?")
	if len(before.Results) == 0 || fmt.Sprint(before.Results) != fmt.Sprint(after.Results) {
		t.Errorf("before %+v\nafter  %+v", before.Results, after.Results)
	}
}

// A failing embedder does not stop a turn, and is reported: the text is stored and found by its words, its job waits
// with a reason, and a request for which memory was not searched says so. When the embedder works again, the missing
// work is done.
func TestEmbedderFailureIsVisible(t *testing.T) {
	t.Parallel()
	proxy, broken := newBreakableServer(t)
	relay := harness.NewRelay(t, harness.ChatWire, func(n int) llmtest.Step { return harness.Reply(harness.ChatWire, n) }, nil)
	d := newFixture(t, harness.ChatWire.Windowed("m", relay.URL, 4096)+"[librarian]\nmodel = \"\"\n[retrieval]\nembedder = \"openai\"\n"+
		"embedding_model = \"planted\"\nembedding_base_url = \""+proxy.URL+"\"\n")
	session := d.sendIn("", "Yesterday the feline dozed upon the windowsill.")
	for i := range 24 { // among few units, two that are near are not outstanding
		session = d.sendIn(session, chatter(i))
	}
	s := d.send(session, "Was a cat asleep somewhere, of all places?", "--model", "m", "--wait", "finalized")
	if v := d.contextView(session, "--turn", s.TurnID); !strings.Contains(v.Text(), "<m>") || !strings.Contains(v.Text(), "feline") || v.Manifest.Inputs.RetrievalError != "" {
		t.Fatalf("without a shared word, the meaning is not recalled: %v %q", v.Sources(), v.Manifest.Inputs.RetrievalError)
	}

	broken.Store(true)
	failed := d.Run("send", "--json", "--session", session, "--model", "m", "--wait", "indexed", "The zeppelin is moored at the lake.")
	_ = failed.Exits(1)
	if !strings.Contains(failed.Stderr, "answered without memory: ") || !strings.Contains(failed.Stdout, `"retrieval_error"`) {
		t.Errorf("send does not say that memory was not searched: %q", failed.Stderr)
	}
	turns := d.Show(session).Turns
	last := turns[len(turns)-1]
	if last.Phase != chat.PhaseStateCommitted || last.Text() == "" {
		t.Errorf("the turn is %s with %q", last.Phase, harness.Clip(last.Text()))
	}
	if v := d.contextView(session, "--turn", last.ID); !strings.Contains(v.Manifest.Inputs.RetrievalError, "no model is loaded") || v.Sources()["chunk"] != 0 || !v.Same {
		t.Errorf("the request does not say why it has no memory: %q", v.Manifest.Inputs.RetrievalError)
	}
	if shown := d.OK("context", session, "--turn", last.ID).Stdout; !strings.Contains(shown, "Memory was not searched: ") {
		t.Errorf("context does not say it: %q", harness.Clip(shown))
	}
	if jobs := d.OK("jobs").Stdout; !strings.Contains(jobs, "no model is loaded") {
		t.Errorf("the job does not say why it waits: %s", jobs)
	}
	if f := d.search("zeppelin lake"); len(f.Results) == 0 || !strings.Contains(f.Results[0].Text, "zeppelin") || f.Warning == "" {
		t.Errorf("it is not found by its words: %+v", f)
	}

	broken.Store(false)
	job, ok, err := d.Store.JobFor(context.Background(), chat.TurnID(last.ID), chat.JobIndexTurn)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	d.OK("jobs", "retry", strconv.Itoa(int(job.ID)))
	d.OK("reconcile")
	st, err := d.Store.Stats(context.Background())
	if turns := d.Show(session).Turns; err != nil || turns[len(turns)-1].Phase != chat.PhaseDone || st.Vectors < st.Units {
		t.Errorf("%s, %d vectors of %d units, %v", turns[len(turns)-1].Phase, st.Vectors, st.Units, err)
	}
	d.Clean()
}

// recall answers from all sessions, by meaning and by words, and never from its own quotations.
func TestRecallQuotesEverySession(t *testing.T) {
	t.Parallel()
	d := newSearchFixture(t, "")
	s := d.send("", "What did the ryokan cost?", "--model", "recall")
	if !strings.Contains(s.Text, "> The ryokan near Gion costs 180 a night") || !strings.Contains(s.Text, "contextinfinity://turn/") {
		t.Errorf("recall says %s", harness.Clip(s.Text))
	}
	second := d.send("", "And what does the ryokan near Gion cost?", "--model", "recall", "--wait", "indexed")
	if strings.Contains(second.Text, "From your own history, as of") && strings.Count(second.Text, "From your own history, as of") != 1 {
		t.Errorf("recall quotes itself: %s", harness.Clip(second.Text))
	}
	if s := d.send("", "Tell me of xylophones, quokkas and zithers.", "--model", "recall"); !strings.Contains(s.Text, "I found nothing about that") {
		t.Errorf("about something that was never mentioned, recall says %s", harness.Clip(s.Text))
	}
}

// In the first minutes recall finds what was said in other words, and quotes nothing for what is only stated.
func TestRecallInTheFirstMinutes(t *testing.T) {
	t.Parallel()
	d := newFixture(t, "")
	session := ""
	for _, said := range []string{
		"Hi, I'm Tom and I live in Lisbon since March.", "My dog Rex was at the vet today.", "I'm allergic to peanuts.", "My sister Anna is getting married in June.",
		"The server room is on the third floor.",
	} {
		s := d.send(session, said, "--model", "recall", "--wait", "indexed")
		if session = s.SessionID; strings.Contains(s.Text, "> ") {
			t.Errorf("%q is answered by %s", said, s.Text)
		}
	}
	for _, x := range [][2]string{ // in this order: a question is searched from the next one on
		{"do I own a pet?", "My dog Rex"}, {"any food I should avoid?", "allergic"}, {"what city am I based in?", "Lisbon"},
		{"when is the wedding?", "in June"}, {"where are the machines kept?", "third floor"},
		{"what is my favourite colour?", "I found nothing"},
	} {
		if s := d.send(session, x[0], "--model", "recall", "--wait", "indexed"); !strings.Contains(s.Text, x[1]) {
			t.Errorf("%q is answered by %s", x[0], s.Text)
		}
	}
}

// What only another branch of the session has, as after an edit, is named and not called missing.
func TestRecallNamesWhatAnEditReplaced(t *testing.T) {
	t.Parallel()
	d := newSearchFixture(t, "")
	begin := d.send("", "Good morning to all of you.", "--model", "recall")
	edited := d.send(begin.SessionID, "My zither is called Rosalind, and it has 42 strings.", "--model", "recall", "--wait", "indexed")
	d.OK("fork", begin.TurnID, "--switch")
	const says = "I found nothing about that in your history."
	if s := d.send(begin.SessionID, "Who is Rosalind?", "--model", "recall"); !strings.Contains(s.Text, says) || !strings.Contains(s.Text, "(contextinfinity://turn/"+edited.TurnID+")") {
		t.Errorf("recall says %s", harness.Clip(s.Text))
	}
}

// recall quotes other sessions only within the scope of memory, and says what it searched. The default scope is every
// session, because nothing is sent.
func TestRecallKeepsToTheScope(t *testing.T) {
	t.Parallel()
	d := newSearchFixture(t, "")
	const all, chosen = "From your own history", "I found nothing about that in "
	for _, c := range []struct{ configured, sessionScope, scope, says string }{
		{"", "", "all", all},
		{"lineage", "", "lineage", chosen + "this branch."},
		{"lineage", "all", "all", all},
		{"all", "session", "session", chosen + "this session."},
		{"session", "", "session", chosen + "this session."},
	} {
		session := d.send("", "Good morning.", "--model", "recall").SessionID
		if err := d.app.Config.Reset("retrieval.scope"); err != nil {
			t.Fatal(err)
		}
		if c.configured != "" {
			if err := d.app.Config.Set("retrieval.scope", c.configured); err != nil {
				t.Fatal(err)
			}
		}
		if c.sessionScope != "" {
			d.OK("sessions", "scope", session, c.sessionScope)
		}
		printed := c.scope
		if c.sessionScope == "" {
			printed += " (default)"
		}
		if got := strings.TrimSpace(d.OK("sessions", "scope", session).Stdout); got != printed {
			t.Errorf("%+v: the scope is %s", c, got)
		}
		s := d.send(session, "What does the ryokan near Gion cost?", "--model", "recall")
		if strings.Contains(s.Text, "180 a night") != (c.says == all) || !strings.Contains(s.Text, c.says) {
			t.Errorf("%+v: %q", c, s.Text)
		}
		if m := d.contextView(session, "--turn", s.TurnID); string(m.Manifest.Inputs.Scope) != c.scope {
			t.Errorf("%+v: the request says %s", c, m.Manifest.Inputs.Scope)
		}
	}
}

// The defaults of the configuration are exactly the measured numbers.
func TestDefaultsAreTheMeasuredNumbers(t *testing.T) {
	t.Parallel()
	cfg, err := config.Open(config.Options{Path: filepath.Join(t.TempDir(), "config.toml")})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := searchSettings(cfg.Config()), retrieval.Measured(); got != want {
		t.Errorf("configured %+v\nmeasured   %+v", got, want)
	}
}

// chunks lists the content of memory, and for a chunk the requests that used it and why.
func TestChunksCommand(t *testing.T) {
	t.Parallel()
	d := newSearchFixture(t, "[retrieval]\nscope = \"all\"\n")
	sent := d.send("", "What did the ryokan near Gion cost?", "--model", "m")
	var list struct {
		Total  int
		Chunks []struct {
			ID   string `json:"chunk_id"`
			Text string
		}
	}
	d.OK("chunks", "--json", "--text", "ryokan near").Document(&list)
	if list.Total < 1 || !strings.Contains(list.Chunks[len(list.Chunks)-1].Text, rememberedTexts[0]) {
		t.Fatalf("%+v", list)
	}
	id := list.Chunks[len(list.Chunks)-1].ID
	var detail struct {
		Text      string
		Embedders []struct{ Name string }
		Uses      []struct {
			Turn    string `json:"turn_id"`
			Rank    int
			Matched []string `json:"matched_words"`
			Why     string
		}
	}
	d.OK("chunks", "--id", id, "--json").Document(&detail)
	if detail.Text != rememberedTexts[0] || len(detail.Embedders) == 0 || len(detail.Uses) != 1 || detail.Uses[0].Turn != sent.TurnID || detail.Uses[0].Rank < 1 ||
		!slices.Contains(detail.Uses[0].Matched, "ryokan") || !strings.Contains(detail.Uses[0].Why, "matched: ") {
		t.Errorf("%+v", detail)
	}
	if r := d.OK("chunks", "--id", id); !strings.Contains(r.Stdout, rememberedTexts[0]) || !strings.Contains(r.Stdout, "matched: ryokan") {
		t.Errorf("as text: %s", r.Stdout)
	}
	if r := d.OK("context", sent.SessionID, "--turn", sent.TurnID); !strings.Contains(r.Stdout, "chunk "+id+": matched: ryokan") {
		t.Errorf("the request does not say why the chunk is in it: %s", r.Stdout)
	}
	if r := d.OK("chunks", "--limit", "2"); !strings.Contains(r.Stdout, "2 of ") {
		t.Errorf("the list as text: %s", r.Stdout)
	}
	d.Run("chunks", "--id", sent.TurnID).Exits(1)
	d.Run("chunks", "--id", "ABCDEF").Exits(2)
	d.Run("chunks", "--limit", "0").Exits(2)
}
