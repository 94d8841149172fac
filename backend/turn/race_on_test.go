//go:build race

package turn_test

// watched: the race detector is on, which makes the tests several times slower.
const watched = true
