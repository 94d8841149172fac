//go:build !unix

package builtin

// nonBlocking is 0 here: a folder contains no pipes.
const nonBlocking = 0
