package store

import (
	"bytes"
	"context"
	"encoding/hex"
	"math/rand"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/test/testtier"
)

// quotingSessions returns a session whose requests quote another session, with bundles without and with these requests.
func quotingSessions(f *fixture) (quoted, quoting chat.Session, steps []chat.Step, without, with []byte) {
	f.Helper()
	quoted, a := f.session("quoted")
	chunks := f.remembered(a.ID, 4)
	quoting, b := f.session("quoting")
	for i := range 3 {
		turn := f.accept(b.ID, "and then?")
		_, _, step := f.remember(turn, benchText(3000), chunks[i:i+3]...)
		steps = append(steps, step)
		_, err := f.FailTurn(f.ctx, chat.TurnFailure{TurnID: turn.ID, Step: f.ended(step, chat.StepFailed, ""), Outcome: chat.OutcomeFailed})
		f.ok(err)
	}
	var bundle bytes.Buffer
	left, err := f.WriteBundle(f.ctx, quoting.ID, &bundle, false)
	if f.ok(err); left != 3 {
		f.Fatalf("%d requests were left out", left)
	}
	return quoted, quoting, steps, bundle.Bytes(), f.bundled(quoting.ID)
}

// requests returns the stored requests of a session's turns, in order.
func (f *fixture) requests(s chat.SessionID) []string {
	f.Helper()
	var out []string
	for _, t := range f.turnsOf(s) {
		steps, err := f.Steps(f.ctx, t.ID)
		f.ok(err)
		for _, st := range steps {
			p, err := f.StepPayload(f.ctx, st.ID)
			f.ok(err)
			out = append(out, string(p.Request))
		}
	}
	return out
}

// expectRequests checks that the requests of a session are those of the original, or only marks.
func (f *fixture) expectRequests(s chat.SessionID, want []string, here int) {
	f.Helper()
	got := f.requests(s)
	if len(got) != len(want) {
		f.Fatalf("%d requests of %d", len(got), len(want))
	}
	for i := range want {
		if (got[i] == want[i]) != (i < here) || i >= here && !strings.HasPrefix(got[i], `{"left_out":`) {
			f.Errorf("request %d is %.60q", i, got[i])
		}
	}
	f.verifyClean()
}

// TestALaterBundleCompletesTheRequests: requests that one bundle left out are added by a later one of the same session,
// packed against each other, and nothing else changes.
func TestALaterBundleCompletesTheRequests(t *testing.T) {
	from, to := newFixture(t), newFixture(t)
	_, s, steps, without, with := quotingSessions(from)
	want := from.requests(s.ID)
	to.imported(without)
	to.expectRequests(s.ID, want, 0)
	got, notices := to.imported(with)
	if got.Outcome != chat.ImportGrown || got.Requests != 3 || got.Turns != 0 || len(notices) != 1 || !strings.Contains(notices[0], "3 of them were added") {
		t.Errorf("%+v %q", got, notices)
	}
	to.expectRequests(s.ID, want, 3)
	if size, depth := to.stored(steps[2].ID); depth != 2 || size > len(want[2])/3 {
		t.Errorf("the last request is link %d and takes %d bytes of %d", depth, size, len(want[2]))
	}
	for name, bundle := range map[string][]byte{"with": with, "without": without} {
		if got, notices := to.imported(bundle); got.Outcome != chat.ImportAlready || got.Requests != 0 || len(notices) > 0 {
			t.Errorf("the one %s again: %+v %q", name, got, notices)
		}
	}
	to.expectRequests(s.ID, want, 3)
}

// TestACancelledCompletionIsForgotten: wherever it is cancelled, a request that is then sent on a fork of the session
// can be read, although the one before it was already in its place once.
func TestACancelledCompletionIsForgotten(t *testing.T) {
	from, to := newFixture(t), newFixture(t)
	_, a := from.session("quoted")
	chunks := from.remembered(a.ID, 4)
	s, b := from.session("quoting")
	random := make([]byte, 320<<10)
	rand.New(rand.NewSource(1)).Read(random)
	text := hex.EncodeToString(random)
	for i := range 6 {
		common := text[:(i+1)*len(text)/6]
		turn := from.accept(b.ID, "and then?")
		_, _, step := from.remember(turn, common, chunks[i%2:i%2+2]...)
		_, err := from.FailTurn(from.ctx, chat.TurnFailure{TurnID: turn.ID, Step: from.ended(step, chat.StepFailed, ""), Outcome: chat.OutcomeFailed})
		from.ok(err)
	}
	var without bytes.Buffer
	_, err := from.WriteBundle(from.ctx, s.ID, &without, false)
	from.ok(err)
	with := from.bundled(s.ID)
	to.imported(without.Bytes())
	first := to.turnsOf(s.ID)[0]
	stopped, cuts := 0, testtier.Size(6, 24)
	for after := len(with); ; after += len(with) / cuts {
		ctx, cancel := context.WithCancel(to.ctx)
		_, _, err := to.ImportBundle(ctx, &stopping{bytes.NewReader(with), after, cancel}, int64(len(with)), "")
		cancel()
		if err == nil {
			break // it had already read everything
		}
		stopped++
		to.refused(err, chat.CodeCancelled)
		to.remember(to.accept(to.fork(first.BranchID, first.ID).ID, "again?"), text)
		to.verifyClean()
	}
	if stopped < cuts {
		t.Errorf("it was cancelled %d times", stopped)
	}
}

// TestALongerBundleCompletesTheRequests: new events and missing requests are added together, also where the bundle is
// shorter than the session, or its session is here as a copy.
func TestALongerBundleCompletesTheRequests(t *testing.T) {
	from, to := newFixture(t), newFixture(t)
	_, s, _, without, with := quotingSessions(from)
	want := from.requests(s.ID)
	from.ok(from.RenameSession(from.ctx, s.ID, "longer"))
	longer := from.bundled(s.ID)
	to.imported(without)
	if got, notices := to.imported(longer); got.Outcome != chat.ImportGrown || got.Requests != 3 || len(notices) != 1 {
		t.Errorf("%+v %q", got, notices)
	}
	to.expectRequests(s.ID, want, 3)

	behind := newFixture(t)
	behind.imported(without)
	behind.asOne(s.ID)
	behind.ok(behind.RenameSession(behind.ctx, s.ID, "went on here"))
	if got, _ := behind.imported(with); got.Outcome != chat.ImportGrown || got.Requests != 3 {
		t.Errorf("shorter: %+v", got)
	}
	behind.expectRequests(s.ID, want, 3)

	var partly bytes.Buffer
	_, err := from.WriteBundle(from.ctx, s.ID, &partly, false)
	from.ok(err)
	beside, _ := behind.imported(partly.Bytes())
	if beside.Outcome != chat.ImportCopied || beside.Session == s.ID {
		t.Fatalf("beside: %+v", beside)
	}
	behind.expectRequests(beside.Session, want, 0)
	if got, _ := behind.imported(longer); got.Outcome != chat.ImportGrown || got.Requests != 3 || got.Session != beside.Session {
		t.Errorf("the copy: %+v", got)
	}
	behind.expectRequests(beside.Session, want, 3)
}

// TestDeletedQuotationsDoNotComeBack: a request that was permanently deleted here, because what it quoted was deleted,
// is not added again.
func TestDeletedQuotationsDoNotComeBack(t *testing.T) {
	from, to := newFixture(t), newFixture(t)
	quoted, s, _, without, with := quotingSessions(from)
	to.imported(from.bundled(quoted.ID))
	to.imported(without)
	_, err := to.Delete(to.ctx, chat.DeletionSession, string(quoted.ID))
	to.ok(err)
	if got, _ := to.imported(with); got.Outcome != chat.ImportAlready || got.Requests != 0 {
		t.Errorf("%+v", got)
	}
	for _, request := range to.requests(s.ID) {
		if !strings.HasPrefix(request, `{"erased":`) {
			t.Errorf("%.60q", request)
		}
	}
	to.verifyClean()
}

// TestADamagedRequestCanBeLeftOut: an export that leaves out the requests which quoted other sessions does not read
// them, so a damaged one does not prevent it.
func TestADamagedRequestCanBeLeftOut(t *testing.T) {
	f := newFixture(t)
	_, s, steps, _, _ := quotingSessions(f)
	if size, depth := f.stored(steps[1].ID); size > 1024 || depth == 0 {
		t.Fatalf("the request takes %d bytes and is link %d: too large to be taken for a mark", size, depth)
	}
	f.ok(f.core.DB.Writer.Exec(`UPDATE steps SET request_json = substr(request_json, 1, 8) WHERE id = ?`, steps[1].ID).Error)
	if n, err := f.QuotingRequests(f.ctx, s.ID); err != nil || n != 3 {
		t.Errorf("%d requests quote others: %v", n, err)
	}
	var without bytes.Buffer
	if left, err := f.WriteBundle(f.ctx, s.ID, &without, false); err != nil || left != 3 {
		t.Errorf("%d requests were left out: %v", left, err)
	}
	_, err := f.WriteBundle(f.ctx, s.ID, &bytes.Buffer{}, true)
	f.refused(err, chat.CodeCorrupt)
	newFixture(t).imported(without.Bytes())
}

// TestACompletionDoesNotComparePins: the snapshot of a bundle that only adds missing requests is not compared with the
// session, which has other pins and state summaries by now.
func TestACompletionDoesNotComparePins(t *testing.T) {
	from, to := newFixture(t), newFixture(t)
	_, s, _, without, with := quotingSessions(from)
	to.imported(without)
	branches, err := to.Branches(to.ctx, s.ID)
	to.ok(err)
	_, err = to.AddPin(to.ctx, branches[0].ID, "pinned since", 2)
	to.ok(err)
	got, notices := to.imported(with)
	if got.Outcome != chat.ImportGrown || got.Requests != 3 || len(notices) != 1 || !strings.Contains(notices[0], "3 of them were added") {
		t.Errorf("%+v %q", got, notices)
	}
}
