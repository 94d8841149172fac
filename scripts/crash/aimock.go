package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// aimock is the provider that no one here wrote, driven by testdata/provider.mjs. It
// needs Node and the browser tests' packages.
type aimock struct {
	url   string
	cmd   *exec.Cmd
	stdin io.Closer
}

// aimockTags are what prompts of each kind are called there.
var aimockTags = map[string]string{
	kindGood: "good", kindSlow: "slow", kindCut: "cut", kindHold: "stall", kindOnce: "server_once", kindBad: "auth",
}

// startAimock is nil, with the reason, where it is not installed.
func startAimock(ctx context.Context, module string) (*aimock, string, error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, "node is not installed", nil
	}
	entry := filepath.Join(module, "frontend", "e2e", "node_modules", "@copilotkit", "aimock", "dist", "index.js")
	if _, err := os.Stat(entry); err != nil {
		return nil, "aimock is not installed: scripts/setup test", nil
	}
	a := &aimock{cmd: exec.CommandContext(ctx, node, filepath.Join(module, "testdata", "provider.mjs"), entry)}
	a.cmd.Env, a.cmd.Stderr = append(os.Environ(), "NODE_NO_WARNINGS=1"), os.Stderr
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if a.stdin, err = a.cmd.StdinPipe(); err != nil {
		return nil, "", err
	}
	if err := a.cmd.Start(); err != nil {
		return nil, "", err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, "", fmt.Errorf("aimock did not start: %w", err)
	}
	a.url = strings.TrimSpace(line)
	return a, "", nil
}

func (a *aimock) close() {
	_ = a.stdin.Close()
	_ = a.cmd.Wait()
}

// answer implements answers: the same words as in provider.mjs.
func (*aimock) answer(n int) string {
	var sentences []string
	for i := 1; i <= 8; i++ {
		sentences = append(sentences, fmt.Sprintf("Answer %d, sentence %d: größer als 漢字 allein.", n, i))
	}
	return strings.Join(sentences, " ")
}

// sent implements answers: it does not say, and a whole answer is known by its end.
func (*aimock) sent(int) bool { return true }

// runAimock is a short loop of kills against it.
func runAimock(ctx context.Context, r *rig) ([]outcome, error) {
	a, missing, err := startAimock(ctx, r.module)
	if err != nil {
		return nil, err
	}
	out := outcome{what: "kill -9 at random, aimock", detail: missing}
	if a == nil {
		return []outcome{out}, nil
	}
	defer a.close()
	k := &kills{
		bin: r.shipped, dir: filepath.Join(r.work, "kills-aimock"), seed: r.seed + 2, first: 3_000_000, restarts: max(1, r.restarts/25),
		every: 20, provider: a, tags: aimockTags, config: configFor(a.url, "", "write_ahead"), say: r.say,
	}
	out, err = k.run(ctx)
	out.what += ", aimock"
	return []outcome{out}, err
}
