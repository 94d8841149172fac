package librarian

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
)

// Model is a language model as a librarian uses it: one text in, one text out. Complete returns an error for an
// incomplete answer.
type Model interface {
	Complete(ctx context.Context, system, user string, maxOutput int) (text string, usage *chat.Usage, err error)
	// InputLimit is the maximum size of system and user together, in tokens.
	InputLimit() int
	Name() string
}

// DefaultTimeout is librarian.timeout_s (SPEC 16).
const DefaultTimeout = 30 * time.Second

// Limits of one run, so that it ends whatever a model does.
const (
	maxFolds      = 4 // maximum number of parts of an input over the model's limit
	updateFails   = 2 // maximum number of rejected answers: SRD 10.2 allows one retry
	rangeFails    = 3
	runTimeouts   = 3 // a whole run takes at most this many timeouts
	outputTokens  = 4096
	minSpace      = 200 // minimum space for conversation in a call, in tokens
	promptReserve = 64  // tokens of framing that a model's own count may add
)

// Librarian writes summaries with a model. It holds no state: the zero value works, and it is safe for concurrent
// use.
type Librarian struct {
	Timeout time.Duration // per call; 0: DefaultTimeout
}

func (l Librarian) timeout() time.Duration {
	if l.Timeout <= 0 {
		return DefaultTimeout
	}
	return l.Timeout
}

// Update updates a summary (SPEC 7; SRD 10). The model is given the newest summary written by a model and every turn
// since. Its answer is kept if it is a summary of the conversation, and lost entries are added; without such an
// answer, and after a timeout or an error, the deterministic fallback is used in the same run. There is always a
// result, of at most u.Target tokens.
func (l Librarian) Update(ctx context.Context, u Update) Result {
	if u.Model == nil {
		return Fallback(u)
	}
	if u.Target <= 0 {
		u.Target = DefaultTarget
	}
	u.Count = counting(u.Count)
	if len(u.ModelTurns) == 0 {
		u.ModelPrevious, u.ModelTurns = u.Previous, u.Turns
	}
	ctx, cancel := context.WithTimeout(ctx, runTimeouts*l.timeout())
	defer cancel()
	hidden := newMask(u.Pins)
	r := &run{
		ctx: ctx, timeout: l.timeout(), model: u.Model, count: u.Count, kind: updateTask, target: u.Target,
		pins: u.Pins, fails: updateFails, titled: u.Titled,
	}
	previous, ps := hidden.hide(Parse(u.ModelPrevious).withoutExchange().Render()), passagesOf(u.ModelTurns, hidden)
	s, ok := r.fold(previous, ps, func() string { return hidden.hide(Fallback(u.older()).Summary) })
	if !ok {
		return r.fallbackResult(Fallback(u), r.needs(previous, ps))
	}
	return r.result(s, len(u.ModelTurns))
}

// older is the update from which the deterministic summary is made that represents the older turns, if the model cannot
// be given all turns.
func (u Update) older() Update {
	u.Previous, u.Turns = u.ModelPrevious, u.ModelTurns
	return u
}

// withoutExchange drops the section that only a fallback writes.
func (s Summary) withoutExchange() Summary {
	s.entries[LastExchange], s.entries[Happened] = nil, nil
	return s
}

// run is one use of a model: its limits, and the result.
type run struct {
	ctx     context.Context
	timeout time.Duration
	model   Model
	count   func(string) int
	kind    task
	target  int
	pins    []chat.Pin
	style   string // of a range's summary
	titled  bool   // a title is requested
	fails   int    // remaining rejected answers

	tries    int
	usage    *chat.Usage
	problem  string   // of the last answer that was not used unchanged
	missing  []string // entries that it lacked
	added    []string // entries added to it by rule
	required int
	kept     int // required entries kept by the model

	title        string   // that the model gave
	dropped      []string // entries dropped because of the target
	droppedCount int
}

// fold gives the model all passages, in as many calls as its input limit requires: the answer of each call is the
// earlier summary of the next. If even maxFolds calls are not enough, the summary by older represents the passages
// before them.
func (r *run) fold(previous string, ps []passage, older func() string) (Summary, bool) {
	space := r.space(previous)
	if space < minSpace || len(ps) == 0 {
		r.problem = "the model's input limit is too small"
		return Summary{}, false
	}
	parts := batches(ps, space, r.count)
	if len(parts) > maxFolds {
		parts, previous = parts[len(parts)-maxFolds:], older()
	}
	var latest Summary
	for _, passages := range parts {
		s, ok := r.step(previous, passages)
		if !ok {
			return Summary{}, false
		}
		latest, previous = s, r.kind.layout.render(s)
	}
	return latest, true
}

// space is the space for conversation in one call, in tokens. The answer may be twice as long as requested, and the
// next call must include it.
func (r *run) space(previous string) int {
	system := r.count(render(r.kind.prompt+".system", question{Target: r.target, Pins: len(r.pins), Titled: r.titled}))
	earlier := max(r.count(escape(previous)), r.target)
	return r.limit() - system - earlier - r.target/requiredShare - promptReserve
}

// limit is the model's input limit less a tenth, because a model may count differently.
func (r *run) limit() int { return r.model.InputLimit() * 9 / 10 }

// step creates a new summary from an earlier one and the conversation since. A valid answer about the right
// conversation is kept and repaired; an answer that lost much is requested again once, and the better of the two is
// kept.
func (r *run) step(previous string, ps []passage) (Summary, bool) {
	required := r.needs(previous, ps)
	q := question{Target: r.target, Pins: len(r.pins), Titled: r.titled, Previous: escape(strings.TrimSpace(previous)), Passages: renderPassages(ps), Style: r.style}
	system := render(r.kind.prompt+".system", q)
	var best *attempt
	for r.fails > 0 {
		answer, err := r.ask(system, render(r.kind.prompt, q))
		if !errors.Is(err, errOverLimit) {
			r.tries++
		}
		if err != nil {
			if r.failed(err) && best == nil {
				continue
			}
			break
		}
		a, problem := r.validate(answer, previous, ps, required)
		if problem != "" {
			r.fails--
			r.problem, r.missing = problem, nil
			q.Problem, q.Missing = problem, nil
			continue
		}
		retry := best == nil && muchMissing(a.missing, required)
		if best == nil || len(a.missing) < len(best.missing) {
			best = &a
		}
		if !retry {
			break
		}
		r.fails--
		r.problem, r.missing = "it dropped required facts", textsOf(a.missing)
		q.Problem, q.Missing, q.Rejected = r.problem, escapeAll(r.missing), escape(a.answer)
	}
	if best == nil {
		return Summary{}, false
	}
	r.required, r.kept = len(required), len(required)-len(best.missing)
	if len(best.missing) == 0 {
		return best.summary, true
	}
	r.missing = textsOf(best.missing)
	s, added := r.repair(*best)
	r.added = append(r.added, added...)
	return s, true
}

func textsOf(needs []need) []string {
	var out []string
	for _, n := range needs[:min(len(needs), maxMissing)] {
		out = append(out, n.plain())
	}
	return out
}

// Limits of the lists in a Validation, which is stored with each state summary.
const (
	maxRecorded      = 40
	maxRecordedBytes = 160
)

func recorded(list []string) []string {
	var out []string
	for _, s := range list[:min(len(list), maxRecorded)] {
		out = append(out, clip(s, maxRecordedBytes))
	}
	return out
}

// failed records an error and reports whether to call again: a state summary uses its fallback at once (SPEC 7), a
// range has three tries.
func (r *run) failed(err error) bool {
	r.fails--
	r.problem, r.missing = errorWords(err), nil
	return r.kind.retry && r.fails > 0 && r.ctx.Err() == nil
}

func errorWords(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "the model did not answer in time"
	case errors.Is(err, context.Canceled):
		return "it was cancelled"
	case errors.Is(err, errOverLimit):
		return "the input is over the model's limit"
	}
	if e, ok := errors.AsType[*chat.Error](err); ok {
		return "the model failed: " + string(e.Code)
	}
	return "the model failed"
}

var errOverLimit = errors.New("the input is over the model's limit")

// ask calls the model once, never over its limit.
func (r *run) ask(system, user string) (string, error) {
	if r.count(system)+r.count(user) > r.model.InputLimit()-promptReserve/2 {
		return "", errOverLimit
	}
	ctx, cancel := context.WithTimeout(r.ctx, r.timeout)
	defer cancel()
	text, usage, err := r.model.Complete(ctx, system, user, max(outputTokens, 2*r.target))
	if usage != nil {
		sum := *usage
		if r.usage != nil {
			sum = r.usage.Add(sum)
		}
		r.usage = &sum
	}
	if err == nil {
		err = ctx.Err() // an answer after the deadline does not count
	}
	return text, err
}

func escapeAll(list []string) []string {
	return lists.Map(list, escape)
}

// result is an accepted summary.
func (r *run) result(s Summary, turns int) Result {
	text := s.Render()
	tokens := r.count(text)
	return Result{
		Summary: text, Tokens: tokens, Origin: chat.StateLibrarian, Model: r.model.Name(), Usage: r.usage, Tries: r.tries,
		Validation: r.validationOf(string(chat.StateLibrarian), s, turns, tokens), Title: r.title,
	}
}

// validationOf is the Validation of a summary for which a model was called.
func (r *run) validationOf(method string, s Summary, turns, tokens int) json.RawMessage {
	v := Validation{
		Method: method, Turns: turns, TargetTokens: r.target, Tokens: tokens, Found: s.sizes(), Kept: s.sizes(),
		Dropped: r.dropped, DroppedCount: r.droppedCount, Tries: r.tries, Required: r.required, RequiredKept: r.kept,
		Reason: r.problem, Missing: recorded(r.missing), Added: recorded(r.added), Usage: r.usage,
	}
	if method == methodExtract {
		v.Asked = r.model.Name()
	}
	if v.Dropped == nil {
		v.Dropped = []string{}
	}
	raw, _ := chat.MarshalJSON(v) // plain strings and numbers always encode
	return raw
}

// fallbackResult is the fallback's result with the reason for its use, checked and repaired like a model's.
func (r *run) fallbackResult(res Result, required []need) Result {
	a := attempt{summary: Parse(res.Summary)}
	a.missing = missingFrom(a.summary, required)
	v := res.validation
	if len(a.missing) > 0 && res.Summary != "" {
		s, added := r.repair(a)
		res.Summary, v.Added = s.Render(), recorded(added)
		res.Tokens = r.count(res.Summary)
		v.Tokens, v.Kept = res.Tokens, s.sizes()
	}
	v.Required, v.RequiredKept, v.Missing = len(required), len(required)-len(a.missing), recorded(textsOf(a.missing))
	v.Tries, v.Reason, v.Usage, v.Asked = r.tries, r.problem, r.usage, r.model.Name()
	res.Validation, _ = chat.MarshalJSON(v)
	res.Usage, res.Tries = r.usage, r.tries
	return res
}
