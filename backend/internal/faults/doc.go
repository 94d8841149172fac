// Package faults names the places where tests let the program die or fail:
//
//	if err := faults.Point("turn.after_tx0"); err != nil {
//		return err
//	}
//
// In a normal build a point is an empty function that the compiler removes, and
// no environment variable reaches it. Built with -tags faults the program reads
// CONTEXTINFINITY_FAULT, a comma-separated list:
//
//	name:exit      die at the first hit, as kill -9 would: no deferred call runs
//	name:N:exit    die at the Nth hit
//	name:err       return an error at the first hit (and name:N:err at the Nth)
//
// A specification it cannot read ends the program at once, so that a test with a
// mistyped fault does not pass.
package faults
