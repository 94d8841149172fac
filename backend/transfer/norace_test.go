//go:build !race

package transfer

// raceEnabled reports whether the race detector is on, which changes the memory that the program needs.
const raceEnabled = false
