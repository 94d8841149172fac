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

	"contextinfinity/backend/internal/childenv"
	"contextinfinity/backend/internal/untrusted"
	"contextinfinity/backend/tools"
)

// Confinement is how a command is confined to its folder.
type Confinement string

const (
	// ConfinedBubblewrap: it only sees the system's programs and its folder, and has no network.
	ConfinedBubblewrap Confinement = "bubblewrap"
	// ConfinedLandlock: the same for files; the network is not blocked.
	ConfinedLandlock Confinement = "landlock"
	// ConfinedNot: it can do everything the user can, so each call needs approval.
	ConfinedNot Confinement = "none"
)

// words describe, for people and models, what a command may do.
func (c Confinement) words() string {
	switch c {
	case ConfinedBubblewrap:
		return "It is confined (bubblewrap): it can read the system's programs, read and write that folder and nothing else, and there is no network."
	case ConfinedLandlock:
		return "It is confined (Landlock): it can read the system's programs, and read and write that folder and nothing else. The network is not cut off."
	}
	return "It is not confined: it can read and change everything that the user can, and reach the network. The user is asked about each call."
}

// Limits of a command.
const (
	maxCommand   = 32 << 10
	usualTime    = 60 * time.Second
	longestTime  = time.Hour
	maxOutput    = 192 << 10 // bytes kept: the first two thirds and the last third
	probeTime    = 5 * time.Second
	endingTime   = 2 * time.Second // time to terminate the command with all its processes
	startingTime = 5 * time.Second // time for preparation and cleanup: its folder, its process
	commandShell = "/bin/sh"
)

// Commands runs commands.
type Commands struct {
	// Program is the path of this program: it runs the command in a child process, which it confines if bubblewrap
	// does not work. Empty: no such process is used.
	Program string

	probed  sync.Once
	confine Confinement
	bwrap   string // its path
	// look detects the confinement; tests replace it.
	look func() (Confinement, string)
}

// Confinement is the confinement available here, detected once.
func (k *Commands) Confinement() Confinement {
	k.probed.Do(func() {
		if k.look == nil {
			k.look = k.detect
		}
		k.confine, k.bwrap = k.look()
	})
	return k.confine
}

const commandSchema = `{"type":"object","properties":{
	"command":{"type":"string","description":"The command line for the shell."},
	"folder":{"type":"string","description":"Working directory: the full path of one of the folders, or of a folder in it. Optional if there is only one."},
	"timeout_s":{"type":"integer","minimum":1,"maximum":3600,"description":"Time limit in seconds; default 60."}},
	"required":["command"],"additionalProperties":false}`

func (k *Commands) tool(usable []folder, in string) tool {
	c := k.Confinement()
	return tool{
		definition: define("run_command", "Run a command", "Runs a shell command in a folder, and returns its exit code and output. "+c.words()+in, commandSchema, true),
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

func (a commandArguments) time() time.Duration {
	if a.Timeout <= 0 {
		return usualTime
	}
	return min(time.Duration(a.Timeout)*time.Second, longestTime)
}

// commandLimit is the maximum duration of a call: the command's own limit, after which it is terminated and the
// result says so, plus the time for that.
func commandLimit(c tools.Call) time.Duration {
	var a commandArguments
	if arguments(c, &a) != nil {
		return 0
	}
	return a.time() + startingTime + 2*endingTime
}

func (k *Commands) run(ctx context.Context, usable []folder, c tools.Call) (tools.Output, error) {
	var a commandArguments
	err := arguments(c, &a)
	if err == nil && (strings.TrimSpace(a.Command) == "" || len(a.Command) > maxCommand || strings.ContainsRune(a.Command, 0)) {
		err = refusal("the command is empty, or longer than %d KB", maxCommand>>10)
	}
	var in folder
	var rel string
	if err == nil {
		in, rel, err = locate(usable, a.Folder)
	}
	if err == nil {
		err = isFolder(in, rel)
	}
	if err != nil {
		return failure("%s", fileError(err)), nil
	}
	return k.execute(ctx, place{root: in.real, at: rel}, a)
}

// place is where a command runs: a configured folder, and a folder inside it.
type place struct{ root, at string }

func (p place) dir() string { return filepath.Join(p.root, p.at) }

// isFolder refuses a path that is not a folder inside the configured one.
func isFolder(in folder, rel string) error {
	root, err := os.OpenRoot(in.real)
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
func (k *Commands) execute(ctx context.Context, in place, a commandArguments) (tools.Output, error) {
	temporary, err := os.MkdirTemp("", "contextinfinity-command-")
	if err != nil {
		return tools.Output{}, errors.Join(tools.ErrNotStarted, err)
	}
	defer func() { _ = os.RemoveAll(temporary) }() // the command's temporary files are not needed
	cmd := k.command(in, temporary, a.Command)
	printed := &output{}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = printed, printed, endingTime
	ended, err := start(cmd)
	if err != nil {
		return tools.Output{}, fmt.Errorf("%w: the command could not be run: %w", tools.ErrNotStarted, err)
	}
	limit := time.NewTimer(a.time())
	defer limit.Stop()
	select {
	case err = <-ended:
		endGroup(cmd, true) // processes left running
		return finished(err, printed.String()), nil
	case <-limit.C:
		stop(cmd, ended)
		return failure("The command was stopped after %s; what it did before that was not undone. Its output:\n%s", a.time(), printed.String()), nil
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
	case <-time.After(endingTime):
	}
	endGroup(cmd, true)
	<-ended //nolint:errcheck // as above
}

// finished is the result of a command that ended normally.
func finished(err error, printed string) tools.Output {
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return text("exit code 0\n" + printed)
	case errors.As(err, &exit) && exit.Exited():
		return failure("exit code %d\n%s", exit.ExitCode(), printed)
	}
	return failure("The command was ended by a signal (%s). Its output:\n%s", err, printed)
}

// environment is the part of the program's environment for a command, without keys.
func environment(home, temporary string) []string {
	env := childenv.Minimal(os.Environ())
	if home != "" {
		env = append(env, "HOME="+home)
	}
	return append(env, "TMPDIR="+temporary)
}

// output keeps the beginning and the end of the output.
type output struct {
	mu   sync.Mutex
	head []byte
	tail []byte // the newest bytes, at most twice what is kept
	left int    // dropped bytes
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
	if room := keptHead - len(o.head); room > 0 {
		take := min(room, len(p))
		o.head, p = append(o.head, p[:take]...), p[take:]
	}
	o.tail = append(o.tail, p...)
	if over := len(o.tail) - keptTail; over > keptTail {
		o.left += over
		o.tail = append(o.tail[:0], o.tail[over:]...)
	}
	return n, nil
}

// String is the output as text with everything visible.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	left, tail := o.left, o.tail
	if over := len(tail) - keptTail; over > 0 {
		left, tail = left+over, tail[over:]
	}
	if left == 0 {
		return printable(append(append([]byte{}, o.head...), tail...))
	}
	return fmt.Sprintf("%s\n[%d bytes are left out]\n%s", printable(o.head), left, printable(tail))
}

func printable(b []byte) string { return untrusted.Visible(strings.ToValidUTF8(string(b), "\uFFFD")) }

// CommandArgument is the first argument of a child process of the program that only runs a command.
const CommandArgument = "run-confined"

// RunsCommand reports a child process that only runs a command.
func RunsCommand(args []string) bool { return len(args) == 5 && args[0] == CommandArgument }

// helper is the program's child process that runs a command.
func (k *Commands) helper(c Confinement, in place, temporary, command string) *exec.Cmd {
	cmd := exec.Command(k.Program, CommandArgument, string(c), in.root, temporary, command) // #nosec G204 -- the program itself
	cmd.Dir = in.dir()
	cmd.Env = environment("", temporary)
	if c == ConfinedLandlock {
		cmd.Env = environment(temporary, temporary)
	}
	setGroup(cmd, false)
	return cmd
}
