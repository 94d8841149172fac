package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"contextinfinity/test/harness"
	"contextinfinity/test/testtier"
)

// flipArea is a kind of file in which single bytes are flipped.
type flipArea struct {
	name    string
	percent int // of all flips
	sample  *sample
	files   []string // below the home; each byte has the same weight
	// check returns what the program reports about a home; empty: no problem.
	check func(context.Context, *home) (string, error)
	// read returns everything that can be read from a home. If it is the same as before, nothing changed.
	read func(context.Context, *home) (string, error)
	// valid: different content that is just as valid is not a miss, because nothing shows what the user meant to
	// write.
	valid bool
}

// flipOf is one flip: a bit of a byte in a file.
type flipOf struct {
	file string
	at   int
	bit  int
}

func (f flipOf) String() string {
	return fmt.Sprintf("%s, bit %d of byte %d", filepath.Base(f.file), f.bit, f.at)
}

func (f flipOf) do(h *home) error {
	path := filepath.Join(h.Dir, f.file)
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	data[f.at] ^= 1 << f.bit
	return os.WriteFile(path, data, 0o600)
}

// TestFlippedBytesAreFound flips bits of the database, its log, journals, the configuration and a backup, one at a time.
// Each flip must be reported, or change nothing that can be read.
func TestFlippedBytesAreFound(t *testing.T) {
	t.Parallel()
	r := newSetup(t, 5)
	rng := rand.New(rand.NewPCG(r.seed, 6))
	for _, a := range r.flipAreas(t) {
		var flips []flipOf
		for i := range max(1, testtier.Size(12, 2000)*a.percent/100) {
			f, err := a.pick(rng, i%2 == 0)
			if err != nil {
				t.Fatal(err)
			}
			flips = append(flips, f)
		}
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			undamaged, err := a.sample.copy(filepath.Join(r.work, "undamaged-"+a.name))
			if err != nil {
				t.Fatal(err)
			}
			want, err := a.read(t.Context(), undamaged)
			if err != nil {
				t.Fatal(err)
			}
			if findings, err := a.check(t.Context(), undamaged); err != nil || findings != "" {
				t.Fatalf("a problem was found in undamaged data: %s (%v)", findings, err)
			}
			counts := map[string]int{}
			for _, f := range flips {
				dir := filepath.Join(r.work, "flipped-"+a.name)
				what, missed, err := a.try(t.Context(), f, dir, want)
				if err != nil {
					t.Fatal(err)
				}
				if missed != "" {
					t.Errorf("%s: %s", f, missed)
				}
				counts[what]++
				_ = os.RemoveAll(dir)
			}
			t.Logf("%d flips: %v", len(flips), counts)
			if counts[flipFound] == 0 && len(flips) > 5 {
				t.Error("none was found")
			}
		})
	}
}

func (r *setup) flipAreas(t *testing.T) []flipArea {
	t.Helper()
	interrupted, quiet := r.samples(t)
	if err := os.MkdirAll(filepath.Dir(quiet.backup()), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := quiet.ok(t.Context(), &struct{}{}, "backup", quiet.backup()); err != nil {
		t.Fatal(err)
	}
	journals, err := filepath.Glob(interrupted.journal("*"))
	if err != nil {
		t.Fatal(err)
	}
	log := interrupted.database() + "-wal"
	return []flipArea{
		{"database", 50, quiet, quiet.relative(quiet.database()), verifyFindings, readDatabase, false},
		{"write-ahead log", 15, interrupted, interrupted.relative(log), verifyFindings, interrupted.readAll, false},
		{"journals", 10, interrupted, interrupted.relative(journals...), verifyFindings, interrupted.readAll, false},
		{"configuration", 5, quiet, quiet.relative(quiet.ConfigFile()), configFindings, readConfig, true},
		{"backups", 20, quiet, quiet.relative(quiet.backup()), backupFindings, readBackup, false},
	}
}

func (h *home) backup() string { return filepath.Join(h.data(), "backups", "flipped.db") }

// relative makes paths relative to the home, so that they apply to a copy of it.
func (h *home) relative(paths ...string) []string {
	for i, p := range paths {
		paths[i], _ = filepath.Rel(h.Dir, p) // all are below the home
	}
	return paths
}

// What became of a flip.
const (
	flipFound    = "found"
	flipHarmless = "harmless"
	flipValid    = "valid"
	flipMissed   = "missed"
)

// pick chooses a bit; each byte of the files has the same chance. With nonZero, only bytes that are not zero are chosen,
// because much of a small database is free space.
func (a flipArea) pick(rng *rand.Rand, nonZero bool) (flipOf, error) {
	var all []byte
	var ends []int
	for _, name := range a.files {
		data, err := os.ReadFile(filepath.Join(a.sample.Dir, name))
		if err != nil {
			return flipOf{}, err
		}
		all = append(all, data...)
		ends = append(ends, len(all))
	}
	if len(bytes.Trim(all, "\x00")) == 0 {
		return flipOf{}, fmt.Errorf("there are no bytes in %q", a.files)
	}
	at := rng.IntN(len(all))
	for nonZero && all[at] == 0 {
		at = rng.IntN(len(all))
	}
	i, _ := slices.BinarySearch(ends, at+1)
	if i > 0 {
		at -= ends[i-1]
	}
	return flipOf{a.files[i], at, rng.IntN(8)}, nil
}

// try flips a bit of a copy and returns the result; missed describes a flip that was not noticed.
func (a flipArea) try(ctx context.Context, f flipOf, dir, want string) (what, missed string, err error) {
	h, err := a.sample.copy(dir)
	if err != nil {
		return "", "", err
	}
	if err := f.do(h); err != nil {
		return "", "", err
	}
	findings, err := a.check(ctx, h)
	if err != nil {
		return flipMissed, err.Error(), nil
	}
	if findings != "" {
		return flipFound, "", nil
	}
	switch got, err := a.read(ctx, h); {
	case err != nil:
		return flipMissed, "nothing was found, but the data cannot be read: " + err.Error(), nil
	case got == want:
		return flipHarmless, "", nil
	case a.valid:
		return flipValid, "", nil
	default:
		return flipMissed, "nothing was found, but the data reads differently: " + firstDifference(want, got), nil
	}
}

func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return harness.Clip(a[i]) + " is now " + harness.Clip(b[i])
		}
	}
	return fmt.Sprintf("%d lines are now %d", len(a), len(b))
}

// verifyFindings returns what verify finds. Each finding must name its record and describe the problem.
func verifyFindings(ctx context.Context, h *home) (string, error) {
	var doc struct {
		Findings []struct{ Kind, Table, ID, Message string }
	}
	r, err := h.document(ctx, &doc, "verify")
	switch {
	case err != nil:
		return "", err
	case r.crashed() || r.code != 0 && r.code != 3 || (r.code == 3) != (len(doc.Findings) > 0):
		return "", errors.New(r.String())
	}
	var findings []string
	for _, f := range doc.Findings {
		if f.Table+f.ID == "" || f.Message == "" {
			return "", fmt.Errorf("a finding names no record or has no message: %+v", f)
		}
		findings = append(findings, f.Table+" "+f.ID+": "+f.Message)
	}
	return strings.Join(findings, "\n"), nil
}

// configFindings returns what config check finds.
func configFindings(ctx context.Context, h *home) (string, error) {
	return refusal(ctx, h, "config", "check")
}

func backupFindings(ctx context.Context, h *home) (string, error) {
	return refusal(ctx, h, "backups", "--check")
}

// refusal returns what a command prints if it exits with an error or with problems, else "".
func refusal(ctx context.Context, h *home, args ...string) (string, error) {
	var doc json.RawMessage
	r, err := h.document(ctx, &doc, args...)
	switch {
	case err != nil:
		return "", err
	case r.crashed() || r.code < 0 || r.code > 3 || r.code != 0 && r.stdout == "":
		return "", errors.New(r.String())
	case r.code == 0:
		return "", nil
	}
	return r.stdout, nil
}

// readConfig returns every setting and every model.
func readConfig(ctx context.Context, h *home) (string, error) {
	var out string
	for _, args := range [][]string{{"config", "show", "--json"}, {"models", "--json"}} {
		r, err := h.run(ctx, args...)
		if err == nil && r.code != 0 {
			err = errors.New(r.String())
		}
		if err != nil {
			return "", err
		}
		out += r.stdout
	}
	return strings.ReplaceAll(out, h.Dir, ""), nil
}

func readDatabase(ctx context.Context, h *home) (string, error) { return h.dump(ctx, h.database()) }

func readBackup(ctx context.Context, h *home) (string, error) { return h.dump(ctx, h.backup()) }

// readAll returns what show prints for each session, and everything in the database.
func (s *sample) readAll(ctx context.Context, h *home) (string, error) {
	var out []string
	for _, id := range s.sessions {
		shown, err := h.show(ctx, id)
		if err != nil {
			return "", err
		}
		out = append(out, shown)
	}
	rows, err := h.dump(ctx, h.database())
	return strings.Join(append(out, rows), "\n"), err
}
