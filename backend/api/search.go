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

// FigureStore stores the metrics of turns.
type FigureStore interface {
	UsageByModel(context.Context, chat.UsageQuery) ([]chat.ModelUsage, error)
	BackgroundUsage(context.Context, chat.UsageQuery) ([]chat.ModelUsage, error)
	Measures(context.Context, chat.MeasureQuery) ([]chat.TurnMeasure, error)
	Metrics(context.Context, chat.BranchID, int) ([]chat.TurnMetricsRow, error)
}

// Search searches all sessions and single branches, and provides the metrics of turns. A newer search ends an older
// one of its kind.
type Search struct {
	c          *Core
	everywhere latest
	inBranch   latest
}

// NewSearch returns the service.
func NewSearch(c *Core) *Search { return &Search{c: c} }

// latest ends a call when a newer one begins.
type latest struct {
	mu     sync.Mutex
	cancel context.CancelFunc
}

// begin ends the previous call.
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

// superseded is the error of a search ended by a newer one.
func superseded(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return chat.WrapError(chat.CodeCancelled, "search", context.Canceled, "A newer search replaced this one.")
	}
	return err
}

const (
	usualGroups = 30
	mostGroups  = 200
	groupHits   = 5
	// sessionHits is the maximum number of results in a search of one session.
	sessionHits = 200
	// byMeaning is the number of results of the search of memory.
	byMeaning = 40
	// likeness is the minimum calibrated similarity of a result found only by vectors.
	likeness = 0.8
	// leastMatched is the minimum score of a result that has some of the words, or other spellings or parts of them:
	// the best one has the share of the query that it contains.
	leastMatched = 0.5
)

// Everything finds messages and titles in all sessions.
func (s *Search) Everything(query SearchQuery) (SearchResult, error) {
	out := SearchResult{Groups: []SearchGroup{}}
	begun := time.Now()
	if err := query.check(); err != nil || strings.TrimSpace(query.Text) == "" {
		return out, err
	}
	ctx, done := s.everywhere.begin(s.c.ctx())
	defer done()
	found, err := s.c.History.SearchText(ctx, chat.TextQuery{
		Text: query.Text, Session: chat.SessionID(query.SessionID), Role: chat.Role(query.Role),
		Since: moment(query.Since), Until: moment(query.Until), Archived: query.Archived,
	})
	if err != nil {
		return out, superseded(ctx, err)
	}
	g := newGroups(found)
	if query.Meaning {
		if out.Warning, err = s.meaning(ctx, query, g); err != nil {
			return out, superseded(ctx, err)
		}
	}
	most := groupHits
	if query.SessionID != "" {
		most = sessionHits
	}
	out.Groups, out.Hits = g.list(most), g.hits
	limit := usualGroups
	if query.Limit > 0 {
		limit = min(query.Limit, mostGroups)
	}
	out.Truncated = found.Truncated || len(out.Groups) > limit
	out.Groups = out.Groups[:min(len(out.Groups), limit)]
	out.TotalMs = time.Since(begun).Milliseconds()
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

// meaning adds what a search of memory finds: similar text, and words in other spellings, in parts, or not all of them.
func (s *Search) meaning(ctx context.Context, q SearchQuery, g *groups) (warning string, err error) {
	in := chat.Within{Scope: chat.ScopeAll, Role: chat.Role(q.Role), Since: moment(q.Since), Until: moment(q.Until), Archived: q.Archived}
	if q.SessionID != "" {
		in.Scope, in.Session = chat.ScopeSession, chat.SessionID(q.SessionID)
	}
	found, err := s.c.Retrieval.Engine.Search(ctx, retrieval.Query{Text: q.Text, Within: in, Limit: byMeaning, WordsAlone: true})
	if err != nil {
		return "", err
	}
	for _, h := range found.Hits {
		if !isSimilar(h) && (h.Score < leastMatched || len(h.Match(q.Text).Words) == 0) {
			continue
		}
		if err := s.meant(ctx, q, g, h); err != nil {
			return "", err
		}
	}
	return found.Warning, nil
}

// isSimilar reports a hit that vectors alone would find.
func isSimilar(h retrieval.Hit) bool { return h.Cosine != 0 && h.Similarity >= likeness }

// meant adds one result of memory, or marks a keyword result as similar too.
func (s *Search) meant(ctx context.Context, q SearchQuery, g *groups, h retrieval.Hit) error {
	key := said{h.SourceTurn, h.Role}
	if at, ok := g.at[key]; ok {
		if isSimilar(h) {
			g.found[at].by = "both"
			g.found[at].Score += h.Similarity
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
	branch, label, err := s.opens(ctx, sess, h)
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
	var words string
	if len(spans) > 0 {
		words, spans = cut(h.Source, spans)
	} else {
		words, _ = cut(h.Source, []highlight.Span{{Start: h.Unit.Start, End: min(h.Unit.Start+1, len(h.Source))}})
	}
	g.add(finding{TextHit: chat.TextHit{
		Turn: h.SourceTurn, Session: h.SessionID, Seq: h.TurnSeq, Role: h.Role, At: h.At, Branch: branch, BranchLabel: label,
		Snippet: words, Spans: lists.Map(spans, func(s highlight.Span) chat.Span { return chat.Span{Start: s.Start, End: s.End} }), Score: score,
	}, by: "meaning"})
	return nil
}

// matchSpans are the words of a hit that match, as its unit writes them, in its source.
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
	return slices.DeleteFunc(out, func(s highlight.Span) bool { // what overlaps the one before
		overlaps := s.Start < end
		end = max(end, s.End)
		return overlaps
	})
}

// opens is the branch in which to open a chunk's turn: the active one if its lineage contains it.
func (s *Search) opens(ctx context.Context, sess chat.Session, h retrieval.Hit) (chat.BranchID, string, error) {
	id := h.BranchID
	if id != sess.ActiveBranch {
		there, err := s.c.History.Lineage(ctx, chat.LineageQuery{Branch: sess.ActiveBranch, FromSeq: h.TurnSeq, ToSeq: h.TurnSeq, Limit: 1})
		if err != nil {
			return "", "", err
		}
		if len(there) > 0 && there[0].ID == h.SourceTurn {
			id = sess.ActiveBranch
		}
	}
	b, err := s.c.Sessions.Branch(ctx, id)
	return id, b.Label, err
}

// said names a message.
type said struct {
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
	at       map[said]int
	titles   map[chat.SessionID][]chat.Span
	sessions map[chat.SessionID]chat.Session
	hits     int
}

func newGroups(r chat.TextResult) *groups {
	g := &groups{at: map[said]int{}, titles: r.Titles, sessions: r.Sessions}
	for _, h := range r.Hits {
		g.add(finding{h, "words"})
	}
	return g
}

func (g *groups) add(f finding) {
	g.at[said{f.Turn, f.Role}] = len(g.found)
	g.found = append(g.found, f)
	g.hits++
}

// aTitle is the weight of a matching title relative to messages.
const aTitle = 3

// list sorts the groups: by title and best result, then by number of results, then newest first.
func (g *groups) list(most int) []SearchGroup {
	slices.SortStableFunc(g.found, func(a, b finding) int { return cmp.Compare(b.Score, a.Score) })
	made := map[chat.SessionID]*SearchGroup{}
	score := map[string]float64{}
	of := func(id chat.SessionID) *SearchGroup {
		if made[id] == nil {
			s := g.sessions[id]
			title := chat.BoundTitle(s.Title)
			shown := slices.DeleteFunc(slices.Clone(g.titles[id]), func(sp chat.Span) bool { return sp.End > len(title) })
			made[id] = &SearchGroup{
				SessionID: string(id), Title: title, Folder: chat.BoundTitle(s.Folder), Archived: s.ArchivedAt != nil, UpdatedAt: ms(s.UpdatedAt),
				Marks: spanViews(title, shown), Hits: []SearchHit{},
			}
			if len(g.titles[id]) > 0 {
				score[string(id)] = aTitle
			}
		}
		return made[id]
	}
	for id := range g.titles {
		of(id)
	}
	for _, f := range g.found {
		group := of(f.Session)
		if len(group.Hits) == 0 {
			score[group.SessionID] += f.Score
		}
		if len(group.Hits) == most {
			group.More++
			continue
		}
		group.Hits = append(group.Hits, searchHit(f))
	}
	out := make([]SearchGroup, 0, len(made))
	for _, group := range made {
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

// mostFinds limits the turns listed by a search in a branch; all are counted.
const mostFinds = 5000

// Find finds a text in the turns of a branch's lineage, oldest first. It ignores case unless requested otherwise.
func (s *Search) Find(branchID, text string, matchCase bool) (FindResult, error) {
	out := FindResult{Hits: []FindHit{}}
	ctx, done := s.inBranch.begin(s.c.ctx())
	defer done()
	found, err := s.c.History.Find(ctx, chat.FindQuery{Branch: chat.BranchID(branchID), Text: text, MatchCase: matchCase, Limit: mostFinds})
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
	usualPoints = 200
	mostPoints  = 1000
)

// Metrics returns the metrics of the newest turns, oldest first, and their sums.
func (s *Search) Metrics(query MetricsQuery) (MetricsSeries, error) {
	out := MetricsSeries{Points: []MetricPoint{}}
	q, err := query.measures()
	if err != nil {
		return out, err
	}
	rows, err := s.c.Figures.Measures(s.c.ctx(), q)
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
	m := chat.MeasureQuery{Limit: usualPoints}
	if q.Limit > 0 {
		m.Limit = min(q.Limit, mostPoints)
	}
	switch q.Scope {
	case "branch":
		m.Branch = chat.BranchID(q.BranchID)
	case "session":
		m.Session = chat.SessionID(q.SessionID)
	case "all":
		return m, nil
	default:
		return m, chat.Errorf(chat.CodeInvalid, "search.metrics", "%q is not a scope of figures.", q.Scope).WithHint("choose branch, session or all")
	}
	if m.Branch == "" && m.Session == "" {
		return m, chat.Errorf(chat.CodeInvalid, "search.metrics", "Choose the %s to show figures for.", q.Scope)
	}
	return m, nil
}
