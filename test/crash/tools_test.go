package crash

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"contextinfinity/test/testtier"
)

// counting is a home in which a model may use the counter tool without asking. It is crashed repeatedly; no word may
// ever be counted twice.
type counting struct {
	*home
	t       *testing.T
	setup   *setup
	book    *book
	file    string // written by the tool
	session string
	rounds  int
	inCall  int // rounds after which the outcome of a call was unknown
}

// roundsOfASession is the number of rounds after which a new conversation begins and all data is verified. Rounds and
// checks take longer the more a conversation contains: a thousand rounds in one would take hours without covering
// anything new.
const roundsOfASession = 20

// longestSend limits the duration of a send with a broken disk.
const longestSend = 2 * time.Minute

// counting returns a home after a message without a fault, whose calls ran once.
func (r *setup) counting(t *testing.T, what string, first int) *counting {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(r.work, what)
	c := &counting{t: t, setup: r, book: newBook(), file: filepath.Join(dir, "counter")}
	c.book.first = first
	config := r.provider.config("write_ahead") + fmt.Sprintf(`
[tools]
mode = "enabled"
allow = ["counter"]

[mcp.servers.counter]
command = %q

[mcp.servers.counter.env]
%s = %q
`, self, counterFile, c.file)
	if c.home, err = newHome(r.faults, dir, config); err == nil {
		err = c.ok(t.Context(), &struct{}{}, "tools", "accept", "counter")
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// startSend starts a message whose answer calls the tool twice.
func (c *counting) startSend(ctx context.Context, env ...string) (*process, *prompt, error) {
	_ = os.Remove(begunFile(c.file))
	p := c.book.prompt(kindTool, "")
	args := []string{"send", "--incomplete", "discard", p.text, "--new"}
	if c.session != "" {
		args = append(args[:len(args)-1], "--session", c.session)
	}
	program, err := c.as(c.Bin, env...).start(ctx, false, nil, args...)
	return program, p, err
}

// runWithoutFault runs a round without a fault: each word is counted once.
func (c *counting) runWithoutFault(ctx context.Context, env ...string) error {
	program, p, err := c.startSend(ctx, env...)
	if err != nil {
		return err
	}
	if r := program.wait(); r.code != 0 {
		return fmt.Errorf("a message with tool calls: %s", r)
	}
	words, err := countedWords(c.file)
	if err == nil && (words[toolWord(p.number, 1, 0)] != 1 || words[toolWord(p.number, 1, 1)] != 1) {
		err = fmt.Errorf("an answer without a fault counted %v", words)
	}
	return err
}

// aftermath recovers as a user would, checks that no word was counted twice, and continues.
func (c *counting) aftermath(ctx context.Context, fault string) error {
	c.rounds++
	unknown := false
	for range 8 {
		open, asked, err := c.recover(ctx)
		unknown = unknown || asked
		if err != nil {
			return fmt.Errorf("after %s: %w", fault, err)
		}
		if !open {
			break
		}
	}
	if unknown {
		c.inCall++
	}
	words, err := countedWords(c.file)
	if err != nil {
		return err
	}
	for _, word := range slices.Sorted(maps.Keys(words)) {
		if words[word] > 1 {
			c.t.Errorf("TWICE: %s: a call ran %d times (%s)", fault, words[word], word)
		}
	}
	endsSession := c.rounds%roundsOfASession == 0
	next := []string{"send", "--incomplete", "discard", c.book.prompt(kindGood, "").text, "--new"}
	if c.session != "" && !endsSession {
		next = append(next[:len(next)-1], "--session", c.session)
	}
	var sent struct {
		Session string `json:"session_id"`
	}
	if err := c.ok(ctx, &sent, next...); err != nil {
		c.t.Errorf("%s: the conversation does not continue: %v", fault, err)
	}
	c.session = sent.Session
	if !endsSession {
		return nil
	}
	return c.verify(ctx, fault)
}

// verify runs the program's check on all of its data.
func (c *counting) verify(ctx context.Context, last string) error {
	o := &checker{book: c.book, provider: c.setup.provider}
	err := o.verify(ctx, c.home)
	for _, f := range o.found {
		c.t.Errorf("in the rounds up to %s: %s", last, f)
	}
	return err
}

// recover takes one step that the newest turn needs, and reports whether there may be more.
func (c *counting) recover(ctx context.Context) (open, unknown bool, err error) {
	if err := c.ok(ctx, &struct{}{}, "reconcile"); err != nil {
		return false, false, err
	}
	var waiting struct {
		Calls []struct {
			ID    string `json:"call_id"`
			Turn  string `json:"turn_id"`
			State string
		}
	}
	if err := c.ok(ctx, &waiting, "tools", "waiting"); err != nil {
		return false, false, err
	}
	if len(waiting.Calls) > 0 {
		call := waiting.Calls[0]
		if call.State != "unknown" { // the process died before the call was decided; continuing asks the server for its current tools
			_, err := c.run(ctx, "continue", call.Turn)
			return true, false, err
		}
		_, err := c.run(ctx, "tools", "resolve", call.ID, "tell") // the next check shows the effect
		return true, true, err
	}
	if c.session == "" {
		return false, false, nil
	}
	var s shown
	if err := c.ok(ctx, &s, "show", c.session, "--last", "1"); err != nil || len(s.Turns) == 0 {
		return false, false, err
	}
	last := s.Turns[len(s.Turns)-1]
	if last.Phase != "Responding" || last.Outcome != "" {
		return false, false, nil
	}
	_, err = c.run(ctx, "continue", last.ID)
	return true, false, err
}

// runKilled kills the program at random, usually soon after a call began.
func (c *counting) runKilled(ctx context.Context, rng *rand.Rand) error {
	program, _, err := c.startSend(ctx)
	if err != nil {
		return err
	}
	pause := time.Duration(rng.IntN(600)) * time.Millisecond
	if rng.IntN(4) > 0 {
		pause = time.Duration(rng.IntN(120)) * time.Millisecond
		for begun := false; !begun; {
			select {
			case <-program.Ended:
				begun = true
			case <-time.After(time.Millisecond):
				_, serr := os.Stat(begunFile(c.file))
				begun = serr == nil
			}
		}
	}
	select {
	case <-program.Ended:
	case <-time.After(pause):
	}
	if r := program.kill(); r.crashed() {
		c.t.Errorf("PANIC: %s", r)
	}
	return c.aftermath(ctx, "kill -9")
}

// runWithFault runs the program with a fault, which kills it if dies is set.
func (c *counting) runWithFault(ctx context.Context, fault string, dies bool) error {
	limited, end := context.WithTimeout(ctx, longestSend)
	defer end()
	program, _, err := c.startSend(limited, "CONTEXTINFINITY_FAULT="+fault)
	if err != nil {
		return err
	}
	r := program.wait()
	switch {
	case r.crashed():
		c.t.Errorf("PANIC: %s: %s", fault, r)
	case limited.Err() != nil:
		c.t.Errorf("%s: the message did not end", fault)
	case dies && r.code != 137:
		c.t.Errorf("%s: the program was not killed: %s", fault, r)
	}
	return c.aftermath(ctx, fault)
}

// traced returns what a message with tool calls reaches.
func (c *counting) traced() hits {
	c.t.Helper()
	file := c.file + ".trace"
	if err := c.runWithoutFault(c.t.Context(), "CONTEXTINFINITY_FAULT_TRACE="+file); err != nil {
		c.t.Fatal(err)
	}
	return mustReadHits(c.t, file)
}

// pointsOfABatch returns the fault points of a turn with two calls, from the end of the answer with the calls to the
// next request.
func pointsOfABatch() []string {
	var out []string
	for _, moment := range []string{"begun", "committing", "committed"} {
		out = append(out, "tx.tool.propose."+moment+":1", "tx.tool.commit."+moment+":1")
		for _, op := range []string{"decide", "start", "end"} {
			out = append(out, "tx.tool."+op+"."+moment+":1", "tx.tool."+op+"."+moment+":2")
		}
	}
	for _, name := range []string{"tool.started", "tool.returned"} {
		out = append(out, name+":1", name+":2")
	}
	return append(out, "turn.batch_committed:1", "turn.step_begun:2")
}

// TestACallRunsAtMostOnce crashes answers that call tools with effects: by kills at random and at each point of a batch,
// by losses of power and by disk faults. No call runs twice, the user is asked about unknown outcomes, verify finds
// nothing, and the conversation continues. backend/turn kills a turn at each of its writes.
func TestACallRunsAtMostOnce(t *testing.T) {
	t.Parallel()
	r := newSetup(t, 5)
	ends := []string{"exit", "exit", "power"}
	for i, part := range []struct {
		what string
		run  func(c *counting, rng *rand.Rand) error
	}{
		{"kills", func(c *counting, rng *rand.Rand) (err error) {
			for n := restarts(c.t, 3); n > 0 && err == nil && !c.t.Failed(); n-- {
				err = c.runKilled(c.t.Context(), rng)
			}
			return err
		}},
		{"points", func(c *counting, rng *rand.Rand) (err error) {
			points := testtier.Sample(pointsOfABatch(), 3)
			for n := range restarts(c.t, len(points)) {
				if err != nil || c.t.Failed() {
					break
				}
				fault := points[n%len(points)] + ":" + ends[rng.IntN(len(ends))]
				err = c.runWithFault(c.t.Context(), fault, true)
			}
			return err
		}},
		{"power", func(c *counting, _ *rand.Rand) error {
			return c.runWithFaults(c.traced().powerLosses(r.seed, testtier.Size(2, 60)))
		}},
		{"disk", func(c *counting, _ *rand.Rand) error {
			return c.runWithFaults(testtier.Sample(c.traced().failures(3), 3))
		}},
	} {
		t.Run(part.what, func(t *testing.T) {
			t.Parallel()
			c := r.counting(t, part.what, 4_000_000+i*100_000)
			err := c.runWithoutFault(t.Context())
			if err == nil {
				err = part.run(c, rand.New(rand.NewPCG(r.seed, 3)))
			}
			if err == nil {
				err = c.verify(t.Context(), "the last one")
			}
			words, _ := countedWords(c.file)
			t.Logf("%d crashes, %d calls ran, %d crashes in a running call", c.rounds, len(words), c.inCall)
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

func (c *counting) runWithFaults(faults []string) (err error) {
	for _, fault := range faults {
		if err == nil && !c.t.Failed() {
			err = c.runWithFault(c.t.Context(), fault, false)
		}
	}
	return err
}

// toolWord returns what call i writes when the answer to prompt n calls tools for the k-th time.
func toolWord(n, k, i int) string { return fmt.Sprintf("%d.%d.%d", n, k, i) }
