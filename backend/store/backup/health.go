package backup

import (
	"context"
	"errors"
	"slices"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/store/verify"
)

// infoProblems is the key under which a daily backup stores how many problems verify found in it; absent if it was
// not verified.
const infoProblems = "problems"

// verifyDaily verifies a copy before it counts as a backup and stores the number of problems in it: damage is copied
// too, and a damaged copy must not replace an intact one. Data that can be rebuilt (the text index, vectors) is not
// verified.
func verifyDaily(ctx context.Context, path string, b *chat.Backup) error {
	db, err := sqlite.Connect(path, append([]string{"journal_mode(MEMORY)", "synchronous(OFF)"}, sqlite.CommonPragmas...), 1)
	if err != nil {
		return err
	}
	db = db.WithContext(ctx)
	a := verify.NewAudit()
	err = a.Originals(ctx, db)
	if err == nil {
		b.Problems, b.Findings = len(a.Found), slices.Clone(a.Found[:min(len(a.Found), maxReported)])
		err = db.Exec(`INSERT OR REPLACE INTO `+schema.InfoTable+` VALUES (?, ?)`, infoProblems, sqlite.Itoa(int64(b.Problems))).Error
		err = errors.Join(err, hashInfo(db))
	}
	return errors.Join(err, sqlite.Disconnect(db))
}

// BackupHealth is whether verify found problems in a daily backup when it was made.
type BackupHealth int

const (
	BackupHealthy BackupHealth = iota
	backupUnknown              // not verified
	backupDamaged              // or unreadable
)

// BackupHealthOf reads the result that was stored with a backup.
func BackupHealthOf(ctx context.Context, path string) BackupHealth {
	db, err := sqlite.Connect(path, sqlite.ReadBackPragmas, 1)
	if err != nil {
		return backupDamaged
	}
	defer func() { _ = sqlite.Disconnect(db) }()
	db = db.WithContext(ctx)
	exists, err := schema.HasTable(db, schema.InfoTable)
	if err != nil || !exists {
		return unknownUnless(err)
	}
	problems, err := sqlite.All[string](db, `SELECT value FROM `+schema.InfoTable+` WHERE key = ?`, infoProblems)
	if err != nil || len(problems) == 0 {
		return unknownUnless(err)
	}
	if problems[0] != "0" {
		return backupDamaged
	}
	return BackupHealthy
}

func unknownUnless(err error) BackupHealth {
	if err != nil {
		return backupDamaged
	}
	return backupUnknown
}

// toPrune returns the daily backups to delete, given a list whose first entry was just made. An intact one replaces
// older intact or unverified ones; any other replaces only its own kind. So the last intact backups survive however
// many damaged ones follow.
func toPrune(ctx context.Context, list []DailyFile, p BackupPolicy) []DailyFile {
	groups := map[BackupHealth][]DailyFile{}
	newest := BackupHealthOf(ctx, list[0].Path)
	for _, d := range list {
		s := BackupHealthOf(ctx, d.Path)
		if s == backupUnknown && newest == BackupHealthy {
			s = BackupHealthy
		}
		groups[s] = append(groups[s], d)
	}
	keep := ToKeep(groups[newest], p)
	return slices.DeleteFunc(groups[newest], func(d DailyFile) bool { return slices.Contains(keep, d) })
}

// verifyEvery is the age of the last verified backup at which one is verified even while a person waits: verifying
// takes about ten times as long as copying.
const verifyEvery = 7 * 24 * time.Hour

// shouldVerify reports whether the backup made now should be verified.
func shouldVerify(ctx context.Context, now time.Time, list []DailyFile, brief bool) bool {
	return !brief || !slices.ContainsFunc(list, func(d DailyFile) bool {
		age := now.Sub(d.At)
		return age >= 0 && age < verifyEvery && BackupHealthOf(ctx, d.Path) != backupUnknown
	})
}
