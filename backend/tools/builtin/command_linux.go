package builtin

import (
	"bytes"
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
	"sync"
	"syscall"
	"time"

	"github.com/landlock-lsm/go-landlock/landlock"
	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"contextinfinity/backend/atrest"
)

// minLandlock is the first version of Landlock that can prevent a command from truncating files outside its folder.
const minLandlock = 3

// detect determines the available confinement. Each is tried with a command: a system may have one and block it.
func (k *Commands) detect() (Confinement, string) {
	if path, err := exec.LookPath("bwrap"); err == nil && k.works(ConfinedBubblewrap, path) {
		return ConfinedBubblewrap, path
	}
	if k.Program != "" && k.works(ConfinedLandlock, "") {
		return ConfinedLandlock, ""
	}
	return ConfinedNot, ""
}

// works reports whether a command can be run with a confinement.
func (k *Commands) works(c Confinement, bwrap string) bool {
	folder, err := atrest.MakeFolder(os.TempDir(), atrest.TrialPrefix)
	if err != nil {
		return false
	}
	defer func() { _ = folder.Remove() }()
	dir := folder.Path
	var cmd *exec.Cmd
	if c == ConfinedBubblewrap {
		cmd = bubblewrap(bwrap, workDir{root: dir, rel: "."}, "true")
	} else {
		cmd = k.helper(c, workDir{root: dir, rel: "."}, dir, "true")
	}
	limit := time.AfterFunc(probeTimeout, func() { endGroup(cmd, true) })
	defer limit.Stop()
	ended, err := start(cmd)
	return err == nil && <-ended == nil
}

// Files and folders of the system that a command may read.
var (
	systemFolders = []string{
		"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/gnu/store",
		"/etc/alternatives", "/etc/ssl/certs", "/etc/pki",
	}
	systemFiles = []string{
		"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/passwd", "/etc/group", "/etc/localtime", "/etc/nsswitch.conf",
		"/etc/hosts",
	}
)

// bubblewrapArgs returns the arguments of bubblewrap that confine a command.
func bubblewrapArgs(dir workDir, command string) []string {
	args := []string{"--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"}
	for _, path := range append(append([]string{}, systemFolders...), systemFiles...) {
		args = append(args, "--ro-bind-try", path, path)
	}
	args = append(args, "--proc", "/proc")
	for _, path := range []string{"/proc/sys", "/proc/sysrq-trigger"} { // for root they would be the machine's switches
		args = append(args, "--ro-bind-try", path, path)
	}
	args = append(args, "--dev", "/dev", "--tmpfs", "/tmp", "--bind", dir.root, dir.root, "--remount-ro", "/",
		"--chdir", dir.path())
	return append(args, "--", commandShell, "-c", command)
}

// command returns the process that runs a command.
func (k *Commands) command(dir workDir, temporary, command string) *exec.Cmd {
	switch {
	case k.Confinement() == ConfinedBubblewrap:
		return bubblewrap(k.bwrap, dir, command)
	case k.Program == "":
		return plain(dir, temporary, command)
	}
	return k.helper(k.Confinement(), dir, temporary, command)
}

// helper returns the program's child process that runs a command.
func (k *Commands) helper(c Confinement, dir workDir, temporary, command string) *exec.Cmd {
	args := []string{CommandArgument, string(c), dir.root, temporary, command}
	cmd := exec.Command(k.Program, args...) // #nosec G204 -- the program itself
	cmd.Dir = dir.path()
	cmd.Env = environment("", temporary)
	if c == ConfinedLandlock {
		cmd.Env = environment(temporary, temporary)
	}
	setGroup(cmd, false)
	if hasUserNamespaces() {
		inUserNamespace(cmd)
	}
	return cmd
}

// bubblewrap returns the process that runs a command in bubblewrap. The shell outside sets the limits.
func bubblewrap(path string, dir workDir, command string) *exec.Cmd {
	args := append([]string{"-c", ulimits + `exec "$0" "$@"`, path}, bubblewrapArgs(dir, command)...)
	cmd := exec.Command(commandShell, args...) // a person approved it, and it is confined
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

// inUserNamespace gives a helper the right to create a namespace of processes. Root has it.
func inUserNamespace(cmd *exec.Cmd) {
	uid, gid := os.Getuid(), os.Getgid()
	cmd.SysProcAttr.Cloneflags, cmd.SysProcAttr.AmbientCaps = unix.CLONE_NEWUSER, []uintptr{unix.CAP_SYS_ADMIN}
	cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
	cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
}

// hasUserNamespaces reports whether a helper is started in a user namespace. Some systems do not permit them.
var hasUserNamespaces = sync.OnceValue(func() bool {
	if os.Getuid() == 0 {
		return false
	}
	cmd := exec.Command("/bin/true")
	setGroup(cmd, true)
	inUserNamespace(cmd)
	return cmd.Run() == nil
})

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
	// The right that inUserNamespace gave is not for the command. Without such a right this fails, which is as good.
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	cmd, err := startShell(command)
	if err != nil {
		fmt.Fprintln(errs, "the command was not run:", err)
		return exitNotRun
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err = <-ended:
	case <-stopped:
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may have ended just now
		err = <-ended
	}
	endChildren()
	return exitCode(err)
}

// startShell starts the shell of a command as the first process of a namespace, so that the command's processes can
// neither stop nor kill this one, and the system ends them all with their shell. Where that is not permitted, they can,
// and endChildren ends only those that did not.
func startShell(command string) (*exec.Cmd, error) {
	args := limited(command)
	for _, namespace := range []uintptr{unix.CLONE_NEWPID, 0} {
		cmd := exec.Command(args[0], args[1:]...) // #nosec G204 -- a person approved it
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Cloneflags: namespace}
		err := cmd.Start()
		if err == nil || namespace == 0 {
			return cmd, err
		}
	}
	return nil, syscall.EPERM
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
	files := append([]string{"/dev/urandom", "/dev/random", "/proc/meminfo", "/proc/cpuinfo"}, systemFiles...)
	err = landlock.V11.BestEffort().Restrict(
		landlock.RODirs(systemFolders...).IgnoreIfMissing(),
		landlock.RODirs(fmt.Sprintf("/proc/%d/task", os.Getpid())), // to list its children; other processes are not readable
		landlock.ROFiles(files...).IgnoreIfMissing(),
		landlock.RWFiles("/dev/null", "/dev/zero", "/dev/full").IgnoreIfMissing(),
		landlock.RWDirs(folder, temporary).WithRefer(),
	)
	if err != nil {
		return err
	}
	return forbidSockets()
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
