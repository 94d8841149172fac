package crash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"contextinfinity/test/harness"
	"contextinfinity/test/testtier"
)

// kills configures a loop of kill -9. A conversation in a terminal has the data open and runs the commands of other
// processes, several at once. All of them are killed at some moment, even while they start, and are started again.
type kills struct {
	bin      string
	dir      string
	seed     uint64
	first    int // the number before that of the first prompt
	restarts int
	every    int // number of restarts between full checks
	provider answers
	tags     map[string]string // the provider's names for the kinds of prompts, if they differ
	config   string
}

// TestRandomKillsLoseNothing runs a loop for each durability mode, and a short one with a third-party provider.
func TestRandomKillsLoseNothing(t *testing.T) {
	t.Parallel()
	r := newSetup(t, 7)
	n := restarts(t, 16)
	for i, mode := range []string{"buffered", "write_ahead"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			k := kills{
				bin: r.shipped, dir: filepath.Join(r.work, mode), seed: r.seed + uint64(i), first: 1_000_000 * (i + 1),
				restarts: max(1, n/2), every: 20, provider: r.provider, config: r.provider.config(mode),
			}
			k.run(t)
		})
	}
	t.Run("aimock", func(t *testing.T) {
		if !testtier.Exhaustive() {
			t.Skip("only in the exhaustive form")
		}
		t.Parallel()
		url := harness.ProviderURL(t)
		k := kills{
			bin: r.shipped, dir: filepath.Join(r.work, "aimock"), seed: r.seed + 2, first: 3_000_000,
			restarts: max(1, n/25), every: 20, provider: aimock{}, tags: aimockTags, config: configFor(url, "", "write_ahead"),
		}
		k.run(t)
	})
}

// round is one run of the program, as decided by the seed.
type round struct {
	earlyKill time.Duration // if not 0, the program is killed this long after its start, before it is ready
	acts      []act
	lines     int           // it is killed after its commands reported this many events; 0: only by time
	delay     time.Duration // and this long after that
	orphans   bool          // the commands are not killed with it, but some time later
}

// act is a command that is started during a round.
type act struct {
	at      time.Duration
	verb    string
	kind    string // of prompts
	policy  string
	u, v    float64 // choose the session and turn among the existing ones
	stop    time.Duration
	killing bool
}

// schedule returns the actions of round n, which depend only on the seed.
func (k kills) schedule(n int) round {
	rng := rand.New(rand.NewPCG(k.seed, uint64(n)))
	if rng.IntN(5) == 0 {
		return round{earlyKill: time.Duration(1+rng.IntN(90)) * time.Millisecond}
	}
	r := round{delay: time.Duration(rng.IntN(400)) * time.Millisecond, orphans: rng.IntN(3) == 0}
	if rng.IntN(4) > 0 { // by events instead of time, so that it is killed in the middle on a busy machine too
		r.lines, r.delay = 1+rng.IntN(70), time.Duration(rng.IntN(25))*time.Millisecond
	}
	for range 3 + rng.IntN(5) {
		a := act{at: time.Duration(rng.IntN(200)) * time.Millisecond, u: rng.Float64(), v: rng.Float64()}
		a.verb = pick(rng, "send", "send", "send", "send", "send", "talk", "pin", "fork", "rename", "commit", "search", "continue", "retry", "keep", "discard")
		a.kind = pick(rng, kindGood, kindGood, kindGood, kindSlow, kindSlow, kindCut, kindHold, kindOnce, kindBad)
		a.policy = pick(rng, "discard", "keep", "fail")
		if rng.IntN(8) == 0 {
			a.stop = time.Duration(30+rng.IntN(200)) * time.Millisecond
		}
		a.killing = rng.IntN(10) == 0
		r.acts = append(r.acts, a)
	}
	return r
}

func pick(rng *rand.Rand, from ...string) string { return from[rng.IntN(len(from))] }

// killing is a running loop.
type killing struct {
	kills
	t            *testing.T
	home         *home
	book         *book
	host         *process
	roundCtx     context.Context // ends when the commands of a round are to be killed
	ready        int             // how often the program became ready
	acknowledged chan struct{}   // signals that an event was reported; buffers one signal
	seen         atomic.Int64    // events reported in this round
}

func (k kills) run(t *testing.T) {
	h, err := newHome(k.bin, k.dir, k.config)
	if err != nil {
		t.Fatal(err)
	}
	l := &killing{kills: k, t: t, home: h, book: newBook(), acknowledged: make(chan struct{}, 1)}
	l.book.first, l.book.tags = k.first, k.tags
	n := 0
	for ; n < k.restarts && !t.Failed(); n++ {
		if err := l.runRound(t.Context(), k.schedule(n)); err != nil {
			t.Fatalf("restart %d: %v", n, err)
		}
		full := (n+1)%k.every == 0 || n+1 == k.restarts
		if err := l.check(t.Context(), full); err != nil {
			t.Fatalf("after restart %d: %v", n, err)
		}
	}
	t.Logf("%d restarts, %s", n, l.sum())
}

func (l *killing) sum() string {
	l.book.mu.Lock()
	defer l.book.mu.Unlock()
	prompts, frames, durable, facts := 0, 0, int64(0), 0
	for _, p := range l.book.prompts {
		if p.effect == acknowledged {
			prompts++
		}
		for _, s := range p.steps {
			frames += int(s.seq)
			durable += s.durable
		}
	}
	for _, f := range l.book.facts {
		if f.effect == acknowledged {
			facts++
		}
	}
	return fmt.Sprintf("%d of %d prompts acknowledged, %d frames, %d bytes reported as durable, %d other writes, %d runs that became ready",
		prompts, len(l.book.prompts), frames, durable, facts, l.ready)
}

// runRound starts the program, gives it work, and kills it.
func (l *killing) runRound(ctx context.Context, r round) error {
	var err error
	args := []string{"chat"}
	if s := l.book.session(0.5); s != "" {
		args = append(args, "--session", s)
	}
	if l.host, err = l.home.start(ctx, true, nil, args...); err != nil {
		return err
	}
	if r.earlyKill > 0 {
		select {
		case <-time.After(r.earlyKill):
		case <-l.host.Ended:
		}
		l.checkEnd(l.host.kill())
		return nil
	}
	if !l.host.awaitErr("/help lists") {
		l.t.Errorf("the program did not start again: %s", l.host.wait())
		return nil
	}
	l.ready++
	roundCtx, end := context.WithCancel(ctx)
	defer end()
	l.roundCtx = roundCtx
	begun := time.Now()
	l.seen.Store(0)
	var acts sync.WaitGroup
	for _, a := range r.acts {
		acts.Go(func() { l.act(ctx, a, begun) })
	}
	done := make(chan struct{})
	go func() { acts.Wait(); close(done) }()
	l.await(r.lines, done)
	time.Sleep(r.delay)
	l.checkEnd(l.host.kill())
	if r.orphans { // they may open the data as the writer for a while
		time.AfterFunc(300*time.Millisecond, end)
	} else {
		end()
	}
	<-done
	return nil
}

// await waits until the round's commands have reported this many events, or have all ended.
func (l *killing) await(lines int, done <-chan struct{}) {
	timeout := time.After(longestRound)
	for l.seen.Load() < int64(lines) {
		select {
		case <-l.acknowledged:
		case <-l.host.Ended:
			return
		case <-done:
			return
		case <-timeout:
			return
		}
	}
}

// longestRound ends a round whose answer never ends.
const longestRound = 1500 * time.Millisecond

// countEvents returns a function that passes the lines of a command to f, and counts them.
func (l *killing) countEvents(f func([]byte) error) func([]byte) {
	return func(line []byte) {
		if err := f(line); err != nil {
			l.t.Errorf("%v", err)
		}
		l.seen.Add(1)
		select {
		case l.acknowledged <- struct{}{}:
		default:
		}
	}
}

// checkEnd checks how a process ended.
func (l *killing) checkEnd(r result) {
	if r.crashed() {
		l.t.Errorf("PANIC: %s", r)
	}
}

// act runs a command, or types into the conversation.
func (l *killing) act(ctx context.Context, a act, begun time.Time) {
	time.Sleep(time.Until(begun.Add(a.at)))
	if l.roundCtx.Err() != nil {
		return
	}
	session := l.book.session(a.u)
	switch a.verb {
	case "send":
		l.send(ctx, a, session)
	case "talk":
		l.talk(a)
	case "pin", "rename", "fork":
		l.store(ctx, a, session)
	case "commit", "search":
		if session != "" {
			l.end(ctx, a, nil, map[string][]string{
				"commit": {"commit", session}, "search": {"search", "when do we deploy Orders", "--session", session, "--scope", "session"},
			}[a.verb]...)
		}
	default:
		l.decide(ctx, a)
	}
}

// end runs a command until it ends or the round does, and returns its result.
func (l *killing) end(ctx context.Context, a act, lines func([]byte), args ...string) result {
	p, err := l.home.start(ctx, false, lines, args...)
	if err != nil {
		l.t.Errorf("%v", err)
		return result{code: -1}
	}
	if a.stop > 0 && lines != nil {
		t := time.AfterFunc(a.stop, func() {
			if a.killing {
				_ = p.Cmd.Process.Kill()
			} else {
				_ = p.Cmd.Process.Signal(syscall.SIGINT)
			}
		})
		defer t.Stop()
	}
	stop := context.AfterFunc(l.roundCtx, func() { _ = p.Cmd.Process.Kill() })
	defer stop()
	r := p.wait()
	l.checkEnd(r)
	return r
}

func (l *killing) send(ctx context.Context, a act, session string) {
	target := []string{"--new"}
	if session != "" && a.v > 0.06 {
		target = []string{"--session", session}
		if a.policy != "fail" {
			l.book.decide(session)
		}
	} else {
		session = ""
	}
	p := l.book.prompt(a.kind, session)
	p.interrupted = a.stop > 0 && !a.killing
	l.end(ctx, a, l.countEvents(func(line []byte) error { return l.book.acknowledge(p, line) }), append([]string{"send", "--events", "--incomplete", a.policy, p.text}, target...)...)
}

// talk types a message into the conversation that has the data open.
func (l *killing) talk(a act) {
	p := l.book.prompt(a.kind, "")
	if _, err := io.WriteString(l.host.stdin, p.text+"\n"); err != nil {
		return // it was killed first
	}
	<-l.host.Ended
	l.book.recordTerminal(p, l.host.Out.String(), l.provider.answer(p.number))
}

// store stores a small value.
func (l *killing) store(ctx context.Context, a act, session string) {
	answered := l.book.answered(a.v)
	if session == "" || answered == nil {
		return
	}
	var f *fact
	var args []string
	switch a.verb {
	case "pin":
		f = l.book.fact("pin", session)
		args = []string{"pin", session, f.text, "--json"}
	case "rename":
		f = l.book.fact("title", session)
		args = []string{"sessions", "rename", session, f.text, "--json"}
	default:
		f = l.book.fact("label", answered.turn)
		args = []string{"fork", answered.turn, "--label", f.text, "--json"}
	}
	l.book.settle(f, l.end(ctx, a, nil, args...))
}

// decide requests a decision about one of the newest turns, which is refused if there is nothing to decide.
func (l *killing) decide(ctx context.Context, a act) {
	answered := l.book.answered(a.v)
	if answered == nil {
		return
	}
	switch a.verb {
	case "keep", "discard":
		l.book.decide(answered.session)
		l.end(ctx, a, nil, a.verb, answered.turn, "--json")
	default:
		// Its events belong to the same prompt. Regenerating a final turn creates another turn, whose number differs
		// from the prompt's.
		a.stop = 0
		if a.verb == "continue" {
			l.book.willContinue()
		}
		l.end(ctx, a, l.countEvents(func(line []byte) error { return l.book.rerun(answered, line) }), a.verb, answered.turn, "--events")
	}
}

// check compares the data with the book: in the state after the crash, and with full also after recovery.
func (l *killing) check(ctx context.Context, full bool) error {
	o := &checker{book: l.book, provider: l.provider}
	defer func() {
		for _, f := range o.found {
			l.t.Error(f)
		}
	}()
	if _, err := os.Stat(l.home.database()); errors.Is(err, os.ErrNotExist) {
		return nil // no run was long enough to create one
	}
	if err := o.rows(ctx, l.home, full); err != nil {
		return err
	}
	if !full {
		return l.checkNewest(ctx, o)
	}
	if err := l.home.ok(ctx, &struct{}{}, "reconcile"); err != nil {
		return err
	}
	if err := o.transcripts(ctx, l.home, true); err != nil {
		return err
	}
	if err := o.rows(ctx, l.home, true); err != nil {
		return err
	}
	return o.verify(ctx, l.home)
}

// checkNewest checks the end of a new session's transcript without recovering it.
func (l *killing) checkNewest(ctx context.Context, o *checker) error {
	session := l.book.session(0.99)
	if session == "" {
		return nil
	}
	var s shown
	if err := l.home.ok(ctx, &s, "show", session, "--last", "8"); err != nil {
		o.add("%v", err)
		return nil
	}
	turns := map[string]shownTurn{}
	o.lineage(s.Turns, turns)
	o.prompts(turns, false, false)
	return nil
}

// aimock is the third-party provider.
type aimock struct{}

// aimockTags maps kinds of prompts to aimock's names for them.
var aimockTags = map[string]string{
	kindGood: "good", kindSlow: "slow", kindCut: "cut", kindHold: "stall", kindOnce: "server_once", kindBad: "auth",
}

// answer implements answers; it returns the same text as provider.mjs.
func (aimock) answer(n int) string { return harness.AnswerTo(n) }

// sent implements answers. aimock does not report what it sent, so this is always true; the end of a complete answer is
// recognizable.
func (aimock) sent(int) bool { return true }
