// Package inspecting shows what is behind a conversation: what requests contained and why, which states and summaries
// represent older turns, and whether the stored data is intact. It changes nothing.
package inspecting

import (
	"context"
	"encoding/json"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/prompt"
	"contextinfinity/backend/retrieval"
	"contextinfinity/backend/turn"
)

// Store is the part of the database that this package reads.
type Store interface {
	Branch(context.Context, chat.BranchID) (chat.Branch, error)
	State(context.Context, chat.StateID) (chat.State, error)
	States(context.Context, chat.BranchID) ([]chat.State, error)
	StateTurnSeq(context.Context, chat.StateID) (int64, error)
	Summaries(context.Context, chat.BranchID) ([]chat.RangeSummary, error)
	AllSummaries(context.Context, chat.SessionID) ([]chat.RangeSummary, error)
	Manifest(context.Context, chat.TurnID) (json.RawMessage, error)
	PreviousManifest(ctx context.Context, branch chat.BranchID, beforeSeq int64) (json.RawMessage, chat.TurnID, error)
	LookedUp(context.Context, chat.TurnID) ([]chat.LookedUp, error)
	ChunkTexts(context.Context, []chat.ChunkID) ([]chat.ChunkText, error)
	ChunkEmbeddings(context.Context, chat.ChunkID) ([]chat.EmbedderID, error)
	ChunkUses(context.Context, chat.ChunkID) ([]chat.ChunkUse, error)
	Verify(context.Context) ([]chat.Finding, error)
}

// Service combines data of the store and the engine.
type Service struct {
	Store
	requests *turn.Engine
}

// New returns the service.
func New(s Store, r *turn.Engine) *Service { return &Service{Store: s, requests: r} }

// State is a committed state, with its place in the branch.
type State struct {
	chat.State
	Covers int64 // turn_seq of the last turn in it; 0 for the root
	Head   bool
}

// StatesOf returns the committed state summaries of a branch, newest first.
func (s *Service) StatesOf(ctx context.Context, b chat.Branch) ([]State, error) {
	all, err := s.States(ctx, b.ID)
	if err != nil {
		return nil, err
	}
	out := make([]State, len(all))
	for i, st := range all {
		if out[i], err = s.withPosition(ctx, b, st); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// StateByID returns one committed state.
func (s *Service) StateByID(ctx context.Context, id chat.StateID) (State, error) {
	st, err := s.State(ctx, id)
	if err != nil {
		return State{}, err
	}
	b, err := s.Branch(ctx, st.BranchID)
	if err != nil {
		return State{}, err
	}
	return s.withPosition(ctx, b, st)
}

// withPosition adds the last turn that a state summary covers, and whether it is the head of the branch.
func (s *Service) withPosition(ctx context.Context, b chat.Branch, st chat.State) (State, error) {
	covers, err := s.StateTurnSeq(ctx, st.ID)
	return State{State: st, Covers: covers, Head: st.ID == b.HeadState}, err
}

// Summary is the range summary of the turns from From up to, but not including, To.
type Summary struct {
	chat.RangeSummary
	InUse bool // the next request of the branch contains it
}

// SummariesOf returns the range summaries of a branch's session, and the manifest of the branch's next request. The
// manifest is nil if there is no usable model for a request.
func (s *Service) SummariesOf(ctx context.Context, b chat.Branch) ([]Summary, *prompt.Manifest, error) {
	all, err := s.AllSummaries(ctx, b.SessionID)
	if err != nil {
		return nil, nil, err
	}
	var next *prompt.Manifest
	inUse := map[string]bool{}
	if p, _, err := s.requests.Preview(ctx, b.ID, "", chat.UserText(" ")); err == nil {
		m := p.Manifest()
		next = &m
		for _, piece := range m.History.Pieces {
			inUse[piece.Summary] = true
		}
	}
	out := make([]Summary, len(all))
	for i, r := range all {
		out[i] = Summary{r, inUse[r.ID]}
	}
	return out, next, nil
}

// Before returns the turn whose request precedes turn seq on a branch, and the items of that request. The id is empty
// if there was none. The items are missing if the request cannot be assembled again.
func (s *Service) Before(ctx context.Context, branch chat.BranchID, seq int64) (chat.TurnID, []prompt.Text, error) {
	_, id, err := s.PreviousManifest(ctx, branch, seq)
	if err != nil || id == "" {
		return "", nil, err
	}
	seen, err := s.requests.ContextSeen(ctx, id)
	return id, seen.Texts, err
}

// Recalled is a passage of memory in a request, and why it was selected.
type Recalled struct {
	prompt.Part
	Chunk *chat.ChunkText // nil: it has been deleted
	Match retrieval.Match
}

// Recalled explains the passages of memory in a request, in order. texts are the request's items; without them the
// matching words are unknown.
func (s *Service) Recalled(ctx context.Context, m prompt.Manifest, texts []prompt.Text) ([]Recalled, error) {
	parts := m.Chunks()
	ids := make([]chat.ChunkID, len(parts))
	for i, p := range parts {
		ids[i] = chat.ChunkID(p.ID)
	}
	byID := map[string]*chat.ChunkText{}
	if len(ids) > 0 {
		found, err := s.ChunkTexts(ctx, ids)
		if err != nil {
			return nil, err
		}
		for i := range found {
			byID[string(found[i].ID)] = &found[i]
		}
	}
	question, passages := splitItems(texts)
	out := make([]Recalled, len(parts))
	for i, p := range parts {
		out[i] = Recalled{Part: p, Chunk: byID[p.ID], Match: retrieval.Match{Attached: true}}
		if p.Attached {
			continue
		}
		text, seq := "", int64(0)
		if i < len(passages) {
			text = passages[i]
		}
		if c := byID[p.ID]; c != nil {
			seq = c.TurnSeq
		}
		out[i].Match = retrieval.MatchOf(question, text, p, seq)
	}
	return out, nil
}

// splitItems returns the user's message without its attached documents, and the passages of memory, from the items of
// a request. The memory search uses only the message.
func splitItems(texts []prompt.Text) (question string, passages []string) {
	var messages []string
	for _, t := range texts {
		switch t.Source {
		case "message":
			messages = append(messages, prompt.WithoutDocuments(t.Text))
		case "chunk":
			passages = append(passages, retrieval.Unframed(t.Text))
		}
	}
	return strings.Join(messages, "\n"), passages
}

// Chunk returns one chunk with its text.
//
// Errors: CodeNotFound if it has been deleted.
func (s *Service) Chunk(ctx context.Context, id chat.ChunkID) (chat.ChunkText, error) {
	found, err := s.ChunkTexts(ctx, []chat.ChunkID{id})
	if err != nil {
		return chat.ChunkText{}, err
	}
	if len(found) == 0 {
		return chat.ChunkText{}, chat.Errorf(chat.CodeNotFound, "memory.chunk", "This memory no longer exists.").
			WithHint("the original text is still in its session; search for it")
	}
	return found[0], nil
}

// ChunkDetail is everything known about one chunk.
type ChunkDetail struct {
	chat.ChunkText
	Embedders []chat.EmbedderID // embedders that have its vectors
	Uses      []chat.ChunkUse   // requests that contained it, newest first
}

// ChunkDetail returns everything known about one chunk. Its errors are those of Chunk.
func (s *Service) ChunkDetail(ctx context.Context, id chat.ChunkID) (ChunkDetail, error) {
	c, err := s.Chunk(ctx, id)
	if err != nil {
		return ChunkDetail{}, err
	}
	d := ChunkDetail{ChunkText: c}
	if d.Embedders, err = s.ChunkEmbeddings(ctx, id); err != nil {
		return d, err
	}
	d.Uses, err = s.ChunkUses(ctx, id)
	return d, err
}

// Check is one of the checks of the stored data.
type Check struct {
	What string // what is checked
	Run  func(context.Context) ([]chat.Finding, error)
}

// Checks returns all checks, in the order in which they run.
func (s *Service) Checks() []Check {
	return []Check{
		{"the database: records, ledger and index", s.Verify},
		{"contexts of models, assembled again", s.requests.VerifyContexts},
		{"journals of answers", s.requests.VerifyJournals},
	}
}
