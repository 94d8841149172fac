package librarian_test

import (
	"context"
	"encoding/json"
	"errors"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/librarian"
	"contextinfinity/backend/tokens"
)

// record is one request to a real model with its answer.
type record struct {
	Name, Kind           string
	Retry                bool
	Turns                []int64
	System, User, Answer string
}

// recordings reads a real model's answers, which are not part of the repository.
func recordings(t *testing.T) []record {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "fixtures", "librarian", "code.json"))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("skipped: the recorded answers are not beside the project")
	}
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Records []record }
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	return file.Records
}

var (
	message = regexp.MustCompile(`(?s)<(user|assistant) turn="(\d+)">\n(.*?)\n</(?:user|assistant)>`)
	pieces  = regexp.MustCompile(`(?s)<summary>\n(.*?)\n</summary>`)
	limit   = regexp.MustCompile(`At most (\d+) tokens`)
	earlier = regexp.MustCompile(`(?s)^<memory>\n(.*?)\n</memory>`)
)

// recordedTurns returns the turns in the requests, oldest first.
func recordedTurns(records []record, kind string) []chat.Turn {
	var turns []chat.Turn
	for _, r := range records {
		if r.Kind == kind && !r.Retry {
			turns = append(turns, turnsOf(r)...)
		}
	}
	return turns
}

func turnsOf(r record) []chat.Turn {
	var turns []chat.Turn
	for _, m := range message.FindAllStringSubmatch(r.User, -1) {
		seq, _ := strconv.ParseInt(m[2], 10, 64)
		text := html.UnescapeString(m[3])
		if m[1] == "user" {
			turns = append(turns, turn(text, ""))
			turns[len(turns)-1].Seq = seq
			continue
		}
		turns[len(turns)-1].Assistant = &chat.Message{Role: chat.RoleAssistant, Blocks: chat.Blocks{chat.Text{Text: text}}}
	}
	return turns
}

// answersOf returns the first answer to a request and, if there was one, the answer to its second attempt.
func answersOf(records []record, i int) *script {
	s := &script{answers: []string{records[i].Answer}}
	if i+1 < len(records) && records[i+1].Retry {
		s.answers = append(s.answers, records[i+1].Answer)
	}
	return s
}

func counter() func(string) int {
	return tokens.New().CountText
}

// TestRecordedStates: a real model's state updates are accepted at the first attempt, and what they lost is added, so
// that the last state contains everything required.
func TestRecordedStates(t *testing.T) {
	records := recordings(t)
	count := counter()
	summary, first, updates := "", 0, 0
	for i, r := range records {
		if r.Kind != "state" || r.Retry || len(r.Turns) == 0 {
			continue
		}
		updates++
		m := answersOf(records, i)
		got := librarian.Librarian{}.Update(t.Context(), librarian.Update{Previous: summary, Turns: turnsOf(r), Count: count, Model: m})
		v := validation(t, got)
		t.Logf("%s: %s, %d calls, %d of %d required, %d tokens; missing %q; added %q; dropped %q", r.Name, got.Origin, len(m.requests), v.RequiredKept, v.Required, got.Tokens, v.Missing, v.Added, v.Dropped)
		if got.Origin != chat.StateLibrarian {
			t.Errorf("%s: replaced by the %s: %s", r.Name, got.Origin, v.Reason)
		}
		if len(m.requests) == 1 {
			first++
		}
		summary = got.Summary
	}
	if updates != 12 || first < 11 {
		t.Errorf("%d of %d updates were accepted at the first try", first, updates)
	}
	if missing := missingEssentials(summary, codeEssentials); len(missing) > 0 || len(codeEssentials) != 32 {
		t.Errorf("the last state lacks %q:\n%s", missing, summary)
	}
}

// TestRecordedFallback summarizes the same conversation without a model.
func TestRecordedFallback(t *testing.T) {
	summary, count := "", counter()
	for _, tn := range recordedTurns(recordings(t), "state")[:12] {
		summary = librarian.Fallback(librarian.Update{Previous: summary, Turns: []chat.Turn{tn}, Count: count}).Summary
	}
	missing := missingEssentials(summary, codeEssentials)
	if kept := len(codeEssentials) - len(missing); kept < 30 || len(codeEssentials) != 32 {
		t.Errorf("the fallback's state has %d of %d and lacks %q\n%s", kept, len(codeEssentials), missing, summary)
	}
	t.Logf("%d tokens, lacks %q\n%s", count(summary), missing, summary)
}

// TestRecordedRanges: a real model's range summaries are accepted at the first attempt.
func TestRecordedRanges(t *testing.T) {
	records := recordings(t)
	count, first, ranges := counter(), 0, 0
	for i, r := range records {
		if r.Kind != "range" || r.Retry {
			continue
		}
		ranges++
		m := answersOf(records, i)
		g := librarian.Range{Turns: turnsOf(r), Model: m, Count: count}
		g.Target, _ = strconv.Atoi(limit.FindStringSubmatch(r.System)[1])
		for _, p := range pieces.FindAllStringSubmatch(r.User, -1) {
			g.Pieces = append(g.Pieces, html.UnescapeString(p[1]))
		}
		got := librarian.Librarian{}.SummarizeRange(t.Context(), g)
		t.Logf("%s: by %s, %d calls, %d tokens for %d; missing %q; added %q", r.Name, got.GeneratedBy, len(m.requests), got.Tokens, g.Target, got.Missing, got.Added)
		if got.GeneratedBy == chat.GeneratedByExtract {
			t.Errorf("%s: replaced by the extract: %s", r.Name, got.Reason)
		}
		if len(m.requests) == 1 {
			first++
		}
	}
	if ranges != 7 || first < 6 {
		t.Errorf("%d of %d ranges were accepted at the first try", first, ranges)
	}
}

// unableToShorten returns the recorded answers, and fails if it is asked to shorten.
type unableToShorten struct{ script }

func (u *unableToShorten) Complete(ctx context.Context, system, user string, n int) (string, *chat.Usage, error) {
	if strings.HasPrefix(system, "You shorten") {
		u.requests = append(u.requests, system)
		return "", nil, errors.New("no answer")
	}
	return u.script.Complete(ctx, system, user, n)
}

// TestRecordedForgetting: a memory of about 900 tokens is shortened to 500 by dropping the oldest entries, and stays
// the model's. Constraints are kept.
func TestRecordedForgetting(t *testing.T) {
	records := recordings(t)
	count, dropped := counter(), 0
	for i, r := range records {
		if r.Kind != "state" || r.Retry || len(r.Turns) > 0 && r.Turns[0] != 12 {
			continue
		}
		m := &unableToShorten{script{answers: answersOf(records, i).answers}}
		u := librarian.Update{Turns: turnsOf(r), Target: 500, Count: count, Model: m, Previous: html.UnescapeString(earlier.FindStringSubmatch(r.User)[1])}
		got := librarian.Librarian{}.Update(t.Context(), u)
		v := validation(t, got)
		t.Logf("%s: from %d to %d tokens, %s, missing %q, added %q, dropped %q\n%s", r.Name, count(u.Previous), got.Tokens, got.Origin, v.Missing, v.Added, v.Dropped, got.Summary)
		if count(u.Previous) < 850 || got.Origin != chat.StateLibrarian || got.Tokens > 500 || got.Tokens < 350 || got.Tries > 2 {
			t.Errorf("%s: %s, from %d to %d tokens: %s", r.Name, got.Origin, count(u.Previous), got.Tokens, v.Reason)
		}
		before, after := librarian.Parse(u.Previous), librarian.Parse(got.Summary)
		if len(after.Entries(librarian.Constraints)) < len(before.Entries(librarian.Constraints)) {
			t.Errorf("%s: constraints were forgotten: %q", r.Name, after.Entries(librarian.Constraints))
		}
		if r.Name == "A018" { // in the other recording the model shortened the memory itself
			dropped += oldestForgotten(t, before.Entries(librarian.Artifacts), after.Entries(librarian.Artifacts))
		}
	}
	if dropped == 0 {
		t.Error("nothing was dropped")
	}
}

// oldestForgotten requires that no dropped entry is newer than a kept one, and returns how many were dropped. Entries
// are ordered oldest first.
func oldestForgotten(t *testing.T, before, after []string) int {
	t.Helper()
	dropped, kept := 0, ""
	for _, entry := range before {
		switch {
		case slices.Contains(after, entry):
			kept = entry
		case kept != "":
			t.Errorf("%q was forgotten, and the older %q was not", entry, kept)
		default:
			dropped++
		}
	}
	return dropped
}
