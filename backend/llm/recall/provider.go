// Package recall is the embedded default model: it needs no key and no network (SPEC 9). It answers by quoting the
// pinned facts that share words with the question, then the best passages of the user's own memory, grouped by
// session, each with a link to its turn.
//
// It invents nothing and sends nothing anywhere: every sentence it adds is fixed. It implements the same interface as
// other providers, so journal, decoder and recovery work the same way. It never quotes its own quotations.
package recall

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/clock"
	"contextinfinity/backend/internal/wire"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/prompt"
)

// Name is the adapter's name, and that of its model.
const Name = "recall"

// Memory searches conversations by words and by meaning. It chooses the relevant part of a long text.
type Memory interface {
	// Search returns at most q.Limit relevant passages within q.Scope, best first. Except in the scope of a session, it
	// excludes the siblings of q.Branch; it always excludes earlier answers of recall.
	Search(ctx context.Context, q Query) ([]Passage, error)
}

// Query is a query to a Memory.
type Query struct {
	Text   string
	Branch chat.BranchID // of the current turn
	Scope  chat.Scope    // empty: every session
	Limit  int
}

// Sizer is a Memory that knows its number of turns; if it is empty, the answer explains recall.
type Sizer interface {
	Turns(ctx context.Context) (int, error)
}

// Passage is one search result.
type Passage struct {
	TurnID       chat.TurnID
	SessionID    chat.SessionID
	SessionTitle string
	Role         chat.Role
	Name         string // of the speaker, if not the user
	Document     string // name of the attached document it is from
	Provider     string // of the answer it is from; recall's own are dropped
	Text         string
	At           time.Time
	Score        float64 // higher is better
	ByMeaning    bool    // it has no word of the question
}

// defaultLimit is the maximum number of passages in an answer.
const defaultLimit = 6

// pacing is the time in which a complete answer appears: slow enough to see it arrive, fast enough not to have to
// wait for it.
const pacing = 150 * time.Millisecond

// Provider implements llm.Provider and llm.ModelLister. It is safe for concurrent use if its Memory is.
type Provider struct {
	memory   Memory
	now      clock.Clock
	language func() string
	zone     *time.Location
	pacing   time.Duration
}

// New creates the adapter. A nil clock is the system's. language returns the language of the next answer: "en", "de"
// or "zh-CN".
func New(memory Memory, now clock.Clock, language func() string) *Provider {
	return &Provider{memory: memory, now: now, language: language, zone: time.Local, pacing: pacing}
}

// Name implements llm.Provider.
func (*Provider) Name() string { return Name }

// NewDecoder implements llm.Provider.
func (*Provider) NewDecoder(mode llm.ToolsMode) llm.Decoder { return newDecoder(mode) }

// ListModels implements llm.ModelLister.
func (*Provider) ListModels(context.Context, llm.Endpoint) ([]string, error) {
	return []string{Name}, nil
}

// request is the body of a request.
type request struct {
	Query  string        `json:"query"`
	Facts  []prompt.Fact `json:"facts,omitempty"`
	Branch chat.BranchID `json:"branch,omitempty"`
	Scope  chat.Scope    `json:"scope,omitempty"`
	Limit  int           `json:"limit"`
	Stream bool          `json:"stream"`
	// NoMemory: nothing is searched.
	NoMemory bool `json:"no_memory,omitempty"`
}

// Encode implements llm.Provider. The query is only the user's last message; of the rest of the context, the body
// contains the pinned facts.
func (*Provider) Encode(r llm.Request) (json.RawMessage, error) {
	groups, err := wire.Conversation(r, Name, wire.PlainIDs)
	if err != nil {
		return nil, err
	}
	body := map[string]any{
		"query": question(groups[len(groups)-1].Blocks), "branch": r.Endpoint.Branch, "limit": defaultLimit, "stream": r.Endpoint.Stream,
	}
	if facts := r.Context.Facts(); len(facts) > 0 {
		body["facts"] = facts
	}
	if r.Endpoint.NoMemory {
		body["no_memory"] = true
	}
	if r.Endpoint.Scope != "" {
		body["scope"] = r.Endpoint.Scope
	}
	return wire.Marshal(wire.Merge(body, r.Endpoint.Options))
}

// question returns what the user typed, without the memory block that the assembler added, and without attached
// documents, which are not a question.
func question(blocks chat.Blocks) string {
	var texts []string
	for i, b := range blocks {
		t, ok := b.(chat.Text)
		if !ok || prompt.IsDocument(t.Text) || i == 0 && len(blocks) > 1 && strings.HasPrefix(t.Text, "<memory>\n") {
			continue
		}
		texts = append(texts, t.Text)
	}
	return strings.Join(texts, "\n\n")
}

// Stream implements llm.Provider.
func (p *Provider) Stream(ctx context.Context, _ llm.Endpoint, body json.RawMessage, yield func(chat.RawEvent) error) error {
	var req request
	if err := json.Unmarshal(body, &req); err != nil {
		return &llm.Error{Code: chat.CodeInvalid, Message: "recall's options contain a value of the wrong type", Err: err}
	}
	if req.Limit <= 0 {
		req.Limit = defaultLimit
	}
	text, turns, err := p.answer(ctx, req)
	if err != nil {
		return p.failure(ctx, err)
	}
	if !req.Stream {
		return emit(yield, llm.EventResponse, event{Type: typeDone, Text: text, Turns: turns})
	}
	if err := emit(yield, typeStart, event{Type: typeStart, Query: req.Query}); err != nil {
		return err
	}
	if err := p.streamWords(ctx, splitWords(text), yield); err != nil {
		return err
	}
	return emit(yield, typeDone, event{Type: typeDone, Turns: turns})
}

func (p *Provider) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return wire.Cancelled(ctx)
	}
	var coded *chat.Error
	e := &llm.Error{Code: chat.CodeInternal, Message: "your history could not be searched; nothing was changed", Err: err}
	if errors.As(err, &coded) {
		e.Code = coded.Code
	}
	return e
}

// streamWords yields word by word, with short pauses that end when the context is cancelled.
func (p *Provider) streamWords(ctx context.Context, all []string, yield func(chat.RawEvent) error) error {
	const pauses = 10
	every := max(1, (len(all)+pauses-1)/pauses)
	for i, w := range all {
		if ctx.Err() != nil {
			return wire.Cancelled(ctx)
		}
		if err := emit(yield, typeDelta, event{Type: typeDelta, Text: w}); err != nil {
			return err
		}
		if p.pacing > 0 && (i+1)%every == 0 {
			clock.Sleep(ctx, p.pacing/pauses)
		}
	}
	if ctx.Err() != nil {
		return wire.Cancelled(ctx)
	}
	return nil
}

// splitWords splits a text into pieces that end after their white space.
func splitWords(text string) []string {
	var out []string
	for text != "" {
		end := strings.IndexAny(text, " \n")
		for end >= 0 && end < len(text) && (text[end] == ' ' || text[end] == '\n') {
			end++
		}
		if end < 0 {
			end = len(text)
		}
		out = append(out, text[:end])
		text = text[end:]
	}
	return out
}

func emit(yield func(chat.RawEvent) error, kind string, ev event) error {
	data, err := chat.MarshalJSON(ev)
	if err != nil {
		return &llm.Error{Code: chat.CodeInternal, Err: err}
	}
	return yield(chat.RawEvent{Type: kind, Data: data})
}
