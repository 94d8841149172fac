// Package faultfs accesses the program's own files: code that writes, creates, moves or removes a user's file calls it
// instead of package os, with the class of the file. Package store has the same for SQLite's files.
//
// In a normal build every call is the one of package os, and File is os.File. Built with -tags faults, each call is an
// I/O site (package faults), and the package records what was made durable, so that a simulated power failure can
// discard the rest: bytes that were not fsynced, and directory entries that were not synced. New directories count as
// durable, and so do bytes overwritten in place; our code depends on neither.
package faultfs

// Class is the purpose of a file, as used in the names of I/O sites: io.<class>.<op>.
type Class string

const (
	Journal Class = "journal" // stream journals
	Config  Class = "file"    // files replaced as a whole (atomicfile)
	Backup  Class = "backup"  // copies of the database, and files that a restore moves
	Lock    Class = "lock"    // the writer's lock
	Data    Class = "data"    // the data directory, and the creation of the database file
	Export  Class = "export"  // files written for the user
)
