package app

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/cli"
	"contextinfinity/backend/internal/storetest"
	"contextinfinity/backend/secrets"
	"contextinfinity/test/harness"
	"contextinfinity/test/testtier"
)

// fixture opens the program once and runs every command against it in this process. Starting a process for each turn of
// a long conversation would take too long.
type fixture struct {
	*app
	t      testing.TB
	dir    string
	config string
}

func newFixture(t testing.TB, config string) *fixture {
	t.Helper()
	dir := testtier.Memory(t)
	d := &fixture{t: t, dir: filepath.Join(dir, "data"), config: filepath.Join(dir, "config.toml")}
	harness.WriteFile(t, d.config, []byte(config))
	d.open()
	t.Cleanup(d.closeApp)
	return d
}

// open opens the data directory as the writer, as a window does. Background work runs only when a command requests it.
func (d *fixture) open() {
	d.t.Helper()
	storetest.Fill(d.t, d.dir)
	var err error
	d.app, err = openApp(context.Background(), cli.OpenOptions{DataDir: d.dir, ConfigPath: d.config, Publish: newRecorder()}, secrets.New())
	if err != nil {
		d.t.Fatal(err)
	}
	if err := d.app.Config.Err(); err != nil {
		d.t.Fatal(err)
	}
}

func (d *fixture) closeApp() {
	if err := d.close(); err != nil {
		d.t.Error(err)
	}
}

// restartWith restarts the program with another configuration.
func (d *fixture) restartWith(config string) {
	d.t.Helper()
	d.closeApp()
	harness.WriteFile(d.t, d.config, []byte(config))
	d.open()
}

// Run runs a command to its end.
func (d *fixture) Run(args ...string) harness.Result {
	d.t.Helper()
	out, errs := harness.NewLockedBuffer(), harness.NewLockedBuffer()
	verb := cli.App{
		Version: version, In: strings.NewReader(""), Out: out, Err: errs,
		Open: func(context.Context, cli.OpenOptions) (*cli.Services, error) {
			return &cli.Services{Set: &d.Set, Close: func() error { return nil }}, nil
		},
	}
	code := cli.Run(context.Background(), verb, append([]string{"--data-dir", d.dir, "--config", d.config}, args...))
	return harness.Result{T: d.t, Args: args, Code: code, Stdout: out.String(), Stderr: errs.String()}
}

func (d *fixture) OK(args ...string) harness.Result {
	d.t.Helper()
	return d.Run(args...).Exits(0)
}

// send sends a message to a session, or to a new one.
func (d *fixture) send(session string, args ...string) harness.Sent {
	d.t.Helper()
	command := []string{"send", "--json", "--new"}
	if session != "" {
		command = []string{"send", "--json", "--session", session}
	}
	return d.OK(append(command, args...)...).Sent()
}

// contextView returns what `context` shows for a turn, or for the next request.
func (d *fixture) contextView(session string, args ...string) harness.View {
	d.t.Helper()
	return harness.ViewOf(d.OK(append([]string{"context", session, "--json"}, args...)...))
}

func (d *fixture) Clean() {
	d.t.Helper()
	var doc struct {
		OK       bool
		Findings []chat.Finding
	}
	d.OK("verify", "--json").Document(&doc)
	if !doc.OK || len(doc.Findings) != 0 {
		d.t.Fatalf("verify: %+v", doc.Findings)
	}
}
