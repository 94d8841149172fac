package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/highlight"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/retrieval"
)

var scopes = []string{
	string(chat.ScopeLineage),
	string(chat.ScopeSession),
	string(chat.ScopeProject),
	string(chat.ScopeAll),
}

var scopeFlag = choiceFlag("scope", "", scopes, "the scope: lineage, session, project or all")

func searchVerbs() []verb {
	limit := numberFlag("limit", 0, 0, "at most this many results (0: retrieval.top_k)")
	limit.letter = "k"
	return []verb{{
		use:   "search QUERY",
		short: "Search the memory of your own history",
		long: `Searches by words and by similarity, as for a prompt, and shows why each result was found and whether
it would be packed into a prompt. Without --session every session that is not archived is searched; with it,
its active branch's own past, with --scope session all its branches, with --scope project its project's
sessions and files; without --session, these scopes are those of the session used last. Nothing is sent to a model, and nothing is written.`,
		flags: []flag{
			nameFlag("session", "the session whose memory is searched"),
			branchFlag,
			scopeFlag,
			numberFlag("max-tokens", 0, 6000, "how many tokens may be packed (0: only list)"),
			limit,
		},
		prepare: func(_ context.Context, r *run) error {
			if strings.TrimSpace(r.args[0]) == "" {
				return usagef("QUERY is empty.")
			}
			return nil
		},
		opens: reads,
		none: func(r *run) reply {
			return newSearch(r.args[0], chat.Within{Scope: chat.ScopeAll}, retrieval.Result{}, 0)
		},
		do: search,
	}}
}

func search(ctx context.Context, r *run) (reply, error) {
	query, budget := r.args[0], r.number("max-tokens")
	within, err := r.within(ctx)
	if err != nil {
		return reply{}, err
	}
	if budget > 0 {
		go r.s.Counter.Count("", query) // loads the token encoding while memory is searched
	}
	found, err := r.s.Memory.Search(ctx, retrieval.Query{
		Text: query, Within: within, Limit: r.number("limit"), MaxTokens: budget, AllowWordsOnly: true,
		Count: func(text string) int { return r.s.Counter.Count("", text) },
	})
	if err != nil {
		return reply{}, err
	}
	unindexed, err := r.s.Store.Unindexed(ctx, within.Session)
	return newSearch(query, within, found, unindexed), err
}

// within returns the scope to search. Without a session, all of memory is searched; a scope that needs a session uses
// the one used last.
func (r *run) within(ctx context.Context) (chat.Within, error) {
	scope, all := chat.Scope(r.text("scope")), chat.Within{Scope: chat.ScopeAll}
	if r.branch.ID == "" && (scope == "" || scope == chat.ScopeAll) {
		return all, nil
	}
	b, err := r.branchOrLast(ctx)
	if err != nil || b.ID == "" {
		return all, err
	}
	return chat.Within{Scope: cmp.Or(scope, chat.ScopeLineage), Branch: b.ID, Session: b.SessionID}, nil
}

// newSearch replies with the results, best first, up to the requested number. A prompt might contain more; those are
// only counted.
func newSearch(query string, in chat.Within, found retrieval.Result, unindexed int) reply {
	packed := map[chat.ChunkID]retrieval.Artifact{}
	for _, a := range found.Artifacts {
		packed[a.ID] = a
	}
	rows := lists.Map(found.Hits, func(h retrieval.Hit) fields { return hitDocument(h, h.Match(query), packed[h.ID]) })
	doc := fields{
		{"query", query},
		{"scope", in.Scope},
		{"session_id,omitempty", in.Session},
		{"branch_id,omitempty", in.Branch},
		{"results", rows},
		{"packed_tokens", found.Tokens}, // of everything that would be packed into a prompt
		{"packed_results", len(found.Artifacts)},
		{"candidates", found.Candidates},
		{"unindexed", unindexed},     // turns that are not indexed yet
		{"embedder", found.Embedder}, // empty: words only
		{"warning,omitempty", found.Warning.String()},
		{"latency", found.Timing},
	}
	return reply{doc: doc, text: func(o *output) {
		o.printIf(!found.Warning.IsZero(), "%s\n", o.dim("note: "+line(found.Warning.String())))
		switch {
		case len(found.Hits) == 0 && unindexed > 0:
			turns := display.Count(unindexed, "turn is", "turns are")
			o.printf("No results, but %s not indexed yet: run contextinfinity reconcile.\n", turns)
			return
		case len(found.Hits) == 0:
			o.printf("No results. Try a name, a number or a rarer word from the conversation.\n")
			return
		}
		for _, group := range bySession(found.Hits) {
			title := o.bold(line(titleOf(group[0].SessionTitle)))
			o.printf("\n%s  %s\n", title, o.dim("session "+string(group[0].SessionID)))
			for _, h := range group {
				printHit(o, h, h.Match(query), packed[h.ID])
			}
		}
		o.printf("\n%s of %s in %s ms; a prompt would contain %s of %s.\n",
			plural(len(found.Hits), "result"), plural(found.Candidates, "candidate"), oneDigit(found.Timing.Total),
			plural(len(found.Artifacts), "passage"), plural(found.Tokens, "token"))
	}}
}

// hitDocument is a chunk that was found, why, and the part of it that a prompt would contain.
func hitDocument(h retrieval.Hit, why retrieval.Match, packed retrieval.Artifact) fields {
	return fields{
		{"rank", h.Rank},
		{"chunk_id", h.ID},
		{"turn_id", h.SourceTurn},
		{"turn_seq", h.TurnSeq},
		{"session_id", h.SessionID},
		{"session_title", h.SessionTitle},
		{"branch_id", h.BranchID},
		{"file,omitempty", fileOf(h.ChunkText)},
		{"role", h.Role},
		{"at", h.At},
		{"type", h.Type},
		{"text", h.Text},
		{"summary", h.Brief()},
		{"score", h.Score},
		{"similarity", h.Similarity},
		{"vector_score", h.Cosine},
		{"keyword_score", h.Keyword},
		{"matched_words", why.Words}, // as written in the text
		{"why", why.String()},
		{"tokens", h.Tokens},
		{"packed_as,omitempty", packed.Form}, // absent: it did not fit
		{"packed_tokens", packed.Tokens},
		{"packed,omitempty", packed.Text},
	}
}

func fileOf(c chat.ChunkText) string {
	if c.File == nil {
		return ""
	}
	return c.File.Name
}

// bySession groups results by session. The session of the best result comes first.
func bySession(all []retrieval.Hit) [][]retrieval.Hit {
	indexOf := map[chat.SessionID]int{}
	var out [][]retrieval.Hit
	for _, h := range all {
		i, ok := indexOf[h.SessionID]
		if !ok {
			i = len(out)
			indexOf[h.SessionID] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], h)
	}
	return out
}

// shownText is how many columns of a result are shown.
const shownText = 400

func printHit(o *output, h retrieval.Hit, why retrieval.Match, packed retrieval.Artifact) {
	details := fmt.Sprintf("score %.2f · %s · %s", h.Score, line(why.String()), plural(h.Tokens, "token"))
	switch packed.Form {
	case "":
		details += ", not packed"
	case chat.PackedFull:
		details += ", packed whole"
	default:
		details += fmt.Sprintf(", packed as %s of %d", packed.Form, packed.Tokens)
	}
	who := cmp.Or(line(fileOf(h.ChunkText)), string(h.Role))
	o.printf("%d. %s, %s, turn #%d %s\n   %s\n   %s\n", h.Rank, local(h.At), who, h.TurnSeq, h.SourceTurn,
		o.dim(details), clip(excerpt(h.Text, why.Words), shownText))
}

// excerpt returns the part of a text around the matching words, or its beginning.
func excerpt(text string, words []string) string {
	// The space makes the last word a complete one instead of the beginning of one.
	spans, _, _ := highlight.All(text, highlight.Parse(strings.Join(words, " ")+" "))
	if len(spans) == 0 || spans[0].Start <= shownText/2 {
		return text
	}
	out, _ := highlight.Snippet(text, spans)
	return out
}
