package mcpclient

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/internal/childenv"
)

// child is a server that runs as a program, in its own process group: npx, uvx and sh start the server as a child
// process, which must end with them.
type child struct {
	cmd     *exec.Cmd
	group   group
	unwatch func()
	stdin   *os.File
	filter  *filter
	limits  Limits

	exited    chan struct{} // closed when the program has ended and failed is set
	failed    error
	unwatched chan struct{} // closed when the watcher of its group has stopped
	copied    sync.WaitGroup
	drained   chan struct{} // closed when its output is no longer read
	once      sync.Once
	stopped   chan struct{}
}

// startChild starts the program of a server whose placeholders are filled in. The caller must stop it.
func (s *server) startChild(cfg config.MCPServer, t *traffic) (*child, error) {
	limits, log := s.m.limits, s.log
	cfg, env, err := s.resolve(cfg, environment(s.m.deps.Environ(), cfg.Env))
	if err != nil {
		return nil, &permanentError{chat.Say("The program %q was not found. Install it, or give its full path.", cfg.Command), err}
	}
	dir, err := folder(cfg.Cwd)
	if err != nil {
		return nil, &permanentError{chat.Say("It cannot be started in the folder %q, which does not exist.", cfg.Cwd), err}
	}
	cmd := exec.Command(cfg.Command, cfg.Args...)
	cmd.Env, cmd.Dir = env, dir
	c := &child{cmd: cmd, limits: limits, filter: newFilter(limits.Frame, log, t), exited: make(chan struct{}), unwatched: make(chan struct{}), drained: make(chan struct{}), stopped: make(chan struct{})}
	var stdout, stderr *os.File
	if c.stdin, stdout, stderr, err = c.start(); err != nil {
		return nil, &permanentError{chat.Say("The program %q could not be started.", cfg.Command), err}
	}
	c.copied.Go(func() { c.filter.run(stdout); _ = stdout.Close() })
	c.copied.Go(func() { copyLog(stderr, log); _ = stderr.Close() })
	go func() { c.copied.Wait(); close(c.drained) }()
	go c.wait(stdout, stderr)
	return c, nil
}

// start creates the pipes as files, so that waiting for the program's end does not wait for the pipes to be closed:
// an orphaned child process may keep them open.
func (c *child) start() (stdin, stdout, stderr *os.File, err error) {
	var all []*os.File
	pipe := func() (r, w *os.File) {
		if err != nil {
			return nil, nil
		}
		if r, w, err = os.Pipe(); err == nil {
			all = append(all, r, w)
		}
		return r, w
	}
	inRead, inWrite := pipe()
	outRead, outWrite := pipe()
	errRead, errWrite := pipe()
	if err == nil {
		c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = inRead, outWrite, errWrite
		prepare(c.cmd)
		err = c.cmd.Start()
	}
	if err != nil {
		for _, f := range all {
			_ = f.Close()
		}
		return nil, nil, nil, err
	}
	for _, f := range []*os.File{inRead, outWrite, errWrite} {
		_ = f.Close()
	}
	c.group = groupOf(c.cmd.Process)
	c.unwatch = c.group.watch()
	return inWrite, outRead, errRead, nil
}

// wait kills the program's child processes as soon as it has ended. It does not wait for those outside its group that
// keep the output open.
func (c *child) wait(stdout, stderr *os.File) {
	c.failed = c.cmd.Wait()
	c.group.kill()
	close(c.exited)
	c.unwatch()
	close(c.unwatched)
	timer := time.NewTimer(c.limits.Terminate)
	defer timer.Stop()
	select {
	case <-c.drained:
	case <-timer.C:
		_, _ = stdout.Close(), stderr.Close()
	}
}

// Connect creates the protocol's connection over the program's input and output.
func (c *child) Connect(ctx context.Context) (mcp.Connection, error) {
	t := &mcp.IOTransport{Reader: c.filter, Writer: &probeWriter{c}, MaxLineLength: c.limits.Frame + 1024}
	return t.Connect(ctx)
}

// probeWriter also passes sent messages to the filter, which watches for probes.
type probeWriter struct{ c *child }

func (w *probeWriter) Write(p []byte) (int, error) {
	w.c.filter.watchProbe(p, w.c.limits.Discover)
	isAnswer := w.c.filter.traffic.isAnswer(p)
	_ = w.c.stdin.SetWriteDeadline(time.Now().Add(w.c.limits.Write)) // not all systems support deadlines for pipes
	n, err := w.c.stdin.Write(p)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.c.filter.traffic.abort(errStuck) // only half a message was written, so nothing can follow
		return n, errors.Join(errStuck, err)
	case err == nil && isAnswer:
		w.c.filter.traffic.countAnswer()
	}
	return n, err
}

func (w *probeWriter) Close() error { return w.c.stdin.Close() }

// stop ends the program and its child processes: its input is closed, then it is asked to terminate, then it is
// killed. It returns when none of them is left.
func (c *child) stop() {
	c.once.Do(func() {
		_ = c.stdin.Close()
		for _, end := range []func(){c.group.terminate, c.group.kill} {
			if c.ended(c.limits.Terminate) {
				break
			}
			end()
		}
		_ = c.cmd.Process.Kill() // without a group
		<-c.exited
		<-c.unwatched
		_ = c.filter.Close()
		<-c.drained
		c.group.close()
		close(c.stopped)
	})
	<-c.stopped
}

func (c *child) ended(within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-c.exited:
		return true
	case <-timer.C:
		return false
	}
}

// exitReason says how the program ended; empty while it runs.
func (c *child) exitReason() string {
	select {
	case <-c.exited:
	default:
		return ""
	}
	var exit *exec.ExitError
	switch {
	case c.failed == nil:
		return "The program ended."
	case errors.As(c.failed, &exit):
		return "The program ended: " + exit.String() + "."
	}
	return "The program ended: " + c.failed.Error() + "."
}

// environment returns the part of this program's environment that a server gets, and the server's own variables.
func environment(environ []string, own map[string]string) []string {
	env := childenv.Tool(environ)
	for name, value := range own {
		env = append(env, name+"="+value) // the later of two wins
	}
	return env
}

func folder(cwd string) (string, error) {
	cwd = cmp.Or(cwd, "~")
	dir := expandHome(cwd)
	info, err := os.Stat(dir)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", os.ErrNotExist
	}
	return dir, nil
}
