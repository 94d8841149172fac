package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"contextinfinity/backend/chat"
)

// settings are application settings in memory; if full is set, writing fails.
type settings struct {
	mu     sync.Mutex
	stored map[string]string
	writes int
	full   bool
}

func (s *settings) Settings(_ context.Context, prefix string) (map[string]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := maps.Clone(s.stored)
	maps.DeleteFunc(out, func(k, _ string) bool { return !strings.HasPrefix(k, prefix) })
	return out, nil
}

func (s *settings) PutSetting(ctx context.Context, key, value string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full || ctx.Err() != nil {
		return errors.Join(errors.New("the disk is full"), ctx.Err())
	}
	s.stored[key] = value
	s.writes++
	return nil
}

func (s *settings) DeleteSetting(_ context.Context, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.stored, key)
	return nil
}

// changes records the notifications to the window.
type changes struct {
	mu  sync.Mutex
	all []time.Time
}

func (c *changes) Change(chat.Change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, time.Now())
}

func (c *changes) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.all)
}

func open(t *testing.T, s *settings) (*Manager, *changes) {
	t.Helper()
	c := &changes{}
	m, err := New(t.Context(), Deps{Store: s, Publish: c})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	return m, c
}

func newSettings() *settings { return &settings{stored: map[string]string{}} }

func start(t *testing.T, m *Manager, spec Spec, run Run) Task {
	t.Helper()
	task, err := m.Start(spec, run)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

func taskByID(t *testing.T, m *Manager, id string) Task {
	t.Helper()
	task, ok := m.Task(id)
	if !ok {
		t.Fatalf("there is no task %s", id)
	}
	return task
}

// untilStopped is work that ends only when it is stopped.
func untilStopped(ctx context.Context, _ *Progress) (Result, error) {
	<-ctx.Done()
	return Result{Path: "half"}, context.Cause(ctx)
}

func doNothing(context.Context, *Progress) (Result, error) { return Result{}, nil }

// The state of a task shows how its work ended, in memory and after a restart.
func TestATaskShowsHowItsWorkEnded(t *testing.T) {
	full := chat.Errorf(chat.CodeNoSpace, "export.write", "The disk is full.").WithHint("free some")
	for name, c := range map[string]struct {
		run   Run
		stop  bool
		state State
		code  chat.Code
		path  string
	}{
		"done":                    {run: func(context.Context, *Progress) (Result, error) { return Result{Path: "/out"}, nil }, state: Done, path: "/out"},
		"failed":                  {run: func(context.Context, *Progress) (Result, error) { return Result{Path: "/half"}, full }, state: Failed, code: chat.CodeNoSpace, path: "/half"},
		"an error without a code": {run: func(context.Context, *Progress) (Result, error) { return Result{}, errors.New("odd") }, state: Failed, code: chat.CodeInternal},
		"a panic":                 {run: func(context.Context, *Progress) (Result, error) { panic("my secret") }, state: Failed, code: chat.CodeInternal},
		"cancelled":               {run: untilStopped, stop: true, state: Cancelled, path: "half"},
		"cancelled, but done":     {run: func(ctx context.Context, _ *Progress) (Result, error) { <-ctx.Done(); return Result{}, nil }, stop: true, state: Done},
		"cancelled, but failed":   {run: func(ctx context.Context, _ *Progress) (Result, error) { <-ctx.Done(); return Result{}, full }, stop: true, state: Failed, code: chat.CodeNoSpace},
		"cancelled, with another error": {run: func(ctx context.Context, _ *Progress) (Result, error) {
			<-ctx.Done()
			return Result{}, context.Canceled
		}, stop: true, state: Cancelled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSettings()
				m, _ := open(t, s)
				id := start(t, m, Spec{Kind: Export, Title: chat.Quote("Export")}, c.run).ID
				synctest.Wait()
				if c.stop {
					if err := m.Cancel(id); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := m.Wait(t.Context(), id); err != nil {
					t.Fatal(err)
				}
				restarted, _ := open(t, s)
				for when, got := range map[string]Task{"now": taskByID(t, m, id), "after a restart": taskByID(t, restarted, id)} {
					if got.State != c.state || got.Result.Path != c.path || got.EndedAt.IsZero() {
						t.Errorf("%s: %+v, want %s with path %q", when, got, c.state, c.path)
					}
					if (got.Error == nil) != (c.code == "") || got.Error != nil && got.Error.Code != c.code {
						t.Errorf("%s: error %+v, want code %q", when, got.Error, c.code)
					}
					if got.Error != nil && (got.Error.Message == "" || strings.Contains(got.Error.Error(), "secret")) {
						t.Errorf("%s: the error is %q", when, got.Error)
					}
				}
				if got := taskByID(t, restarted, id); c.code == chat.CodeNoSpace && got.Error.Hint != "free some" {
					t.Errorf("the hint is lost: %+v", got.Error)
				}
			})
		})
	}
}

// At most two tasks run, in the order in which they were started; exclusive ones run alone.
func TestOrderOfTasks(t *testing.T) {
	for name, c := range map[string]struct {
		kinds []Kind
		first string // indexes of the tasks that run first
		next  string // indexes of the tasks that run after the first has ended
	}{
		"two at once":               {[]Kind{Export, Export, Export, Export}, "01", "12"},
		"imports one after another": {[]Kind{Import, Import, Export}, "02", "12"},
		"a move alone":              {[]Kind{Move, Export, Export}, "0", "12"},
		"a move waits for all":      {[]Kind{Export, Import, Move, Export}, "01", "1"},
		"nothing overtakes a move":  {[]Kind{Export, Move, Export}, "0", "1"},
		"a restore and a move":      {[]Kind{Restore, Move}, "0", "1"},
		"a backup beside an import": {[]Kind{Backup, Import, Backup}, "01", "12"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, _ := open(t, newSettings())
				running := map[int]bool{}
				var mu sync.Mutex
				runningTasks := func() string {
					synctest.Wait()
					mu.Lock()
					defer mu.Unlock()
					var s string
					for _, i := range slices.Sorted(maps.Keys(running)) {
						s += fmt.Sprint(i)
					}
					return s
				}
				var ids []string
				for i, kind := range c.kinds {
					ids = append(ids, start(t, m, Spec{Kind: kind}, func(ctx context.Context, _ *Progress) (Result, error) {
						mu.Lock()
						running[i] = true
						mu.Unlock()
						defer func() { mu.Lock(); delete(running, i); mu.Unlock() }()
						<-ctx.Done()
						return Result{}, ctx.Err()
					}).ID)
				}
				if got := runningTasks(); got != c.first {
					t.Errorf("%s run, want %s", got, c.first)
				}
				for i, id := range ids {
					if got := taskByID(t, m, id); got.State != Running || got.Waiting == strings.Contains(c.first, fmt.Sprint(i)) {
						t.Errorf("%d: %+v", i, got)
					}
				}
				if err := m.Cancel(ids[0]); err != nil {
					t.Fatal(err)
				}
				if got := runningTasks(); got != c.next {
					t.Errorf("then %s run, want %s", got, c.next)
				}
			})
		})
	}
}

// TestARestartIsNotCancelled: a firm task cannot be cancelled once it runs, because the program restarts for it.
func TestARestartIsNotCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := open(t, newSettings())
		w := start(t, m, Spec{Kind: Move, Firm: true}, untilStopped)
		synctest.Wait()
		if err := m.Cancel(w.ID); chat.CodeOf(err) != chat.CodeConflict || chat.AsError(err).Hint == "" {
			t.Error(err)
		}
		if got := taskByID(t, m, w.ID); got.State != Running {
			t.Errorf("it is %s", got.State)
		}
	})
}

func TestCancelWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := open(t, newSettings())
		start(t, m, Spec{Kind: Export}, untilStopped)
		move := start(t, m, Spec{Kind: Move}, untilStopped)
		last := start(t, m, Spec{Kind: Export}, doNothing)
		if err := m.Cancel(move.ID); err != nil {
			t.Fatal(err)
		}
		if got, err := m.Wait(t.Context(), last.ID); err != nil || got.State != Done {
			t.Errorf("%+v, %v", got, err)
		}
		if got := taskByID(t, m, move.ID); got.State != Cancelled || got.Waiting {
			t.Errorf("%+v", got)
		}
	})
}

// However often work reports its progress, the window is notified ten times a second, including the last report, and
// the database is written every few seconds.
func TestProgressIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSettings()
		m, c := open(t, s)
		started := time.Now()
		var id string
		task := start(t, m, Spec{Kind: Import}, func(ctx context.Context, p *Progress) (Result, error) {
			for i := range int64(20_000) { // a thousand a second
				p.Count(i+1, 20_000, "sessions")
				p.Detail(strings.Repeat("ß", 500))
				time.Sleep(time.Millisecond)
			}
			<-ctx.Done()
			return Result{}, ctx.Err()
		})
		id = task.ID
		time.Sleep(25 * time.Second)
		synctest.Wait()
		if got := taskByID(t, m, id); got.Done != 20_000 || got.Total != 20_000 || got.Unit != "sessions" || len([]rune(got.Detail)) != maxDetail {
			t.Errorf("%+v", got)
		}
		if n := c.count(); n < 150 || n > 205 {
			t.Errorf("the window got %d reports in 20 seconds", n)
		}
		if last := c.all[len(c.all)-1]; last.Sub(started) < 19*time.Second {
			t.Errorf("it was last reported after %s", last.Sub(started))
		}
		if s.writes < 4 || s.writes > 6 {
			t.Errorf("it was stored %d times in 20 seconds", s.writes)
		}
	})
}

// If the program ends in the middle, the next start shows its tasks as interrupted, with the last stored progress; an
// import can be resumed.
func TestRestart(t *testing.T) {
	for name, stop := range map[string]func(*Manager){
		"in order":  func(m *Manager) { _ = m.Close(context.Background()) },
		"by a kill": func(*Manager) {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSettings()
				first, _ := open(t, s)
				slow := func(ctx context.Context, p *Progress) (Result, error) {
					p.Count(7, 10, "sessions")
					return untilStopped(ctx, p)
				}
				imported := start(t, first, Spec{Kind: Import, Title: chat.Quote("Import a.json"), Input: json.RawMessage(`{"path":"a.json"}`)}, slow)
				waiting := start(t, first, Spec{Kind: Import, Input: json.RawMessage(`{"path":"b.json"}`)}, doNothing)
				export := start(t, first, Spec{Kind: Export}, slow)
				time.Sleep(time.Minute)
				frozen := maps.Clone(s.stored)
				stop(first)
				if name == "by a kill" {
					s = &settings{stored: frozen}
				}
				m, _ := open(t, s)
				for _, task := range []Task{imported, waiting, export} {
					got := taskByID(t, m, task.ID)
					if got.State != Interrupted || got.EndedAt.IsZero() || got.Title != task.Title || got.Resumable() != (task.Kind == Import) {
						t.Errorf("%+v", got)
					}
				}
				var resumed string
				m.SetResumer(Import, func(input json.RawMessage) (Run, error) {
					return func(context.Context, *Progress) (Result, error) {
						resumed = string(input)
						return Result{Report: json.RawMessage(`{"sessions":3}`)}, nil
					}, nil
				})
				got, err := m.Resume(imported.ID)
				if err != nil || got.State != Running || got.ID != imported.ID {
					t.Fatalf("%+v, %v", got, err)
				}
				got, err = m.Wait(t.Context(), imported.ID)
				if err != nil || got.State != Done || resumed != `{"path":"a.json"}` || string(got.Result.Report) != `{"sessions":3}` {
					t.Errorf("%+v, %v, resumed %s", got, err, resumed)
				}
				if _, err := m.Resume(export.ID); chat.CodeOf(err) != chat.CodeConflict {
					t.Errorf("an export was resumed: %v", err)
				}
				if _, err := m.Resume(imported.ID); chat.CodeOf(err) != chat.CodeConflict {
					t.Errorf("a finished task was resumed: %v", err)
				}
				if _, err := m.Resume("no such"); chat.CodeOf(err) != chat.CodeNotFound {
					t.Errorf("%v", err)
				}
			})
		})
	}
}

// Close waits for a limited time; unfinished tasks are shown as interrupted at the next start.
func TestCloseIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSettings()
		m, _ := open(t, s)
		release := make(chan struct{})
		stuck := start(t, m, Spec{Kind: Export}, func(context.Context, *Progress) (Result, error) { <-release; return Result{}, nil })
		quick := start(t, m, Spec{Kind: Import}, untilStopped)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		started := time.Now()
		if err := m.Close(ctx); chat.CodeOf(err) != chat.CodeTimeout {
			t.Errorf("%v", err)
		}
		if waited := time.Since(started); waited != 3*time.Second {
			t.Errorf("it waited %s", waited)
		}
		if got := taskByID(t, m, quick.ID); got.State != Interrupted {
			t.Errorf("%+v", got)
		}
		if _, err := m.Start(Spec{Kind: Export}, doNothing); chat.CodeOf(err) != chat.CodeCancelled {
			t.Errorf("something was started after the end: %v", err)
		}
		next, _ := open(t, &settings{stored: maps.Clone(s.stored)})
		if got := taskByID(t, next, stuck.ID); got.State != Interrupted {
			t.Errorf("%+v", got)
		}
		close(release)
		synctest.Wait()
	})
}

// Ended tasks stay until they are dismissed, but only the newest fifty; failed ones are kept longer than successful
// ones.
func TestEndedTasksAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSettings()
		m, _ := open(t, s)
		bad := start(t, m, Spec{Kind: Import}, func(context.Context, *Progress) (Result, error) { return Result{}, errors.New("no") })
		synctest.Wait()
		var ids []string
		for range keptEnded + 10 {
			ids = append(ids, start(t, m, Spec{Kind: Export}, doNothing).ID)
			time.Sleep(time.Second)
		}
		list := m.List()
		if len(list) != keptEnded || len(s.stored) != keptEnded {
			t.Fatalf("%d are listed, %d stored", len(list), len(s.stored))
		}
		if list[0].ID != ids[len(ids)-1] || list[keptEnded-1].ID != bad.ID {
			t.Errorf("first %s, last %s", list[0].ID, list[keptEnded-1].ID)
		}
		if _, ok := m.Task(ids[0]); ok {
			t.Error("the oldest task still exists")
		}
		for _, task := range list {
			if err := m.Dismiss(task.ID); err != nil {
				t.Fatal(err)
			}
		}
		if len(m.List()) != 0 || len(s.stored) != 0 {
			t.Errorf("%d listed and %d stored remain", len(m.List()), len(s.stored))
		}
		if err := m.Dismiss(bad.ID); err != nil {
			t.Errorf("dismissing twice: %v", err)
		}
	})
}

func TestRunningIsNotDismissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := open(t, newSettings())
		id := start(t, m, Spec{Kind: Export}, untilStopped).ID
		if err := m.Dismiss(id); chat.CodeOf(err) != chat.CodeBusy {
			t.Errorf("%v", err)
		}
		if err := m.Cancel("no such"); chat.CodeOf(err) != chat.CodeNotFound {
			t.Errorf("%v", err)
		}
	})
}

// The number of waiting tasks is limited; another one is refused and not stored.
func TestTooManyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := open(t, newSettings())
		for range MaxOpen {
			start(t, m, Spec{Kind: Export}, untilStopped)
		}
		if _, err := m.Start(Spec{Kind: Export}, doNothing); chat.CodeOf(err) != chat.CodeBusy {
			t.Errorf("%v", err)
		}
		synctest.Wait()
		if running, waiting := m.Open(); running != atOnce || waiting != MaxOpen-atOnce {
			t.Errorf("%d run, %d wait", running, waiting)
		}
	})
}

// If nothing can be stored, the work is done anyway.
func TestFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := open(t, &settings{stored: map[string]string{}, full: true})
		id := start(t, m, Spec{Kind: Export}, func(context.Context, *Progress) (Result, error) { return Result{Path: "/elsewhere"}, nil }).ID
		if got, err := m.Wait(t.Context(), id); err != nil || got.State != Done || got.Result.Path != "/elsewhere" {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// After a permanent deletion, no title or file name of the session is listed or written again. The deletion itself
// removes the records.
func TestForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSettings()
		m, _ := open(t, s)
		start(t, m, Spec{Kind: Export, Title: chat.Quote("Export of my secret"), Session: "01KEX"}, doNothing)
		start(t, m, Spec{Kind: Export, Title: chat.Quote("Export of my secret"), Session: "01KEX"}, untilStopped)
		start(t, m, Spec{Kind: Import, Title: chat.Quote("Import my secret")}, func(context.Context, *Progress) (Result, error) {
			return Result{Report: json.RawMessage(`{"first":"01KEX"}`)}, nil
		})
		start(t, m, Spec{Kind: Import}, func(context.Context, *Progress) (Result, error) {
			return Result{Report: json.RawMessage(`{"skipped":[{"title":"of \"my secret\""}]}`)}, nil
		})
		start(t, m, Spec{Kind: Export, Title: chat.Quote("Export all of -my secret-.md")}, doNothing) // a file named after the old title
		other := start(t, m, Spec{Kind: Export, Title: chat.Quote("Export of another"), Session: "two"}, doNothing)
		stopped := start(t, m, Spec{Kind: Import}, func(ctx context.Context, p *Progress) (Result, error) {
			p.Detail("3 sessions. of my secret")
			return untilStopped(ctx, p)
		})
		time.Sleep(2 * saveEvery)
		if err := m.Cancel(stopped.ID); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := m.Forget(t.Context(), "01KEX", chat.DeletionPreview{Session: "01KEX", Names: []string{"another title", `of "my secret"`}}.NamedIn); err != nil {
			t.Fatal(err)
		}
		if list := m.List(); len(list) != 2 || list[1].ID != other.ID && list[0].ID != other.ID {
			t.Errorf("%+v", list)
		}
		if len(s.stored) != 7 {
			t.Errorf("%d records remain for the deletion", len(s.stored))
		}
		named := chat.DeletionPreview{Session: "01KEX", Names: []string{"another title", `of "my secret"`}}
		for key, text := range s.stored {
			if strings.Contains(text, "running") {
				t.Errorf("an old record: %s", text)
			}
			if named.NamedIn(text) {
				delete(s.stored, key)
			}
		}
		time.Sleep(2 * saveEvery)
		synctest.Wait()
		for _, text := range s.stored {
			if strings.Contains(text, "secret") {
				t.Errorf("stored: %s", text)
			}
		}
	})
}

// Records that cannot be read, because they are damaged or from another version, are skipped and kept.
func TestUnreadableRecord(t *testing.T) {
	s := newSettings()
	s.stored[prefix+"x"] = "{"
	s.stored[prefix+"y"] = `{"id":"z","state":"done"}`
	s.stored["other"] = "1"
	m, _ := open(t, s)
	if len(m.List()) != 0 || len(s.stored) != 3 {
		t.Errorf("%v, %v", m.List(), s.stored)
	}
}

// Concurrent use keeps the state consistent; run it with the race detector.
func TestConcurrentUseOfTasks(t *testing.T) {
	s := newSettings()
	m, _ := open(t, s)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 20 {
				task, err := m.Start(Spec{Kind: []Kind{Export, Import, Move}[(i+n)%3]}, func(ctx context.Context, p *Progress) (Result, error) {
					for k := range int64(5) {
						p.Count(k, 5, "turns")
					}
					return Result{}, ctx.Err()
				})
				if err != nil {
					t.Error(err)
					return
				}
				if n%3 == 0 {
					_ = m.Cancel(task.ID)
				}
				m.List()
				if _, err := m.Wait(t.Context(), task.ID); err != nil && chat.CodeOf(err) != chat.CodeNotFound {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if running, waiting := m.Open(); running+waiting != 0 {
		t.Errorf("%d run, %d wait", running, waiting)
	}
}

// Task returns the task with an id.
func (m *Manager) Task(id string) (Task, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w, ok := m.tasks[id]
	if !ok {
		return Task{}, false
	}
	return w.view(), true
}
