package builtin

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/tools"
)

// runners returns the available ways of running commands.
func runners(t *testing.T) map[Confinement]*Commands {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	fixed := func(c Confinement, path string) *Commands {
		return &Commands{Program: program, probe: func() (Confinement, string) { return c, path }}
	}
	out := map[Confinement]*Commands{ConfinedNot: fixed(ConfinedNot, "")}
	if fixed(ConfinedLandlock, "").works(ConfinedLandlock, "") {
		out[ConfinedLandlock] = fixed(ConfinedLandlock, "")
	} else {
		t.Log("Landlock is not tested: it does not work here")
	}
	if path, err := exec.LookPath("bwrap"); err == nil && fixed(ConfinedBubblewrap, path).works(ConfinedBubblewrap, path) {
		out[ConfinedBubblewrap] = fixed(ConfinedBubblewrap, path)
	} else {
		t.Logf("bubblewrap is not tested: it does not work here (%v)", err)
	}
	return out
}

func eachRunner(t *testing.T, do func(t *testing.T, d *fixture, c Confinement)) {
	t.Helper()
	for c, k := range runners(t) {
		t.Run(string(c), func(t *testing.T) { do(t, newFixture(t, k), c) })
	}
}

func TestCommands(t *testing.T) {
	t.Setenv("EXAMPLE_API_KEY", "canary-of-the-environment")
	eachRunner(t, func(t *testing.T, d *fixture, c Confinement) {
		d.put("sub/a.txt", "alpha\n")
		d.answers("run_command", map[string]any{"command": "cat a.txt; pwd; echo made > b.txt", "folder": filepath.Join(d.dir, "sub")}, "exit code 0\nalpha\n"+filepath.Join(d.dir, "sub"))
		d.answers("read_file", map[string]any{"path": "sub/b.txt"}, "made")
		d.refuses("run_command", map[string]any{"command": "echo words >&2; exit 3"}, "exit code 3\nwords")
		d.refuses("run_command", map[string]any{"command": " "}, "the command is empty")
		d.refuses("run_command", map[string]any{"command": "true", "folder": d.outside}, "is not in a folder")
		d.answers("run_command", map[string]any{"command": "echo x > $TMPDIR/t && cat $TMPDIR/t"}, "exit code 0\nx")
		if got, _ := d.call("run_command", map[string]any{"command": "env"}); strings.Contains(got, "canary") {
			t.Errorf("the environment reached the command:\n%s", got)
		}
		if c != ConfinedNot == d.AsksEachCall("run_command") {
			t.Errorf("each call needs approval: %v", d.AsksEachCall("run_command"))
		}
	})
}

// TestConfinedCommands: files outside can be neither read nor changed, and this process's environment cannot be read
// through /proc.
func TestConfinedCommands(t *testing.T) {
	eachRunner(t, func(t *testing.T, d *fixture, c Confinement) {
		if c == ConfinedNot {
			return
		}
		secret := filepath.Join(d.outside, "secret.txt")
		if err := os.WriteFile(secret, []byte("hidden treasure"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, command := range []string{
			"cat " + secret, "ls " + d.outside, "echo x > " + secret, "rm -f " + secret + " && test ! -e " + secret + " && false", "touch " + d.outside + "/new",
			"tr '\\0' ' ' < /proc/" + pid() + "/environ", "cat $HOME/../*/secret.txt", "ln -s " + secret + " l && cat l",
		} {
			if got, isError := d.call("run_command", map[string]any{"command": command}); !isError || strings.Contains(got, "treasure") {
				t.Errorf("%s: %s", command, got)
			}
		}
		if got, err := os.ReadFile(secret); err != nil || string(got) != "hidden treasure" {
			t.Errorf("a file outside was changed: %q, %v", got, err)
		}
		if entries, err := os.ReadDir(d.outside); err != nil || len(entries) != 1 {
			t.Errorf("the folder outside now contains %v", entries)
		}
	})
}

// TestAConfinedCommandReachesNoSocket: this program's own socket, the session bus and agents with keys are sockets in the
// file system or with abstract names; a command that reached one could do through it what it may not do itself.
func TestAConfinedCommandReachesNoSocket(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil || !strings.HasPrefix(python, "/usr/") {
		python = "/usr/bin/python3"
	}
	if _, err := os.Stat(python); err != nil {
		t.Skip("a command that connects to sockets needs /usr/bin/python3")
	}
	const connect = `
import socket, sys
def tried(name, do):
    try:
        do()
        print("REACHED", name)
    except OSError as e:
        print("refused", name, e)
def stream(address):
    socket.socket(socket.AF_UNIX).connect(address)
def datagram(address):
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    a.sendto(b"x", address)
for address in sys.argv[1:]:
    address = address.replace("@", "\0")
    tried("stream", lambda: stream(address))
    tried("datagram", lambda: datagram(address + "d"))
a, b = socket.socketpair()
a.send(b"pairs work"); print(b.recv(20).decode())
`
	eachRunner(t, func(t *testing.T, d *fixture, c Confinement) {
		outside := filepath.Join(d.outside, "s") // like writer.sock in the data directory
		inside := filepath.Join(d.dir, "s")      // one that files alone would allow
		abstract := "@contextinfinity-test-" + pid()
		for _, address := range []string{outside, inside, abstract} {
			l, err := net.Listen("unix", address)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			datagrams, err := net.ListenPacket("unixgram", address+"d")
			if err != nil {
				t.Fatal(err)
			}
			defer datagrams.Close()
		}
		d.put("connect.py", connect)
		addresses := []string{outside, abstract}
		if c == ConfinedLandlock {
			addresses = append(addresses, inside)
		}
		got, _ := d.call("run_command", map[string]any{
			"command": python + " connect.py " + strings.Join(addresses, " ") + "; echo as root: $(id -u)",
		})
		if !strings.Contains(got, "pairs work") {
			t.Fatalf("the command did not run to its end: %s", got)
		}
		if reached := strings.Contains(got, "REACHED"); reached != (c == ConfinedNot) {
			t.Errorf("%s: %s", c, got)
		}
	})
}

// TestConfinedCommandsCannotChangeTheKernel: the switches of the system are out of reach, also for root.
func TestConfinedCommandsCannotChangeTheKernel(t *testing.T) {
	eachRunner(t, func(t *testing.T, d *fixture, c Confinement) {
		if c == ConfinedNot {
			return
		}
		for _, file := range []string{"/proc/sys/vm/swappiness", "/proc/sys/kernel/printk"} {
			before, err := os.ReadFile(file)
			if err != nil {
				t.Skip(err)
			}
			d.refuses("run_command", map[string]any{"command": "echo '" + strings.TrimSpace(string(before)) + "' > " + file}, "exit code")
		}
	})
}

// TestCommandsHaveLimits: a command that writes or forks without end meets a limit, generous for real work.
func TestCommandsHaveLimits(t *testing.T) {
	eachRunner(t, func(t *testing.T, d *fixture, _ Confinement) {
		d.answers("run_command", map[string]any{"command": "ulimit -f; ulimit -d; ulimit -c"}, "33554432\n16777216\n0\n")
	})
}

func pid() string { return filepath.Base(must(os.Readlink("/proc/self"))) }

func must(s string, err error) string {
	if err != nil {
		panic(err)
	}
	return s
}

// TestBubblewrapHasNoNetwork listens on the loopback interface and expects no connection.
func TestBubblewrapHasNoNetwork(t *testing.T) {
	k, ok := runners(t)[ConfinedBubblewrap]
	if !ok {
		t.Skip("bubblewrap does not work here")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // no connection was accepted
	_, port, _ := net.SplitHostPort(l.Addr().String())
	d := newFixture(t, k)
	if shell, err := exec.LookPath("bash"); err == nil {
		d.refuses("run_command", map[string]any{"command": shell + " -c 'exec 3<>/dev/tcp/127.0.0.1/" + port + "'"}, "exit code")
	}
	d.answers("run_command", map[string]any{"command": "cat /proc/net/dev"}, "lo:")
	if got, _ := d.call("run_command", map[string]any{"command": "cat /proc/net/dev | wc -l"}); got != "exit code 0\n3\n" {
		t.Errorf("there is more than its own loopback interface: %q", got)
	}
}

// TestTheDescriptionOfTheConfinement: the description, which the user reads before approving a call, describes the
// confinement.
func TestTheDescriptionOfTheConfinement(t *testing.T) {
	for c, want := range map[Confinement]string{ConfinedBubblewrap: "there is no network", ConfinedLandlock: "The network is not cut off", ConfinedNot: "It is not confined"} {
		d := newFixture(t, &Commands{probe: func() (Confinement, string) { return c, "" }})
		defs := d.Definitions()
		if last := defs[len(defs)-1]; last.Tool != "run_command" || !strings.Contains(last.Description, want) || !last.Effects {
			t.Errorf("%s: %+v", c, last)
		}
	}
}

// TestCommandsLeaveNoProcess: a command that ended, was cancelled or timed out leaves no process.
func TestCommandsLeaveNoProcess(t *testing.T) {
	eachRunner(t, func(t *testing.T, d *fixture, _ Confinement) {
		const leftRunning = "sleep 987654 >/dev/null 2>&1 </dev/null & setsid sleep 987654 >/dev/null 2>&1 </dev/null & (setsid sleep 987654 &) ; echo started"
		d.answers("run_command", map[string]any{"command": leftRunning}, "started")
		d.expectNoProcess("after its end")
		d.refuses("run_command", map[string]any{"command": leftRunning + "; sleep 987654", "timeout_s": 1}, "stopped after 1s")
		d.expectNoProcess("after its time limit")
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for !d.exists("begun") {
				time.Sleep(5 * time.Millisecond)
			}
			cancel()
		}()
		_, err := d.Call(ctx, tools.Call{Tool: "run_command", Arguments: argumentsOf(t, map[string]any{"command": leftRunning + "; touch begun; sleep 987654"})})
		if !errors.Is(err, context.Canceled) || errors.Is(err, tools.ErrNotStarted) {
			t.Errorf("a cancelled command: %v", err)
		}
		d.expectNoProcess("after it was cancelled")
	})
}

// TestACommandCannotEscapeItsEnd: a command that kills or stops every process that it can reach, its supervisor among
// them, leaves none of its own.
func TestACommandCannotEscapeItsEnd(t *testing.T) {
	for _, attack := range []string{"kill -KILL $PPID", "kill -STOP $PPID", "kill -KILL -1"} {
		eachRunner(t, func(t *testing.T, d *fixture, c Confinement) {
			if c != ConfinedBubblewrap && !hasUserNamespaces() && os.Getuid() != 0 {
				t.Skip("this system does not permit namespaces, so the command reaches its supervisor, as docs/guide/tools.md says")
			}
			escaped := "setsid sh -c 'echo > begun; sleep 987654' >/dev/null 2>&1 </dev/null & while ! [ -e begun ]; do :; done; "
			_, _ = d.call("run_command", map[string]any{"command": escaped + attack + "; sleep 1000", "timeout_s": 1})
			d.expectNoProcess("after " + attack)
		})
	}
}

func (d *fixture) exists(name string) bool {
	_, err := os.Stat(filepath.Join(d.dir, name))
	return err == nil
}

// expectNoProcess fails if a process still runs in the folder. A killed process may take a moment to end.
func (d *fixture) expectNoProcess(when string) {
	d.Helper()
	var found []string
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if found = d.processes(); len(found) == 0 {
			return
		}
	}
	d.Errorf("%s these processes are running: %v", when, found)
}

func (d *fixture) processes() []string {
	var out []string
	dirs, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, dir := range dirs {
		if cwd, err := os.Readlink(dir); err == nil && strings.HasPrefix(cwd, d.dir) {
			out = append(out, filepath.Base(filepath.Dir(dir)))
		}
	}
	return out
}

func TestOutputIsBounded(t *testing.T) {
	eachRunner(t, func(t *testing.T, d *fixture, _ Confinement) {
		got, _ := d.call("run_command", map[string]any{"command": "echo first; yes | head -c 5000000; printf '\\033[31mlast'"})
		if len(got) > maxOutput+1024 || !strings.HasPrefix(got, "exit code 0\nfirst\ny\n") || !strings.HasSuffix(got, "\uFFFD[31mlast") || !strings.Contains(got, "bytes are left out]") {
			t.Errorf("%d bytes: %q ... %q", len(got), got[:40], got[len(got)-40:])
		}
	})
}

// TestDetect: without bubblewrap Landlock is used, and without both no confinement.
func TestDetect(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", t.TempDir())
	want := ConfinedNot
	if _, ok := runners(t)[ConfinedLandlock]; ok {
		want = ConfinedLandlock
	}
	if got, _ := (&Commands{Program: program}).detect(); got != want {
		t.Errorf("without bubblewrap: %s, want %s", got, want)
	}
	if got, _ := (&Commands{}).detect(); got != ConfinedNot {
		t.Errorf("without a helper process: %s", got)
	}
}
