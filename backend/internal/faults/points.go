package faults

import "slices"

// Points are the names of all points: those below, and three for each writing transaction. A test compares the list
// with the source; a program with fault points exits at one that is missing here.
var Points = slices.Concat(named, ofTransactions())

// named are the individual points, in the order in which a turn reaches them.
var named = []string{
	"turn.prepared",         // the context's manifest is stored
	"turn.step_begun",       // the attempt's row is stored, its journal does not exist yet
	"turn.journal_begun",    // the journal exists, nothing was sent yet
	"turn.event",            // each event of the provider, after it is journalled and shown
	"turn.journal_sealed",   // the journal has its end record, fsynced
	"tool.started",          // a tool call is recorded as started; the tool was not called yet
	"tool.returned",         // the tool has returned; its result is not recorded yet
	"turn.batch_committed",  // every call of a step has its result; the model was not called again yet
	"turn.settled",          // after TX-A, before its journals are pruned
	"turn.pruned",           // after each journal that is deleted
	"recover.settled",       // like turn.settled, for a turn resolved by recovery
	"import.part",           // between two parts of an imported conversation
	"store.migration",       // before each migration, and after the last
	"restore.step",          // after each of the twelve steps of a restore
	"move.file",             // after each file that a move has copied and checked
	"move.copied",           // all files are copied; so is the marker that they may be deleted
	"move.adopted",          // the configuration names the new location; the old one has no note yet
	"delete.written",        // a permanent deletion is committed with its receipt; its files still exist
	"delete.file",           // after each of them that is deleted
	"delete.rewritten",      // the database is rewritten without it; the receipt is updated next
	"store.checkpoint_some", // before a partial checkpoint
}

// The moments of a transaction: tx.<operation>.<moment>.
const (
	Begun      = "begun"      // nothing is written yet
	Committing = "committing" // all is written, nothing committed
	Committed  = "committed"  // committed, before the caller knows
)

// transactions are the writing operations of package store: TX-0 is turn.accept, TX-A turn.finalize, turn.interrupt
// or turn.fail, TX-B state.commit, TX-C vector.write.
var transactions = []string{
	"store.open", "session.create", "draft.save", "queue.add", "queue.edit", "queue.move", "queue.remove", "turn.accept", "turn.prepare", "turn.sizes",
	"step.begin", "step.end", "turn.finalize", "turn.interrupt", "turn.fail", "turn.resume",
	"calibration.observe", "job.claim", "job.renew", "job.finish", "job.fail", "job.postpone",
	"job.spread", "job.requeue", "job.retry", "job.kill", "job.enqueue", "turn.index", "state.commit",
	"summary.add", "namespace.open", "namespace.serve", "namespace.drop", "vector.write",
	"ledger.snapshot", "setting.write", "setting.drop", "branch.archive", "branch.fork", "branch.rename",
	"branch.switch", "bundle.import", "content.delete", "content.deleted", "import.write", "file.add", "file.sweep", "pin.add", "pin.edit", "pin.move", "pin.remove", "pin.accept", "pin.dismiss", "step.progress",
	"session.archive", "session.duplicate", "session.folder", "session.model", "session.pin", "session.prompt", "session.rename",
	"session.settings", "session.assistant", "assistant.put", "assistant.drop", "prompt.put", "prompt.drop", "tool.propose", "tool.decide", "tool.start", "tool.end", "tool.commit", "tool.abandon", "restore.mark",
	"permission.put", "permission.drop", "permission.forget", "definition.accept", "mark.put",
	"client.see", "client.allow", "client.forget", "client.token", "access.record", "access.clear", "note.add",
	"project.create", "project.set", "project.watch", "project.scan", "project.file", "project.drop", "project.sweep", "folder.rename",
	"vault.new", "vault.put", "vault.depart", "vault.gone", "vault.receive", "vault.values",
	"chunk.queue", "chunk.spend", "chunk.summary",
}

func ofTransactions() []string {
	var names []string
	for _, op := range transactions {
		for _, moment := range []string{Begun, Committing, Committed} {
			names = append(names, transactionPoint(op, moment))
		}
	}
	return names
}

func transactionPoint(op, moment string) string { return "tx." + op + "." + moment }

// Switches only support the action skip: each turns off a safeguard, so that a harness can prove that it detects the
// absence.
var Switches = []string{
	"store.transaction", // the statements of a writing transaction run one by one, without a transaction
}

// TestPrefix begins the names of points used only by tests.
const TestPrefix = "test."
