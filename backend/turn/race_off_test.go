//go:build !race

package turn_test

const watched = false
