package faults

// Points are the names of all points, in the order in which a turn's life meets
// them. A test compares the list with the calls in the source.
var Points = []string{
	"turn.prepared",       // the context's manifest is stored
	"turn.step_begun",     // the attempt's row is stored, its journal is not there yet
	"turn.event",          // each event of the provider, after it is journalled and shown
	"turn.journal_sealed", // the journal has its end entry, fsynced
	"turn.settled",        // after TX-A, before its journals are pruned
	"recover.settled",     // the same, of a turn that recovery settled
}

// Switches are what only skip can be said of: each takes a safeguard away, so
// that a harness can prove that it would notice.
var Switches = []string{
	"store.transaction", // a writing transaction's statements run one by one without one
}

// TestPrefix begins the names of points that tests have for themselves.
const TestPrefix = "test."
