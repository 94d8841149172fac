//go:build unix

package builtin

import "syscall"

// nonBlocking keeps the opening of a pipe that nobody writes to from waiting.
const nonBlocking = syscall.O_NONBLOCK
