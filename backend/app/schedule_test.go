package app

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/turn"
	"contextinfinity/test/harness"
	"contextinfinity/test/testtier"
)

// textPart is how much of the answer must be kept.
type textPart int

const (
	noText   textPart = iota
	someText          // the beginning, but not all
	allText
)

// expectedEnd is the required end of a turn for a kind of fault (SPEC 4).
type expectedEnd struct {
	phase    chat.Phase
	outcome  chat.Outcome
	code     chat.Code
	attempts int
	text     textPart
}

func finalized(o chat.Outcome, attempts int, p textPart) expectedEnd {
	return expectedEnd{chat.PhaseResponseFinalized, o, "", attempts, p}
}

func failedWith(code chat.Code, attempts int) expectedEnd {
	return expectedEnd{chat.PhaseFailed, chat.OutcomeFailed, code, attempts, noText}
}

func incompleteWith(code chat.Code) expectedEnd {
	return expectedEnd{chat.PhaseResponding, chat.OutcomeIncomplete, code, 1, someText}
}

// kindsOfFault are all kinds of faults with their required ends (SPEC 4): a call is retried only if nothing arrived
// and a retry may help, at most four attempts; text is never thrown away; without text there is no answer to keep.
var kindsOfFault = map[string]expectedEnd{
	"good":        finalized(chat.OutcomeCompleted, 1, allText),
	"unstreamed":  finalized(chat.OutcomeCompleted, 1, allText),
	"slow":        finalized(chat.OutcomeCompleted, 1, allText),
	"late":        finalized(chat.OutcomeCompleted, 1, allText), // latency before the headers
	"length":      finalized(chat.OutcomeTruncated, 1, allText),
	"limit_once":  finalized(chat.OutcomeCompleted, 2, allText),
	"server_once": finalized(chat.OutcomeCompleted, 2, allText),
	"stop":        finalized(chat.OutcomeStopped, 1, someText),
	"limit_long":  failedWith(chat.CodeRateLimited, 1), // asks to wait for an hour, so the user decides
	"server":      failedWith(chat.CodeUnavailable, turn.MaxAttempts),
	"disconnect":  failedWith(chat.CodeUnavailable, turn.MaxAttempts),
	"refused":     failedWith(chat.CodeUnavailable, turn.MaxAttempts),
	"auth":        failedWith(chat.CodeAuth, 1),
	"bad_request": failedWith(chat.CodeProvider, 1),
	"malformed":   failedWith(chat.CodeUnavailable, 1), // an answer without an end event
	"mute":        failedWith(chat.CodeTimeout, 1),
	"stop_early":  failedWith(chat.CodeCancelled, 1),
	"tool":        failedWith(chat.CodeToolCall, 1),
	"cut":         incompleteWith(chat.CodeUnavailable),
	"stall":       incompleteWith(chat.CodeTimeout),
}

const lanes = 20

// scheduledSends is enough for every kind with every protocol; in the exhaustive form three times.
var scheduledSends = testtier.Size(60, 200)

// planned is one message of the schedule.
type planned struct {
	number int
	kind   string
	wire   string
	policy turn.IncompletePolicy // for an incomplete answer before it
}

func (p planned) message() string {
	kind := p.kind
	if kind == "unstreamed" || kind == "refused" {
		kind = "good"
	}
	return fmt.Sprintf("Question %d of the schedule.\n%s", p.number, harness.Tag(kind, p.number))
}

func (p planned) model() string {
	if p.kind == "unstreamed" || p.kind == "refused" {
		return p.wire + "_" + p.kind
	}
	return p.wire
}

// schedule contains every kind with every protocol, up to three times, and some random ones, in random order.
func schedule(rng *rand.Rand) []planned {
	var names []string
	for k := range kindsOfFault {
		names = append(names, k)
	}
	slices.Sort(names)
	policies := []turn.IncompletePolicy{turn.IncompleteKeep, turn.IncompleteDiscard}
	var out []planned
	for len(out) < scheduledSends {
		n := len(out)
		p := planned{kind: names[n%len(names)], wire: harness.Wires[n/len(names)%len(harness.Wires)].Name}
		if n >= 3*len(names)*len(harness.Wires) {
			p.kind, p.wire = names[rng.IntN(len(names))], harness.Wires[rng.IntN(len(harness.Wires))].Name
		}
		p.policy = policies[rng.IntN(2)]
		out = append(out, p)
	}
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	for i := range out {
		out[i].number = i + 1
	}
	return out
}

// result is a message whose turn has ended.
type result struct {
	planned
	id     chat.TurnID
	answer string
	want   expectedEnd // may have been changed by a decision
}

func TestFaultSchedule(t *testing.T) {
	t.Parallel()
	seed := uint64(20260711)
	if env := os.Getenv("CONTEXTINFINITY_SEED"); env != "" {
		n, err := strconv.ParseUint(env, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	t.Logf("seed %d (CONTEXTINFINITY_SEED chooses another)", seed)
	plan := schedule(rand.New(rand.NewPCG(seed, 2)))
	dir := t.TempDir()
	w := openEnv(t, dir, scheduleModels(t), tuning{idle: 4 * time.Second})
	w.Jobs.Start()

	branches := make([]chat.Branch, lanes)
	results := make([][]result, lanes)
	var wg sync.WaitGroup
	for i := range lanes {
		branches[i] = w.session(fmt.Sprintf("Lane %d", i))
		var own []planned
		for n := i; n < len(plan); n += lanes {
			own = append(own, plan[n])
		}
		wg.Go(func() { results[i] = w.sendAll(branches[i].ID, own) })
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	if _, err := w.Jobs.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, lane := range results {
		w.checkLane(branches[i].ID, lane)
	}
	w.checkNothingRemains()
}

func scheduleModels(t *testing.T) string {
	t.Helper()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closedURL := "http://" + closed.Addr().String()
	_ = closed.Close()
	var b strings.Builder
	b.WriteString(harness.AimockModels(t))
	for _, w := range harness.Wires {
		b.WriteString(w.Model(w.Name+"_refused", closedURL))
		b.WriteString(strings.TrimSpace(w.Model(w.Name+"_unstreamed", harness.ProviderURL(t))) + "\nstream = false\n\n")
	}
	return b.String()
}

// sendAll sends one lane's messages, one after the other, and checks how each turn ends.
func (w *env) sendAll(branch chat.BranchID, own []planned) []result {
	var done []result
	for _, p := range own {
		if n := len(done); n > 0 && done[n-1].want.outcome == chat.OutcomeIncomplete {
			w.refusedByOpenTurn(branch, p)
			done[n-1].decide(p.policy)
		}
		r, err := w.send(branch, p)
		if err != nil {
			w.t.Errorf("%d %s over %s: %v", p.number, p.kind, p.wire, err)
			return done
		}
		done = append(done, r)
	}
	if n := len(done); n > 0 && done[n-1].want.outcome == chat.OutcomeIncomplete {
		if _, err := w.Turns.Discard(context.Background(), done[n-1].id); err != nil {
			w.t.Error(err)
		}
		done[n-1].decide(turn.IncompleteDiscard)
	}
	return done
}

// decide changes the expected end of an incomplete turn to what a policy demands.
func (r *result) decide(p turn.IncompletePolicy) {
	r.want.phase, r.want.outcome = chat.PhaseFailed, chat.OutcomeDiscarded
	if p == turn.IncompleteKeep {
		r.want = finalized(chat.OutcomeKept, 1, someText)
	}
}

// refusedByOpenTurn checks that no message can be sent past an undecided answer.
func (w *env) refusedByOpenTurn(branch chat.BranchID, p planned) {
	_, err := w.Turns.Send(context.Background(), turn.Message{
		Branch: branch, Content: chat.UserText(p.message()), Model: p.model(), Incomplete: turn.IncompleteRefuse,
	})
	if chat.CodeOf(err) != chat.CodeIncomplete {
		w.t.Errorf("%d: sending past an incomplete turn gave %v", p.number, err)
	}
}

func (w *env) send(branch chat.BranchID, p planned) (result, error) {
	ctx, cancel := context.WithTimeout(context.Background(), harness.Patience)
	defer cancel()
	h, err := w.Turns.Send(ctx, turn.Message{
		Branch: branch, Content: chat.UserText(p.message()), Model: p.model(), Incomplete: p.policy,
	})
	if err != nil {
		return result{}, err
	}
	if err := w.stopIfPlanned(ctx, p, h.Turn.ID); err != nil {
		return result{}, err
	}
	t, err := h.Wait(ctx)
	if err != nil {
		return result{}, err
	}
	r := result{planned: p, id: t.ID, want: kindsOfFault[p.kind]}
	r.answer, err = w.checkEnd(ctx, t, p, r.want)
	return r, err
}

func (w *env) stopIfPlanned(ctx context.Context, p planned, id chat.TurnID) error {
	var due func() bool
	switch p.kind {
	case "stop":
		due = func() bool { return w.recorder.of(id).text != "" }
	case "stop_early":
		due = func() bool {
			t, err := w.Store.Turn(ctx, id)
			return err == nil && t.Phase == chat.PhaseResponding
		}
	default:
		return nil
	}
	if err := w.recorder.await(ctx, due); err != nil {
		return err
	}
	_, err := w.Turns.Stop(ctx, id)
	return err
}

// checkEnd compares the end of a turn with the required end, and returns the answer.
func (w *env) checkEnd(ctx context.Context, t chat.Turn, p planned, want expectedEnd) (string, error) {
	var code chat.Code
	if t.Failure != nil {
		code = t.Failure.Code
	}
	if t.Phase != want.phase && !(want.phase.Finalized() && t.Phase.Finalized()) || t.Outcome != want.outcome || code != want.code {
		return "", fmt.Errorf("ended %s %q %q, want %s %q %q (%+v)", t.Phase, t.Outcome, code, want.phase, want.outcome, want.code, t.Failure)
	}
	steps, err := w.Store.Steps(ctx, t.ID)
	if err != nil {
		return "", err
	}
	if len(steps) != want.attempts {
		return "", fmt.Errorf("%d attempts, want %d", len(steps), want.attempts)
	}
	m, err := w.Turns.Answer(ctx, t)
	if err != nil {
		return "", err
	}
	text := m.RenderedText()
	if err := want.text.check(text, harness.AnswerTo(p.number)); err != nil {
		return "", err
	}
	if s := w.recorder.of(t.ID); s.text != text || s.gaps > 0 || s.displayed != int64(len(text)) {
		return "", fmt.Errorf("the frames showed %q (%d bytes, %d gaps), stored is %q", s.text, s.displayed, s.gaps, text)
	}
	return text, nil
}

func (p textPart) check(text, complete string) error {
	ok := false
	switch p {
	case noText:
		ok = text == ""
	case someText:
		ok = text != "" && text != complete && strings.HasPrefix(complete, text)
	case allText:
		ok = text == complete
	}
	if !ok {
		return fmt.Errorf("the text is %q of %q", text, complete)
	}
	return nil
}

// checkLane checks a lane after all background work: prompts and answers are unchanged, finalized turns are committed,
// and the head is at the newest of them.
func (w *env) checkLane(branch chat.BranchID, lane []result) {
	w.t.Helper()
	ctx := context.Background()
	turns, err := w.Store.Lineage(ctx, chat.LineageQuery{Branch: branch})
	if err != nil || len(turns) != len(lane) {
		w.t.Fatalf("%d turns are stored, %d were sent: %v", len(turns), len(lane), err)
	}
	b, err := w.Store.Branch(ctx, branch)
	if err != nil {
		w.t.Fatal(err)
	}
	head := b.BaseState
	for i, t := range turns {
		r := lane[i]
		if t.ID != r.id || t.Seq != int64(i+1) || t.User.RenderedText() != r.message() {
			w.t.Errorf("send %d: turn %d contains %q", r.number, t.Seq, t.User.RenderedText())
		}
		if m, err := w.Turns.Answer(ctx, t); err != nil || m.RenderedText() != r.answer {
			w.t.Errorf("send %d (%s): the answer is now %q, was %q (%v)", r.number, r.kind, m.RenderedText(), r.answer, err)
		}
		wantPhase := r.want.phase
		if wantPhase.Finalized() {
			wantPhase, head = chat.PhaseDone, t.StateAfter
		}
		if t.Phase != wantPhase || t.Outcome != r.want.outcome || (t.StateAfter != "") != r.want.phase.Finalized() {
			w.t.Errorf("send %d (%s): after all work %s %q state %q, want %s %q", r.number, r.kind, t.Phase, t.Outcome, t.StateAfter, wantPhase, r.want.outcome)
		}
	}
	if b.HeadState != head {
		w.t.Errorf("the head is %s, the newest committed turn made %s", b.HeadState, head)
	}
	if pending, err := w.Store.PendingTurns(ctx, branch); err != nil || len(pending) != 0 {
		w.t.Errorf("%d turns are pending (%v)", len(pending), err)
	}
}

// checkNothingRemains checks that no run, job or journal remains and that verify finds nothing.
func (w *env) checkNothingRemains() {
	w.t.Helper()
	ctx := context.Background()
	if ids := w.Turns.Running(); len(ids) != 0 {
		w.t.Errorf("still running: %v", ids)
	}
	if queued, running, failed, err := w.Store.JobCounts(ctx); err != nil || queued+running+failed != 0 {
		w.t.Errorf("remaining jobs: %d queued, %d running, %d failed (%v)", queued, running, failed, err)
	}
	if entries, err := os.ReadDir(w.Config.Config().DataDir + "/streams"); err != nil || len(entries) != 0 {
		w.t.Errorf("remaining journals: %v (%v)", entries, err)
	}
	if findings, err := w.Store.Verify(ctx); err != nil || len(findings) != 0 {
		w.t.Errorf("verify: %+v (%v)", findings, err)
	}
}
