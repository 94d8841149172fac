package embedding

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/clock"
)

// fixture is a manager with an exchangeable target.
type fixture struct {
	*Manager
	store     *memoryStore
	mu        sync.Mutex
	target    Embedder
	err       error // of Target
	embedders map[chat.EmbedderID]Embedder
	seen      []string // "done/total"
	clock     *clock.Fake
}

func newFixture(units int, target *fake, others ...*fake) *fixture {
	b := &fixture{store: newStore(units), target: target, embedders: map[chat.EmbedderID]Embedder{target.id: target}, clock: clock.NewFake(time.Unix(0, 0))}
	for _, o := range others {
		b.embedders[o.id] = o
	}
	b.restart()
	return b
}

// restart replaces the manager, as at the program's next start.
func (b *fixture) restart() {
	b.Manager = NewManager(ManagerDeps{
		Store: b.store,
		Target: func(context.Context) (Embedder, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			return b.target, b.err
		},
		For: func(_ context.Context, id chat.EmbedderID) (Embedder, error) {
			if e, ok := b.embedders[id]; ok {
				return e, nil
			}
			return nil, chat.Errorf(chat.CodeConfig, "embedder", "%s is not configured", id)
		},
		Redact:  func(s string) string { return strings.ReplaceAll(s, "hunter2", "[redacted]") },
		Publish: func(done, total int) { b.seen = append(b.seen, fmt.Sprintf("%d/%d", done, total)) },
		Wait:    (&waits{}).wait,
		Clock:   b.clock.Now,
	})
}

func (b *fixture) use(e Embedder, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.target, b.err = e, err
}

// finish calls Step until nothing is left to do.
func (b *fixture) finish(t *testing.T) {
	t.Helper()
	for range 1000 {
		more, err := b.Step(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			if b.store.saved == 0 {
				t.Fatal("all is done, and the vectors were not saved for the index")
			}
			return
		}
	}
	t.Fatal("the reindex never finishes")
}

func (b *fixture) step(t *testing.T) {
	t.Helper()
	if more, err := b.Step(t.Context()); err != nil || !more {
		t.Fatalf("step: %v, %v", more, err)
	}
}

func (b *fixture) checkStates(t *testing.T, want ...string) {
	t.Helper()
	if got := b.store.states(); !slices.Equal(got, want) {
		t.Fatalf("namespaces %v, want %v", got, want)
	}
}

func TestFirstNamespaceServesAtOnce(t *testing.T) {
	local := newFake(Local, "hashed", 8)
	b := newFixture(0, local)
	got, err := b.Vectors(t.Context(), units("a", "b", "a"))
	if err != nil {
		t.Fatal(err)
	}
	b.checkStates(t, "hashed:serving:0")
	if v := got[1]; len(v) != 3 || !slices.Equal(v[0], v[2]) || !slices.Equal(v[1], vectorOf(local.id, "b")) {
		t.Errorf("vectors %v", got)
	}
	if local.texts() != 2 {
		t.Errorf("%q were requested; the same text must be embedded once", local.requested)
	}
	b.finish(t)
	b.checkStates(t, "hashed:serving:0")
}

func TestReindexServesTheOldUntilTheNewIsComplete(t *testing.T) {
	local, remote := newFake(Local, "hashed", 8), newFake("openai", "large", 16)
	b := newFixture(150, local, remote)
	b.finish(t)
	b.checkStates(t, "hashed:serving:150")
	b.seen = nil
	b.use(remote, nil)
	b.step(t)
	b.checkStates(t, "hashed:serving:150", "large:building:64")
	// New text gets both kinds of vectors during the reindex.
	both, err := b.Vectors(t.Context(), units("said meanwhile"))
	if err != nil || len(both[1]) != 1 || len(both[2]) != 1 {
		t.Fatalf("%v, %v", both, err)
	}
	// A restart continues the reindex.
	b.restart()
	b.finish(t)
	b.checkStates(t, "hashed:retired:0", "large:serving:150")
	if n := remote.texts(); n != 151 {
		t.Errorf("%d texts were sent for 150 units and one more", n)
	}
	if want := []string{"64/150", "128/150", "150/150", "150/150"}; !slices.Equal(b.seen, want) {
		t.Errorf("progress %v, want %v", b.seen, want)
	}
	if err := checkVectors(b.store, 2, remote.id); err != nil {
		t.Error(err)
	}
}

func checkVectors(s *memoryStore, ns int64, id chat.EmbedderID) error {
	for _, u := range s.units {
		if !slices.Equal(s.vectors[ns][u.N], vectorOf(id, u.Text)) {
			return fmt.Errorf("unit %d has another text's vector", u.N)
		}
	}
	return nil
}

func TestTheTargetChangesDuringAReindex(t *testing.T) {
	local, first, second := newFake(Local, "hashed", 8), newFake("openai", "first", 16), newFake("ollama", "second", 4)
	cases := []struct {
		name string
		then *fake
		want []string
	}{
		{"to a third", second, []string{"hashed:retired:0", "first:retired:0", "second:serving:100"}},
		{"back to the old", local, []string{"hashed:serving:100", "first:retired:0"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newFixture(100, local, first, second)
			b.finish(t)
			b.use(first, nil)
			b.step(t)
			b.checkStates(t, "hashed:serving:100", "first:building:64")
			b.use(c.then, nil)
			b.finish(t)
			b.checkStates(t, c.want...)
			before := first.texts()
			if _, err := b.Vectors(t.Context(), units("new")); err != nil || first.texts() != before {
				t.Errorf("a text was sent to an embedder that is not needed: %v", err)
			}
		})
	}
}

func TestTheSameTextIsNeverEmbeddedTwice(t *testing.T) {
	f := newFake("openai", "m", 8)
	b := newFixture(0, f)
	for range 100 {
		b.store.add("thanks")
		b.store.add("you are welcome")
	}
	b.finish(t)
	b.checkStates(t, "m:serving:200")
	if f.texts() != 2 {
		t.Errorf("%d texts were sent for two different ones", f.texts())
	}
	if _, err := b.Vectors(t.Context(), units("thanks")); err != nil || f.texts() != 2 {
		t.Errorf("%v; %d texts", err, f.texts())
	}
}

// TestTheRemoteIsUnavailable: the serving namespace continues, and the failure is shown until the server works again.
func TestTheRemoteIsUnavailable(t *testing.T) {
	local, remote := newFake(Local, "hashed", 8), newFake("openai", "m", 16)
	b := newFixture(10, local, remote)
	b.finish(t)
	b.use(remote, nil)
	remote.fails(&Retry{Err: chat.Errorf(chat.CodeUnavailable, "embed", "nothing answers")})
	if _, err := b.Step(t.Context()); chat.CodeOf(err) != chat.CodeUnavailable {
		t.Fatalf("step: %v", err)
	}
	got, err := b.Vectors(t.Context(), units("x"))
	if err != nil || len(got[1]) != 1 || got[2] != nil {
		t.Fatalf("%v, %v; want the serving namespace's vectors alone", got, err)
	}
	b.lastErrors(t, "", "nothing answers")
	b.checkStates(t, "hashed:serving:10", "m:building:0")
	remote.fails(nil)
	b.finish(t)
	b.lastErrors(t, "", "")
	b.checkStates(t, "hashed:retired:0", "m:serving:10")
	// The remote namespace serves now, so a turn gets the error.
	remote.fails(chat.Errorf(chat.CodeAuth, "embed", "the key is refused"))
	if _, err := b.Vectors(t.Context(), units("y")); chat.CodeOf(err) != chat.CodeAuth {
		t.Errorf("error %v", err)
	}
	b.lastErrors(t, "", "the key is refused")
}

func (b *fixture) lastErrors(t *testing.T, want ...string) {
	t.Helper()
	all, err := b.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, ns := range all {
		if ns.LastError != want[i] {
			t.Errorf("%s: last error %q, want %q", ns.Embedder, ns.LastError, want[i])
		}
	}
}

// TestTargetCannotBeCreated: an embedder that cannot be created does not affect the serving one.
func TestTargetCannotBeCreated(t *testing.T) {
	local := newFake(Local, "hashed", 8)
	b := newFixture(5, local)
	b.finish(t)
	b.use(nil, chat.Errorf(chat.CodeUnavailable, "embed", "the server is down"))
	got, err := b.Vectors(t.Context(), units("x"))
	if err != nil || len(got[1]) != 1 {
		t.Fatalf("%v, %v", got, err)
	}
	b.lastErrors(t, "the server is down")
	if _, err := b.Step(t.Context()); chat.CodeOf(err) != chat.CodeUnavailable {
		t.Errorf("step: %v", err)
	}
	e, err := b.For(t.Context(), b.serving(t))
	if err != nil || e.Identity() != local.id {
		t.Errorf("%v, %v: the serving namespace's embedder is there", e, err)
	}
	// Without any namespace there is no embedder to use.
	empty := newFixture(0, local)
	empty.use(nil, b.err)
	if _, err := empty.Vectors(t.Context(), units("x")); chat.CodeOf(err) != chat.CodeUnavailable {
		t.Errorf("error %v", err)
	}
}

func (b *fixture) serving(t *testing.T) chat.Namespace {
	t.Helper()
	all, err := b.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all[slices.IndexFunc(all, func(ns chat.Namespace) bool { return ns.State == chat.NamespaceServing })]
}

func TestForRefusesAnotherIdentity(t *testing.T) {
	local, old := newFake(Local, "hashed", 8), newFake("openai", "old", 8)
	b := newFixture(0, local)
	b.embedders[old.id] = local // the embedder with this name creates other vectors now
	if _, err := b.For(t.Context(), chat.Namespace{ID: 9, Embedder: old.id}); chat.CodeOf(err) != chat.CodeConfig {
		t.Errorf("error %v", err)
	}
}

func TestRemoteTextsAreRedactedAndLocalOnesAreNot(t *testing.T) {
	for name, want := range map[string]string{Local: "hunter2", "openai": "[redacted]", "ollama": "[redacted]"} {
		f := newFake(name, "m", 8)
		b := newFixture(0, f)
		if _, err := b.Vectors(t.Context(), units("password hunter2")); err != nil {
			t.Fatal(err)
		}
		e, err := b.For(t.Context(), b.serving(t))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Embed(t.Context(), Query, []string{"what is hunter2?"}); err != nil {
			t.Fatal(err)
		}
		for i, r := range f.requested {
			if !strings.Contains(r[0], want) {
				t.Errorf("%s: request %d contains %q", name, i, r)
			}
		}
	}
}

// TestTurnsAreIndexedDuringAReindex: a unit that is added between the last batch and the promotion is embedded first.
func TestTurnsAreIndexedDuringAReindex(t *testing.T) {
	f := newFake("openai", "m", 8)
	b := newFixture(64, f)
	once := sync.OnceFunc(func() { b.store.add("said in between") })
	b.store.beforePut = once
	b.finish(t)
	b.checkStates(t, "m:serving:65")
	if err := checkVectors(b.store, 1, f.id); err != nil {
		t.Error(err)
	}
}

func TestVectorsAndStepTogether(t *testing.T) {
	local, remote := newFake(Local, "hashed", 8), newFake("openai", "m", 16)
	b := newFixture(300, local, remote)
	b.finish(t)
	b.use(remote, nil)
	b.d.Publish = nil
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for more := true; more; {
				var err error
				if more, err = b.Step(context.Background()); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range 4 {
		wg.Go(func() {
			for j := range 20 {
				texts := []string{fmt.Sprintf("turn %d.%d", i, j)}
				if got, err := b.Vectors(context.Background(), units(texts...)); err != nil || len(got) == 0 {
					t.Errorf("%v, %v", got, err)
				}
				b.store.add(texts[0])
				if _, err := b.Status(context.Background()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	b.finish(t)
	b.checkStates(t, "hashed:retired:0", "m:serving:380")
	if err := checkVectors(b.store, 2, remote.id); err != nil {
		t.Error(err)
	}
}

// TestOneTextThatIsRefused: if the model refuses one text, for whatever reason, all others still get vectors, now and
// at the next change of embedder.
func TestOneTextThatIsRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
	}{
		{"by the server", chat.Errorf(chat.CodeProvider, "embed", "invalid input")},
		{"by a fault in the server", &Retry{Err: chat.Errorf(chat.CodeUnavailable, "embed", "status 500")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake("openai", "m", 4)
			b := newFixture(150, f)
			b.store.add("poison")
			f.err = func(texts []string) error {
				if slices.Contains(texts, "poison") {
					return c.err
				}
				return nil
			}
			b.finish(t)
			b.checkStates(t, "m:serving:151")
			got, err := b.Vectors(t.Context(), units("fresh", "poison", "other"))
			if err != nil || len(got[1]) != 3 || !slices.Equal(got[1][0], vectorOf(f.id, "fresh")) {
				t.Errorf("%v, %v", got, err)
			}
			e, err := b.For(t.Context(), b.serving(t))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := e.Embed(t.Context(), Query, []string{"poison"}); err == nil {
				t.Error("a question without a vector got one")
			}
		})
	}
	f := newFake("openai", "m", 4)
	f.fails(chat.Errorf(chat.CodeProvider, "embed", "no such model"))
	if _, err := newFixture(150, f).Step(t.Context()); chat.CodeOf(err) != chat.CodeProvider || f.texts() > 65 {
		t.Errorf("a model that accepts nothing: %v after %d texts", err, f.texts())
	}
}

// TestTurnsDoNotWaitForASilentServer: one turn waits for it; later ones are indexed by words at once, until the
// server has responded or some time has passed.
func TestTurnsDoNotWaitForASilentServer(t *testing.T) {
	local, remote := newFake(Local, "hashed", 8), newFake("openai", "m", 16)
	b := newFixture(10, local, remote)
	b.finish(t)
	b.use(remote, nil)
	index := func(requests int, namespaces ...int64) {
		t.Helper()
		before := len(remote.requests())
		got, err := b.Vectors(t.Context(), units(fmt.Sprint("turn ", before)))
		if err != nil || len(remote.requests())-before != requests || len(got) != len(namespaces) {
			t.Errorf("%d requests, want %d; %v, %v", len(remote.requests())-before, requests, got, err)
		}
	}
	remote.fails(errTimeout)
	index(1, 1)
	index(0, 1)
	b.clock.Advance(timeoutPause)
	index(1, 1)
	index(0, 1)
	if _, err := b.Step(t.Context()); chat.CodeOf(err) != chat.CodeTimeout {
		t.Errorf("a step does not send a request: %v", err)
	}
	remote.fails(nil)
	b.step(t)
	index(1, 1, 2)
	requested := 0
	b.Manager.d.Target = func(context.Context) (Embedder, error) { requested++; return nil, errTimeout }
	for range 3 {
		if got, err := b.Vectors(t.Context(), units("x")); err != nil || len(got) != 1 {
			t.Errorf("%v, %v", got, err)
		}
	}
	if requested != 1 {
		t.Errorf("the dimension was requested %d times", requested)
	}
}
