//go:build !race

package testtier

// Race reports whether the race detector is on, which changes the memory that the program needs.
const Race = false
