//go:build faults

package faults

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

type action string

const (
	exit   action = "exit"
	fail   action = "err"
	eio    action = "eio"
	enospc action = "enospc"
	short  action = "short"
	power  action = "power"
	skip   action = "skip"
	fill   action = "full"
)

var actions = []action{exit, fail, eio, enospc, short, power, skip, fill}

// fault is what happens at some hits of the matching names.
type fault struct {
	name   string // a trailing * makes it a prefix
	from   int    // the first hit, from 1, at which it happens
	onward bool   // and at all later ones
	action action
	hits   int // so far
}

func (f *fault) matches(name string) bool {
	if prefix, isPrefix := strings.CutSuffix(f.name, "*"); isPrefix {
		return strings.HasPrefix(name, prefix)
	}
	return f.name == name
}

// plan is the parsed CONTEXTINFINITY_FAULT.
type plan struct {
	mu     sync.Mutex
	faults []*fault
}

// hit counts a hit of name and returns what happens, "" for nothing. If several faults apply, the first one named
// wins.
func (p *plan) hit(name string) action {
	p.mu.Lock()
	defer p.mu.Unlock()
	var do action
	for _, f := range p.faults {
		if !f.matches(name) || f.action == short && strings.HasPrefix(name, "io.") && !strings.HasSuffix(name, ".write") {
			continue
		}
		f.hits++
		if do == "" && (f.hits == f.from || f.onward && f.hits > f.from) {
			do = f.action
		}
	}
	return do
}

func parse(spec string) (*plan, error) {
	p := &plan{}
	if spec == "" {
		return p, nil
	}
	for item := range strings.SplitSeq(spec, ",") {
		f, err := parseFault(item)
		if err == nil {
			err = f.check()
		}
		if err != nil {
			return nil, fmt.Errorf("CONTEXTINFINITY_FAULT: %q: %w", item, err)
		}
		p.faults = append(p.faults, f)
	}
	return p, nil
}

func parseFault(s string) (*fault, error) {
	parts := strings.Split(s, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return nil, fmt.Errorf("a fault is name:action or name:when:action")
	}
	f := &fault{name: parts[0], from: 1, action: action(parts[len(parts)-1])}
	f.onward = f.action == skip && len(parts) == 2
	if len(parts) == 3 {
		when, onward := strings.CutSuffix(parts[1], "+")
		n, err := strconv.Atoi(when)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("when must be a number from 1, optionally followed by a +")
		}
		f.from, f.onward = n, onward
	}
	return f, nil
}

// check refuses a fault that could never happen.
func (f *fault) check() error {
	if !slices.Contains(actions, f.action) {
		return fmt.Errorf("there is no action %q: %v", f.action, actions)
	}
	io := strings.HasPrefix(f.name, "io.")
	known := io || strings.HasPrefix(f.name, TestPrefix) || slices.ContainsFunc(Points, f.matches)
	switch {
	case slices.Contains(Switches, f.name):
		if f.action != skip {
			return fmt.Errorf("%s can only be skipped", f.name)
		}
	case f.name == "" || !known:
		return fmt.Errorf("there is no point with this name")
	case f.action == short && !io:
		return fmt.Errorf("only writes can be short")
	case f.action == short && !strings.HasSuffix(f.name, ".write") && !strings.HasSuffix(f.name, "*"):
		return fmt.Errorf("only writes can be short")
	case f.action == skip && !skippable(f.name):
		return fmt.Errorf("this cannot be skipped")
	}
	return nil
}

// skippable reports whether a program can continue without the call, because nothing later needs its result.
func skippable(name string) bool {
	if strings.HasPrefix(name, TestPrefix) {
		return true
	}
	_, op, _ := strings.Cut(strings.TrimPrefix(name, "io."), ".")
	return slices.Contains([]string{"sync", "syncdir", "write", "truncate", "remove", "rename"}, op)
}
