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

	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"

	"contextinfinity/backend/tools"
)

// runners returns the available ways of running commands.
func runners(t *testing.T) map[Confinement]*Commands {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := map[Confinement]*Commands{ConfinedNot: {Program: program, probe: func() (Confinement, string) { return ConfinedNot, "" }}}
	if abi, err := llsys.LandlockGetABIVersion(); err == nil && abi >= minLandlock {
		out[ConfinedLandlock] = &Commands{Program: program, probe: func() (Confinement, string) { return ConfinedLandlock, "" }}
	} else {
		t.Logf("Landlock is not tested: version %d, %v", abi, err)
	}
	if path, err := exec.LookPath("bwrap"); err == nil && bubblewrapWorks(path) {
		out[ConfinedBubblewrap] = &Commands{Program: program, probe: func() (Confinement, string) { return ConfinedBubblewrap, path }}
	} else {
		t.Logf("bubblewrap is not tested: %v", err)
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
	t.Setenv("PATH", t.TempDir())
	abi, err := llsys.LandlockGetABIVersion()
	want := ConfinedNot
	if err == nil && abi >= minLandlock {
		want = ConfinedLandlock
	}
	if got, _ := (&Commands{Program: "/program"}).detect(); got != want {
		t.Errorf("without bubblewrap: %s, want %s", got, want)
	}
	if got, _ := (&Commands{}).detect(); got != ConfinedNot {
		t.Errorf("without a helper process: %s", got)
	}
}
