package crash

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// hits are how often a command reached each fault point and each place of a disk operation (io.*).
type hits map[string]int

// readHits reads the file that CONTEXTINFINITY_FAULT_TRACE names.
func readHits(path string) (hits, error) {
	data, err := os.ReadFile(path)
	found := hits{}
	for name := range strings.FieldsSeq(string(data)) {
		found[name]++
	}
	return found, err
}

func mustReadHits(t *testing.T, path string) hits {
	t.Helper()
	found, err := readHits(path)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// maxHits limits how many hits of one place are tried: the hundredth page of a transaction is written like the ninetieth.
const maxHits = 12

// each returns every place of a disk operation with some of its hits and each of the actions. Writes to shared memory
// reach no disk.
func (found hits) each(actions ...string) []string {
	return found.faults(maxHits, func(place string) []string {
		if place == sharedMemory {
			return nil
		}
		return actions
	})
}

// failures returns every place with at most perPlace of its hits and every way in which it can fail.
func (found hits) failures(perPlace int) []string {
	return found.faults(perPlace, func(place string) []string {
		if strings.HasSuffix(place, ".write") && place != sharedMemory {
			return []string{"eio", "enospc", "short"}
		}
		return []string{"eio", "enospc"}
	})
}

const sharedMemory = "io.shm.write"

func (found hits) faults(perPlace int, actions func(place string) []string) []string {
	var specs []string
	for _, place := range slices.Sorted(maps.Keys(found)) {
		if !strings.HasPrefix(place, "io.") {
			continue
		}
		n := found[place]
		for i := range min(n, perPlace) {
			for _, action := range actions(place) {
				specs = append(specs, fmt.Sprintf("%s:%d:%s", place, 1+i*n/min(n, perPlace), action))
			}
		}
	}
	return specs
}

// powerLosses returns about n losses of power, evenly spread over the disk operations. The seed decides where they begin.
func (found hits) powerLosses(seed uint64, n int) []string {
	operations := 0
	for place, n := range found {
		if strings.HasPrefix(place, "io.") {
			operations += n
		}
	}
	var specs []string
	step := max(1, operations/n)
	for at := 1 + int(seed)%step; at <= operations; at += step {
		specs = append(specs, fmt.Sprintf("io.*:%d:power", at))
	}
	return specs
}
