package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// counting is a home in which a model may use the counter tool without asking. It is crashed repeatedly; no word may
// ever be counted twice.
type counting struct {
	*home
	setup   *setup
	book    *book
	file    string // written by the tool
	out     outcome
	session string
	inCall  int // rounds after which the outcome of a call was unknown
}

// roundsOfASession is the number of rounds after which a new conversation begins and all data is verified. Rounds and
// checks take longer the more a conversation contains: a thousand rounds in one would take hours without covering
// anything new.
const roundsOfASession = 20

// longestSend limits the duration of a send with a broken disk.
const longestSend = 2 * time.Minute

func (r *setup) counting(ctx context.Context, what, dir string, first int) (*counting, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &counting{setup: r, book: newBook(), file: filepath.Join(dir, "counter"), out: outcome{what: what}}
	c.book.first = first
	config := r.provider.config("write_ahead") + fmt.Sprintf("\n[tools]\nmode = \"enabled\"\nallow = [\"counter\"]\n\n[mcp.servers.counter]\ncommand = %q\n\n[mcp.servers.counter.env]\n%s = %q\n",
		self, counterFile, c.file)
	if c.home, err = newHome(r.faults, dir, config); err != nil {
		return nil, err
	}
	return c, c.ok(ctx, &struct{}{}, "tools", "accept", "counter")
}

func (c *counting) add(format string, args ...any) {
	c.out.found = append(c.out.found, fmt.Sprintf(format, args...))
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
	c.out.tried++
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
			c.add("TWICE: %s: a call ran %d times (%s)", fault, words[word], word)
		}
	}
	endsSession := c.out.tried%roundsOfASession == 0
	next := []string{"send", "--incomplete", "discard", c.book.prompt(kindGood, "").text, "--new"}
	if c.session != "" && !endsSession {
		next = append(next[:len(next)-1], "--session", c.session)
	}
	var sent struct {
		Session string `json:"session_id"`
	}
	if err := c.ok(ctx, &sent, next...); err != nil {
		c.add("%s: the conversation does not continue: %v", fault, err)
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
		c.add("in the rounds up to %s: %s", last, f)
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
		c.add("PANIC: %s", r)
	}
	return c.aftermath(ctx, "kill -9")
}

// runWithFault runs the program with a fault.
func (c *counting) runWithFault(ctx context.Context, fault string) error {
	ctx, end := context.WithTimeout(ctx, longestSend)
	defer end()
	program, _, err := c.startSend(ctx, "CONTEXTINFINITY_FAULT="+fault)
	if err != nil {
		return err
	}
	if r := program.wait(); r.crashed() {
		c.add("PANIC: %s: %s", fault, r)
	}
	if ctx.Err() != nil {
		c.add("%s: the message did not end", fault)
	}
	return c.aftermath(ctx, fault)
}

// sites returns the disk operations of an answer with tool calls, and how often each occurs.
func (c *counting) sites(ctx context.Context) (map[string]int, error) {
	file := c.file + ".trace"
	if err := c.runWithoutFault(ctx, "CONTEXTINFINITY_FAULT_TRACE="+file); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(file)
	counts := map[string]int{}
	for name := range strings.FieldsSeq(string(data)) {
		if strings.HasPrefix(name, "io.") {
			counts[name]++
		}
	}
	return counts, err
}

// powerFaults returns power failures throughout the answer.
func powerFaults(sites map[string]int, stride int) (out []string) {
	all := 0
	for _, n := range sites {
		all += n
	}
	for n := 1; n <= all; n += max(1, all/60) * stride {
		out = append(out, fmt.Sprintf("io.*:%d:power", n))
	}
	return out
}

// diskFaults returns faults that make each site fail in each possible way.
func diskFaults(sites map[string]int, stride int) (out []string) {
	i := 0
	for _, site := range slices.Sorted(maps.Keys(sites)) {
		actions := []string{"eio", "enospc"}
		if strings.HasSuffix(site, ".write") && site != "io.shm.write" {
			actions = append(actions, "short")
		}
		for _, n := range triedHits(sites[site]) {
			for _, action := range actions {
				if i++; i%stride == 0 {
					out = append(out, fmt.Sprintf("%s:%d:%s", site, n, action))
				}
			}
		}
	}
	return out
}

// done returns the outcome.
func (c *counting) done() outcome {
	words, _ := countedWords(c.file)
	c.out.detail = fmt.Sprintf("%d calls ran, %d rounds ended in a running call", len(words), c.inCall)
	if len(c.out.found) > 0 {
		c.out.kept = c.Dir
	}
	return c.out
}

// runTools crashes answers that call tools with effects: by kills, power failures and disk faults.
func runTools(ctx context.Context, r *setup) ([]outcome, error) {
	var rows []outcome
	killed, err := r.counting(ctx, "tool calls, kill -9 at random", filepath.Join(r.work, "tools-kills"), 4_000_000)
	if err == nil {
		err = killed.runWithoutFault(ctx)
	}
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(r.seed, 3))
	for n := 0; n < r.restarts && err == nil && len(killed.out.found) == 0; n++ {
		if err = killed.runKilled(ctx, rng); (n+1)%50 == 0 {
			r.logf("tools: %d kills, %d in a running call", n+1, killed.inCall)
		}
	}
	if err == nil {
		err = killed.verify(ctx, "the last kill")
	}
	rows = append(rows, killed.done())
	for i, m := range []struct {
		what   string
		faults func(map[string]int, int) []string
	}{{"tool calls, loss of power", powerFaults}, {"tool calls, I/O faults", diskFaults}} {
		c, cerr := r.counting(ctx, m.what, filepath.Join(r.work, fmt.Sprintf("tools-faults-%d", i)), 5_000_000+i*100_000)
		if cerr != nil {
			return rows, errors.Join(err, cerr)
		}
		sites, serr := c.sites(ctx)
		err = errors.Join(err, serr)
		for _, fault := range m.faults(sites, r.stride) {
			if err == nil && len(c.out.found) == 0 {
				err = c.runWithFault(ctx, fault)
			}
		}
		if err == nil {
			err = c.verify(ctx, "the last fault")
		}
		rows = append(rows, c.done())
	}
	return rows, err
}

// toolWord returns what call i writes when the answer to prompt n calls tools for the k-th time.
func toolWord(n, k, i int) string { return fmt.Sprintf("%d.%d.%d", n, k, i) }
