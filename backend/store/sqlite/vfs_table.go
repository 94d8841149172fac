package sqlite

import (
	"unsafe"

	"modernc.org/libc"
)

// SQLite's C interface as the translated library has it: tables of function pointers in memory that Go does not manage.
// Memory that is handed to it must be on Go's heap and never on a stack, which may move during the call.

// at returns the value at an address of the library.
func at[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// pointer returns a function as the library stores it: the address of its descriptor, which is fixed for package-level
// functions.
func pointer[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

// function returns a function stored by the library.
func function[F any](p uintptr) F { return *(*F)(unsafe.Pointer(&p)) }

// bytesAt returns memory of the library.
func bytesAt(p uintptr, n int32) []byte { return unsafe.Slice(at[byte](p), n) }

// Signatures of entries.
type (
	openCall     = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32
	closeCall    = func(tls *libc.TLS, file uintptr) int32
	transferCall = func(tls *libc.TLS, file, buf uintptr, n int32, off int64) int32
	truncateCall = func(tls *libc.TLS, file uintptr, size int64) int32
	syncCall     = func(tls *libc.TLS, file uintptr, flags int32) int32
	sizeCall     = func(tls *libc.TLS, file, size uintptr) int32
)
