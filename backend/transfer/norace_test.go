//go:build !race

package transfer

// raced reports whether the race detector is on, which changes the memory that the program needs.
const raced = false
