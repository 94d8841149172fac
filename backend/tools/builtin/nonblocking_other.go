//go:build !unix

package builtin

// nonBlocking is 0 on systems whose folders contain no pipes.
const nonBlocking = 0
