// Package faults names the places where tests can make the program die or fail:
//
//	if err := faults.Point("turn.prepared"); err != nil {
//		return err
//	}
//
// In a normal build a point is an empty function that the compiler removes, and no environment variable has an
// effect. Built with -tags faults the program reads CONTEXTINFINITY_FAULT, a comma-separated list of
// NAME[:WHEN]:ACTION.
//
// NAME is a point of Points, a switch of Switches, or an I/O site io.<class>.<op>: a place where user data is written
// to disk. Classes are those of package faultfs (journal, file, backup, lock and others) and SQLite's files (db, wal,
// shm, temp); ops are open, create, mkdir, write, sync, rename, remove, truncate and syncdir. A trailing * makes
// it a prefix: io.* is every I/O site, counted together.
//
// WHEN is N, only the Nth hit (the default is the first), or N+, that one and all later ones.
//
// ACTION is one of
//
//	exit    die as kill -9 would: no deferred call runs
//	err     return ErrInjected; at an I/O site EIO
//	eio     fail with EIO
//	enospc  fail with ENOSPC
//	short   a write that writes half of its bytes, then ENOSPC; its WHEN counts
//	        only writes
//	power   lose power: bytes that were not fsynced are dropped, directory entries
//	        that were not synced are undone, then the process dies
//	skip    skip the step and report success, at every hit unless there is a WHEN:
//	        io.journal.sync:skip disables the journals' fsync,
//	        store.transaction:skip the atomicity of transactions
//	full    the disk is full from now on: creates FILE of the switch below
//
// CONTEXTINFINITY_FAULT_TRACE=FILE: each point and I/O site that is hit is appended to FILE, one name per line.
//
// CONTEXTINFINITY_FAULT_FULL=FILE: while FILE exists every I/O site that needs space fails with ENOSPC.
//
// An invalid specification, or an unknown point, ends the program at once, so that a test with a mistyped fault
// cannot pass.
package faults
