package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// sealedTests is the variable with which the tests of a package run a second time, on sealed data.
const sealedTests = "CONTEXTINFINITY_TEST_SEALED"

// Again runs the tests of this package whose names match a second time, on sealed data.
func Again(t *testing.T, names string) {
	t.Helper()
	if OnSealed() {
		t.Skip("this is the second time")
	}
	cmd := exec.Command(os.Args[0], "-test.run="+names, "-test.timeout=60m")
	cmd.Env = append(os.Environ(), sealedTests+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !bytes.Contains(out, []byte("PASS")) || bytes.Contains(out, []byte("no tests to run")) {
		t.Errorf("it ran nothing:\n%s", out)
	}
}

// OnSealed reports whether the tests run for the second time, on sealed data (Again).
func OnSealed() bool { return os.Getenv(sealedTests) != "" }

// SealedAgain seals the data of a machine if its tests run for the second time (Again).
func (m *Machine) SealedAgain() error {
	if !OnSealed() {
		return nil
	}
	return m.Seal()
}

// Seal seals the data. Secret then has the recovery code, which opens it faster than a passphrase.
func (m *Machine) Seal() error {
	secret := filepath.Join(m.Dir, "secret")
	if err := os.WriteFile(secret, []byte("correct horse\n"), 0o600); err != nil {
		return err
	}
	var out []byte
	for _, args := range [][]string{{"reconcile"}, {"encrypt", "--passphrase-file", secret, "--yes", "--json"}} {
		p, err := m.Launch(context.Background(), nil, nil, args...)
		if err != nil {
			return err
		}
		if <-p.Ended; p.Cmd.ProcessState.ExitCode() != 0 {
			return fmt.Errorf("%v: %s%s", args, p.Out, p.Err)
		}
		out = []byte(p.Out.String())
	}
	var sealed struct {
		Code string `json:"recovery_code"`
	}
	if err := json.Unmarshal(out, &sealed); err != nil {
		return err
	}
	m.Secret = secret
	return os.WriteFile(secret, []byte(sealed.Code+"\n"), 0o600)
}

// secretFlag returns the flag for Secret: two verbs have another passphrase too.
func (Machine) secretFlag(args []string) string {
	if slices.Contains(args, "import") || slices.Contains(args, "export") {
		return "--data-passphrase-file"
	}
	return "--passphrase-file"
}
