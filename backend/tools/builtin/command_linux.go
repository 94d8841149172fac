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

// minLandlock is the first version of Landlock that can prevent a command from truncating files outside its folder.
const minLandlock = 3

// detect determines the available confinement.
func (k *Commands) detect() (Confinement, string) {
	if path, err := exec.LookPath("bwrap"); err == nil && bubblewrapWorks(path) {
		return ConfinedBubblewrap, path
	}
	if abi, err := llsys.LandlockGetABIVersion(); err == nil && abi >= minLandlock && k.Program != "" {
		return ConfinedLandlock, ""
	}
	return ConfinedNot, ""
}

// bubblewrapWorks reports whether bubblewrap runs with the arguments used for commands: some systems have it installed
// but block it.
func bubblewrapWorks(path string) bool {
	dir, err := os.MkdirTemp("", "contextinfinity-probe-")
	if err != nil {
		return false
	}
	defer func() { _ = os.RemoveAll(dir) }() // it is empty
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, bubblewrapArgs(workDir{root: dir, rel: "."}, "true")...) // #nosec G204 -- found in PATH
	cmd.Env, cmd.WaitDelay = environment("/tmp", "/tmp"), time.Second
	return cmd.Run() == nil
}

// Files and folders of the system that a command may read.
var (
	systemFolders = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/gnu/store", "/etc/alternatives", "/etc/ssl/certs", "/etc/pki"}
	systemFiles   = []string{"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/passwd", "/etc/group", "/etc/localtime", "/etc/nsswitch.conf", "/etc/hosts"}
)

// bubblewrapArgs returns the arguments of bubblewrap that confine a command.
func bubblewrapArgs(dir workDir, command string) []string {
	args := []string{"--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"}
	for _, path := range append(append([]string{}, systemFolders...), systemFiles...) {
		args = append(args, "--ro-bind-try", path, path)
	}
	args = append(args, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--bind", dir.root, dir.root, "--remount-ro", "/", "--chdir", dir.path())
	return append(args, "--", commandShell, "-c", command)
}

// command returns the process that runs a command.
func (k *Commands) command(dir workDir, temporary, command string) *exec.Cmd {
	if k.Confinement() != ConfinedBubblewrap {
		if k.Program == "" {
			return plain(dir, temporary, command)
		}
		return k.helper(k.Confinement(), dir, temporary, command)
	}
	cmd := exec.Command(k.bwrap, bubblewrapArgs(dir, command)...) // a person approved it, and it is confined
	cmd.Dir, cmd.Env = dir.root, environment("/tmp", "/tmp")
	setGroup(cmd, true)
	return cmd
}

// setGroup puts a command into its own process group, and lets the system signal it when this program ends: kill, or
// terminate for a helper that first ends its children.
func setGroup(cmd *exec.Cmd, kill bool) {
	sig := syscall.SIGTERM
	if kill {
		sig = syscall.SIGKILL
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: sig}
}

// RunCommand runs in the child process: it runs a command, confined by Landlock or not, terminates all processes that
// the command started, and returns the command's exit code.
func RunCommand(args []string, errs io.Writer) int {
	confine, folder, temporary, command := Confinement(args[1]), args[2], args[3], args[4]
	stopped := make(chan os.Signal, 1)
	signal.Notify(stopped, syscall.SIGTERM, syscall.SIGINT)
	runtime.LockOSThread() // the shell gets a signal when this thread ends
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		fmt.Fprintln(errs, "the command was not run: processes that it starts could not be terminated:", err)
		return exitNotRun
	}
	if confine == ConfinedLandlock {
		if err := restrict(folder, temporary); err != nil {
			fmt.Fprintln(errs, "the command was not run: it could not be confined:", err)
			return exitNotRun
		}
	}
	cmd := exec.Command(commandShell, "-c", command) //nolint:gosec // a person approved it
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

// exitNotRun is the shell's exit code for a command that cannot be run.
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

// restrict confines this process and its children to the system's programs and two folders, with all restrictions that
// the kernel supports. File access is always fully restricted. Whether network access is restricted depends on the
// kernel, so it is not promised.
func restrict(folder, temporary string) error {
	abi, err := llsys.LandlockGetABIVersion()
	if err != nil || abi < minLandlock {
		return fmt.Errorf("the system's Landlock is version %d, %d is needed: %w", abi, minLandlock, err)
	}
	return landlock.V11.BestEffort().Restrict(
		landlock.RODirs(systemFolders...).IgnoreIfMissing(),
		landlock.RODirs(fmt.Sprintf("/proc/%d/task", os.Getpid())), // to list its children; other processes are not readable
		landlock.ROFiles(append([]string{"/dev/urandom", "/dev/random", "/proc/meminfo", "/proc/cpuinfo"}, systemFiles...)...).IgnoreIfMissing(),
		landlock.RWFiles("/dev/null", "/dev/zero", "/dev/full").IgnoreIfMissing(),
		landlock.RWDirs(folder, temporary).WithRefer(),
	)
}

// endChildren kills processes that a command left running. This process inherits all orphans, so the loop ends.
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

// children returns the ids of this process's child processes.
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
