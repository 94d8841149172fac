package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/api"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/cli"
	"contextinfinity/backend/store"
	"contextinfinity/test/harness"
)

// socketDir returns a data directory whose path is short enough for a socket in it.
func socketDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ci-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// watchRaise returns a channel that reports each request to bring the window to the front, until the end of the test.
func watchRaise(t *testing.T) <-chan struct{} {
	t.Helper()
	raised := make(chan struct{}, 256)
	before := raise
	raise = func() { raised <- struct{}{} }
	t.Cleanup(func() { raise = before })
	return raised
}

// A second start with the same data, even by another path, opens no window: it brings the first one to the front and
// exits successfully. Commands are run by the window.
func TestASecondWindowRaisesTheFirst(t *testing.T) {
	raised := watchRaise(t)
	dir := socketDir(t)
	p := openPage(t, dir)
	link := filepath.Join(socketDir(t), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skipf("no links here: %v", err)
	}
	h := harness.NewHome(t, harness.Shipped(t), "").With("DISPLAY=:99")
	for _, path := range []string{dir, link} {
		if r := h.Run("--data-dir", path).Exits(0); r.Stdout != "" || r.Stderr != "" {
			t.Errorf("it printed %q and %q", r.Stdout, r.Stderr)
		}
		select {
		case <-raised:
		default:
			t.Error("the first window was not brought to the front")
		}
	}
	config := filepath.Join(dir, "config.toml")
	if _, err := os.Stat(config); os.IsNotExist(err) {
		harness.WriteFile(t, config, nil)
	}
	sent := h.OK("send", "--new", "--json", "--data-dir", link, "--config", config, "Said in a terminal.").Sent()
	p.eventually("what a command did was not reported to the window", func() bool {
		_, changes := p.seen()
		return slices.ContainsFunc(changes, func(c api.Change) bool { return c.ID == sent.TurnID })
	})
	p.window.Close()
	if address := store.WriterAddress(dir); address != "" {
		t.Errorf("after the window was closed, its address is still recorded: %s", address)
	}
}

// Files that are passed to a second start reach the open window, with absolute paths and their types; those of the
// first start wait for the page (SPEC 4).
func TestFilesOfAStartReachTheWindow(t *testing.T) {
	raised := watchRaise(t)
	dir := socketDir(t)
	w := window(cli.OpenOptions{DataDir: dir, ConfigPath: filepath.Join(dir, "config.toml"), NewChat: true}, handover{}, nil)
	t.Cleanup(w.Close)
	h := harness.NewHome(t, harness.Shipped(t), "").With("DISPLAY=:99")
	transcript := filepath.Join(dir, "a line.jsonl")
	if err := os.WriteFile(transcript, []byte(`{"role":"user","content":"Hello"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := h.Run("--data-dir", dir, transcript, dir, transcript).Exits(0); r.Stdout+r.Stderr != "" {
		t.Errorf("it printed %q and %q", r.Stdout, r.Stderr)
	}
	if len(raised) != 1 {
		t.Errorf("the window was brought to the front %d times", len(raised))
	}
	work := serviceIn[*api.Work](w)
	list, err := work.WindowRequests()
	if err != nil || len(list) != 2 || list[0].Kind != "new_chat" || list[1].Kind != "files" {
		t.Fatalf("%+v (%v)", list, err)
	}
	files := list[1].Files
	if len(files) != 3 || files[0].Path != transcript || files[0].Kind != "transcript" || files[1].Kind != "folder" || list[1].X != -1 {
		t.Errorf("%+v", files)
	}
	// A path that is not a file is a usage error, as usual, and does not reach the window.
	h.Run("--data-dir", dir, filepath.Join(dir, "none.cinf")).Exits(2)
	if list, _ := work.WindowRequests(); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}

// If a terminal has the data open, the error of a window says so.
func TestAWindowWhileATerminalHasTheData(t *testing.T) {
	h := harness.NewHome(t, harness.Shipped(t), "")
	other := h.Host()
	w := window(cli.OpenOptions{DataDir: h.DataDir(), ConfigPath: h.ConfigFile()}, handover{}, nil)
	if w.ShownElsewhere {
		t.Fatal("the start reports a window that does not exist")
	}
	w.Close()
	err := raiseOther(cli.OpenOptions{DataDir: h.DataDir(), ConfigPath: h.ConfigFile()}, nil)
	if chat.CodeOf(err) != chat.CodeLocked || !strings.Contains(err.Error(), "terminal") {
		t.Errorf("%v", err)
	}
	other.Leave()
}

// If the program is started twice at the same time, exactly one start opens the data, and the other brings that window
// to the front.
func TestTwoStartsAtOnce(t *testing.T) {
	raised := watchRaise(t)
	dir := socketDir(t)
	for i := range 50 {
		results := make(chan startResult, 2)
		for range 2 {
			go func() {
				w := window(cli.OpenOptions{DataDir: dir, ConfigPath: filepath.Join(dir, "config.toml")}, handover{}, nil)
				results <- startResult{w.ShownElsewhere, w.Close}
			}()
		}
		opened := 0
		var closers []func()
		for range 2 {
			if r := <-results; !r.elsewhere {
				opened++
				closers = append(closers, r.close)
			}
		}
		for _, closeWindow := range closers {
			closeWindow()
		}
		if opened != 1 || len(raised) != 1 {
			t.Fatalf("round %d: %d starts opened a window, %d windows were brought to the front", i, opened, len(raised))
		}
		<-raised
	}
}

// startResult is the result of one of two starts.
type startResult struct {
	elsewhere bool
	close     func()
}
