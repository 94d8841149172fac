//go:build !race

package turn_test

const raceDetector = false
