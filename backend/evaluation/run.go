package evaluation

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/dates"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/prompt"
	"contextinfinity/backend/retrieval"
)

// Store is what an import needs of the database.
type Store interface {
	CreateSession(context.Context, chat.NewSession) (chat.Session, chat.Branch, error)
	Accept(context.Context, chat.Acceptance) (chat.Turn, error)
	Prepare(context.Context, chat.Preparation) error
	BeginStep(context.Context, chat.StepStart) (chat.Step, error)
	Finalize(context.Context, chat.Finalization) (chat.Turn, error)
	Commit(context.Context, chat.Commit) (chat.State, error)
}

// Jobs index committed turns.
type Jobs interface {
	Drain(context.Context) (int, error)
}

// Memory is the search that is measured.
type Memory interface {
	Search(context.Context, retrieval.Query) (retrieval.Result, error)
}

// Bench is a temporary store with everything that recall needs.
type Bench struct {
	Store Store
	Jobs  Jobs
	// Memory returns a search with this weight of vectors; negative: as configured.
	Memory   func(weight float64) Memory
	Calendar *Calendar // the store's clock
	// Degraded counts turns that could not be indexed.
	Degraded func(context.Context) (int, error)
	Close    func() error
}

// Calendar is a clock set to the date of the turn being imported.
type Calendar struct {
	mu  sync.Mutex
	now time.Time
}

// Now returns the clock's time, one millisecond later at each call.
func (c *Calendar) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now.IsZero() {
		c.now = undated
	}
	c.now = c.now.Add(time.Millisecond)
	return c.now
}

func (c *Calendar) set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = t
}

// undated is when a corpus without dates begins.
var undated = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Report is the result of a run. Times are in milliseconds.
type Report struct {
	Conversations int     `json:"conversations"`
	Turns         int     `json:"turns"`
	Messages      int     `json:"messages"`
	Questions     int     `json:"questions"`
	Budget        int     `json:"budget"`
	VectorWeight  float64 `json:"vector_weight"` // negative: as configured
	Embedder      string  `json:"embedder"`      // empty: words only
	ImportMs      int64   `json:"import_ms"`
	SearchMs      int64   `json:"search_ms"`
	P50           float64 `json:"p50_ms"` // per question
	P95           float64 `json:"p95_ms"`
	Unanswered    int     `json:"unanswered"` // questions without any packed artifact
	// Unread counts invalid dates, whose turns follow the previous ones.
	Unread dates.Unread `json:"unread_dates"`
}

// Imported is an imported corpus: the branch of each conversation.
type Imported struct {
	Branches map[string]chat.BranchID
	Report   Report // without questions
}

// Import imports every conversation of a corpus into its own session and indexes it.
func (b *Bench) Import(ctx context.Context, corpus []Conversation) (Imported, error) {
	r := Report{Conversations: len(corpus)}
	begun := time.Now()
	branches, err := b.load(ctx, corpus, &r)
	r.ImportMs = time.Since(begun).Milliseconds()
	return Imported{branches, r}, err
}

// Ask asks questions, each within its own conversation, and writes a line {"id","packed","hits"} for each. A token of the
// budget is four characters. weight is the weight of vectors; negative: as configured.
func (b *Bench) Ask(ctx context.Context, in Imported, questions []Question, budget int, weight float64, out io.Writer) (Report, error) {
	r := in.Report
	r.Questions, r.Budget, r.VectorWeight = len(questions), budget, weight
	begun := time.Now()
	err := b.ask(ctx, in.Branches, questions, b.Memory(weight), out, &r)
	r.SearchMs = time.Since(begun).Milliseconds()
	return r, err
}

func (b *Bench) load(ctx context.Context, corpus []Conversation, r *Report) (map[string]chat.BranchID, error) {
	branches := map[string]chat.BranchID{}
	newest := undated
	r.Unread.Examples = []string{}
	for _, conv := range corpus {
		r.Unread.Merge(conv.Unread)
		branch, err := b.addConversation(ctx, conv, r)
		if err != nil {
			return nil, err
		}
		branches[conv.ID] = branch
		if now := b.Calendar.Now(); now.After(newest) {
			newest = now
		}
	}
	// With this clock everything is in the past, and all jobs are due.
	b.Calendar.set(newest.Add(24 * time.Hour))
	if _, err := b.Jobs.Drain(ctx); err != nil {
		return nil, err
	}
	if n, err := b.Degraded(ctx); err != nil {
		return nil, err
	} else if n > 0 {
		return nil, chat.Errorf(chat.CodeUnavailable, "eval.index", "%d of %d turns could not be indexed, so nothing is measured.", n, r.Turns).
			WithHint("check that the embedder works: contextinfinity config show")
	}
	return branches, nil
}

func (b *Bench) addConversation(ctx context.Context, conv Conversation, r *Report) (chat.BranchID, error) {
	if len(conv.Turns) > 0 && !conv.Turns[0].At.IsZero() {
		b.Calendar.set(conv.Turns[0].At)
	}
	_, branch, err := b.Store.CreateSession(ctx, chat.NewSession{Title: conv.ID})
	if err != nil {
		return "", err
	}
	ids := make([]chat.TurnID, 0, len(conv.Turns))
	for _, x := range conv.Turns {
		id, err := b.addTurn(ctx, branch.ID, x)
		if err != nil {
			return "", err
		}
		ids = append(ids, id)
		r.Turns++
		r.Messages++
		if x.Answer != nil {
			r.Messages++
		}
	}
	if len(ids) == 0 {
		return branch.ID, nil
	}
	_, err = b.Store.Commit(ctx, chat.Commit{BranchID: branch.ID, Epoch: branch.Epoch, Turns: ids, Origin: chat.StateFallback})
	return branch.ID, err
}

// noAnswer represents a missing answer; it has no text.
var noAnswer = chat.Message{Role: chat.RoleAssistant, Blocks: chat.Blocks{chat.Unknown{Provider: "corpus", Raw: []byte("null")}}}

// addTurn stores one turn, through all its phases.
func (b *Bench) addTurn(ctx context.Context, branch chat.BranchID, x Exchange) (chat.TurnID, error) {
	if !x.At.IsZero() {
		b.Calendar.set(x.At)
	}
	t, err := b.Store.Accept(ctx, chat.Acceptance{BranchID: branch, User: x.User, Provider: "corpus", Model: "corpus"})
	if err != nil {
		return "", err
	}
	if err := b.Store.Prepare(ctx, chat.Preparation{TurnID: t.ID}); err != nil {
		return "", err
	}
	step, err := b.Store.BeginStep(ctx, chat.StepStart{TurnID: t.ID, Provider: "corpus", StreamPath: func(chat.StepID) string { return "" }})
	if err != nil {
		return "", err
	}
	answer := noAnswer
	if x.Answer != nil {
		answer = *x.Answer
	}
	_, err = b.Store.Finalize(ctx, chat.Finalization{
		TurnID: t.ID, Message: answer, Outcome: chat.OutcomeCompleted,
		Step: &chat.StepEnd{StepID: step.ID, Outcome: chat.StepOutcome{Status: chat.StepCompleted}},
	})
	return t.ID, err
}

func (b *Bench) ask(
	ctx context.Context, branches map[string]chat.BranchID, questions []Question, memory Memory, out io.Writer, r *Report,
) error {
	w := bufio.NewWriter(out)
	durations := make([]float64, 0, len(questions))
	for _, q := range questions {
		in := chat.Within{Scope: chat.ScopeAll}
		if q.Conv != "" {
			branch, ok := branches[string(q.Conv)]
			if !ok {
				return chat.Errorf(chat.CodeInvalid, opRead, "Question %s is about conversation %q, which the corpus does not contain.", q.ID, q.Conv)
			}
			in = chat.Within{Scope: chat.ScopeLineage, Branch: branch}
		}
		begun := time.Now()
		found, err := memory.Search(ctx, retrieval.Query{Text: q.Text, Within: in, MaxTokens: r.Budget, Count: Tokens})
		if err != nil {
			return err
		}
		durations = append(durations, float64(time.Since(begun).Microseconds())/1000)
		r.Embedder = found.Embedder
		if len(found.Artifacts) == 0 {
			r.Unanswered++
		}
		if err := writeFound(w, q.ID, found); err != nil {
			return err
		}
	}
	slices.Sort(durations)
	r.P50, r.P95 = percentile(durations, 50), percentile(durations, 95)
	return w.Flush()
}

// Tokens is the cost of a text in the budget: one token per four characters, like scorers without a tokenizer.
func Tokens(s string) int { return (utf8.RuneCountInString(s) + 3) / 4 }

// writeFound writes the packed texts in the order of the prompt, without the prompt's frames and escaping, which are part
// of the budget but not of the text, and the best passage of each hit, best first.
func writeFound(w io.Writer, id json.RawMessage, found retrieval.Result) error {
	passages := lists.Map(found.Artifacts, func(a retrieval.Artifact) prompt.Artifact {
		return retrieval.Passage(a.ChunkText, a.Form, a.Slices, "")
	})
	raw, err := chat.MarshalJSON(struct {
		ID     json.RawMessage `json:"id"`
		Packed string          `json:"packed"`
		Hits   []string        `json:"hits"`
	}{id, strings.Join(prompt.Recalled(passages), "\n"), lists.Map(found.Hits, func(h retrieval.Hit) string { return h.Source[h.Unit.Start:h.Unit.End] })})
	if err != nil {
		return err
	}
	_, err = w.Write(append(raw, '\n'))
	return err
}

func percentile(sorted []float64, p int) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, len(sorted)*p/100)]
}
