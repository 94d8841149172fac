package builtin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"contextinfinity/backend/atrest"
	"contextinfinity/backend/internal/childenv"
	"contextinfinity/backend/internal/untrusted"
	"contextinfinity/backend/tools"
)

// Confinement is how a command is confined to its folder.
type Confinement string

const (
	// ConfinedBubblewrap: it only sees the system's programs and its folder, and has no network.
	ConfinedBubblewrap Confinement = "bubblewrap"
	// ConfinedLandlock: the same for files, and no other program of the user can be reached through its socket; the
	// network is not blocked.
	ConfinedLandlock Confinement = "landlock"
	// ConfinedNot: it can do everything the user can, so each call needs approval.
	ConfinedNot Confinement = "none"
)

// description returns, for people and models, what a command may do.
func (c Confinement) description() string {
	switch c {
	case ConfinedBubblewrap:
		return "It is confined (bubblewrap): it can read the system's programs, read and write that folder and nothing " +
			"else, and there is no network."
	case ConfinedLandlock:
		return "It is confined (Landlock): it can read the system's programs, and read and write that folder and nothing " +
			"else. It cannot connect to other programs of the user. The network is not cut off."
	}
	return "It is not confined: it can read and change everything that the user can, and reach the network. The user is " +
		"asked about each call."
}

// Limits of a command, and the shell that runs it.
const (
	maxCommand      = 32 << 10
	defaultTimeout  = 60 * time.Second
	maxTimeout      = time.Hour
	maxOutput       = 192 << 10 // bytes kept: the first two thirds and the last third
	probeTimeout    = 5 * time.Second
	terminationTime = 2 * time.Second // time to terminate the command with all its processes
	setupTime       = 5 * time.Second // time for preparation and cleanup: its folder, its process
	commandShell    = "/bin/sh"
)

// Commands runs commands.
type Commands struct {
	// Program is the path of this program: it runs the command in a child process, which it confines if bubblewrap
	// does not work. Empty: no such process is used.
	Program string

	probed  sync.Once
	confine Confinement
	bwrap   string // path of bubblewrap
	// probe replaces detect in tests.
	probe func() (Confinement, string)
}

// Confinement returns the confinement that this system supports. It is detected once.
func (k *Commands) Confinement() Confinement {
	k.probed.Do(func() {
		if k.probe == nil {
			k.probe = k.detect
		}
		k.confine, k.bwrap = k.probe()
	})
	return k.confine
}

const commandSchema = `{"type":"object","properties":{
	"command":{"type":"string","description":"The command line for the shell."},
	"folder":{"type":"string","description":"Working directory: the full path of one of the folders, or of a folder in it. Optional if there is only one."},
	"timeout_s":{"type":"integer","minimum":1,"maximum":3600,"description":"Time limit in seconds; default 60."}},
	"required":["command"],"additionalProperties":false}`

func (k *Commands) tool(usable []folder, onlyIn string) tool {
	c := k.Confinement()
	return tool{
		definition: define("run_command", "Run a command", "Runs a shell command in a folder, and returns its exit code and output. "+c.description()+onlyIn, commandSchema, true),
		asksEach:   c == ConfinedNot,
		limit:      commandLimit,
		run:        func(ctx context.Context, call tools.Call) (tools.Output, error) { return k.run(ctx, usable, call) },
	}
}

type commandArguments struct {
	Command string `json:"command"`
	Folder  string `json:"folder"`
	Timeout int    `json:"timeout_s"`
}

func (a commandArguments) timeout() time.Duration {
	if a.Timeout <= 0 {
		return defaultTimeout
	}
	return min(time.Duration(a.Timeout)*time.Second, maxTimeout)
}

// commandLimit returns the maximum duration of a call: the command's own limit, after which it is terminated and the
// result says so, plus the time for that.
func commandLimit(c tools.Call) time.Duration {
	var a commandArguments
	if arguments(c, &a) != nil {
		return 0
	}
	return a.timeout() + setupTime + 2*terminationTime
}

func (k *Commands) run(ctx context.Context, usable []folder, c tools.Call) (tools.Output, error) {
	var a commandArguments
	err := arguments(c, &a)
	if err == nil && (strings.TrimSpace(a.Command) == "" || len(a.Command) > maxCommand || strings.ContainsRune(a.Command, 0)) {
		err = refusal("the command is empty, or longer than %d KB", maxCommand>>10)
	}
	var base folder
	var rel string
	if err == nil {
		base, rel, err = locate(usable, a.Folder)
	}
	if err == nil {
		err = checkFolder(base, rel)
	}
	if err != nil {
		return failure("%s", fileError(err)), nil
	}
	return k.execute(ctx, workDir{root: base.real, rel: rel}, a)
}

// workDir is where a command runs: a configured folder, and the relative path of a folder inside it.
type workDir struct{ root, rel string }

func (d workDir) path() string { return filepath.Join(d.root, d.rel) }

// checkFolder refuses a path that is not a folder inside the configured one.
func checkFolder(base folder, rel string) error {
	root, err := os.OpenRoot(base.real)
	if err != nil {
		return err
	}
	defer root.Close() // nothing was written through it
	info, err := root.Stat(rel)
	if err == nil && !info.IsDir() {
		err = refusal("it is not a folder")
	}
	return err
}

// execute runs a command to its end, or terminates it. The outcome is unknown only if the call's context ended.
func (k *Commands) execute(ctx context.Context, dir workDir, a commandArguments) (tools.Output, error) {
	folder, err := atrest.MakeFolder(os.TempDir(), atrest.CommandPrefix)
	if err != nil {
		return tools.Output{}, errors.Join(tools.ErrNotStarted, err)
	}
	defer func() { _ = folder.Remove() }() // the command's temporary files are not needed
	temporary := folder.File("tmp")        // the lock stays out of its reach
	if err := os.Mkdir(temporary, 0o700); err != nil {
		return tools.Output{}, errors.Join(tools.ErrNotStarted, err)
	}
	cmd := k.command(dir, temporary, a.Command)
	printed := &output{}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = printed, printed, terminationTime
	ended, err := start(cmd)
	if err != nil {
		return tools.Output{}, fmt.Errorf("%w: the command could not be run: %w", tools.ErrNotStarted, err)
	}
	limit := time.NewTimer(a.timeout())
	defer limit.Stop()
	select {
	case err = <-ended:
		endGroup(cmd, true) // processes left running
		return commandResult(err, printed.String()), nil
	case <-limit.C:
		stop(cmd, ended)
		return failure("The command was stopped after %s; what it did before that was not undone. Its output:\n%s", a.timeout(), printed.String()), nil
	case <-ctx.Done():
		stop(cmd, ended)
		return tools.Output{}, ctx.Err()
	}
}

// start starts a command and returns a channel for its end. A thread is reserved for it: the system kills the command
// when the thread that started it ends.
func start(cmd *exec.Cmd) (ended <-chan error, err error) {
	started, done := make(chan error, 1), make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			done <- cmd.Wait()
		}
	}()
	return done, <-started
}

// stop terminates a command with all its processes, and waits for it.
func stop(cmd *exec.Cmd, ended <-chan error) {
	endGroup(cmd, false)
	select {
	case <-ended: //nolint:errcheck // the command was stopped, so its exit status says nothing
		endGroup(cmd, true)
		return
	case <-time.After(terminationTime):
	}
	endGroup(cmd, true)
	<-ended //nolint:errcheck // as above
}

// commandResult returns the result of a command that was not stopped.
func commandResult(err error, printed string) tools.Output {
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return text("exit code 0\n" + printed)
	case errors.As(err, &exit) && exit.Exited():
		return failure("exit code %d\n%s", exit.ExitCode(), printed)
	}
	return failure("The command was terminated by a signal (%s). Its output:\n%s", err, printed)
}

// environment returns the part of the program's environment for a command, without keys.
func environment(home, temporary string) []string {
	env := childenv.Minimal(os.Environ())
	if home != "" {
		env = append(env, "HOME="+home)
	}
	return append(env, "TMPDIR="+temporary)
}

// output keeps the beginning and the end of the output.
type output struct {
	mu      sync.Mutex
	head    []byte
	tail    []byte // the newest bytes, at most twice keptTail
	dropped int    // number of bytes that were dropped
}

const (
	keptHead = maxOutput * 2 / 3
	keptTail = maxOutput / 3
)

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := len(p)
	if space := keptHead - len(o.head); space > 0 {
		take := min(space, len(p))
		o.head, p = append(o.head, p[:take]...), p[take:]
	}
	o.tail = append(o.tail, p...)
	if excess := len(o.tail) - keptTail; excess > keptTail {
		o.dropped += excess
		o.tail = append(o.tail[:0], o.tail[excess:]...)
	}
	return n, nil
}

// String returns the output as text without invisible characters.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	dropped, tail := o.dropped, o.tail
	if excess := len(tail) - keptTail; excess > 0 {
		dropped, tail = dropped+excess, tail[excess:]
	}
	if dropped == 0 {
		return printable(append(append([]byte{}, o.head...), tail...))
	}
	return fmt.Sprintf("%s\n[%d bytes are left out]\n%s", printable(o.head), dropped, printable(tail))
}

func printable(b []byte) string { return untrusted.Visible(strings.ToValidUTF8(string(b), "\uFFFD")) }

// CommandArgument is the first argument of a child process of the program that only runs a command.
const CommandArgument = "run-confined"

// RunsCommand reports whether the arguments are those of a child process that only runs a command.
func RunsCommand(args []string) bool { return len(args) == 5 && args[0] == CommandArgument }
