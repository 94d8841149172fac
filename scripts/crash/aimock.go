package main

import (
	"context"
	"path/filepath"

	"contextinfinity/test/harness"
)

// aimock is the third-party mock provider.
type aimock struct{ *harness.Aimock }

// aimockTags maps kinds of prompts to aimock's names for them.
var aimockTags = map[string]string{
	kindGood: "good", kindSlow: "slow", kindCut: "cut", kindHold: "stall", kindOnce: "server_once", kindBad: "auth",
}

// answer implements answers; it returns the same text as provider.mjs.
func (aimock) answer(n int) string { return harness.AnswerTo(n) }

// sent implements answers. aimock does not report what it sent, so this is always true; the end of a complete answer is
// recognizable.
func (aimock) sent(int) bool { return true }

// runAimock runs a short loop of kills with aimock as the provider.
func runAimock(ctx context.Context, r *setup) ([]outcome, error) {
	a, missing, err := harness.StartAimock()
	if err != nil {
		return nil, err
	}
	out := outcome{what: "kill -9 at random, aimock", detail: missing}
	if a == nil {
		return []outcome{out}, nil
	}
	defer a.Close()
	k := &kills{
		bin: r.shipped, dir: filepath.Join(r.work, "kills-aimock"), seed: r.seed + 2, first: 3_000_000, restarts: max(1, r.restarts/25),
		every: 20, provider: aimock{a}, tags: aimockTags, config: configFor(a.URL, "", "write_ahead"), logf: r.logf,
	}
	out, err = k.run(ctx)
	out.what += ", aimock"
	return []outcome{out}, err
}
