// Command crash tries to break ContextInfinity's promises about durability. It kills the program at every fault point
// and at random, makes its disk fail, and damages its files. After each attempt it compares the data with what the
// program had reported, which it records outside of the program. It prints a table and exits with 1 if it found a
// problem.
//
//	go run ./scripts/crash                  all parts, 1 000 restarts
//	go run ./scripts/crash -only kills -seed 7 -restarts 100
//	go run ./scripts/crash -only points -scene "a move"
//
// docs/durability.md describes the promises.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"contextinfinity/test/harness"
)

// plan is the parsed command line.
type plan struct {
	seed     uint64
	restarts int
	flips    int
	stride   int // 1: every case; n: each nth
	only     []string
	scene    string
	work     string
	quiet    bool
}

// parts are the parts, in the order in which they run.
var parts = []struct {
	name string
	run  func(context.Context, *setup) ([]outcome, error)
}{
	{"points", runPoints}, {"power", runPower}, {"faults", runMatrix}, {"damage", runDamage}, {"flips", runFlips}, {"kills", runKills}, {"tools", runTools}, {"aimock", runAimock}, {"proof", runProofs},
}

// setup is shared by all parts.
type setup struct {
	plan
	builds
	module   string
	provider *provider
}

func (r *setup) logf(format string, args ...any) {
	if !r.quiet {
		fmt.Fprintf(os.Stderr, format+"\n", args...)
	}
}

func main() {
	if path := os.Getenv(counterFile); path != "" {
		os.Exit(serveCounter(path))
	}
	var p plan
	var only string
	flag.Uint64Var(&p.seed, "seed", rand.Uint64N(1_000_000), "random seed of all decisions; it is printed, so that a run can be repeated")
	flag.IntVar(&p.restarts, "restarts", 1000, "kill -9 restarts")
	flag.IntVar(&p.flips, "flips", 2000, "flipped bytes")
	flag.IntVar(&p.stride, "stride", 1, "try each nth case of damage")
	flag.StringVar(&only, "only", "", "run only these parts, separated by commas: "+strings.Join(partNames(), ","))
	flag.StringVar(&p.scene, "scene", "", "for points, run only the scenarios whose names contain this")
	flag.StringVar(&p.work, "work", "", "directory for the data directories, instead of a temporary one")
	flag.Parse()
	if only != "" {
		p.only = strings.Split(only, ",")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	found, err := all(ctx, p)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "crash:", err)
		os.Exit(2)
	case found > 0:
		os.Exit(1)
	}
}

func partNames() []string {
	var out []string
	for _, p := range parts {
		out = append(out, p.name)
	}
	return out
}

// all runs the parts, prints the table and returns the number of problems.
func all(ctx context.Context, p plan) (int, error) {
	for _, name := range p.only {
		if !slices.Contains(partNames(), name) {
			return 0, fmt.Errorf("there is no part %q: %s", name, strings.Join(partNames(), ", "))
		}
	}
	r, end, err := newSetup(ctx, p)
	if err != nil {
		return 0, err
	}
	fmt.Printf("seed %d\n", p.seed)
	var rows []outcome
	for _, part := range parts {
		if len(p.only) > 0 && !slices.Contains(p.only, part.name) {
			continue
		}
		begun := time.Now()
		got, err := part.run(ctx, r)
		rows = append(rows, got...)
		if err != nil {
			return 0, fmt.Errorf("%s (data kept in %s): %w", part.name, r.work, err)
		}
		r.logf("%s: %s", part.name, time.Since(begun).Round(time.Second))
	}
	found := printTable(os.Stdout, rows)
	end(found == 0)
	if found > 0 {
		fmt.Printf("seed %d; the data is kept in %s\n", p.seed, r.work)
	}
	return found, nil
}

// newSetup builds the programs and starts the provider. end stops the provider, and removes a temporary work directory
// if no problem was found.
func newSetup(ctx context.Context, p plan) (r *setup, end func(clean bool), err error) {
	r = &setup{plan: p}
	if r.module, err = harness.Root(); err != nil {
		return nil, nil, err
	}
	isTemporary := r.work == ""
	if isTemporary {
		if r.work, err = os.MkdirTemp("", "contextinfinity-crash-"); err != nil {
			return nil, nil, err
		}
	}
	r.logf("building")
	if r.builds, err = build(ctx, r.work); err != nil {
		return nil, nil, err
	}
	if r.provider, err = newProvider(); err != nil {
		return nil, nil, err
	}
	return r, func(clean bool) {
		r.provider.close()
		if isTemporary && clean {
			_ = os.RemoveAll(r.work)
		}
	}, nil
}

// runKills runs a loop for each durability mode in parallel, because they mostly wait.
func runKills(ctx context.Context, r *setup) ([]outcome, error) {
	modes := []string{"buffered", "write_ahead"}
	rows, errs := make([]outcome, len(modes)), make([]error, len(modes))
	var wg sync.WaitGroup
	for i, mode := range modes {
		wg.Go(func() {
			k := &kills{
				bin: r.shipped, dir: filepath.Join(r.work, "kills-"+mode), seed: r.seed + uint64(i), first: 1_000_000 * (i + 1),
				restarts: max(1, r.restarts/2), every: 20, provider: r.provider, config: r.provider.config(mode),
				logf: func(format string, args ...any) { r.logf(mode+": "+format, args...) },
			}
			rows[i], errs[i] = k.run(ctx)
			rows[i].what += ", " + mode
		})
	}
	wg.Wait()
	return rows, errors.Join(errs...)
}
