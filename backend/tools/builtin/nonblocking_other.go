//go:build !unix

package builtin

// nonBlocking is nothing here: no path of a folder is a pipe.
const nonBlocking = 0
