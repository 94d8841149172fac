package chat

import "time"

// BackupKind says why a copy of the data was made.
type BackupKind string

const (
	BackupByHand        BackupKind = "by_hand"
	BackupDaily         BackupKind = "daily"
	BackupMigration     BackupKind = "migration"      // before a schema migration
	BackupBeforeRestore BackupKind = "before_restore" // of the data that a restore replaced
)

// Backup is a copy of the data in one file: the database, the configuration, and the stream journals of its
// unfinished turns.
type Backup struct {
	Path    string           `json:"path"`
	Kind    BackupKind       `json:"kind"`
	At      time.Time        `json:"at"`
	Bytes   int64            `json:"bytes"`
	Schema  int64            `json:"database_schema"`
	Counts  map[string]int64 `json:"counts"`           // records by table
	Checked bool             `json:"checked"`          // it was read back after writing
	Problem string           `json:"problem"`          // what is wrong with it, if anything
	SHA256  string           `json:"sha256,omitempty"` // of the file, set when it is written
	// Problems is how many problems verify finds in its data, Findings are the first of them: set on request, and for
	// a daily backup as of its creation. Such a copy can still be restored.
	Problems int       `json:"verify_problems"`
	Findings []Finding `json:"findings,omitempty"`
}

// AutoBackup is the result of a daily backup.
type AutoBackup struct {
	Outcome BackupOutcome
	Made    Backup   // with BackupCreated
	Removed []string // older ones that were pruned
	Need    int64    // bytes that must be free, with BackupNoSpace
	Free    int64
}

// BackupOutcome says whether a daily backup was made, or why not.
type BackupOutcome string

const (
	BackupCreated   BackupOutcome = "made"
	BackupOff       BackupOutcome = "off"
	BackupRecent    BackupOutcome = "recent"    // the last copy is less than a day old
	BackupUnchanged BackupOutcome = "unchanged" // nothing was written since, or nothing at all
	BackupNoSpace   BackupOutcome = "no_space"
	BackupLater     BackupOutcome = "later" // it would delay something else
)

// DataSummary has the figures by which the user compares data.
type DataSummary struct {
	Exists     bool       `json:"exists"`
	Schema     int64      `json:"database_schema"`
	Sessions   int64      `json:"sessions"`
	Turns      int64      `json:"turns"`
	NewestTurn *time.Time `json:"newest_turn"`
	Problem    string     `json:"problem"` // why it is unreadable
}

// Restoration describes what a restore will replace, or has replaced.
type Restoration struct {
	Source   string      `json:"source"`
	Kind     BackupKind  `json:"kind"`
	TakenAt  *time.Time  `json:"taken_at"` // nil: not recorded in the file
	Backup   DataSummary `json:"backup"`   // with the schema it was written with
	Present  DataSummary `json:"present"`
	Schema   int64       `json:"new_schema"` // after the migration, if it needs one
	Journals int         `json:"journals"`   // of running answers
	Problems int         `json:"problems"`   // found by verify in the backup
	Findings []Finding   `json:"findings"`   // the first of them
	Undone   []Receipt   `json:"undone"`     // permanent deletions whose content would return, newest first
	Kept     *Backup     `json:"kept"`       // copy of what was replaced
	Aside    string      `json:"aside"`      // folder with quarantined files; empty: none
	Config   string      `json:"config"`     // where the backup's configuration was saved; empty: it is in effect already, or there is none
	Done     bool        `json:"done"`
}
