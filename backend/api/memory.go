package api

import (
	"context"
	"slices"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/retrieval"
)

// Memory shows memory, searches it, and shows the state of its index.
type Memory struct{ c *Core }

// NewMemory returns the service.
func NewMemory(c *Core) *Memory { return &Memory{c} }

// defaultChunks and defaultHits are the default limits of a call; maxChunks is the largest.
const (
	defaultChunks = 50
	defaultHits   = 20
	maxChunks     = 200
)

// Chunks returns a page of the chunk browser, newest first.
func (s *Memory) Chunks(filter MemoryFilter) (ChunkPage, error) {
	p := ChunkPage{}
	limit, err := filter.page(defaultChunks)
	if err != nil {
		return p, err
	}
	in, err := filter.within()
	if err != nil {
		return p, err
	}
	chunks, total, err := s.c.Store.Chunks(s.c.ctx(), chat.ChunkQuery{Within: in, Text: filter.Text, Limit: limit, Offset: filter.Offset})
	p.Chunks = lists.Map(chunks, func(c chat.ChunkText) ChunkRow { return chunkRow(c, 0) })
	p.Total = total
	return p, err
}

// Search finds chunks by words and by vectors. If the embedder fails, it searches by words only and sets Warning.
func (s *Memory) Search(filter MemoryFilter, query string) (MemorySearch, error) {
	out := MemorySearch{Hits: []MemoryHit{}}
	limit, err := filter.page(defaultHits)
	if err != nil {
		return out, err
	}
	in, err := filter.within()
	if err != nil {
		return out, err
	}
	found, err := s.c.Memory.Search(s.c.ctx(), retrieval.Query{
		Text: query, Within: in, Limit: filter.Offset + limit, AllowWordsOnly: true,
	})
	if err != nil {
		return out, err
	}
	scale := 1.0 // the plain ranking can score above 1
	if len(found.Hits) > 0 {
		scale = scoreScale(found.Hits[0].Score)
	}
	for _, h := range found.Hits[min(filter.Offset, len(found.Hits)):] {
		out.Hits = append(out.Hits, MemoryHit{
			Chunk: chunkRow(h.ChunkText, h.Unit.Start-h.Start), Rank: h.Rank, Score: h.Score / scale,
			Match: matchView(h.Match(query), h.Role, similarityOf(h.Cosine, h.Similarity)),
		})
	}
	t := found.Timing
	out.Candidates, out.Embedder, out.Warning = found.Candidates, found.Embedder, found.Warning
	out.TotalMs, out.EmbedMs, out.VectorMs, out.KeywordMs = t.Total, t.Embed, t.Vector, t.Keyword
	return out, nil
}

// Chunk returns everything known about one chunk; CodeNotFound if it was deleted.
func (s *Memory) Chunk(id string) (ChunkDetail, error) {
	c, err := s.c.Inspecting.ChunkDetail(s.c.ctx(), chat.ChunkID(id))
	if err != nil {
		return ChunkDetail{}, err
	}
	d := ChunkDetail{Chunk: chunkRow(c.ChunkText, 0), Text: c.Text, Start: c.Start, End: c.End, Uses: []ChunkUseView{}}
	d.Embedders = lists.Map(c.Embedders, func(e chat.EmbedderID) string { return e.String() })
	for _, u := range c.Uses {
		d.Uses = append(d.Uses, ChunkUseView{
			TurnID: string(u.Turn), TurnSeq: u.TurnSeq, SessionID: string(u.Session), Rank: u.Rank, Score: u.Score,
			Form: string(u.Packed), At: ms(u.At), Tool: u.Tool,
		})
	}
	return d, nil
}

// Chip describes a chunk attached to a message by hand.
func (s *Memory) Chip(id string) (MemoryChip, error) {
	c, err := s.c.Inspecting.Chunk(s.c.ctx(), chat.ChunkID(id))
	if err != nil {
		return MemoryChip{}, err
	}
	return memoryChip(c), nil
}

// maxDegraded limits the listed turns that could not be indexed.
const maxDegraded = 50

// Status returns the state of the memory index. Turns that could not be indexed are listed with those of the branch's
// session first.
func (s *Memory) Status(branchID string) (IndexStatus, error) {
	st := IndexStatus{Spaces: []IndexSpace{}, Degraded: []DegradedTurn{}}
	ctx := s.c.ctx()
	on, scope := s.c.Retrieves()
	st.On, st.Scope = on, string(scope)
	spaces, err := s.c.Vectors.Status(ctx)
	if err != nil {
		return st, err
	}
	st.add(spaces)
	if len(st.Spaces) == 0 { // no embedder has been reached yet: search by words only
		if st.Units, err = s.c.Store.UnitCount(ctx); err != nil {
			return st, err
		}
	}
	st.Degraded, err = s.degraded(ctx, branchID)
	return st, err
}

// add adds the namespaces that are used or being built.
func (st *IndexStatus) add(spaces []chat.Namespace) {
	for _, ns := range spaces {
		if ns.State == chat.NamespaceRetired {
			continue
		}
		st.Units = max(st.Units, ns.Total)
		st.Spaces = append(st.Spaces, IndexSpace{
			Embedder: ns.Embedder.String(), State: ns.State, Done: ns.Done, Total: ns.Total, Error: ns.Why(),
		})
	}
}

// degraded lists the turns that could not be indexed, newest first.
func (s *Memory) degraded(ctx context.Context, branchID string) ([]DegradedTurn, error) {
	out := []DegradedTurn{}
	session := ""
	if branchID != "" {
		b, err := s.c.Sessions.Branch(ctx, chat.BranchID(branchID))
		if err != nil {
			return out, err
		}
		session = string(b.SessionID)
	}
	jobs, err := s.c.Queue.Jobs(ctx, chat.JobQuery{State: chat.JobFailed, Type: chat.JobIndexTurn, Limit: maxDegraded})
	if err != nil {
		return out, err
	}
	return s.degradedTurns(jobs, session, func(id chat.TurnID) (chat.Turn, error) { return s.c.Store.Turn(ctx, id) }), nil
}

func (s *Memory) degradedTurns(jobs []chat.Job, session string, turn func(chat.TurnID) (chat.Turn, error)) []DegradedTurn {
	out := []DegradedTurn{}
	for _, j := range jobs {
		t, err := turn(j.TurnID)
		if err != nil { // an unreadable record does not hide the others (SPEC 2.13)
			s.c.Log.Warn("a turn that is not searchable cannot be read", "turn", j.TurnID, "err", err)
			continue
		}
		if t.IndexStatus != chat.IndexDegraded {
			continue
		}
		out = append(out, DegradedTurn{
			TurnID: string(t.ID), TurnSeq: t.Seq, SessionID: string(t.SessionID), Title: t.User.Title(), JobID: j.ID, Error: j.Why(),
		})
	}
	slices.SortStableFunc(out, func(a, b DegradedTurn) int { return order(a.SessionID != session, b.SessionID != session) })
	return out
}

// order sorts false before true.
func order(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// chunkTypes are the valid types for a filter.
var chunkTypes = []chat.ChunkType{
	chat.ChunkCode, chat.ChunkExplanation, chat.ChunkDecision, chat.ChunkUserContext, chat.ChunkToolResult, chat.ChunkOther,
}

const filterOp = "memory.filter"

// page returns the limit to use.
func (f MemoryFilter) page(defaultLimit int) (int, error) {
	if f.Offset < 0 || f.Limit < 0 {
		return 0, chat.Errorf(chat.CodeInvalid, filterOp, "The offset of a page must not be negative, and its length must be at least 1.")
	}
	if f.Limit == 0 {
		return defaultLimit, nil
	}
	return min(f.Limit, maxChunks), nil
}

// within returns the scope to search. Without a named scope, it is the narrowest one that fits the other fields.
func (f MemoryFilter) within() (chat.Within, error) {
	in := chat.Within{
		Scope: chat.Scope(f.Scope), Session: chat.SessionID(f.SessionID), Branch: chat.BranchID(f.BranchID), Role: chat.Role(f.Role),
		Since: moment(f.Since), Until: moment(f.Until),
	}
	switch {
	case f.Scope != "" && f.Scope != string(chat.ScopeLineage) && f.Scope != string(chat.ScopeSession) && f.Scope != string(chat.ScopeProject) && f.Scope != string(chat.ScopeAll):
		return in, chat.Errorf(chat.CodeInvalid, filterOp, "%q is not a scope of memory.", f.Scope).WithHint("choose lineage, session, project or all")
	case in.Scope == chat.ScopeProject && f.BranchID == "":
		return in, chat.Errorf(chat.CodeInvalid, filterOp, "A project's memory can be shown only from a session of the project.").WithHint("open one, or choose all")
	case in.Scope == chat.ScopeLineage && f.BranchID == "":
		return in, chat.Errorf(chat.CodeInvalid, filterOp, "The memory of a branch can only be shown for an open branch.").WithHint("open a session, or choose all")
	case in.Scope == chat.ScopeSession && f.SessionID == "" && f.BranchID == "":
		return in, chat.Errorf(chat.CodeInvalid, filterOp, "The memory of a session can only be shown for an open session.").WithHint("open one, or choose all")
	case f.Type != "" && !slices.Contains(chunkTypes, chat.ChunkType(f.Type)):
		return in, chat.Errorf(chat.CodeInvalid, filterOp, "%q is not a kind of memory.", f.Type)
	case f.Role != "" && in.Role != chat.RoleUser && in.Role != chat.RoleAssistant:
		return in, chat.Errorf(chat.CodeInvalid, filterOp, "%q is not a speaker: choose user or assistant.", f.Role)
	case f.Since < 0 || f.Until < 0 || f.Until > 0 && f.Until < f.Since:
		return in, chat.Errorf(chat.CodeInvalid, filterOp, "The last day is before the first.")
	}
	if f.Type != "" {
		in.Types = []chat.ChunkType{chat.ChunkType(f.Type)}
	}
	return in, nil
}

// moment converts Unix milliseconds; 0 means none.
func moment(at int64) time.Time {
	if at == 0 {
		return time.Time{}
	}
	return time.UnixMilli(at)
}
