//go:build unix

package plainfile

import "syscall"

// NonBlocking avoids blocking when a pipe without a writer is opened.
const NonBlocking = syscall.O_NONBLOCK
