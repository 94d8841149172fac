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
)

// part is how much of the answer must be kept.
type part int

const (
	nothing part = iota
	some         // a beginning, but not all
	all
)

// calledFor is the required end of a turn for a kind of fault (SPEC 4).
type calledFor struct {
	phase    chat.Phase
	outcome  chat.Outcome
	code     chat.Code
	attempts int
	text     part
}

func final(o chat.Outcome, attempts int, p part) calledFor {
	return calledFor{chat.PhaseResponseFinalized, o, "", attempts, p}
}

func failedAs(code chat.Code, attempts int) calledFor {
	return calledFor{chat.PhaseFailed, chat.OutcomeFailed, code, attempts, nothing}
}

func leftOpen(code chat.Code) calledFor {
	return calledFor{chat.PhaseResponding, chat.OutcomeIncomplete, code, 1, some}
}

// kindsOfFault are all kinds of faults with their required ends (SPEC 4): a call is retried only if nothing arrived
// and a retry may help, at most four attempts; text is never thrown away; without text there is no answer to keep.
var kindsOfFault = map[string]calledFor{
	"good":        final(chat.OutcomeCompleted, 1, all),
	"whole":       final(chat.OutcomeCompleted, 1, all), // not streamed
	"slow":        final(chat.OutcomeCompleted, 1, all),
	"late":        final(chat.OutcomeCompleted, 1, all), // latency before the headers
	"length":      final(chat.OutcomeTruncated, 1, all),
	"limit_once":  final(chat.OutcomeCompleted, 2, all),
	"server_once": final(chat.OutcomeCompleted, 2, all),
	"stop":        final(chat.OutcomeStopped, 1, some),
	"limit_long":  failedAs(chat.CodeRateLimited, 1), // asks to wait for an hour, so the user decides
	"server":      failedAs(chat.CodeUnavailable, turn.MaxAttempts),
	"disconnect":  failedAs(chat.CodeUnavailable, turn.MaxAttempts),
	"refused":     failedAs(chat.CodeUnavailable, turn.MaxAttempts),
	"auth":        failedAs(chat.CodeAuth, 1),
	"bad_request": failedAs(chat.CodeProvider, 1),
	"malformed":   failedAs(chat.CodeUnavailable, 1), // an answer without an end
	"mute":        failedAs(chat.CodeTimeout, 1),
	"stop_early":  failedAs(chat.CodeCancelled, 1),
	"tool":        failedAs(chat.CodeToolCall, 1),
	"cut":         leftOpen(chat.CodeUnavailable),
	"stall":       leftOpen(chat.CodeTimeout),
}

const (
	scheduledSends = 200
	lanes          = 20
)

// planned is one message of the schedule.
type planned struct {
	number int
	kind   string
	wire   string
	policy turn.IncompletePolicy // for an incomplete answer before it
}

func (p planned) message() string {
	kind := p.kind
	if kind == "whole" || kind == "refused" {
		kind = "good"
	}
	return fmt.Sprintf("Question %d of the schedule.\n%s", p.number, harness.Tag(kind, p.number))
}

func (p planned) model() string {
	if p.kind == "whole" || p.kind == "refused" {
		return p.wire + "_" + p.kind
	}
	return p.wire
}

// schedule contains every kind with every protocol three times and some random ones, in random order.
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

// ran is a message whose turn has ended.
type ran struct {
	planned
	id     chat.TurnID
	answer string
	want   calledFor // the current expectation; a decision may have changed it
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
	w.jobs.Start()

	branches := make([]chat.Branch, lanes)
	results := make([][]ran, lanes)
	var wg sync.WaitGroup
	for i := range lanes {
		branches[i] = w.session(fmt.Sprintf("Lane %d", i))
		var mine []planned
		for n := i; n < len(plan); n += lanes {
			mine = append(mine, plan[n])
		}
		wg.Go(func() { results[i] = w.drive(branches[i].ID, mine) })
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	if _, err := w.jobs.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, lane := range results {
		w.settledLane(branches[i].ID, lane)
	}
	w.nothingLeft()
}

func scheduleModels(t *testing.T) string {
	t.Helper()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := "http://" + closed.Addr().String()
	_ = closed.Close()
	var b strings.Builder
	b.WriteString(harness.AimockModels(t))
	for _, w := range harness.Wires {
		b.WriteString(w.Model(w.Name+"_refused", dead))
		b.WriteString(strings.TrimSpace(w.Model(w.Name+"_whole", harness.ProviderURL(t))) + "\nstream = false\n\n")
	}
	return b.String()
}

// drive sends one lane's messages, one after the other, and checks each end.
func (w *env) drive(branch chat.BranchID, mine []planned) []ran {
	var done []ran
	for _, p := range mine {
		if n := len(done); n > 0 && done[n-1].want.outcome == chat.OutcomeIncomplete {
			w.refusedByOpenTurn(branch, p)
			done[n-1].decide(p.policy)
		}
		r, err := w.perform(branch, p)
		if err != nil {
			w.t.Errorf("%d %s over %s: %v", p.number, p.kind, p.wire, err)
			return done
		}
		done = append(done, r)
	}
	if n := len(done); n > 0 && done[n-1].want.outcome == chat.OutcomeIncomplete {
		if _, err := w.turns.Discard(context.Background(), done[n-1].id); err != nil {
			w.t.Error(err)
		}
		done[n-1].decide(turn.IncompleteDiscard)
	}
	return done
}

// decide applies a policy to an open turn; its text is kept.
func (r *ran) decide(p turn.IncompletePolicy) {
	r.want.phase, r.want.outcome = chat.PhaseFailed, chat.OutcomeDiscarded
	if p == turn.IncompleteKeep {
		r.want = final(chat.OutcomeKept, 1, some)
	}
}

// refusedByOpenTurn checks that no message can be sent past an undecided answer.
func (w *env) refusedByOpenTurn(branch chat.BranchID, p planned) {
	_, err := w.turns.Send(context.Background(), turn.Message{
		Branch: branch, Content: chat.UserText(p.message()), Model: p.model(), Incomplete: turn.IncompleteRefuse,
	})
	if chat.CodeOf(err) != chat.CodeIncomplete {
		w.t.Errorf("%d: sending past an incomplete turn gave %v", p.number, err)
	}
}

func (w *env) perform(branch chat.BranchID, p planned) (ran, error) {
	ctx, cancel := context.WithTimeout(context.Background(), harness.Patience)
	defer cancel()
	h, err := w.turns.Send(ctx, turn.Message{
		Branch: branch, Content: chat.UserText(p.message()), Model: p.model(), Incomplete: p.policy,
	})
	if err != nil {
		return ran{}, err
	}
	if err := w.stopIfPlanned(ctx, p, h.Turn.ID); err != nil {
		return ran{}, err
	}
	t, err := h.Wait(ctx)
	if err != nil {
		return ran{}, err
	}
	r := ran{planned: p, id: t.ID, want: kindsOfFault[p.kind]}
	r.answer, err = w.endedAs(ctx, t, p, r.want)
	return r, err
}

func (w *env) stopIfPlanned(ctx context.Context, p planned, id chat.TurnID) error {
	var due func() bool
	switch p.kind {
	case "stop":
		due = func() bool { return w.seen.of(id).text != "" }
	case "stop_early":
		due = func() bool {
			t, err := w.store.Turn(ctx, id)
			return err == nil && t.Phase == chat.PhaseResponding
		}
	default:
		return nil
	}
	if err := w.seen.await(ctx, due); err != nil {
		return err
	}
	_, err := w.turns.Stop(ctx, id)
	return err
}

// endedAs compares the end of a turn with the required one.
func (w *env) endedAs(ctx context.Context, t chat.Turn, p planned, want calledFor) (string, error) {
	var code chat.Code
	if t.Failure != nil {
		code = t.Failure.Code
	}
	if t.Phase != want.phase && !(want.phase.Finalized() && t.Phase.Finalized()) || t.Outcome != want.outcome || code != want.code {
		return "", fmt.Errorf("ended %s %q %q, want %s %q %q (%+v)", t.Phase, t.Outcome, code, want.phase, want.outcome, want.code, t.Failure)
	}
	steps, err := w.store.Steps(ctx, t.ID)
	if err != nil {
		return "", err
	}
	if len(steps) != want.attempts {
		return "", fmt.Errorf("%d attempts, want %d", len(steps), want.attempts)
	}
	m, err := w.turns.Answer(ctx, t)
	if err != nil {
		return "", err
	}
	text := m.RenderedText()
	if err := want.text.holds(text, harness.AnswerTo(p.number)); err != nil {
		return "", err
	}
	if s := w.seen.of(t.ID); s.text != text || s.gaps > 0 || s.displayed != int64(len(text)) {
		return "", fmt.Errorf("the frames showed %q (%d bytes, %d gaps), stored is %q", s.text, s.displayed, s.gaps, text)
	}
	return text, nil
}

func (p part) holds(text, whole string) error {
	ok := false
	switch p {
	case nothing:
		ok = text == ""
	case some:
		ok = text != "" && text != whole && strings.HasPrefix(whole, text)
	case all:
		ok = text == whole
	}
	if !ok {
		return fmt.Errorf("the text is %q of %q", text, whole)
	}
	return nil
}

// settledLane checks a lane after all background work: prompts and answers are unchanged, final turns are committed,
// and the head is at the newest of them.
func (w *env) settledLane(branch chat.BranchID, lane []ran) {
	w.t.Helper()
	ctx := context.Background()
	turns, err := w.store.Lineage(ctx, chat.LineageQuery{Branch: branch})
	if err != nil || len(turns) != len(lane) {
		w.t.Fatalf("%d turns are stored, %d were sent: %v", len(turns), len(lane), err)
	}
	b, err := w.store.Branch(ctx, branch)
	if err != nil {
		w.t.Fatal(err)
	}
	head := b.BaseState
	for i, t := range turns {
		r := lane[i]
		if t.ID != r.id || t.Seq != int64(i+1) || t.User.RenderedText() != r.message() {
			w.t.Errorf("send %d: turn %d contains %q", r.number, t.Seq, t.User.RenderedText())
		}
		if m, err := w.turns.Answer(ctx, t); err != nil || m.RenderedText() != r.answer {
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
		w.t.Errorf("the head is %s, the newest committed turn left %s", b.HeadState, head)
	}
	if pending, err := w.store.PendingTurns(ctx, branch); err != nil || len(pending) != 0 {
		w.t.Errorf("%d turns are pending (%v)", len(pending), err)
	}
}

// nothingLeft checks that no run, job or journal remains and verify finds nothing.
func (w *env) nothingLeft() {
	w.t.Helper()
	ctx := context.Background()
	if ids := w.turns.Running(); len(ids) != 0 {
		w.t.Errorf("still running: %v", ids)
	}
	if queued, running, dead, err := w.store.JobCounts(ctx); err != nil || queued+running+dead != 0 {
		w.t.Errorf("jobs left: %d queued, %d running, %d dead (%v)", queued, running, dead, err)
	}
	if entries, err := os.ReadDir(w.config.Config().DataDir + "/streams"); err != nil || len(entries) != 0 {
		w.t.Errorf("journals left: %v (%v)", entries, err)
	}
	if findings, err := w.store.Verify(ctx); err != nil || len(findings) != 0 {
		w.t.Errorf("verify: %+v (%v)", findings, err)
	}
}
