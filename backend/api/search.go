package api

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/highlight"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/retrieval"
)

// Search searches all sessions and single branches, and provides the metrics of turns. A newer search ends an older
// one of its kind.
type Search struct {
	c          *Core
	everywhere latest
	inBranch   latest
}

// NewSearch returns the service.
func NewSearch(c *Core) *Search { return &Search{c: c} }

// latest cancels a call when a newer one begins.
type latest struct {
	mu     sync.Mutex
	cancel context.CancelFunc
}

// begin cancels the previous call and returns the context of the new one.
func (l *latest) begin(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cancel != nil {
		l.cancel()
	}
	l.cancel = cancel
	return ctx, cancel
}

// superseded returns the error of a search: CodeCancelled if a newer search replaced it.
func superseded(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return chat.WrapError(chat.CodeCancelled, "search", context.Canceled, "A newer search replaced this one.")
	}
	return err
}

const (
	defaultGroups = 30
	maxGroups     = 200
	groupHits     = 5
	// sessionHits is the maximum number of results in a search of one session.
	sessionHits = 200
	// memoryHits is the number of results of the search of memory.
	memoryHits = 40
	// minSimilarity is the minimum calibrated similarity of a result found only by vectors.
	minSimilarity = 0.8
	// minScore is the minimum score of a result that contains some of the words, or other spellings or parts of them.
	// The score of the best result is the share of the query that it contains.
	minScore = 0.5
)

// Everything finds messages and titles in all sessions.
func (s *Search) Everything(query SearchQuery) (SearchResult, error) {
	out := SearchResult{Groups: []SearchGroup{}}
	start := time.Now()
	if err := query.check(); err != nil || strings.TrimSpace(query.Text) == "" {
		return out, err
	}
	ctx, done := s.everywhere.begin(s.c.ctx())
	defer done()
	found, err := s.c.Store.SearchText(ctx, chat.TextQuery{
		Text: query.Text, Session: chat.SessionID(query.SessionID), Role: chat.Role(query.Role),
		Since: moment(query.Since), Until: moment(query.Until), Archived: query.Archived,
	})
	if err != nil {
		return out, superseded(ctx, err)
	}
	g := newGroups(found)
	if query.Meaning {
		if out.Warning, err = s.addMemory(ctx, query, g); err != nil {
			return out, superseded(ctx, err)
		}
	}
	maxHits := groupHits
	if query.SessionID != "" {
		maxHits = sessionHits
	}
	out.Groups, out.Hits = g.list(maxHits), g.hits
	limit := defaultGroups
	if query.Limit > 0 {
		limit = min(query.Limit, maxGroups)
	}
	out.Truncated = found.Truncated || len(out.Groups) > limit
	out.Groups = out.Groups[:min(len(out.Groups), limit)]
	out.TotalMs = time.Since(start).Milliseconds()
	return out, nil
}

func (q SearchQuery) check() error {
	switch {
	case q.Role != "" && chat.Role(q.Role) != chat.RoleUser && chat.Role(q.Role) != chat.RoleAssistant:
		return chat.Errorf(chat.CodeInvalid, "search", "%q is not a speaker: choose user or assistant.", q.Role)
	case q.Since < 0 || q.Until < 0 || q.Until > 0 && q.Until < q.Since:
		return chat.Errorf(chat.CodeInvalid, "search", "The last day is before the first.")
	case q.Limit < 0:
		return chat.Errorf(chat.CodeInvalid, "search", "A search must return at least one session.")
	}
	return nil
}

// addMemory adds the results of a search of memory: similar text, and messages that contain only some of the words, or
// other spellings or parts of them.
func (s *Search) addMemory(ctx context.Context, q SearchQuery, g *groups) (warning chat.Phrase, err error) {
	in := chat.Within{Scope: chat.ScopeAll, Role: chat.Role(q.Role), Since: moment(q.Since), Until: moment(q.Until), Archived: q.Archived}
	if q.SessionID != "" {
		in.Scope, in.Session = chat.ScopeSession, chat.SessionID(q.SessionID)
	}
	found, err := s.c.Memory.Search(ctx, retrieval.Query{Text: q.Text, Within: in, Limit: memoryHits, AllowWordsOnly: true})
	if err != nil {
		return chat.Phrase{}, err
	}
	for _, h := range found.Hits {
		if !isSimilar(h) && (h.Score < minScore || len(h.Match(q.Text).Words) == 0) {
			continue
		}
		if err := s.addMemoryHit(ctx, q, g, h); err != nil {
			return chat.Phrase{}, err
		}
	}
	return found.Warning, nil
}

// isSimilar reports whether vectors alone would find a hit.
func isSimilar(h retrieval.Hit) bool { return h.Cosine != 0 && h.Similarity >= minSimilarity }

// addMemoryHit adds one result of the search of memory, or marks a keyword result as similar too.
func (s *Search) addMemoryHit(ctx context.Context, q SearchQuery, g *groups, h retrieval.Hit) error {
	key := messageKey{h.SourceTurn, h.Role}
	if i, ok := g.index[key]; ok {
		if isSimilar(h) {
			g.found[i].by = "both"
			g.found[i].Score += h.Similarity
		}
		return nil
	}
	sess, ok := g.sessions[h.SessionID]
	if !ok {
		var err error
		if sess, err = s.c.Sessions.Session(ctx, h.SessionID); err != nil {
			return err
		}
		g.sessions[sess.ID] = sess
	}
	branch, label, err := s.branchToOpen(ctx, sess, h)
	if err != nil {
		return err
	}
	cut := highlight.Snippet
	if h.Role == chat.RoleAssistant && h.File == nil {
		cut = highlight.MarkdownSnippet
	}
	score, spans := h.Score, matchSpans(h, q.Text)
	if isSimilar(h) {
		score = max(score, h.Similarity)
	}
	var snippet string
	if len(spans) > 0 {
		snippet, spans = cut(h.Source, spans)
	} else {
		snippet, _ = cut(h.Source, []highlight.Span{{Start: h.Unit.Start, End: min(h.Unit.Start+1, len(h.Source))}})
	}
	g.add(finding{TextHit: chat.TextHit{
		Turn: h.SourceTurn, Session: h.SessionID, Seq: h.TurnSeq, Role: h.Role, At: h.At, Branch: branch, BranchLabel: label,
		Snippet: snippet, Spans: lists.Map(spans, func(s highlight.Span) chat.Span { return chat.Span{Start: s.Start, End: s.End} }), Score: score,
	}, by: "meaning"})
	return nil
}

// matchSpans returns the spans of a hit's source that match the query, as far as they are in its unit.
func matchSpans(h retrieval.Hit, query string) []highlight.Span {
	unit := h.Source[h.Unit.Start:h.Unit.End]
	var out []highlight.Span
	for _, word := range h.Match(query).Words {
		for _, term := range highlight.Parse(word + " ") { // the space makes it a complete word
			for _, s := range term.Spans(unit) {
				out = append(out, highlight.Span{Start: s.Start + h.Unit.Start, End: s.End + h.Unit.Start})
			}
		}
	}
	slices.SortFunc(out, func(a, b highlight.Span) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End)) })
	end := 0
	return slices.DeleteFunc(out, func(s highlight.Span) bool { // removes spans that overlap an earlier one
		overlaps := s.Start < end
		end = max(end, s.End)
		return overlaps
	})
}

// branchToOpen returns the branch in which to open a chunk's turn: the active branch if its lineage contains the turn.
func (s *Search) branchToOpen(ctx context.Context, sess chat.Session, h retrieval.Hit) (chat.BranchID, string, error) {
	id := h.BranchID
	if id != sess.ActiveBranch {
		turns, err := s.c.Store.Lineage(ctx, chat.LineageQuery{Branch: sess.ActiveBranch, FromSeq: h.TurnSeq, ToSeq: h.TurnSeq, Limit: 1})
		if err != nil {
			return "", "", err
		}
		if len(turns) > 0 && turns[0].ID == h.SourceTurn {
			id = sess.ActiveBranch
		}
	}
	b, err := s.c.Sessions.Branch(ctx, id)
	return id, b.Label, err
}

// messageKey identifies a message.
type messageKey struct {
	turn chat.TurnID
	role chat.Role
}

// finding is a hit and how it was found.
type finding struct {
	chat.TextHit
	by string
}

// groups groups results by session.
type groups struct {
	found    []finding
	index    map[messageKey]int // in found
	titles   map[chat.SessionID][]chat.Span
	sessions map[chat.SessionID]chat.Session
	hits     int
}

func newGroups(r chat.TextResult) *groups {
	g := &groups{index: map[messageKey]int{}, titles: r.Titles, sessions: r.Sessions}
	for _, h := range r.Hits {
		g.add(finding{h, "words"})
	}
	return g
}

func (g *groups) add(f finding) {
	g.index[messageKey{f.Turn, f.Role}] = len(g.found)
	g.found = append(g.found, f)
	g.hits++
}

// titleWeight is the score of a matching title. The scores of messages are about 1.
const titleWeight = 3

// list returns the groups with at most maxHits results each, sorted by the score of the title and the best result, then
// by number of results, then newest first.
func (g *groups) list(maxHits int) []SearchGroup {
	slices.SortStableFunc(g.found, func(a, b finding) int { return cmp.Compare(b.Score, a.Score) })
	bySession := map[chat.SessionID]*SearchGroup{}
	score := map[string]float64{}
	groupOf := func(id chat.SessionID) *SearchGroup {
		if bySession[id] == nil {
			s := g.sessions[id]
			title := chat.BoundTitle(s.Title)
			shown := slices.DeleteFunc(slices.Clone(g.titles[id]), func(sp chat.Span) bool { return sp.End > len(title) })
			bySession[id] = &SearchGroup{
				SessionID: string(id), Title: title, Folder: chat.BoundTitle(s.Folder), Archived: s.ArchivedAt != nil, UpdatedAt: ms(s.UpdatedAt),
				Marks: spanViews(title, shown), Hits: []SearchHit{},
			}
			if len(g.titles[id]) > 0 {
				score[string(id)] = titleWeight
			}
		}
		return bySession[id]
	}
	for id := range g.titles {
		groupOf(id)
	}
	for _, f := range g.found {
		group := groupOf(f.Session)
		if len(group.Hits) == 0 {
			score[group.SessionID] += f.Score
		}
		if len(group.Hits) == maxHits {
			group.More++
			continue
		}
		group.Hits = append(group.Hits, searchHit(f))
	}
	out := make([]SearchGroup, 0, len(bySession))
	for _, group := range bySession {
		out = append(out, *group)
	}
	slices.SortFunc(out, func(a, b SearchGroup) int {
		return cmp.Or(cmp.Compare(score[b.SessionID], score[a.SessionID]), cmp.Compare(len(b.Hits)+b.More, len(a.Hits)+a.More),
			cmp.Compare(b.UpdatedAt, a.UpdatedAt), cmp.Compare(a.SessionID, b.SessionID))
	})
	return out
}

func searchHit(f finding) SearchHit {
	return SearchHit{
		TurnID: string(f.Turn), BranchID: string(f.Branch), BranchLabel: f.BranchLabel, Seq: f.Seq, Role: string(f.Role), At: ms(f.At),
		Snippet: f.Snippet, Marks: spanViews(f.Snippet, f.Spans), By: f.by, Score: f.Score,
	}
}

// spanViews converts spans to UTF-16 units.
func spanViews(text string, spans []chat.Span) []Span {
	bytes := lists.Map(spans, func(sp chat.Span) highlight.Span { return highlight.Span{Start: sp.Start, End: sp.End} })
	return lists.Map(highlight.UTF16(text, bytes), func(sp highlight.Span) Span { return Span{From: sp.Start, To: sp.End} })
}

// maxFindHits limits the turns listed by a search in a branch; all are counted.
const maxFindHits = 5000

// Find finds a text in the turns of a branch's lineage, oldest first. It ignores case unless requested otherwise.
func (s *Search) Find(branchID, text string, matchCase bool) (FindResult, error) {
	out := FindResult{Hits: []FindHit{}}
	ctx, done := s.inBranch.begin(s.c.ctx())
	defer done()
	found, err := s.c.Store.Find(ctx, chat.FindQuery{Branch: chat.BranchID(branchID), Text: text, MatchCase: matchCase, Limit: maxFindHits})
	if err != nil {
		return out, superseded(ctx, err)
	}
	out.Total, out.Truncated = found.Total, found.Truncated
	for _, f := range found.Turns {
		out.Hits = append(out.Hits, FindHit{
			TurnID: string(f.Turn), Seq: f.Seq, Count: f.Count, First: f.First, Marks: spanViews(f.First, f.Spans),
		})
	}
	return out, nil
}

const (
	defaultPoints = 200
	maxPoints     = 1000
)

// Metrics returns the metrics of the newest turns, oldest first, and their sums.
func (s *Search) Metrics(query MetricsQuery) (MetricsSeries, error) {
	out := MetricsSeries{Points: []MetricPoint{}}
	q, err := query.measures()
	if err != nil {
		return out, err
	}
	rows, err := s.c.Store.Measures(s.c.ctx(), q)
	if err != nil {
		return out, err
	}
	slices.Reverse(rows)
	cost, priced := 0.0, false
	for _, r := range rows {
		p := MetricPoint{Session: string(r.Session), Title: chat.BoundTitle(r.Title), At: ms(r.At), Model: r.Model, Cost: -1, Turn: metricsView(r.TurnMetricsRow)}
		if c := s.c.cost(r.Model, r.Usage); c != nil {
			p.Cost, priced = c.USD, true
			cost += c.USD
		} else {
			out.Unpriced++
		}
		out.InputTokens += int64(r.Usage.InputTokens)
		out.OutputTokens += int64(r.Usage.OutputTokens)
		out.CachedTokens += int64(r.Usage.CachedInputTokens)
		out.Points = append(out.Points, p)
	}
	if priced {
		out.Cost = &cost
	}
	return out, nil
}

func (q MetricsQuery) measures() (chat.MeasureQuery, error) {
	m := chat.MeasureQuery{Limit: defaultPoints}
	if q.Limit > 0 {
		m.Limit = min(q.Limit, maxPoints)
	}
	switch q.Scope {
	case "branch":
		m.Branch = chat.BranchID(q.BranchID)
	case "session":
		m.Session = chat.SessionID(q.SessionID)
	case "all":
		return m, nil
	default:
		return m, chat.Errorf(chat.CodeInvalid, "search.metrics", "%q is not a scope of metrics.", q.Scope).WithHint("choose branch, session or all")
	}
	if m.Branch == "" && m.Session == "" {
		return m, chat.Errorf(chat.CodeInvalid, "search.metrics", "Choose the %s to show figures for.", q.Scope)
	}
	return m, nil
}
