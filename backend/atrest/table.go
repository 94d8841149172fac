// Package atrest is the inventory of the places on disk where text of conversations can lie: which files, what they may
// contain, who removes them and when, and what a permanent deletion does about them. A file that is not in the table
// must contain no text of a conversation.
//
// Temporary copies are folders with a lock (Folder). A folder whose lock can be taken belongs to no living process, and
// Sweep removes it: at the start of the program that writes the data, before a permanent deletion, and for the temporary
// folder of the system also before a new copy is put there.
package atrest

import "time"

// Root is where the pattern of a place begins.
type Root string

const (
	// Data is the data directory.
	Data Root = "data"
	// Copies are the backup folder of the data directory, and the folders that Remember recorded.
	Copies Root = "copies"
	// Temp is the system's folder for temporary files.
	Temp Root = "temp"
	// Chosen are folders that the user named for something else: the program does not search them.
	Chosen Root = "chosen"
	// Config is the folder of the configuration.
	Config Root = "config"
	// Elsewhere belongs to other software: the web view, the desktop, the system.
	Elsewhere Root = "elsewhere"
)

// Content is the most that a place may contain.
type Content string

const (
	Everything Content = "everything" // all conversations
	Some       Content = "some"       // text of some conversations
	Derived    Content = "derived"    // something from which text can be guessed
	Names      Content = "names"      // titles, names of folders or files
	None       Content = "none"
)

// Sweeping says what removes a place that nothing uses any more.
type Sweeping string

const (
	// Kept: it is in use, or the user decides about it.
	Kept Sweeping = "kept"
	// Dead: Sweep removes it if no living process holds it.
	Dead Sweeping = "dead"
	// AtStart: the writer removes it when it starts. Only the writer creates it.
	AtStart Sweeping = "at start"
	// Settled: its owner finishes it at the next start, and then removes it.
	Settled Sweeping = "settled"
	// Others: other software removes it, or nobody.
	Others Sweeping = "others"
)

// Deletion says what a permanent deletion does about a place that contains the deleted text.
type Deletion string

const (
	Rewritten Deletion = "rewritten" // no remainder is left in it
	Removed   Deletion = "removed"
	Named     Deletion = "named" // in the receipt, if it may contain the text
	Untouched Deletion = "untouched"
)

// Place is a kind of file.
type Place struct {
	Root Root
	// Patterns are paths below the root, in the form of path.Match; one that names a folder covers what is in it.
	Patterns []string
	Holds    Content
	Sweep    Sweeping
	// Age is how old something without a lock must be before it counts as left behind, for Dead: earlier versions made
	// it without one, or its owner was killed before it had the lock.
	Age    time.Duration
	Delete Deletion
	Part   string // of the storage page
}

// Parts of the storage page.
const (
	PartDatabase = "database"
	PartJournals = "journals"
	PartBackups  = "backups"
	PartAside    = "aside"
	PartOther    = "other"
)

// Prefixes of the temporary folders.
const (
	BackupPrefix    = ".contextinfinity-backup-"
	ExportPrefix    = ".contextinfinity-export-"
	RestoringPrefix = ".restoring-"
	IncomingPrefix  = ".incoming-"
	CheckPrefix     = "check-"
	ReadingPrefix   = "contextinfinity-reading-"
	EvalPrefix      = "contextinfinity-eval-"
	CommandPrefix   = "contextinfinity-command-"
	TrialPrefix     = "contextinfinity-probe-"
	RoomPrefix      = ".room-"
)

// Names in the data directory.
const (
	Database = "contextinfinity.db"
	Streams  = "streams"
	Backups  = "backups"
	Replaced = "replaced"
	Drags    = "drags"
)

const (
	soon = time.Minute
	day  = 24 * time.Hour
)

// Places is the inventory.
var Places = []Place{
	{Data, []string{Database, Database + "-wal", Database + "-shm", Database + "-journal"}, Everything, Kept, 0, Rewritten, PartDatabase},
	{Data, []string{Streams + "/*.jsonl"}, Some, Settled, 0, Removed, PartJournals},
	{Data, []string{"vectors.cache"}, Derived, Kept, 0, Removed, PartOther},
	{Data, []string{Drags}, Some, AtStart, 0, Removed, PartOther},
	{Data, []string{Replaced + "/*/" + CheckPrefix + "*"}, Everything, Dead, soon, Named, PartAside},
	{Data, []string{Replaced + "/*"}, Everything, Kept, 0, Named, PartAside},
	{Data, []string{RestoringPrefix + "*"}, Everything, Dead, soon, Named, PartOther},
	{Data, []string{IncomingPrefix + "*"}, Some, Dead, soon, Removed, PartOther},
	{Data, []string{RoomPrefix + "*"}, None, Dead, soon, Untouched, PartOther},
	{Data, []string{"confirmed.mark", "history.mark", "lock.json", "keyring.json", "window.json", "writer.lock", "writer.sock", "restore.json", ".moving", "MOVED.txt", "errand.json",
		"moved-from.json", List}, Names, Kept, 0, Untouched, PartOther},
	{Data, []string{"mcp"}, None, Kept, 0, Untouched, PartOther},
	{Data, []string{"localstorage", "storage", "mediakeys", "hsts-storage.sqlite"}, Names, Others, 0, Untouched, PartOther},
	// Backups: those in the backup folder, and those that the user named.
	{Copies, []string{"*.db"}, Everything, Kept, 0, Named, PartBackups},
	{Copies, []string{BackupPrefix + "*"}, Everything, Dead, day, Named, PartBackups},
	{Copies, []string{".contextinfinity-*.tmp-*"}, Everything, Dead, day, Named, PartBackups}, // of earlier versions
	{Copies, []string{ExportPrefix + "*"}, Some, Dead, day, Named, PartOther},
	{Temp, []string{ReadingPrefix + "*"}, Everything, Dead, day, Named, PartOther},
	{Temp, []string{EvalPrefix + "*", CommandPrefix + "*"}, Some, Dead, day, Untouched, PartOther},
	{Temp, []string{TrialPrefix + "*"}, None, Dead, day, Untouched, PartOther},
	{Chosen, []string{"exported files", "files that a tool wrote"}, Some, Kept, 0, Untouched, PartOther},
	{Config, []string{"config.toml"}, Names, Kept, 0, Untouched, PartOther},
	{Elsewhere, []string{"keyring", "recently used files", "notifications", "clipboard", "spelling dictionary", "swap", "memory dumps"},
		Some, Others, 0, Untouched, PartOther},
}
