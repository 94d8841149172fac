//go:build faults

package faults

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
)

// Enabled reports whether this build has fault points.
const Enabled = true

// ExitCode is what the shell reports of a process killed by signal 9.
const ExitCode = 137

// ErrInjected is what a point returns when it is told to fail.
var ErrInjected = errors.New("faults: injected error")

type action string

const (
	exit action = "exit"
	fail action = "err"
)

// fault is what happens at one hit of one point.
type fault struct {
	name   string
	hit    int
	action action
}

type plan struct {
	mu     sync.Mutex
	faults []fault
	hits   map[string]int
}

var current = sync.OnceValue(func() *plan {
	p, err := parse(os.Getenv("CONTEXTINFINITY_FAULT"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	return p
})

// Point is hit by the program on its way. It returns an error, or does not
// return at all, if the environment says so.
func Point(name string) error {
	switch current().hit(name) {
	case exit:
		os.Exit(ExitCode)
	case fail:
		return fmt.Errorf("%w at %s", ErrInjected, name)
	}
	return nil
}

// hit counts a hit and says what is to happen, "" for nothing.
func (p *plan) hit(name string) action {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hits[name]++
	for _, f := range p.faults {
		if f.name == name && f.hit == p.hits[name] {
			return f.action
		}
	}
	return ""
}

func parse(spec string) (*plan, error) {
	p := &plan{hits: map[string]int{}}
	if spec == "" {
		return p, nil
	}
	for one := range strings.SplitSeq(spec, ",") {
		f, err := parseOne(one)
		if err != nil {
			return nil, err
		}
		p.faults = append(p.faults, f)
	}
	return p, nil
}

func parseOne(s string) (fault, error) {
	parts := strings.Split(s, ":")
	f := fault{name: parts[0], hit: 1, action: action(parts[len(parts)-1])}
	known := f.action == exit || f.action == fail
	if len(parts) < 2 || len(parts) > 3 || f.name == "" || !known {
		return fault{}, fmt.Errorf("CONTEXTINFINITY_FAULT: %q is not name:exit, name:err, name:N:exit or name:N:err", s)
	}
	if len(parts) == 3 {
		n, err := strconv.Atoi(parts[1])
		if err != nil || n < 1 {
			return fault{}, fmt.Errorf("CONTEXTINFINITY_FAULT: %q: the hit is a number from 1", s)
		}
		f.hit = n
	}
	return f, nil
}
