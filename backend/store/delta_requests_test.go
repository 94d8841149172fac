package store

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/delta"
	"contextinfinity/backend/store/sqlite"
)

// benchText returns text of about this many words, always the same. It compresses to about a third.
func benchText(words int) string { return longText()[:6*words] }

var longText = sync.OnceValue(func() string { return newSpeaker().say(10_000) })

// ask sends a request on a new turn and fails the turn.
func (f *fixture) ask(b chat.BranchID, request []byte) (chat.Turn, chat.Step) {
	f.Helper()
	t := f.accept(b, "x")
	f.ok(f.Prepare(f.ctx, chat.Preparation{TurnID: t.ID, Manifest: manifestOf(int(t.Seq))}))
	step, err := f.BeginStep(f.ctx, chat.StepStart{TurnID: t.ID, Provider: "p", ModelID: "m", Request: request})
	f.ok(err)
	t, err = f.FailTurn(f.ctx, chat.TurnFailure{TurnID: t.ID, Step: f.ended(step, chat.StepFailed, ""), Outcome: chat.OutcomeFailed})
	f.ok(err)
	return t, step
}

func (f *fixture) stored(step chat.StepID) (bytes, depth int) {
	f.Helper()
	r, err := sqlite.One[struct{ Bytes, Depth int }](f.core.DB.Reader, "step", step, `SELECT length(s.request_json) AS bytes, coalesce(l.depth, 0) AS depth
		FROM steps s LEFT JOIN request_links l ON l.step_id = s.id WHERE s.id = ?`, step)
	f.ok(err)
	return r.Bytes, r.Depth
}

// TestRequestsAreDeltasOfThePrevious: they are small, come back exactly, and are never further from a key frame than
// the maximum chain, across reopening and forks.
func TestRequestsAreDeltasOfThePrevious(t *testing.T) {
	f := newFixture(t)
	_, main := f.session("s")
	common := benchText(4000)
	var requests [][]byte
	var steps []chat.Step
	var turns []chat.Turn
	branch := main.ID
	for i := range 40 {
		if i == 20 {
			branch = f.fork(main.ID, turns[18].ID).ID // the first request of a fork is a delta of its parent's request
		}
		if i%7 == 0 {
			f.reopen()
		}
		request := fmt.Appendf(nil, `{"messages":[%q,"turn %d \xff"]}`, common, i)
		turn, step := f.ask(branch, request)
		requests, steps, turns = append(requests, request), append(steps, step), append(turns, turn)
	}
	frames := 0
	for i, step := range steps {
		p, err := f.StepPayload(f.ctx, step.ID)
		f.ok(err)
		if !bytes.Equal(p.Request, requests[i]) {
			t.Fatalf("request %d came back with %d bytes of %d", i, len(p.Request), len(requests[i]))
		}
		size, depth := f.stored(step.ID)
		if depth == 0 {
			frames++
		} else if depth >= delta.MaxChain || size > len(requests[i])/100 {
			t.Errorf("request %d is link %d and takes %d bytes", i, depth, size)
		}
		m, err := f.Manifest(f.ctx, turns[i].ID)
		f.ok(err)
		if !bytes.Equal(m, manifestOf(int(turns[i].Seq))) {
			t.Errorf("manifest %d came back as %.40s", i, m)
		}
	}
	if want := (len(steps) + delta.MaxChain - 1) / delta.MaxChain; frames != want {
		t.Errorf("%d key frames among %d", frames, len(steps))
	}
	f.verifyClean()
}

// TestDissimilarRequestsAreStoredWhole: a request does not depend on another where that saves nothing.
func TestDissimilarRequestsAreStoredWhole(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	f.ask(b.ID, []byte(benchText(2000)))
	for name, request := range map[string]string{"other bytes": randomText(20_000), "short": "{}", "none": ""} {
		_, step := f.ask(b.ID, []byte(request))
		p, err := f.StepPayload(f.ctx, step.ID)
		f.ok(err)
		if _, depth := f.stored(step.ID); depth != 0 || string(p.Request) != request {
			t.Errorf("%s: link %d, %d bytes", name, depth, len(p.Request))
		}
	}
	f.verifyClean()
}

// TestPreparingAgainReplacesTheManifest: a turn whose context is assembled again has the new manifest.
func TestPreparingAgainReplacesTheManifest(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	f.ask(b.ID, []byte("{}"))
	turn := f.accept(b.ID, "again")
	for i, m := range [][]byte{manifestOf(1), fmt.Appendf(nil, `{"other":%q}`, benchText(10)), manifestOf(3)} {
		f.ok(f.Prepare(f.ctx, chat.Preparation{TurnID: turn.ID, Manifest: m}))
		got, err := f.Manifest(f.ctx, turn.ID)
		f.ok(err)
		if !bytes.Equal(got, m) {
			t.Errorf("manifest %d: %.40s", i, got)
		}
		f.verifyClean()
	}
	_, err := f.Manifest(f.ctx, "nobody")
	f.refused(err, chat.CodeNotFound)
}

// TestADamagedKeyFrameDamagesOnlyItsChain: verify reports each request of the chain and no other, and the next
// request starts a new chain.
func TestADamagedKeyFrameDamagesOnlyItsChain(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	text := []byte(benchText(2000))
	var steps []chat.Step
	for range 2*delta.MaxChain + 3 {
		_, step := f.ask(b.ID, text)
		steps = append(steps, step)
	}
	f.ok(f.core.DB.Writer.Exec(`UPDATE steps SET request_json = substr(request_json, 1, 200) WHERE id = ?`, steps[2*delta.MaxChain].ID).Error)
	f.reopen()
	_, next := f.ask(b.ID, text)
	if _, depth := f.stored(next.ID); depth != 0 {
		t.Errorf("the next request is link %d of a damaged chain", depth)
	}
	found, err := f.Verify(f.ctx)
	f.ok(err)
	damaged := map[string]bool{}
	for _, x := range found {
		damaged[x.ID] = true
	}
	for i, step := range append(steps, next) {
		_, err := f.StepPayload(f.ctx, step.ID)
		want := i >= 2*delta.MaxChain && i < len(steps)
		if damaged[string(step.ID)] != want || (chat.CodeOf(err) == chat.CodeCorrupt) != want {
			t.Errorf("request %d: named %v, %v", i, damaged[string(step.ID)], err)
		}
	}
	if len(damaged) != 3 {
		t.Errorf("findings %+v", found)
	}
}

func TestPackAgainst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.SliceOfN(rapid.Byte(), 0, 400).Draw(t, "base")
		base = bytes.Repeat(append(base, 'x'), 1+rapid.IntRange(0, 300).Draw(t, "times"))
		cut := rapid.IntRange(0, len(base)).Draw(t, "cut")
		value := append(append(bytes.Clone(base[cut:]), rapid.SliceOf(rapid.Byte()).Draw(t, "new")...), base[:cut]...)
		z, err := codec.PackAgainst(base, value)
		if err != nil {
			t.Fatal(err)
		}
		if z == nil {
			return // a delta would be larger
		}
		got, err := codec.UnpackAgainst(base, z)
		if err != nil || !bytes.Equal(got, value) {
			t.Fatalf("%d bytes against %d: %d, %v", len(value), len(base), len(got), err)
		}
		if got, err := codec.UnpackAgainst(append(bytes.Clone(base), 'y'), z); err == nil && !bytes.Equal(got, value) {
			t.Fatal("another base silently gives other bytes")
		}
		if _, err := codec.Unpack(z); err == nil {
			t.Fatal("it decodes without its base")
		}
	})
}

func FuzzUnpackAgainst(f *testing.F) {
	base := []byte(benchText(100))
	z, err := codec.PackAgainst(base, []byte(benchText(101)))
	if err != nil || z == nil {
		f.Fatal("no seed", err)
	}
	f.Add(z)
	f.Add([]byte{codec.PackedLinked})
	f.Fuzz(func(t *testing.T, z []byte) {
		if got, err := codec.UnpackAgainst(base, z); err == nil && len(got) > codec.UnpackMax {
			t.Error("more than the bound")
		}
	})
}
