package crash

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"contextinfinity/test/harness"
	"contextinfinity/test/testtier"
)

// scenario is a user's action and what happened before it. The action is run by a build with fault points, which is
// killed at each point that it reaches.
type scenario struct {
	name   string
	before []step // run by the shipped program
	verb   step
	mode   string // durability mode; empty: write_ahead
}

// step is a command. SESSION and TURN stand for those of the newest prompt, NOTES, BUNDLE, SECRET and VAULT for files
// and a folder.
type step struct {
	args    []string
	prompt  string // kind of the prompt that is appended to args; empty: none
	long    bool   // the prompt is long
	types   bool   // the prompt is typed into a terminal, and background work after it gets a second
	dies    string // the fault that kills the command
	deletes bool   // the command deletes the session permanently
	moves   bool   // the window is started with a request to move the data first
	repeats bool   // the command succeeds after any crash
}

func sendStep(kind string, args ...string) step {
	return step{args: append([]string{"send", "--events"}, args...), prompt: kind}
}

// firstMessage sends the first message of a session.
var firstMessage = sendStep(kindGood, "--new", "--wait", "indexed")

// sameSession are the arguments of a message to the same session.
var sameSession = []string{"--session", "SESSION", "--wait", "indexed"}

// aMessage is the most common action.
var aMessage = scenario{name: "a message", before: []step{firstMessage}, verb: sendStep(kindSlow, sameSession...)}

var scenarios = []scenario{
	{name: "a first message", verb: sendStep(kindGood, "--new", "--model", "mock", "--wait", "indexed")},
	aMessage,
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
	{name: "a sync", before: []step{firstMessage}, verb: step{args: []string{"sync", "--vault", "VAULT", "--passphrase-file", "SECRET"}, repeats: true}},
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
		case "VAULT":
			args[i] = filepath.Join(h.Dir, "vault")
			if err := os.MkdirAll(args[i], 0o700); err != nil {
				return result{}, err
			}
		case "SECRET":
			args[i] = filepath.Join(h.Dir, "secret")
			if err := os.WriteFile(args[i], []byte("correct horse\n"), 0o600); err != nil {
				return result{}, err
			}
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
func (s *stage) trace(ctx context.Context, dir string) (hits, error) {
	h, err := s.copy(dir)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "trace")
	if _, err := s.play(ctx, h.as(s.setup.faults, "CONTEXTINFINITY_FAULT_TRACE="+file), s.book.clone(), s.verb); err != nil {
		return nil, err
	}
	counts, err := readHits(file)
	return counts, errors.Join(err, os.RemoveAll(dir))
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
	if s.verb.repeats {
		if again, err := s.play(ctx, h, b, s.verb); err != nil || again.code != 0 {
			o.add("again: %v %s", err, again)
		}
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

// dies plays the command on a copy with a fault, in a test of its own. certain: the command always reaches it.
func (s *stage) dies(t *testing.T, fault string, certain bool) {
	t.Run(fault, func(t *testing.T) {
		dir := filepath.Join(s.Dir+"-copies", strings.NewReplacer(":", "-", "*", "x").Replace(fault))
		found, died, err := s.die(t.Context(), fault, dir)
		report(t, found, err)
		if certain && !died {
			t.Error("the program was not killed")
		}
		if !t.Failed() {
			_ = os.RemoveAll(dir)
		}
	})
}

// everydayFaults are the faults of the everyday form, by scenario.
var everydayFaults = map[string][]string{
	"a message": {
		"tx.turn.accept.committed:exit", "turn.event:6:power", "turn.journal_sealed:power", "turn.settled:exit",
		"tx.state.commit.committing:exit", "tx.turn.index.committed:power",
	},
	"a hard delete":      {"tx.content.delete.committing:exit", "delete.written:exit", "delete.rewritten:power"},
	"import of a bundle": {"tx.bundle.import.committing:2:exit", "tx.bundle.import.committed:2:power"},
	"a sync":             {"tx.vault.new.committed:exit", "tx.vault.put.committing:exit", "tx.vault.put.committed:power"},
	"a move of the data": {"move.file:1:exit", "move.copied:power", "move.adopted:power"},
}

// A turn, a permanent deletion, the import of an export from before it, a move of the data and other actions are killed
// at their points. The exhaustive form kills each scenario at each point that it reaches: the first time, and at points
// that are reached often also in the middle and the last time.
func TestATurnIsKilledAtItsPoints(t *testing.T) {
	t.Parallel()
	r := newSetup(t, 1)
	var mu sync.Mutex
	reached := map[string]bool{}
	t.Run("scenario", func(t *testing.T) {
		for i, sc := range scenarios {
			everyday := everydayFaults[sc.name]
			if len(everyday) == 0 && !testtier.Exhaustive() {
				continue
			}
			t.Run(sc.name, func(t *testing.T) {
				t.Parallel()
				s, err := r.newStage(t.Context(), i, sc, filepath.Join(r.work, fmt.Sprintf("scene-%d", i)))
				if err != nil {
					t.Fatal(err)
				}
				if !testtier.Exhaustive() {
					for _, fault := range everyday {
						s.dies(t, fault, true)
					}
					return
				}
				counts, err := s.trace(t.Context(), s.Dir+"-trace")
				if err != nil {
					t.Fatal(err)
				}
				for _, name := range slices.Sorted(maps.Keys(counts)) {
					if strings.HasPrefix(name, "io.") {
						continue
					}
					mu.Lock()
					reached[name] = true
					mu.Unlock()
					for _, n := range firstMiddleLast(counts[name]) {
						s.dies(t, fmt.Sprintf("%s:%d:exit", name, n), false)
					}
				}
			})
		}
	})
	if testtier.Exhaustive() { // those that only the window or a timer reaches
		missed := slices.DeleteFunc(allPoints(t), func(name string) bool { return reached[name] })
		t.Logf("%d points reached; no scenario reaches %s", len(reached), strings.Join(missed, " "))
	}
}

// firstMiddleLast returns the hits that are tried at a point that is reached n times.
func firstMiddleLast(n int) []int { return slices.Compact([]int{1, (n + 1) / 2, n}) }

// allPoints returns the names of all fault points.
func allPoints(t *testing.T) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "run", "-buildvcs=false", harness.InModule("backend", "internal", "faults", "points"))
	data, err := cmd.Output()
	if err != nil {
		t.Fatalf("the fault points cannot be listed: %v", err)
	}
	return strings.Fields(string(data))
}

// The power is lost at I/O sites throughout a turn: everything that was not fsynced is lost, in the journals and in the
// database.
func TestThePowerIsLostDuringATurn(t *testing.T) {
	t.Parallel()
	r := newSetup(t, 1)
	for i, sc := range scenarios[:testtier.Size(1, 3)] {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			s, err := r.newStage(t.Context(), 100+i, sc, filepath.Join(r.work, fmt.Sprintf("power-%d", i)))
			if err != nil {
				t.Fatal(err)
			}
			counts, err := s.trace(t.Context(), s.Dir+"-trace")
			if err != nil {
				t.Fatal(err)
			}
			for _, fault := range counts.powerLosses(r.seed, testtier.Size(3, 60)) {
				s.dies(t, fault, false)
			}
		})
	}
}
