// Package filelock locks open files and folders, without waiting. The system drops the lock of a process that ends, even
// if it is killed, so a lock that can be taken belongs to no living process.
package filelock

// Descriptor is an open file, in the form that the operating system's locks use.
type Descriptor interface{ Fd() uintptr }
