package crash

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"contextinfinity/test/harness"
)

// sample is a data directory whose copies are damaged: two sessions with everything that turns store, and two
// answers that a kill interrupted, with their journals and their part of the write-ahead log.
type sample struct {
	*home
	sessions []string
	steps    map[string]string // journals: step to turn
	shows    map[string]string // output of show, by session
}

// samples creates the two samples: with interrupted answers, and without.
func (r *setup) samples(t *testing.T) (interrupted, quiet *sample) {
	t.Helper()
	var err error
	if interrupted, err = newSample(t.Context(), r, filepath.Join(r.work, "interrupted"), false); err != nil {
		t.Fatalf("no data to damage: %v", err)
	}
	if quiet, err = newSample(t.Context(), r, filepath.Join(r.work, "quiet"), true); err != nil {
		t.Fatalf("no data to damage: %v", err)
	}
	return interrupted, quiet
}

// newSample creates a sample. quiet: no answer is interrupted and the log is checkpointed, so that the database is a
// single file.
func newSample(ctx context.Context, r *setup, dir string, quiet bool) (*sample, error) {
	h, err := newHome(r.shipped, dir, r.provider.config("buffered"))
	if err != nil {
		return nil, err
	}
	s := &sample{home: h, steps: map[string]string{}, shows: map[string]string{}}
	b := newBook()
	notes := filepath.Join(dir, "plan.md")
	if err := os.WriteFile(notes, []byte("# Plan\n\nThe window is on Sunday at 05:00.\n"), 0o600); err != nil {
		return nil, err
	}
	for i := range 2 {
		if err := s.addSession(ctx, b, i, notes); err != nil {
			return nil, err
		}
	}
	if !quiet {
		if err := s.interruptAnswers(ctx, b); err != nil {
			return nil, err
		}
	}
	// Only a copy is read, because opening a database checkpoints its log.
	read, err := s.copy(dir + "-read")
	if err != nil {
		return nil, err
	}
	for _, id := range s.sessions {
		if s.shows[id], err = read.show(ctx, id); err != nil {
			return nil, err
		}
		if err := s.journals(s.shows[id]); err != nil {
			return nil, err
		}
	}
	if !quiet && len(s.steps) != 2 {
		return nil, fmt.Errorf("there are %d journals instead of 2", len(s.steps))
	}
	return s, nil
}

// addSession creates a session with all kinds of turns.
func (s *sample) addSession(ctx context.Context, b *book, i int, notes string) error {
	var first struct {
		Session string `json:"session_id"`
		Turn    string `json:"turn_id"`
	}
	for n, args := range [][]string{
		{"send", "--new", "--wait", "indexed"}, {"send", "--wait", "indexed", "--attach", notes}, {"send", "--incomplete", "keep", "--wait", "indexed"},
	} {
		kind := kindGood
		if n == 1 && i == 0 {
			kind = kindOnce
		}
		var sent struct {
			Session string `json:"session_id"`
			Turn    string `json:"turn_id"`
		}
		if n > 0 {
			args = append(args, "--session", first.Session)
		}
		if err := s.ok(ctx, &sent, append(args, b.prompt(kind, "").text)...); err != nil {
			return err
		}
		if n == 0 {
			first = sent
		}
	}
	for _, args := range [][]string{
		{"pin", first.Session, "Never on a Friday"}, {"fork", first.Turn, "--label", "what if"}, {"sessions", "rename", first.Session, "Orders"},
		{"send", "--session", first.Session, b.prompt(kindGood, "").text}, {"commit", first.Session}, {"reconcile"},
	} {
		if err := s.ok(ctx, &struct{}{}, args...); err != nil {
			return err
		}
	}
	s.sessions = append(s.sessions, first.Session)
	return nil
}

// interruptAnswers kills a conversation while two answers are half complete.
func (s *sample) interruptAnswers(ctx context.Context, b *book) error {
	host, err := s.start(ctx, true, nil, "chat")
	if err != nil {
		return err
	}
	if !host.awaitErr("/help lists") {
		return fmt.Errorf("the program did not start: %s", host.wait())
	}
	var all []*process
	for _, session := range s.sessions {
		p := b.prompt(kindHold, session)
		half := fmt.Sprintf("%d.%d ", p.number, (len(pieces(p.number))-1)/2-1)
		v, err := s.start(ctx, false, nil, "send", "--session", session, p.text)
		if err != nil {
			return err
		}
		all = append(all, v)
		if !v.awaitOut(half) {
			return fmt.Errorf("no answer arrived: %s", v.wait())
		}
	}
	time.Sleep(50 * time.Millisecond) // the journals' fsync
	host.kill()
	for _, v := range all {
		v.kill()
	}
	return nil
}

// journals finds the turns of a session that have a journal.
func (s *sample) journals(shows string) error {
	var doc shown
	if err := json.Unmarshal([]byte(shows), &doc); err != nil {
		return err
	}
	for _, t := range doc.Turns {
		for _, st := range t.Steps {
			if _, err := os.Stat(s.journal(st.ID)); err == nil {
				s.steps[st.ID] = t.ID
			}
		}
	}
	return nil
}

func (h *home) journal(step string) string { return filepath.Join(h.streams(), step+".jsonl") }

// typeMessage types a message, waits for its answer and a little longer, and closes the input.
func (p *process) typeMessage(text, answer string) {
	_, _ = io.WriteString(p.stdin, text+"\n") // fails if the process is dead already
	if p.awaitOut(answer) {
		select {
		case <-time.After(time.Second):
		case <-p.Ended:
		}
	}
	_ = p.stdin.Close()
}

// show returns what show prints for a session.
func (h *home) show(ctx context.Context, session string) (string, error) {
	r, err := h.run(ctx, "show", session, "--json")
	if err == nil && r.code != 0 {
		err = errors.New(r.String())
	}
	return r.stdout, err
}

// copy copies the data directory and the configuration.
func (s *sample) copy(dir string) (*home, error) {
	h := &home{harness.NewMachine(s.Bin, dir)}
	h.Secret = s.Secret
	return h, s.CopyTo(dir)
}

// statement changes the database as a bad disk or a faulty program would: with triggers and constraints disabled as far
// as possible.
func (h *home) statement(ctx context.Context, query string, args ...any) error {
	db, err := sql.Open("sqlite", h.database())
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	for _, pragma := range []string{"foreign_keys = OFF", "ignore_check_constraints = ON"} {
		if _, err := c.ExecContext(ctx, "PRAGMA "+pragma); err != nil {
			return err
		}
	}
	var triggers []string // recreated afterwards, because verify would report a missing one instead of the damage
	if strings.HasPrefix(query, "UPDATE ") && !strings.Contains(query, "_fts") {
		names, err := column(ctx, db, `SELECT name FROM sqlite_master WHERE type = 'trigger' ORDER BY name`)
		if err != nil {
			return err
		}
		if triggers, err = column(ctx, db, `SELECT sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name`); err != nil {
			return err
		}
		for _, name := range names {
			if _, err := c.ExecContext(ctx, `DROP TRIGGER "`+name+`"`); err != nil {
				return err
			}
		}
	}
	if _, err = c.ExecContext(ctx, query, args...); err != nil {
		return err
	}
	for _, trigger := range triggers {
		if _, err := c.ExecContext(ctx, trigger); err != nil {
			return err
		}
	}
	return nil
}
