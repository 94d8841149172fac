package crash

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

// onSmallDisk runs the program with its data on a private small disk, and copies the data back when the program has
// ended. In addition to the database, the disk has space for the maximum size of the log before a checkpoint, 8 MB.
const onSmallDisk = `#!/bin/sh
exec unshare -Urm sh -c '
	mount -t tmpfs -o size=24m,mode=700 tmpfs "$DATA" && cp -a "$SEED/." "$DATA/" && rm -f "$DATA/writer.lock" || exit 99
	"$PROGRAM" "$@"
	code=$?
	rm -f "$DATA/ballast"
	cp -a "$DATA/." "$SEED/"
	exit $code' sh "$@"
`

// On a disk that is really full, with different amounts of free space, a message that cannot be stored is refused with a
// clear error, and the same process works again when there is space.
func TestARealDiskFillsUp(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the mounts need Linux")
	}
	if out, err := exec.Command("unshare", "-Urm", "mount", "-t", "tmpfs", "tmpfs", t.TempDir()).CombinedOutput(); err != nil {
		t.Skipf("users cannot mount a disk on this system: %v: %s", err, out)
	}
	bench := newFaultBench(t)
	seed, script := filepath.Join(bench.Dir, "seed"), filepath.Join(bench.Dir, "on-small-disk")
	if err := os.CopyFS(seed, os.DirFS(bench.DataDir())); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(script, []byte(onSmallDisk), 0o700); err != nil {
		t.Fatal(err)
	}
	p := bench.Using(script).With("DATA="+bench.DataDir(), "SEED="+seed, "PROGRAM="+bench.Bin).Host("--session", bench.session)
	ballast := filepath.Join(fmt.Sprintf("/proc/%d/root", p.Cmd.Process.Pid), bench.DataDir(), "ballast")
	full := 0
	for i, spare := range []int{0, 8 << 10, 24 << 10, 48 << 10, 80 << 10, 120 << 10} {
		fill(t, ballast, spare)
		output := replyTo(p, fmt.Sprintf("Is there room for number %d?", i))
		switch {
		case strings.Contains(output, "disk is full"):
			full++
		case !strings.Contains(output, firstAnswer):
			t.Errorf("with %d free bytes: %s", spare, output)
		}
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		replyTo(p, "/discard") // any incomplete answer; otherwise it has no effect
		if output := replyTo(p, lastQuestion); !strings.Contains(output, firstAnswer) {
			t.Errorf("with space again the answer is %q", output)
		}
	}
	if full == 0 {
		t.Error("the disk was never full, so the test proves nothing")
	}
	_ = p.Stdin.Close()
	p.Process.Wait()
	if err := os.RemoveAll(bench.DataDir()); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(bench.DataDir(), os.DirFS(seed)); err != nil {
		t.Fatal(err)
	}
	bench.Clean()
	answered := 0
	for _, turn := range bench.Show(bench.session).Turns {
		if turn.User.RenderedText() == lastQuestion && turn.Outcome == chat.OutcomeCompleted && turn.Text() == firstAnswer {
			answered++
		}
	}
	if answered != 6 {
		t.Errorf("%d of 6 messages with space have their answer", answered)
	}
}

// fill writes a file until only spare bytes of the disk are free.
func fill(t *testing.T, path string, spare int) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 4<<10)
	size := 0
	for {
		n, err := f.Write(block)
		if size += n; err != nil {
			break
		}
	}
	if err := f.Truncate(int64(max(size-spare, 0))); err != nil {
		t.Fatal(err)
	}
}
