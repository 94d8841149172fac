package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"contextinfinity/test/harness"
)

// matrixTests are the tests that make every I/O site of a turn, a start, a backup, a restore or a move fail, and those
// with the longest answers. In `make test` they try a sample; with CONTEXTINFINITY_CRASH=full they try everything.
const matrixTests = "TestEveryIOFaultOfATurn|TestEveryFaultOfARestore|TestEveryFaultOfABackup|TestEveryFaultOfAMove|TestEveryFaultOfAStart|TestTheDiskFillsUp|TestAFullDiskIsReported|TestPowerLoss|TestALongAnswerIsReadInBoundedMemory"

// runMatrix runs these tests in full.
func runMatrix(ctx context.Context, r *setup) ([]outcome, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-timeout=30m", "-json", "-run", matrixTests, "./test/process")
	cmd.Dir = r.module
	cmd.Env = append(os.Environ(), "CONTEXTINFINITY_CRASH=full")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	data, runErr := cmd.Output()
	out := outcome{what: "I/O faults at each site"}
	output := map[string]string{}
	var top []string
	lines := bufio.NewReader(bytes.NewReader(data))
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var e struct{ Action, Test, Output string }
		if json.Unmarshal(line, &e) != nil || e.Test == "" {
			continue
		}
		switch e.Action {
		case "output":
			output[e.Test] += e.Output
		case "pass":
			out.tried++
			if !strings.Contains(e.Test, "/") {
				top = append(top, e.Test)
			}
		case "fail":
			out.tried++
			out.found = append(out.found, e.Test+": "+harness.Clip(output[e.Test]))
		}
	}
	out.detail = "go test: " + strings.Join(top, " ")
	if out.tried == 0 || runErr != nil && len(out.found) == 0 {
		return []outcome{out}, fmt.Errorf("the tests of I/O faults did not run: %w\n%s%s", runErr, harness.Clip(string(data)), harness.Clip(errs.String()))
	}
	return []outcome{out}, nil
}
