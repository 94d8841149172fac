package turn

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/prompt"
	"contextinfinity/backend/retrieval"
)

// Memory selects passages for a turn's context (SPEC 8).
type Memory interface {
	Search(context.Context, retrieval.Query) (retrieval.Result, error)
	// Attached returns chunks that the user chose, within maxTokens.
	Attached(ctx context.Context, ids []chat.ChunkID, maxTokens int, count func(string) int) ([]retrieval.Artifact, error)
}

// recallModel is the provider that searches by itself and is sent only the message.
const recallModel = "recall"

// recallPatience is how long a turn waits for its memory by default before it continues without memory.
const recallPatience = 5 * time.Second

// memorySelection is the memory selected for a turn. It is selected once, and used for all attempts and a continuation,
// until a provider refuses the size of the context.
type memorySelection struct {
	chosen    bool
	artifacts []prompt.Artifact
	failure   chat.Phrase // why memory was not searched, as a sentence
	metrics   chat.TurnMetrics
}

// draft selects memory and begins the context for it. Whatever fails, the turn continues without memory, and the
// manifest says why (SRD 8.3).
func (e *Engine) draft(ctx context.Context, in *prompt.Input, a assembly) (*prompt.Draft, error) {
	sel := a.memory
	search := !sel.chosen && e.usesMemory(*in, a.current)
	if !search {
		in.Retrieved, in.RetrievalError = sel.artifacts, sel.failure
		return prompt.NewDraft(*in)
	}
	start := time.Now()
	patience := e.settings().RecallTimeout
	if patience <= 0 {
		patience = recallPatience
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	reused, err := e.reuseSelection(ctx, *in, a, sel)
	if err == nil && !reused {
		err = e.attached(ctx, *in, a, sel)
	}
	in.Retrieved = sel.artifacts
	drafting := time.Now()
	d, failed := prompt.NewDraft(*in)
	if failed != nil {
		return d, failed
	}
	sel.chosen = true
	start = start.Add(time.Since(drafting))
	if err == nil && !reused {
		err = e.search(ctx, *in, a, d, sel)
	}
	if err != nil {
		if late := ctx.Err(); errors.Is(late, context.DeadlineExceeded) {
			err = late // the reason for the interruption
		}
		sel.failure = whyNoMemory(err, patience)
		sel.metrics.RetrievalFailed = true
		e.log.Warn("a turn continues without memory", "branch", a.branch, "err", err)
	}
	sel.metrics.SearchMs = time.Since(start).Milliseconds()
	in.Retrieved, in.RetrievalError = sel.artifacts, sel.failure
	return d, nil
}

// usesMemory reports whether a context includes memory: never with recall, which searches by itself, and in plain chat
// only what the user attached.
func (e *Engine) usesMemory(in prompt.Input, current chat.Message) bool {
	plain := in.Policy.History == prompt.HistoryOff
	return e.memory != nil && in.Provider != recallModel && (!plain || len(current.Blocks.Memories()) > 0)
}

func whyNoMemory(err error, patience time.Duration) chat.Phrase {
	if errors.Is(err, context.DeadlineExceeded) {
		return chat.Say("Memory did not answer within %s.", patience)
	}
	if e := chat.AsError(err); e.Code != chat.CodeInternal {
		return e.Phrase()
	}
	return chat.Say("Memory could not be searched. See the log for details.")
}

// reuseSelection reuses the memory of a continued turn's last context, if the model is the same and memory was
// available then.
func (e *Engine) reuseSelection(ctx context.Context, in prompt.Input, a assembly, sel *memorySelection) (bool, error) {
	if a.turn == nil || a.turn.Phase == chat.PhaseAccepted || a.reduce > 0 {
		return false, nil
	}
	raw, err := e.contexts.Manifest(ctx, a.turn.ID)
	if err != nil || raw == nil {
		return false, err
	}
	var m prompt.Manifest
	if json.Unmarshal(raw, &m) != nil || m.AssemblerVersion != prompt.AssemblerVersion || m.Model != in.Model || m.Inputs.RetrievalError != "" {
		return false, nil
	}
	artifacts, elsewhere, err := e.recalled(ctx, m, a.turn.SessionID)
	if err != nil || elsewhere > 0 {
		return false, err // an imported turn quoted passages that do not exist here: memory is searched again
	}
	sel.artifacts = artifacts
	return true, nil
}

// elsewhereText replaces a passage of a conversation or file that does not exist here.
const elsewhereText = "[a passage of another conversation, which is not here]"

// recalled reproduces the artifacts of a manifest, byte for byte, best first. session is that of its turn. An imported
// session may have quoted conversations that were not imported with it: elsewhere counts these passages, and
// elsewhereText takes their place. A passage that is missing although its turn exists is an error.
func (e *Engine) recalled(ctx context.Context, m prompt.Manifest, session chat.SessionID) (out []prompt.Artifact, elsewhere int, err error) {
	parts := m.Chunks()
	slices.SortStableFunc(parts, func(a, b prompt.Part) int { return a.Rank - b.Rank })
	if len(parts) == 0 {
		return nil, 0, nil
	}
	ids := lists.Map(parts, func(p prompt.Part) chat.ChunkID { return chat.ChunkID(p.ID) })
	texts, err := e.contexts.ChunkTexts(ctx, ids)
	if err != nil {
		return nil, 0, err
	}
	byID := make(map[string]chat.ChunkText, len(texts))
	for _, c := range texts {
		byID[string(c.ID)] = c
	}
	out = make([]prompt.Artifact, len(parts))
	for i, p := range parts {
		c, ok := byID[p.ID]
		summary := p.Form == chat.PackedSummary
		if summary && !p.Librarian {
			c.ByLibrarian = "" // it was written later
		}
		switch {
		case ok && !(summary && p.Librarian && c.ByLibrarian == ""):
			out[i] = retrieval.Passage(c, p.Form, p.Slices, session)
		case ok: // a summary that another device's librarian wrote
			out[i], elsewhere = notHere(p), elsewhere+1
		default:
			if out[i], err = e.passageElsewhere(ctx, p); err != nil {
				return nil, 0, err
			}
			elsewhere++
		}
		out[i].Attached, out[i].Score = p.Attached, p.Score
		out[i].Similarity, out[i].Vector, out[i].Keyword, out[i].Reasons = p.Similarity, p.Vector, p.Keyword, p.Reasons
	}
	return out, elsewhere, nil
}

// passageElsewhere is the placeholder for a passage whose turn does not exist here.
func (e *Engine) passageElsewhere(ctx context.Context, p prompt.Part) (prompt.Artifact, error) {
	_, err := e.past.Turn(ctx, chat.TurnID(p.Turn))
	switch {
	case err == nil:
		return prompt.Artifact{}, chat.Errorf(chat.CodeNotFound, "context.recall", "The chunk %s, which was in the context, no longer exists.", p.ID)
	case chat.CodeOf(err) != chat.CodeNotFound:
		return prompt.Artifact{}, err
	}
	return notHere(p), nil
}

func notHere(p prompt.Part) prompt.Artifact {
	return prompt.Artifact{ID: p.ID, Turn: p.Turn, Form: p.Form, Slices: p.Slices, Text: elsewhereText}
}

// attached packs the passages that the user attached, which are included even without other memory.
func (e *Engine) attached(ctx context.Context, in prompt.Input, a assembly, sel *memorySelection) error {
	ids := a.current.Blocks.Memories()
	if len(ids) == 0 {
		return nil
	}
	caps := prompt.NewBudget(in.Limits, in.Policy, in.Calibration).Caps
	attached, err := e.memory.Attached(ctx, ids, max(caps.Retrieved, caps.Message)-prompt.MemoryCost(in.Count), in.Count)
	for _, x := range attached {
		sel.add(x, true, a.session)
	}
	return err
}

// search packs search results into the space that the other sections leave.
func (e *Engine) search(ctx context.Context, in prompt.Input, a assembly, d *prompt.Draft, sel *memorySelection) error {
	q, shown, ok, err := e.query(ctx, in, a, d)
	if err != nil || !ok {
		return err
	}
	found, err := e.memory.Search(ctx, q)
	if err != nil {
		return err
	}
	for _, x := range found.Artifacts {
		if !shown.contain(x) && !inPrompt(d, x) && !isAcknowledgement(x.Quoted()) {
			sel.add(x, false, a.session)
		}
	}
	sel.metrics.EmbedMs, sel.metrics.Candidates = int64(found.Timing.Embed), found.Candidates
	return nil
}

// add adds an artifact that was not added before.
func (sel *memorySelection) add(x retrieval.Artifact, attached bool, session chat.SessionID) {
	if slices.ContainsFunc(sel.artifacts, func(a prompt.Artifact) bool { return a.ID == string(x.ID) }) {
		return
	}
	added := retrieval.Passage(x.ChunkText, x.Form, x.Slices, session)
	added.Attached, added.Score, added.Similarity, added.Vector, added.Keyword = attached, x.Score, x.Similarity, x.Cosine, x.Keyword
	added.Reasons = x.Why.Reasons()
	sel.artifacts = append(sel.artifacts, added)
	m := &sel.metrics
	if m.Selected++; x.Measured > 0 {
		if m.SimilarityMin == 0 || x.Measured < m.SimilarityMin {
			m.SimilarityMin = x.Measured
		}
		m.SimilarityMax = max(m.SimilarityMax, x.Measured)
	}
}

// query is the search query and its scope, which excludes the turns that are in the prompt verbatim. It also returns
// the turns whose documents are in the prompt only in part. false: nothing could be found, or there is no space for
// it.
func (e *Engine) query(ctx context.Context, in prompt.Input, a assembly, d *prompt.Draft) (retrieval.Query, excerpts, bool, error) {
	s, space, cut := e.settings(), d.Room(), d.Cut()
	if space <= 0 || a.turn == nil && s.EmbedsRemotely {
		return retrieval.Query{}, nil, false, nil
	}
	within := chat.Within{Scope: in.Scope, Branch: a.branch, Before: cut + 1}
	shown, err := withPartialDocuments(in, cut)
	if err != nil {
		return retrieval.Query{}, nil, false, err
	}
	for _, t := range shown {
		within.Beyond = append(within.Beyond, t.ID)
	}
	within.Shortened = d.Shortened()
	if within.Scope == chat.ScopeLineage && cut == 0 && len(within.Beyond)+len(within.Shortened) == 0 {
		return retrieval.Query{}, nil, false, nil // the prompt contains everything
	}
	within.Session = a.session
	q := retrieval.Query{Text: retrieval.Ends(a.current.RenderedText()), Within: within, MaxTokens: space, Count: in.Count}
	terms := len(retrieval.Terms(q.Text))
	if terms < fewTerms && len(in.Sizes) > 0 {
		last := in.Sizes[len(in.Sizes)-1].Seq
		turns, err := e.fetch(ctx, a.branch, last, last+1)
		if err != nil {
			return q, nil, false, err
		}
		for _, t := range turns {
			q.Previous = t.User.RenderedText()
		}
	}
	return q, shown, terms > 0, nil
}

// inPrompt reports whether an artifact is fully contained in the part of a shortened turn that is in the prompt.
func inPrompt(d *prompt.Draft, x retrieval.Artifact) bool {
	if !slices.Contains(d.Shortened(), x.SourceTurn) || x.Form == chat.PackedSummary || x.File != nil {
		return false
	}
	return !slices.ContainsFunc(x.Quoted(), func(text string) bool { return !d.Shows(x.SourceTurn, text) })
}

// excerpts are turns that contain only a part of a document.
type excerpts []chat.Turn

// contain reports whether an artifact is fully contained in the part of such a document that is in the prompt.
func (list excerpts) contain(x retrieval.Artifact) bool {
	if x.File == nil || x.Form == chat.PackedSummary {
		return false
	}
	parts := x.Quoted()
	return slices.ContainsFunc(list, func(t chat.Turn) bool {
		return slices.ContainsFunc(t.User.Blocks.Documents(), func(d chat.Document) bool {
			return d.File == x.File.ID && !slices.ContainsFunc(parts, func(text string) bool {
				return !strings.Contains(d.Text, strings.TrimSpace(text))
			})
		})
	})
}

// withPartialDocuments returns the turns after the cut that contain only a part of a document.
func withPartialDocuments(in prompt.Input, cut int64) (excerpts, error) {
	if len(in.Sizes) == 0 || in.Sizes[len(in.Sizes)-1].Seq <= cut {
		return nil, nil
	}
	turns, err := in.Fetch(cut+1, in.Sizes[len(in.Sizes)-1].Seq+1)
	if err != nil {
		return nil, err
	}
	var out excerpts
	for _, t := range turns {
		if slices.ContainsFunc(t.User.Blocks.Documents(), func(d chat.Document) bool { return !d.Complete }) {
			out = append(out, t)
		}
	}
	return out, nil
}

// fewTerms: a question with fewer terms may continue the previous message, because "and the second one?" does not say
// what it is about.
const fewTerms = 3

// retrieved returns the records of the passages in the final context.
func retrieved(m prompt.Manifest) []chat.Retrieval {
	var out []chat.Retrieval
	for _, p := range m.Chunks() {
		out = append(out, chat.Retrieval{
			Chunk: chat.ChunkID(p.ID), Similarity: p.Similarity, Vector: p.Vector, Keyword: p.Keyword, Score: p.Score,
			Rank: p.Rank, Packed: p.Form, Tokens: p.Tokens,
		})
	}
	return out
}

// measure adds the metrics of a turn's memory.
func (sel memorySelection) measure(m *chat.TurnMetrics, packed []chat.Retrieval) {
	x := sel.metrics
	m.SearchMs, m.EmbedMs, m.Candidates, m.Selected = x.SearchMs, x.EmbedMs, x.Candidates, x.Selected
	m.SimilarityMin, m.SimilarityMax, m.RetrievalFailed = x.SimilarityMin, x.SimilarityMax, x.RetrievalFailed
	m.PackedTokens = 0
	for _, r := range packed {
		m.PackedTokens += r.Tokens
	}
}
