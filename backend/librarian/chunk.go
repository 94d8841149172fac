package librarian

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/lexical"
)

// Sizes of a passage that is worth a summary, and of the summary, in tokens.
const (
	MinChunk    = 200
	chunkTarget = 80
)

// Chunk is a long passage of a conversation that a model describes in a few sentences (SRD 3.2.3).
type Chunk struct {
	Text  string
	Role  chat.Role
	Pins  []chat.Pin // sent separately: never given to a model
	Model Model
	Count func(string) int // nil: four bytes per token
	// Spend is asked before the call for as many tokens as it may use. false: there is no room for the call.
	Spend func(tokens int) (bool, error)
	// Settle is told afterwards how many more it used; fewer than 0: less.
	Settle func(tokens int) error
}

// ErrSpent is the error if Spend refused a call.
var ErrSpent = errors.New("the tokens for summaries of passages are used up")

// ChunkSummary is the result for a passage. Text is empty if the answer cannot be used.
type ChunkSummary struct {
	Text       string
	Validation json.RawMessage
}

// SummarizeChunk summarizes a passage with one call. An error means that the model could not be asked or did not answer,
// and that another try may succeed.
func (l Librarian) SummarizeChunk(ctx context.Context, c Chunk) (ChunkSummary, error) {
	c.Count = counting(c.Count)
	r := &run{ctx: ctx, timeout: l.timeout(), model: c.Model, count: c.Count, target: chunkTarget, pins: c.Pins}
	p := passage{role: string(c.Role), text: newMask(c.Pins).hide(c.Text)}
	q := question{Target: chunkTarget, Pins: len(c.Pins), Passages: p.render()}
	system, user := render("chunk.system", q), render("chunk", q)
	reserved := c.Count(system) + c.Count(user) + outputTokens
	ok, err := c.Spend(reserved)
	if err != nil {
		return ChunkSummary{}, err
	}
	if !ok {
		return ChunkSummary{}, ErrSpent
	}
	answer, err := r.ask(system, user)
	used := reserved // as far as known
	switch {
	case r.usage != nil:
		used = r.usage.InputTokens + r.usage.OutputTokens
	case err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled):
		used = 0
	}
	if err := c.Settle(used - reserved); err != nil {
		return ChunkSummary{}, err
	}
	var out ChunkSummary
	switch {
	case err == nil:
		out.Text, r.problem = c.accept(unwrap(answer), p)
	case unanswered(err):
		return out, err
	default:
		r.problem = errorWords(err)
	}
	out.Validation, err = chat.MarshalJSON(Validation{
		Method: string(chat.StateLibrarian), TargetTokens: chunkTarget, Tokens: c.Count(out.Text), Tries: 1, Reason: r.problem,
		Usage: r.usage, Asked: c.Model.Name(), Dropped: []string{},
	})
	return out, err
}

// unanswered reports whether a call failed for a reason outside the passage: the provider, the network, the time.
func unanswered(err error) bool {
	if _, ok := errors.AsType[interface {
		error
		Retryable() bool
	}](err); ok {
		return true
	}
	_, ours := errors.AsType[*chat.Error](err)
	return ours || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// accept returns a model's answer on one line. problem says why it cannot be used.
func (c Chunk) accept(answer string, p passage) (text, problem string) {
	lower := strings.ReplaceAll(strings.ToLower(clip(answer, 60)), "’", "'")
	text = display.OneLine(answer)
	switch ps := []passage{p}; {
	case text == "":
		return "", "it is empty"
	case slices.ContainsFunc(refusals, func(words string) bool { return strings.HasPrefix(lower, words) }):
		return "", "it declines"
	case c.Count(text) > 2*chunkTarget || 2*c.Count(text) > c.Count(c.Text):
		return "", "it is not shorter than what it replaces"
	case strings.Contains(text, pinnedMark) || repeatsInput(answer, ps):
		return "", "it repeats what it was given"
	case repeatsItself(answer):
		return "", "it repeats itself"
	case offTopic(answer, "", ps):
		return "", "it is not about the conversation"
	case invents(text, p.text):
		return "", "it names what the passage does not contain"
	}
	return text, ""
}

// invents reports whether a text contains a path, a name in code or a number that its source does not contain.
func invents(text, source string) bool {
	known := evidenceOf(source)
	return slices.ContainsFunc(strings.Fields(text), func(w string) bool {
		w = strings.Trim(w, "`'\"(),;:.!?[]")
		if artifactKind(w) != "" {
			return !known.containsName(w)
		}
		return slices.ContainsFunc(lexical.Words(w), func(n string) bool {
			return strings.ContainsFunc(n, isDigit) && !strings.Contains(strings.ToLower(source), n)
		})
	})
}
