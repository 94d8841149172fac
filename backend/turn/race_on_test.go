//go:build race

package turn_test

// raceDetector: the race detector is on, which makes the tests several times slower.
const raceDetector = true
