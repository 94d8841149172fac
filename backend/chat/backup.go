package chat

import "time"

// BackupKind says why a copy of the data was made.
type BackupKind string

const (
	BackupByHand        BackupKind = "by_hand"
	BackupDaily         BackupKind = "daily"
	BackupMigration     BackupKind = "migration"      // before the schema was upgraded
	BackupBeforeRestore BackupKind = "before_restore" // of what a restore replaced
)

// Backup is a copy of the data in one file: the database, the configuration, and
// the stream journals of the turns that were unfinished in it.
type Backup struct {
	Path    string           `json:"path"`
	Kind    BackupKind       `json:"kind"`
	At      time.Time        `json:"at"`
	Bytes   int64            `json:"bytes"`
	Schema  int64            `json:"database_schema"`
	Counts  map[string]int64 `json:"counts"`           // records by table
	Checked bool             `json:"checked"`          // it was read back after it was written
	Problem string           `json:"problem"`          // what is wrong with it, if something is
	SHA256  string           `json:"sha256,omitempty"` // of the file, told when it is written
	// Problems is how many verify finds in the data in it, Findings are the first of
	// them: told where it was asked for, and of a daily one as of when it was made. Such a
	// copy can be restored nonetheless.
	Problems int       `json:"verify_problems"`
	Findings []Finding `json:"findings,omitempty"`
}

// AutoBackup is the outcome of a daily backup.
type AutoBackup struct {
	Outcome BackupOutcome
	Made    Backup   // with BackupMade
	Removed []string // older ones that were no longer to be kept
	Need    int64    // bytes that must be free, with BackupNoSpace
	Free    int64
}

// BackupOutcome says whether a daily backup was made, and why not.
type BackupOutcome string

const (
	BackupMade      BackupOutcome = "made"
	BackupOff       BackupOutcome = "off"
	BackupRecent    BackupOutcome = "recent"    // the last copy is not a day old
	BackupUnchanged BackupOutcome = "unchanged" // nothing was written since
	BackupNoSpace   BackupOutcome = "no_space"
	BackupLater     BackupOutcome = "later" // it would hold somebody up
)

// DataSummary is what a person compares two data sets by.
type DataSummary struct {
	Exists     bool       `json:"exists"`
	Schema     int64      `json:"database_schema"`
	Sessions   int64      `json:"sessions"`
	Turns      int64      `json:"turns"`
	NewestTurn *time.Time `json:"newest_turn"`
	Problem    string     `json:"problem"` // why it cannot be read
}

// Restoration is what a restore will replace, or has replaced, by what.
type Restoration struct {
	Source   string      `json:"source"`
	Kind     BackupKind  `json:"kind"`
	TakenAt  *time.Time  `json:"taken_at"` // nil: the file does not tell
	Backup   DataSummary `json:"backup"`   // its schema is the one it was written with
	Present  DataSummary `json:"present"`
	Schema   int64       `json:"new_schema"` // after the upgrade, if it needs one
	Journals int         `json:"journals"`   // of answers that were arriving
	Problems int         `json:"problems"`   // that verify finds in the backup
	Findings []Finding   `json:"findings"`   // the first of them
	Undone   []Receipt   `json:"undone"`     // permanent deletions whose text comes back, newest first
	Kept     *Backup     `json:"kept"`       // copy of what was replaced
	Aside    string      `json:"aside"`      // folder with what was set aside; empty: nothing was
	Config   string      `json:"config"`     // where the backup's configuration was put; empty: it is in force already, or there is none
	Done     bool        `json:"done"`
}
