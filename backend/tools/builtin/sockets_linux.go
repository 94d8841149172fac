package builtin

import (
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// auditArch is the number of this processor in the kernel's audit interface; 0: commands cannot be confined on it.
var auditArch = map[string]uint32{
	"amd64": unix.AUDIT_ARCH_X86_64,
	"arm64": unix.AUDIT_ARCH_AARCH64,
}[runtime.GOARCH]

// x32Bit marks system calls of the x32 ABI on amd64, which have numbers of their own.
const x32Bit = 0x4000_0000

// socketTypes are the bits of a socket's type that are not flags.
const socketTypes = 0xf

// Offsets in struct seccomp_data. The low half of an argument comes first: both processors are little-endian.
const (
	dataNumber = 0
	dataArch   = 4
	dataArg0   = 16
	dataArg1   = 24
)

// forbidSockets forbids this process and its children to reach other programs of the user through Unix domain sockets:
// this program's own, the session bus, X, the agents with keys. Landlock restricts files, but not connections to such
// sockets. Connected pairs of streams are allowed, since they lead nowhere else. io_uring is forbidden, because its
// requests pass no filter.
func forbidSockets() error {
	if auditArch == 0 {
		return fmt.Errorf("there is no filter of system calls for %s", runtime.GOARCH)
	}
	const (
		deny  = unix.SECCOMP_RET_ERRNO | uint32(unix.EACCES)
		none  = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
		allow = unix.SECCOMP_RET_ALLOW
	)
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	result := func(action uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
	}
	// when returns a block that is passed over unless the comparison with what was loaded holds.
	when := func(compare uint16, value uint32, block ...unix.SockFilter) []unix.SockFilter {
		code := unix.BPF_JMP | unix.BPF_K | compare
		return append([]unix.SockFilter{{Code: code, K: value, Jf: uint8(len(block))}}, block...) // #nosec G115 -- short
	}
	socket := append([]unix.SockFilter{load(dataArg0)}, when(unix.BPF_JEQ, unix.AF_UNIX, result(deny))...)
	pair := append([]unix.SockFilter{load(dataArg1), {Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: socketTypes}},
		when(unix.BPF_JEQ, unix.SOCK_DGRAM, result(deny))...) // unlike a stream, it can be connected again
	filter := slices.Concat(
		[]unix.SockFilter{
			load(dataArch),
			{Code: unix.BPF_JMP | unix.BPF_K | unix.BPF_JEQ, K: auditArch, Jt: 1},
			result(none), // another ABI, such as 32 bits
			load(dataNumber),
		},
		when(unix.BPF_JGE, x32Bit, result(none)),
		when(unix.BPF_JEQ, unix.SYS_IO_URING_SETUP, result(none)),
		when(unix.BPF_JEQ, unix.SYS_SOCKET, append(socket, result(allow))...),
		when(unix.BPF_JEQ, unix.SYS_SOCKETPAIR, append(pair, result(allow))...),
		[]unix.SockFilter{result(allow)},
	)
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&program))) // #nosec G103 -- the kernel copies it
	if errno != 0 {
		return errno
	}
	return nil
}
