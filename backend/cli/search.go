package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/retrieval"
)

type searchFlags struct {
	session   string
	branch    string
	scope     string
	maxTokens int
	limit     int
}

var scopes = []string{string(chat.ScopeLineage), string(chat.ScopeSession), string(chat.ScopeProject), string(chat.ScopeAll)}

func (c *call) searchCommand() *cobra.Command {
	var f searchFlags
	cmd := &cobra.Command{
		Use: "search QUERY", Short: "Search the memory of your own history", Args: exactly("QUERY"),
		Long: `Searches by words and by similarity, as for a prompt, and shows why each result was found and whether
it would be packed into a prompt. Without --session every session that is not archived is searched; with it,
its active branch's own past, with --scope session all its branches, with --scope project its project's
sessions and files. Nothing is sent to a model, and nothing is written.`,
	}
	cmd.Flags().StringVar(&f.session, "session", "", "the session whose memory is searched")
	cmd.Flags().StringVar(&f.branch, "branch", "", "the branch, instead of the session's active one")
	cmd.Flags().StringVar(&f.scope, "scope", "", "the scope: lineage, session, project or all")
	cmd.Flags().IntVar(&f.maxTokens, "max-tokens", 6000, "how many tokens may be packed (0: only list)")
	cmd.Flags().IntVarP(&f.limit, "limit", "k", 0, "at most this many results (0: retrieval.top_k)")
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) { return c.search(ctx, f, args[0]) })
	_ = cmd.RegisterFlagCompletionFunc("session", c.completeSession)
	_ = cmd.RegisterFlagCompletionFunc("scope", cobra.FixedCompletions(scopes, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (f searchFlags) check(query string) error {
	switch {
	case strings.TrimSpace(query) == "":
		return usagef("QUERY is empty.")
	case f.scope != "" && !slices.Contains(scopes, f.scope):
		return usagef("--scope must be one of %s, not %q.", strings.Join(scopes, ", "), clip(f.scope, 40))
	case f.maxTokens < 0:
		return usagef("--max-tokens must not be negative.")
	case f.limit < 0:
		return usagef("--limit must not be negative.")
	}
	return nil
}

func (c *call) search(ctx context.Context, f searchFlags, query string) (reply, error) {
	if err := f.check(query); err != nil {
		return reply{}, err
	}
	none := searchReply{Query: query, Scope: chat.ScopeAll, Results: []resultRow{}}
	return c.readingAny(ctx, reply{doc: none, text: none.print}, func(s *Services) (reply, error) {
		within, err := s.within(ctx, f)
		if err != nil {
			return reply{}, err
		}
		if f.maxTokens > 0 {
			go s.Counter.Count("", query) // loads the token encoding while memory is searched
		}
		found, err := s.Memory.Search(ctx, retrieval.Query{
			Text: query, Within: within, Limit: f.limit, MaxTokens: f.maxTokens, AllowWordsOnly: true,
			Count: func(text string) int { return s.Counter.Count("", text) },
		})
		if err != nil {
			return reply{}, err
		}
		doc := newSearchReply(query, within, found)
		doc.Unindexed, err = s.Chunks.Unindexed(ctx, within.Session)
		return reply{doc: doc, text: doc.print}, err
	})
}

// within returns the scope to search. Without a session, all of memory is searched; a scope that needs a session uses
// the one used last.
func (s *Services) within(ctx context.Context, f searchFlags) (chat.Within, error) {
	in := chat.Within{Scope: chat.Scope(f.scope)}
	switch {
	case f.session == "" && f.branch == "" && (in.Scope == "" || in.Scope == chat.ScopeAll):
		return chat.Within{Scope: chat.ScopeAll}, nil
	case in.Scope == "":
		in.Scope = chat.ScopeLineage
	}
	var b chat.Branch
	var err error
	switch {
	case f.session != "":
		_, b, err = s.place(ctx, f.session, f.branch)
	case f.branch != "":
		b, err = s.anyBranch(ctx, f.branch)
	default:
		last, ok, recentErr := s.recent(ctx)
		if recentErr != nil || !ok {
			return chat.Within{Scope: chat.ScopeAll}, recentErr
		}
		b, err = s.Sessions.Branch(ctx, last.ActiveBranch)
	}
	in.Branch, in.Session = b.ID, b.SessionID
	return in, err
}

// searchReply has the results, best first, up to the requested number. A prompt might contain more; those are only
// counted.
type searchReply struct {
	Query         string           `json:"query"`
	Scope         chat.Scope       `json:"scope"`
	SessionID     chat.SessionID   `json:"session_id,omitempty"`
	BranchID      chat.BranchID    `json:"branch_id,omitempty"`
	Results       []resultRow      `json:"results"`
	Packed        int              `json:"packed_tokens"` // of everything that would be packed into a prompt
	PackedResults int              `json:"packed_results"`
	Candidates    int              `json:"candidates"`
	Unindexed     int              `json:"unindexed"` // turns that are not indexed yet
	Embedder      string           `json:"embedder"`  // empty: words only
	Warning       string           `json:"warning,omitempty"`
	Latency       retrieval.Timing `json:"latency"`
}

// resultRow is a chunk that was found. Packed is the part of it that a prompt would contain.
type resultRow struct {
	Rank         int            `json:"rank"`
	ChunkID      chat.ChunkID   `json:"chunk_id"`
	TurnID       chat.TurnID    `json:"turn_id"`
	TurnSeq      int64          `json:"turn_seq"`
	SessionID    chat.SessionID `json:"session_id"`
	SessionTitle string         `json:"session_title"`
	BranchID     chat.BranchID  `json:"branch_id"`
	File         string         `json:"file,omitempty"`
	Role         chat.Role      `json:"role"`
	At           time.Time      `json:"at"`
	Type         chat.ChunkType `json:"type"`
	Text         string         `json:"text"`
	Summary      string         `json:"summary"`
	Score        float64        `json:"score"`
	Similarity   float64        `json:"similarity"`
	Vector       float64        `json:"vector_score"`
	Keyword      float64        `json:"keyword_score"`
	Matched      []string       `json:"matched_words"` // as written in Text
	Why          string         `json:"why"`
	Tokens       int            `json:"tokens"`
	PackedAs     chat.PackedAs  `json:"packed_as,omitempty"` // empty: it did not fit
	PackedTokens int            `json:"packed_tokens"`
	Packed       string         `json:"packed,omitempty"`

	excerpt string // of Text, around the matching words
}

func newSearchReply(query string, in chat.Within, found retrieval.Result) searchReply {
	doc := searchReply{
		Query: query, Scope: in.Scope, SessionID: in.Session, BranchID: in.Branch, Results: []resultRow{},
		Packed: found.Tokens, PackedResults: len(found.Artifacts), Candidates: found.Candidates, Embedder: found.Embedder, Warning: found.Warning.String(), Latency: found.Timing,
	}
	packed := map[chat.ChunkID]retrieval.Artifact{}
	for _, a := range found.Artifacts {
		packed[a.ID] = a
	}
	for _, h := range found.Hits {
		r := newResultRow(h, packed[h.ID])
		r.explain(h.Match(query))
		doc.Results = append(doc.Results, r)
	}
	return doc
}

func newResultRow(h retrieval.Hit, a retrieval.Artifact) resultRow {
	r := resultRow{
		Rank: h.Rank, ChunkID: h.ID, TurnID: h.SourceTurn, TurnSeq: h.TurnSeq, SessionID: h.SessionID, SessionTitle: h.SessionTitle,
		BranchID: h.BranchID, Role: h.Role, At: h.At, Type: h.Type, Text: h.Text, Summary: h.Summary, Score: h.Score,
		Similarity: h.Similarity, Vector: h.Cosine, Keyword: h.Keyword, Tokens: h.Tokens,
		PackedAs: a.Form, PackedTokens: a.Tokens, Packed: a.Text,
	}
	if h.File != nil {
		r.File = h.File.Name
	}
	return r
}

func (r searchReply) print(o *output) {
	if r.Warning != "" {
		o.printf("%s\n", o.dim("note: "+line(r.Warning)))
	}
	if len(r.Results) == 0 && r.Unindexed > 0 {
		o.printf("No results, but %s not indexed yet: run contextinfinity reconcile.\n", display.Count(r.Unindexed, "turn is", "turns are"))
		return
	}
	if len(r.Results) == 0 {
		o.printf("No results. Try a name, a number or a rarer word from the conversation.\n")
		return
	}
	for _, group := range bySession(r.Results) {
		o.printf("\n%s  %s\n", o.bold(line(titleOf(group[0].SessionTitle))), o.dim("session "+string(group[0].SessionID)))
		for _, f := range group {
			f.print(o)
		}
	}
	o.printf("\n%s of %s in %s ms; a prompt would contain %s of %s.\n", plural(len(r.Results), "result"), plural(r.Candidates, "candidate"),
		oneDigit(r.Latency.Total), plural(r.PackedResults, "passage"), plural(r.Packed, "token"))
}

// bySession groups results by session. The session of the best result comes first.
func bySession(all []resultRow) [][]resultRow {
	indexOf := map[chat.SessionID]int{}
	var out [][]resultRow
	for _, f := range all {
		i, ok := indexOf[f.SessionID]
		if !ok {
			i = len(out)
			indexOf[f.SessionID] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], f)
	}
	return out
}

// shownText is how many columns of a result are shown.
const shownText = 400

func (f resultRow) print(o *output) {
	who := string(f.Role)
	if f.File != "" {
		who = line(f.File)
	}
	head := fmt.Sprintf("%d. %s, %s, turn #%d %s", f.Rank, local(f.At), who, f.TurnSeq, f.TurnID)
	details := fmt.Sprintf("score %.2f · %s · %s", f.Score, line(f.Why), plural(f.Tokens, "token"))
	switch f.PackedAs {
	case "":
		details += ", not packed"
	case chat.PackedFull:
		details += ", packed whole"
	default:
		details += fmt.Sprintf(", packed as %s of %d", f.PackedAs, f.PackedTokens)
	}
	o.printf("%s\n   %s\n   %s\n", head, o.dim(details), clip(f.excerpt, shownText))
}
