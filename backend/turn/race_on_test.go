//go:build race

package turn_test

// watched: the race detector is on, and all of it takes several times as long.
const watched = true
