//go:build !unix

package plainfile

// NonBlocking is 0 on systems whose folders contain no pipes.
const NonBlocking = 0
