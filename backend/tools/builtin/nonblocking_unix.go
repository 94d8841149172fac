//go:build unix

package builtin

import "syscall"

// nonBlocking avoids blocking when a pipe without a writer is opened.
const nonBlocking = syscall.O_NONBLOCK
