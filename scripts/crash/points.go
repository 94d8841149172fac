package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// scenario is a user's action and what happened before it. The action is run by a build with fault points, which is
// killed at each point that it reaches.
type scenario struct {
	name   string
	before []step // run by the shipped program
	verb   step
	mode   string // durability mode; empty: write_ahead
}

// step is a command. SESSION and TURN stand for those of the newest prompt, NOTES and BUNDLE for files.
type step struct {
	args    []string
	prompt  string // kind of the prompt that is appended to args; empty: none
	long    bool   // the prompt is long
	types   bool   // the prompt is typed into a terminal, and background work after it gets a second
	dies    string // the fault that kills the command
	deletes bool   // the command deletes the session permanently
	moves   bool   // the window is started with a request to move the data first
}

func sendStep(kind string, args ...string) step {
	return step{args: append([]string{"send", "--events"}, args...), prompt: kind}
}

// firstMessage sends the first message of a session.
var firstMessage = sendStep(kindGood, "--new", "--wait", "indexed")

// sameSession are the arguments of a message to the same session.
var sameSession = []string{"--session", "SESSION", "--wait", "indexed"}

var scenarios = []scenario{
	{name: "a first message", verb: sendStep(kindGood, "--new", "--model", "mock", "--wait", "indexed")},
	{name: "a message", before: []step{firstMessage}, verb: sendStep(kindSlow, sameSession...)},
	{name: "a message, buffered", before: []step{firstMessage}, verb: sendStep(kindSlow, sameSession...), mode: "buffered"},
	{name: "a second attempt", before: []step{firstMessage}, verb: sendStep(kindOnce, sameSession...)},
	{name: "a dropped connection", before: []step{firstMessage}, verb: sendStep(kindCut, sameSession...)},
	{name: "a refused call", before: []step{firstMessage}, verb: sendStep(kindBad, sameSession...)},
	{name: "a document", before: []step{firstMessage}, verb: sendStep(kindGood, append(sameSession, "--attach", "NOTES")...)},
	{name: "a message over an incomplete answer", before: []step{firstMessage, sendStep(kindCut, sameSession...)}, verb: sendStep(kindGood, sameSession...)},
	{name: "retry", before: []step{firstMessage, sendStep(kindCut, sameSession...)}, verb: step{args: []string{"retry", "TURN", "--wait", "indexed"}}},
	{name: "continue", before: []step{firstMessage, sendStep(kindCut, sameSession...)}, verb: step{args: []string{"continue", "TURN", "--wait", "indexed"}}},
	{name: "another answer", before: []step{firstMessage}, verb: step{args: []string{"retry", "TURN", "--wait", "indexed"}}},
	{name: "keep", before: []step{firstMessage, sendStep(kindCut, sameSession...)}, verb: step{args: []string{"keep", "TURN"}}},
	{name: "discard", before: []step{firstMessage, sendStep(kindCut, sameSession...)}, verb: step{args: []string{"discard", "TURN"}}},
	{
		name: "resend", before: []step{firstMessage, {args: append([]string{"send", "--events"}, sameSession...), prompt: kindGood, dies: "turn.prepared:exit"}},
		verb: step{args: []string{"resend", "TURN", "--wait", "indexed"}},
	},
	{name: "fork", before: []step{firstMessage, sendStep(kindGood, "--session", "SESSION")}, verb: step{args: []string{"fork", "TURN", "--label", "what if"}}},
	{name: "archive", before: []step{firstMessage}, verb: step{args: []string{"sessions", "archive", "SESSION"}}},
	{name: "a dismissed job", before: []step{firstMessage, sendStep(kindGood, "--session", "SESSION")}, verb: step{args: []string{"jobs", "dismiss", "4"}}},
	{name: "a conversation", before: []step{firstMessage}, verb: step{args: []string{"chat", "--session", "SESSION"}, prompt: kindSlow, types: true}},
	{name: "pins", before: []step{firstMessage, {args: []string{"pin", "SESSION", "Never on a Friday"}}}, verb: step{args: []string{"pin", "SESSION", "Nor on a Monday"}}},
	{name: "rename", before: []step{firstMessage}, verb: step{args: []string{"sessions", "rename", "SESSION", "Orders"}}},
	{name: "commit", before: []step{firstMessage, sendStep(kindGood, "--session", "SESSION"), sendStep(kindGood, "--session", "SESSION")}, verb: step{args: []string{"commit", "SESSION"}}},
	{
		name: "recovery of a partial answer", before: []step{firstMessage, {args: append([]string{"send", "--events"}, sameSession...), prompt: kindSlow, dies: "turn.event:9:exit"}},
		verb: step{args: []string{"reconcile"}},
	},
	{
		name: "recovery of a whole answer", before: []step{firstMessage, {args: append([]string{"send", "--events"}, sameSession...), prompt: kindGood, dies: "turn.journal_sealed:exit"}},
		verb: step{args: []string{"reconcile"}},
	},
	{
		name: "recovery before the commit", before: []step{firstMessage, {args: append([]string{"send", "--events"}, sameSession...), prompt: kindGood, dies: "turn.settled:exit"}},
		verb: step{args: []string{"reconcile"}},
	},
	{
		name: "ranges of a long history", before: []step{firstMessage, longMessage("SESSION"), longMessage("SESSION"), longMessage("SESSION"), longMessage("SESSION"), longMessage("SESSION"), longMessage("SESSION")},
		verb: step{args: []string{"reconcile"}},
	},
	{name: "a hard delete", before: []step{firstMessage, sendStep(kindGood, "--new", "--wait", "indexed")}, verb: hardDelete},
	{
		name: "import of a bundle", before: []step{firstMessage, sendStep(kindGood, "--new", "--wait", "indexed"), {args: []string{"export", "SESSION", "--format", "bundle", "--output", "BUNDLE"}}, hardDelete},
		verb: step{args: []string{"import", "BUNDLE"}},
	},
	{name: "a move of the data", before: []step{firstMessage, sendStep(kindCut, sameSession...)}, verb: step{moves: true}},
}

// hardDelete deletes a session permanently: after a crash it either exists completely or not at all.
var hardDelete = step{args: []string{"delete", "SESSION", "--hard", "--yes"}, deletes: true}

// longMessage sends a prompt that fills a fifth of the working set.
func longMessage(session string) step {
	s := sendStep(kindGood, "--session", session)
	s.long = true
	return s
}

// stage is a scenario that can be played repeatedly.
type stage struct {
	scenario
	*sample
	setup  *setup
	book   *book
	newest *prompt
}

// newStage plays the steps before the command.
func (r *setup) newStage(ctx context.Context, i int, sc scenario, dir string) (*stage, error) {
	mode := sc.mode
	mode = cmp.Or(mode, "write_ahead")
	h, err := newHome(r.shipped, dir, r.provider.config(mode))
	if err != nil {
		return nil, err
	}
	s := &stage{scenario: sc, sample: &sample{home: h}, setup: r, book: newBook()}
	s.book.first = (i + 1) * 1000
	for _, st := range sc.before {
		if _, err := s.play(ctx, s.home, s.book, st); err != nil {
			return nil, fmt.Errorf("%s: %w", sc.name, err)
		}
	}
	return s, nil
}

// play runs a step and records what it reported.
func (s *stage) play(ctx context.Context, h *home, b *book, st step) (result, error) {
	args := slices.Clone(st.args)
	current := s.newest
	for i, a := range args {
		switch a {
		case "SESSION":
			args[i] = current.session
		case "TURN":
			args[i] = current.turn
		case "BUNDLE":
			args[i] = filepath.Join(s.Dir, "talk.cinf")
		case "NOTES":
			args[i] = filepath.Join(h.Dir, "plan.md")
			if err := os.WriteFile(args[i], []byte("# Plan\n\nThe window is on Sunday at 05:00.\n"), 0o600); err != nil {
				return result{}, err
			}
		}
	}
	var lines func([]byte)
	var failed error
	if st.prompt != "" {
		current = b.prompt(st.prompt, "")
		if st.long {
			current.text = strings.Repeat("We deploy Orders on Sunday at 05:00, never on a Friday. ", 70) + current.text
		}
		if !st.types {
			args = append(args, current.text)
		}
		lines = func(line []byte) {
			if err := b.acknowledge(current, line); err != nil {
				failed = err
			}
		}
		s.setup.provider.forget(current.number)
	}
	if s.newest != nil && s.newest.session != "" {
		b.decide(s.newest.session) // keep, discard, or a message sent after an incomplete answer
	}
	if st.deletes {
		b.delete(current)
	}
	if st.dies != "" {
		h = h.as(s.setup.faults, "CONTEXTINFINITY_FAULT="+st.dies)
	}
	if st.types {
		lines = nil
	}
	if st.moves {
		if err := h.moving(); err != nil {
			return result{}, err
		}
		h = h.as(h.Bin, "DISPLAY=:none") // this build has no window: it exits when it would show one
	}
	p, err := h.start(ctx, st.types, lines, args...)
	if err != nil {
		return result{}, err
	}
	if st.types {
		p.typeMessage(current.text, answerText(current.number))
	}
	r := p.wait()
	if b == s.book {
		s.newest = current
	}
	if failed == nil && r.crashed() {
		failed = fmt.Errorf("PANIC: %s", r)
	}
	return r, failed
}

// moving leaves a request for the window to move the data.
func (h *home) moving() error {
	text, err := json.Marshal(map[string]string{"do": "move", "path": filepath.Join(h.Dir, "moved", "here")})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(h.data(), "errand.json"), text, 0o600)
}

// trace returns how often the command reaches each point.
func (s *stage) trace(ctx context.Context, dir string) (map[string]int, error) {
	h, err := s.copy(dir)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "trace")
	if _, err := s.play(ctx, h.as(s.setup.faults, "CONTEXTINFINITY_FAULT_TRACE="+file), s.book.clone(), s.verb); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	counts := map[string]int{}
	for name := range strings.FieldsSeq(string(data)) {
		counts[name]++
	}
	return counts, os.RemoveAll(dir)
}

// die plays the command on a copy with a fault and compares the result with the book.
func (s *stage) die(ctx context.Context, fault, dir string) (found []string, died bool, err error) {
	h, err := s.copy(dir)
	if err != nil {
		return nil, false, err
	}
	b := s.book.clone()
	st := s.verb
	st.dies = fault
	r, err := s.play(ctx, h, b, st)
	if err != nil {
		return []string{err.Error()}, true, nil
	}
	o := &checker{book: b, provider: s.setup.provider}
	if err := s.aftermath(ctx, h, o); err != nil {
		o.add("%v", err)
	}
	return o.found, r.code == 137, nil
}

// aftermath checks a copy in the state after the crash, recovers it twice, and continues.
func (s *stage) aftermath(ctx context.Context, h *home, o *checker) error {
	if _, err := os.Stat(h.database()); os.IsNotExist(err) {
		if slices.ContainsFunc(o.book.prompts, func(p *prompt) bool { return p.effect == acknowledged }) {
			o.add("LOST: there is no database")
		}
		return nil
	}
	if err := o.rows(ctx, h, true); err != nil {
		return err
	}
	var reads [2]string
	for i := range reads {
		if err := h.ok(ctx, &struct{}{}, "reconcile"); err != nil {
			return err
		}
		if i == 0 {
			if err := o.transcripts(ctx, h, true); err != nil {
				return err
			}
		}
		var err error
		if reads[i], err = h.all(ctx); err != nil {
			return err
		}
	}
	if reads[0] != reads[1] {
		o.add("recovering twice differs from recovering once")
	}
	p := o.book.prompt(kindGood, "")
	args := []string{"send", "--incomplete", "discard", p.text}
	if s.newest != nil && o.book.mustExist(s.newest) {
		args = append(args, "--session", s.newest.session)
	} else {
		args = append(args, "--new")
	}
	if err := h.ok(ctx, &struct{}{}, args...); err != nil {
		return fmt.Errorf("the next message: %w", err)
	}
	if err := o.rows(ctx, h, true); err != nil {
		return err
	}
	return o.verify(ctx, h)
}

// all returns what show prints for every session.
func (h *home) all(ctx context.Context) (string, error) {
	ids, err := h.sessions(ctx)
	if err != nil {
		return "", err
	}
	var all strings.Builder
	for _, id := range ids {
		text, err := h.show(ctx, id)
		if err != nil {
			return "", err
		}
		all.WriteString(text)
	}
	return all.String(), nil
}

// task is one kill of a stage.
type task struct {
	stage *stage
	fault string
}

// playAll runs tasks, two at a time, but one at a time for each stage.
func (r *setup) playAll(ctx context.Context, what string, tasks []task) (outcome, int, error) {
	out := outcome{what: what}
	died := 0
	var mu sync.Mutex
	var failed error
	byStage := map[*stage][]task{}
	for _, t := range tasks {
		byStage[t.stage] = append(byStage[t.stage], t)
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, 2)
	for _, s := range slices.SortedFunc(maps.Keys(byStage), func(a, b *stage) int { return strings.Compare(a.name, b.name) }) {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			for i, t := range byStage[s] {
				dir := fmt.Sprintf("%s-%d", s.Dir, i)
				found, dead, err := s.die(ctx, t.fault, dir)
				mu.Lock()
				if err != nil && failed == nil {
					failed = err
				}
				out.tried++
				if dead {
					died++
				}
				for _, f := range found {
					out.found = append(out.found, fmt.Sprintf("%s, %s: %s", s.name, t.fault, f))
				}
				if len(found) > 0 && out.kept == "" {
					out.kept = dir + "-found"
					_ = os.Rename(dir, out.kept)
				}
				mu.Unlock()
				_ = os.RemoveAll(dir)
			}
		})
	}
	wg.Wait()
	return out, died, failed
}

// runPoints kills each scenario at each point that it reaches: the first time, and at points that are reached often
// also in the middle and the last time.
func runPoints(ctx context.Context, r *setup) ([]outcome, error) {
	known, err := r.points(ctx)
	if err != nil {
		return nil, err
	}
	var tasks []task
	reached := map[string]bool{}
	played := 0
	for i, sc := range scenarios {
		if !strings.Contains(sc.name, r.scene) {
			continue
		}
		played++
		s, err := r.newStage(ctx, i, sc, filepath.Join(r.work, fmt.Sprintf("scene-%d", i)))
		if err != nil {
			return nil, err
		}
		counts, err := s.trace(ctx, s.Dir+"-trace")
		if err != nil {
			return nil, err
		}
		var ofScenario []task
		for _, name := range slices.Sorted(maps.Keys(counts)) {
			if strings.HasPrefix(name, "io.") {
				continue
			}
			reached[name] = true
			for _, n := range triedHits(counts[name]) {
				ofScenario = append(ofScenario, task{s, name + ":" + strconv.Itoa(n) + ":exit"})
			}
		}
		for j, t := range ofScenario {
			if (i+j)%r.stride == 0 {
				tasks = append(tasks, t)
			}
		}
	}
	out, died, err := r.playAll(ctx, "kill at each point", tasks)
	missed := slices.DeleteFunc(slices.Clone(known), func(name string) bool { return reached[name] })
	out.detail = fmt.Sprintf("%d scenarios, %d of %d points reached, %d deaths", played, len(known)-len(missed), len(known), died)
	r.logf("points that no scenario reaches: %s", strings.Join(missed, " "))
	return []outcome{out}, err
}

// triedHits returns the hits that are tried at a point that is reached n times.
func triedHits(n int) []int {
	out := []int{1, (n + 1) / 2, n}
	slices.Sort(out)
	return slices.Compact(out)
}

// points returns the names of all fault points.
func (r *setup) points(ctx context.Context) ([]string, error) {
	cmd := exec.CommandContext(ctx, "go", "run", "-buildvcs=false", "./backend/internal/faults/points")
	cmd.Dir = r.module
	var errs bytes.Buffer
	cmd.Stderr = &errs
	data, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("the fault points cannot be listed: %w\n%s", err, errs.String())
	}
	return strings.Fields(string(data)), nil
}

// runPower cuts the power at I/O sites throughout a turn: everything that was not fsynced is lost, in the journals and
// in the database.
func runPower(ctx context.Context, r *setup) ([]outcome, error) {
	var tasks []task
	sites := 0
	for i, sc := range scenarios[:3] {
		s, err := r.newStage(ctx, 100+i, sc, filepath.Join(r.work, fmt.Sprintf("power-%d", i)))
		if err != nil {
			return nil, err
		}
		counts, err := s.trace(ctx, s.Dir+"-trace")
		if err != nil {
			return nil, err
		}
		hits := 0
		for name, n := range counts {
			if strings.HasPrefix(name, "io.") {
				hits += n
				sites++
			}
		}
		step := max(1, hits/60) * r.stride
		for n := 1 + int(r.seed)%step; n <= hits; n += step {
			tasks = append(tasks, task{s, fmt.Sprintf("io.*:%d:power", n)})
		}
	}
	out, died, err := r.playAll(ctx, "loss of power at I/O sites", tasks)
	out.detail = fmt.Sprintf("%d deaths", died)
	return []outcome{out}, err
}
