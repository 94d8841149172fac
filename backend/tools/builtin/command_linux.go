package builtin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/landlock-lsm/go-landlock/landlock"
	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// minLandlock is the first version by which no file outside can be cut short.
const minLandlock = 3

// detect finds out what confines commands here.
func (k *Commands) detect() (Confinement, string) {
	if path, err := exec.LookPath("bwrap"); err == nil && bubblewrapWorks(path) {
		return ConfinedBubblewrap, path
	}
	if abi, err := llsys.LandlockGetABIVersion(); err == nil && abi >= minLandlock && k.Program != "" {
		return ConfinedLandlock, ""
	}
	return ConfinedNot, ""
}

// bubblewrapWorks tries it as it will be used: some systems have it and forbid what it does.
func bubblewrapWorks(path string) bool {
	dir, err := os.MkdirTemp("", "contextinfinity-probe-")
	if err != nil {
		return false
	}
	defer func() { _ = os.RemoveAll(dir) }() // it is empty
	ctx, cancel := context.WithTimeout(context.Background(), probeTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, bubblewrap(place{root: dir, at: "."}, "true")...) // #nosec G204 -- found in PATH
	cmd.Env, cmd.WaitDelay = environment("/tmp", "/tmp"), time.Second
	return cmd.Run() == nil
}

// Files and folders of the system that a command may read.
var (
	systemFolders = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/gnu/store", "/etc/alternatives", "/etc/ssl/certs", "/etc/pki"}
	systemFiles   = []string{"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/passwd", "/etc/group", "/etc/localtime", "/etc/nsswitch.conf", "/etc/hosts"}
)

// bubblewrap are the arguments that confine a command.
func bubblewrap(in place, command string) []string {
	args := []string{"--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"}
	for _, path := range append(append([]string{}, systemFolders...), systemFiles...) {
		args = append(args, "--ro-bind-try", path, path)
	}
	args = append(args, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--bind", in.root, in.root, "--remount-ro", "/", "--chdir", in.dir())
	return append(args, "--", commandShell, "-c", command)
}

// command is the process that runs a command.
func (k *Commands) command(in place, temporary, command string) *exec.Cmd {
	if k.Confinement() != ConfinedBubblewrap {
		if k.Program == "" {
			return plain(in, temporary, command)
		}
		return k.helper(k.Confinement(), in, temporary, command)
	}
	cmd := exec.Command(k.bwrap, bubblewrap(in, command)...) // #nosec G204 -- a person approved it, and it is confined
	cmd.Dir, cmd.Env = in.root, environment("/tmp", "/tmp")
	setGroup(cmd, true)
	return cmd
}

// setGroup gives a command a group of its own, and has the system tell it when this program
// ends: kill, or, for one that ends others first, terminate.
func setGroup(cmd *exec.Cmd, kill bool) {
	tell := syscall.SIGTERM
	if kill {
		tell = syscall.SIGKILL
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: tell}
}

// RunCommand is what the program's own process does: it runs a command, confined by Landlock
// or not, ends all that the command started, and returns its exit code.
func RunCommand(args []string, errs io.Writer) int {
	confine, folder, temporary, command := Confinement(args[1]), args[2], args[3], args[4]
	stopped := make(chan os.Signal, 1)
	signal.Notify(stopped, syscall.SIGTERM, syscall.SIGINT)
	runtime.LockOSThread() // the shell gets a signal when this thread ends
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		fmt.Fprintln(errs, "the command was not run: what it starts could not be ended:", err)
		return exitNotRun
	}
	if confine == ConfinedLandlock {
		if err := restrict(folder, temporary); err != nil {
			fmt.Fprintln(errs, "the command was not run: it could not be confined:", err)
			return exitNotRun
		}
	}
	cmd := exec.Command(commandShell, "-c", command) // #nosec G204 -- a person approved it
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(errs, "the command was not run:", err)
		return exitNotRun
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var err error
	select {
	case err = <-ended:
	case <-stopped:
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may have ended just now
		err = <-ended
	}
	endChildren()
	return exitCode(err)
}

// exitNotRun is what shells answer for what cannot be run.
const exitNotRun = 126

func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit) && exit.Exited():
		return exit.ExitCode()
	case errors.As(err, &exit):
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return 128 + int(status.Signal())
		}
	}
	return exitNotRun
}

// restrict holds this process, and what it starts, to the system's programs and two folders.
// All that the kernel knows is used. It was found out that files are held to their full
// extent; whether the network is depends on the kernel, so nothing is promised of it.
func restrict(folder, temporary string) error {
	abi, err := llsys.LandlockGetABIVersion()
	if err != nil || abi < minLandlock {
		return fmt.Errorf("the system's Landlock is version %d, %d is needed: %w", abi, minLandlock, err)
	}
	return landlock.V11.BestEffort().Restrict(
		landlock.RODirs(systemFolders...).IgnoreIfMissing(),
		landlock.RODirs(fmt.Sprintf("/proc/%d/task", os.Getpid())), // see children; other processes are not to be read about
		landlock.ROFiles(append([]string{"/dev/urandom", "/dev/random", "/proc/meminfo", "/proc/cpuinfo"}, systemFiles...)...).IgnoreIfMissing(),
		landlock.RWFiles("/dev/null", "/dev/zero", "/dev/full").IgnoreIfMissing(),
		landlock.RWDirs(folder, temporary).WithRefer(),
	)
}

// endChildren ends what a command left running. This process is the parent of all whose own
// parent ended, so there is an end to it.
func endChildren() {
	for range 10_000 {
		ids := children()
		if len(ids) == 0 {
			return
		}
		for _, id := range ids {
			_ = syscall.Kill(id, syscall.SIGKILL) // it may have ended just now
		}
		for {
			if id, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); id <= 0 || err != nil {
				break
			}
		}
		time.Sleep(time.Millisecond)
	}
}

// children are the processes whose parent this one is.
func children() []int {
	var out []int
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", os.Getpid()))
	if err != nil {
		return nil
	}
	for _, list := range lists {
		raw, err := os.ReadFile(list) // #nosec G304 -- of this process
		if err != nil {
			continue
		}
		for _, field := range strings.Fields(string(bytes.TrimSpace(raw))) {
			if id, err := strconv.Atoi(field); err == nil {
				out = append(out, id)
			}
		}
	}
	return out
}
