package librarian

import (
	"context"
	"errors"
	"strings"
	"time"

	"contextinfinity/backend/chat"
)

// Model is what a librarian needs of a language model: one text in, one text
// out. Complete returns an error for an answer that is not whole.
type Model interface {
	Complete(ctx context.Context, system, user string, maxOutput int) (text string, usage *chat.Usage, err error)
	// InputLimit is how many tokens system and user may have together.
	InputLimit() int
	Name() string
}

// DefaultTimeout is librarian.timeout_s (SPEC 16).
const DefaultTimeout = 30 * time.Second

// Limits of one run, so that it ends whatever a model does.
const (
	maxFolds      = 4 // ranges that an input over the model's limit is cut into
	updateFails   = 2 // rejected answers: SRD 10.2 allows one retry
	rangeFails    = 3
	runTimeouts   = 3 // a whole run takes at most so many timeouts
	outputTokens  = 4096
	leastRoom     = 200 // tokens of conversation that a call must have room for
	promptReserve = 64  // tokens of framing that a model's own count may add
)

// Librarian keeps summaries with a model's help. It holds no state: the zero
// value works, and it may be used from several goroutines.
type Librarian struct {
	Timeout time.Duration // of one call; 0: DefaultTimeout
}

func (l Librarian) timeout() time.Duration {
	if l.Timeout <= 0 {
		return DefaultTimeout
	}
	return l.Timeout
}

// Update brings a summary up to date (SPEC 7; SRD 10). With a model, it is given
// the newest summary that a model made and every turn since, and its answer is
// accepted only if it is a summary that keeps what must be kept; else, and after a
// timeout or an error, the deterministic fallback stands, in the same run. There
// is always a result, at most u.Target tokens long.
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
		pins: u.Pins, fails: updateFails,
	}
	previous, ps := hidden.hide(Parse(u.ModelPrevious).withoutExchange().Render()), passagesOf(u.ModelTurns, hidden)
	text, ok := r.fold(previous, ps, func() string { return hidden.hide(Fallback(u.older()).Summary) })
	if !ok {
		return r.fellBack(Fallback(u))
	}
	return r.result(text, len(u.ModelTurns))
}

// older is what an update without its newest turns would be: where more was said
// since than the model can be given, the deterministic summary stands for it.
func (u Update) older() Update {
	u.Previous, u.Turns = u.ModelPrevious, u.ModelTurns
	return u
}

// withoutExchange drops what only a fallback writes.
func (s Summary) withoutExchange() Summary {
	s.entries[LastExchange], s.entries[Happened] = nil, nil
	return s
}

// run is one use of a model: its limits, and what became of it.
type run struct {
	ctx     context.Context
	timeout time.Duration
	model   Model
	count   func(string) int
	kind    task
	target  int
	pins    []chat.Pin
	fails   int // rejected answers that are left

	tries   int
	usage   *chat.Usage
	problem string   // of the last rejected answer
	missing []string // from it
	kept    int      // of what had to be kept, in the accepted answer
	found   int
}

// fold gives the model all passages, in as many calls as its input limit needs:
// each call's answer is the next one's earlier summary. Where even maxFolds calls
// would not do, older stands for what comes before the last of them.
func (r *run) fold(previous string, ps []passage, older func() string) (string, bool) {
	room := r.room(previous)
	if room < leastRoom || len(ps) == 0 {
		r.problem = "the model's input limit is too small"
		return "", false
	}
	runs := batches(ps, room, r.count)
	if len(runs) > maxFolds {
		runs, previous = runs[len(runs)-maxFolds:], older()
	}
	for _, passages := range runs {
		text, ok := r.step(previous, passages)
		if !ok {
			return "", false
		}
		previous = text
	}
	return previous, true
}

// room is what conversation may take in one call, in tokens. What comes back may
// be twice as long as it should be, and the next call is given that.
func (r *run) room(previous string) int {
	system := r.count(render(r.kind.prompt+".system", question{Target: r.target, Pins: len(r.pins)}))
	earlier := max(r.count(escape(previous)), r.target)
	return r.limit() - system - earlier - r.target/criticalShare - promptReserve
}

// limit leaves a tenth for models that count otherwise than we do.
func (r *run) limit() int { return r.model.InputLimit() * 9 / 10 }

// step makes one new summary of an earlier one and what was said since.
func (r *run) step(previous string, ps []passage) (string, bool) {
	required := critical(previous, ps, r)
	q := question{Target: r.target, Pins: len(r.pins), Previous: escape(strings.TrimSpace(previous)), Passages: renderPassages(ps)}
	system := render(r.kind.prompt+".system", q)
	for r.fails > 0 {
		answer, err := r.ask(system, render(r.kind.prompt, q))
		if err != nil {
			if !r.failed(err) {
				return "", false
			}
			continue
		}
		text, missing, problem := r.examine(answer, previous, ps, required)
		if problem == "" {
			r.found, r.kept = len(required), len(required)
			return text, true
		}
		r.fails--
		r.problem, r.missing = problem, missing
		q.Problem, q.Missing = problem, escapeAll(missing)
	}
	return "", false
}

// failed records an error. It reports whether another call is worth it: a state
// has its fallback at once (SPEC 7), a range has its three tries.
func (r *run) failed(err error) bool {
	r.fails--
	r.problem, r.missing = errorWords(err), nil
	return r.kind.again && r.fails > 0 && r.ctx.Err() == nil
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
	var e *chat.Error
	if errors.As(err, &e) {
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
	r.tries++
	text, usage, err := r.model.Complete(ctx, system, user, max(outputTokens, 2*r.target))
	if usage != nil {
		sum := *usage
		if r.usage != nil {
			sum = r.usage.Add(sum)
		}
		r.usage = &sum
	}
	if err == nil {
		err = ctx.Err() // an answer after the deadline is none
	}
	return text, err
}

func escapeAll(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = escape(s)
	}
	return out
}

// result is an accepted summary.
func (r *run) result(text string, turns int) Result {
	s := Parse(text)
	tokens := r.count(text)
	v := Validation{
		Method: string(chat.StateLibrarian), Turns: turns, TargetTokens: r.target, Tokens: tokens, Found: s.sizes(), Kept: s.sizes(),
		Dropped: []string{}, Tries: r.tries, Required: r.found, RequiredKept: r.kept, Reason: r.problem, Missing: r.missing, Usage: r.usage,
	}
	raw, _ := chat.MarshalJSON(v)
	return Result{
		Summary: text, Tokens: tokens, Origin: chat.StateLibrarian, Model: r.model.Name(), Validation: raw, Usage: r.usage, Tries: r.tries,
	}
}

// fellBack is the fallback's result with why it stands.
func (r *run) fellBack(res Result) Result {
	v := res.made
	v.Tries, v.Reason, v.Missing, v.Usage, v.Asked = r.tries, r.problem, r.missing, r.usage, r.model.Name()
	res.Validation, _ = chat.MarshalJSON(v)
	res.Usage, res.Tries = r.usage, r.tries
	return res
}
