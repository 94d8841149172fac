package app

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"contextinfinity/backend/config"
	"contextinfinity/backend/ipc"
)

// A verb of another start of the program uses a setting that `config set` changed just before, although the file is not
// watched here.
func TestAVerbOfAnotherStartReadsTheChangedConfiguration(t *testing.T) {
	t.Parallel()
	d := newFixture(t, "[tools]\nmode = \"disabled\"\n")
	tools := func() string {
		var out, problems bytes.Buffer
		code := d.app.runVerb(ipc.Request{Args: [][]byte{[]byte("tools")}, Dir: t.TempDir()},
			ipc.Streams{In: strings.NewReader(""), Out: &out, Err: &problems, Signals: make(chan os.Signal)})
		if code != 0 {
			t.Fatalf("exit code %d: %s", code, problems.String())
		}
		return out.String()
	}
	if out := tools(); !strings.Contains(out, "Tools are off") {
		t.Fatalf("before: %s", out)
	}
	other, err := config.Open(config.Options{Path: d.app.Config.Path()})
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Set("tools.mode", "enabled"); err != nil {
		t.Fatal(err)
	}
	if out := tools(); strings.Contains(out, "Tools are off") {
		t.Errorf("after config set tools.mode enabled: %s", out)
	}
}
