// Package faultfs is the door through which the program's own files go to the
// operating system: what writes, makes, moves or removes a file of the user's calls
// it instead of package os, naming the class of the file. SQLite's files have the
// same door in package store.
//
// In a normal build every call is the one of package os, and File is os.File.
// Built with -tags faults each call is an I/O site (package faults), and the
// package keeps account of what was made durable, so that a simulated loss of
// power can take the rest away: bytes that were not fsynced, and entries of
// directories that were not. Directories are durable when they are made, and bytes
// that are written over others in place are kept; nothing of ours depends on either.
package faultfs

// Class says what a file is for, in the names of I/O sites: io.<class>.<op>.
type Class string

const (
	Journal Class = "journal" // stream journals
	Config  Class = "file"    // what is replaced as a whole (atomicfile)
	Backup  Class = "backup"  // copies of the database, and what a restore moves
	Lock    Class = "lock"    // the writer's lock
	Data    Class = "data"    // the data directory, and the making of the database file
	Export  Class = "export"  // files that are written for others
)
